//! `gradcheck` and `gradgradcheck`: derivatives of a function of tensors, compared with finite differences.

use dispatch_runtime::{DType, Device, IntoTensorTree, Tensor, TensorTree, Value};

use crate::array::Array;
use crate::check::Check;
use crate::compare::{ComparedProperties, compare_results};
use crate::datum::Datum;
use crate::error::{Error, Result};
use crate::gradients::{DifferentiableCall, EvaluationPoint, NOT_SMOOTH, check_first_order, check_second_order};
use crate::report::Report;
use crate::tensors::to_array;
use crate::verdict::{CallError, Verdict, catch_panics};

/// Compares the derivative of a function with finite differences.
///
/// The function is called with inputs in double precision, several times. It must be deterministic, and smooth at the inputs or near them.
/// Every floating-point and complex input is differentiated. Complex inputs are differentiated by their real and imaginary parts.
///
/// ```
/// use dispatch_checks::gradcheck;
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
///
/// let (x, y) = (Tensor::from([[0.5, -1.5], [2.0, 0.25]]), Tensor::from([[1.0, 2.0], [-1.0, 0.5]]));
/// gradcheck(|x| aten::exp(x), &x)?;
/// gradcheck(|(x, y)| aten::mm(x, y), (&x, &y))?;
///
/// // A function whose graph ends at `detach` has another gradient than its values say.
/// let error = gradcheck(|x| aten::mul(x, &aten::detach(x)?), &x).unwrap_err();
/// assert!(error.to_string().contains("by the gradient, and"), "{error}");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`Error::Failed`] if the derivative is wrong or a call fails, and [`Error::Missing`], [`Error::NotSmooth`],
/// [`Error::NotDeterministic`], [`Error::NoDifferentiableInput`] or [`Error::NoDifferentiableResult`] if there is nothing to compare.
pub fn gradcheck<I: IntoTensorTree, O: TensorTree>(
    f: impl Fn(&I::Tree) -> dispatch_runtime::Result<O>,
    inputs: I,
) -> Result<()> {
    check_derivative(f, inputs, check_first_order)
}

/// Compares the derivative of a function's derivative with finite differences of the derivative.
///
/// It does not check the derivative itself: [`gradcheck`] does.
///
/// ```
/// use dispatch_checks::gradgradcheck;
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
///
/// gradgradcheck(|x| aten::sin(x), &Tensor::from([0.5, -1.5]))?;
/// # Ok::<(), dispatch_checks::Error>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`gradcheck`].
pub fn gradgradcheck<I: IntoTensorTree, O: TensorTree>(
    f: impl Fn(&I::Tree) -> dispatch_runtime::Result<O>,
    inputs: I,
) -> Result<()> {
    check_derivative(f, inputs, check_second_order)
}

fn check_derivative<I: IntoTensorTree, O: TensorTree>(
    f: impl Fn(&I::Tree) -> dispatch_runtime::Result<O>,
    inputs: I,
    check: fn(&EvaluationPoint<'_>) -> Verdict,
) -> Result<()> {
    let tree = inputs.into_tensor_tree().map_err(Error::Inputs)?;
    let arrays = tree.tensors().iter().map(to_array).collect::<Result<Vec<Array>>>()?;
    let device = tree.tensors().first().map_or(Device::CPU, Tensor::device);
    let call = FunctionCall { f, tree, device };
    let arguments: Vec<Datum> = arrays.into_iter().map(Datum::Array).collect();
    let verdict = check_at_point(&call, &arguments, check)?;
    match verdict {
        Verdict::Passed => Ok(()),
        Verdict::NotApplicable(NOT_SMOOTH) => Err(Error::NotSmooth),
        Verdict::NotApplicable(reason) => Err(Error::Missing(format!("gradients are not checked: {reason}"))),
        Verdict::NotImplemented(message) => Err(Error::Missing(message)),
        Verdict::Failed(failure) if failure.refuses_double_precision() => {
            Err(Error::Missing(failure.missing_double_precision()))
        }
        failed @ Verdict::Failed(_) => {
            let mut report = Report::new("the function".to_owned());
            report.add(Check::Numeric, [failed]);
            report.into_result().map(|_| ())
        }
    }
}

/// Checks the call at these arguments. Returns an error if there is nothing to check.
fn check_at_point(
    call: &dyn DifferentiableCall,
    arguments: &[Datum],
    check: fn(&EvaluationPoint<'_>) -> Verdict,
) -> Result<Verdict> {
    let point = match EvaluationPoint::new(call, arguments) {
        Ok(point) => point,
        Err(error) => return Ok(error.into()),
    };
    if !point.has_leaves() {
        return Err(Error::NoDifferentiableInput);
    }
    if !point.has_results() {
        return Err(Error::NoDifferentiableResult);
    }
    match is_deterministic(&point) {
        Ok(true) => Ok(check(&point)),
        Ok(false) => Err(Error::NotDeterministic),
        Err(error) => Ok(error.into()),
    }
}

fn is_deterministic(point: &EvaluationPoint<'_>) -> Result<bool, CallError> {
    let results = || -> Result<Vec<Datum>, CallError> {
        Ok(point.results()?.iter().map(|tensor| to_array(tensor).map(Datum::Array)).collect::<Result<_>>()?)
    };
    Ok(compare_results(ComparedProperties::AllButStrides, &results()?, &results()?).is_ok())
}

/// A closure over a tree of tensors. Its arguments are the tensors of the tree, in order.
struct FunctionCall<F, T> {
    f: F,
    tree: T,
    device: Device,
}

impl<T: TensorTree, O: TensorTree, F: Fn(&T) -> dispatch_runtime::Result<O>> DifferentiableCall for FunctionCall<F, T> {
    fn device(&self) -> Device {
        self.device
    }

    fn argument_name(&self, position: usize) -> String {
        format!("inputs{}", self.tree.leaf_paths()[position])
    }

    fn is_leaf(&self, _: usize, dtype: DType) -> bool {
        dtype == DType::F64
    }

    fn compute(&self, arguments: Vec<Value>) -> Result<Vec<Value>, CallError> {
        let tensors: Vec<Tensor> = arguments.iter().flat_map(Value::tensors).cloned().collect();
        let results = catch_panics(|| (self.f)(&self.tree.rebuild(tensors)?))?;
        Ok(results.tensors().into_iter().map(Value::from).collect())
    }
}
