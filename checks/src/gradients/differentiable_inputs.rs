//! Makes calls in double precision, and computes their gradients.

use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::{DType, Device, Scalar, Tensor, Value};

use super::differentiable_call::DifferentiableCall;
use crate::array::Array;
use crate::compare::{Difference, Tolerance, first_difference};
use crate::datum::{Datum, create_values};
use crate::error::Result;
use crate::reference_call::ReferenceCall;
use crate::tensors::{to_array, to_tensor};
use crate::verdict::{CallError, Failure, catch_panics};

/// The arguments of a call, and the leaves among them.
pub(super) struct DifferentiableInputs {
    pub(super) values: Vec<Value>,
    pub(super) leaves: Vec<Leaf>,
}

/// A tensor whose gradient is computed.
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) tensor: Tensor,
}

impl DifferentiableInputs {
    /// Creates the given arguments. The leaves are the floating-point tensors, whether or not the operator is differentiable with
    /// respect to them.
    pub(super) fn from_case(case: &ReferenceCall) -> Result<Self, CallError> {
        let widened: Vec<Datum> = case.arguments.iter().map(Datum::with_f64_for_f32).collect();
        Self::from_arguments(case, &widened)
    }

    /// Creates the inputs of a call from these arguments, which are in double precision. Complex tensors are no leaves.
    pub(super) fn from_arguments(call: &dyn DifferentiableCall, arguments: &[Datum]) -> Result<Self, CallError> {
        Self::with_leaves(call, arguments, |position, dtype| call.is_leaf(position, dtype))
    }

    /// Creates the inputs of a call from these arguments, which are in double precision. The leaf of a complex argument is the real tensor of
    /// its real and imaginary parts.
    pub(super) fn with_complex_leaves(call: &dyn DifferentiableCall, arguments: &[Datum]) -> Result<Self, CallError> {
        Self::with_leaves(call, arguments, |position, dtype| is_real_or_complex_leaf(call, position, dtype))
    }

    fn with_leaves(
        call: &dyn DifferentiableCall,
        arguments: &[Datum],
        is_leaf: impl Fn(usize, DType) -> bool,
    ) -> Result<Self, CallError> {
        let mut values = create_values(arguments, call.device())?;
        let mut leaves = Vec::new();
        for (i, (datum, value)) in arguments.iter().zip(&mut values).enumerate() {
            let name = call.argument_name(i);
            let is_list = !matches!(datum, Datum::Array(_));
            for (position, (array, tensor)) in datum.arrays().into_iter().zip(value.tensors_mut()).enumerate() {
                if is_leaf(i, array.dtype) {
                    let name = if is_list { format!("{name}[{position}]") } else { name.clone() };
                    let leaf = catch_panics(|| make_leaf(tensor))?;
                    leaves.push(Leaf { name, tensor: leaf });
                }
            }
            if let (Value::Tensor(tensor), true) = (&mut *value, call.is_written(i)) {
                // A leaf must not be written, so the call writes a copy.
                *tensor = catch_panics(|| aten::clone(tensor, None))?;
            }
        }
        Ok(Self { values, leaves })
    }

    /// Makes the call, and returns the differentiable tensors of its results.
    pub(super) fn call(&self, call: &dyn DifferentiableCall) -> Result<Vec<Tensor>, CallError> {
        differentiable_tensors(&call.compute(self.values.clone())?)
    }

    /// Computes the gradients of tensors with respect to the leaves, for these cotangents.
    pub(super) fn gradients(&self, of: &[Tensor], seeds: &[Array]) -> Result<Vec<Option<Array>>, CallError> {
        let seeds = seeds.iter().map(|seed| to_tensor(seed, of[0].device())).collect::<Result<Vec<_>>>()?;
        let (of, seeds): (Vec<&Tensor>, Vec<&Tensor>) = (of.iter().collect(), seeds.iter().collect());
        let leaves: Vec<&Tensor> = self.leaves.iter().map(|leaf| &leaf.tensor).collect();
        if of.is_empty() || leaves.is_empty() {
            return Ok(vec![None; leaves.len()]);
        }
        let gradients =
            catch_panics(|| Differentiation::of_outputs(&of).with_seeds(&seeds).allow_unused().grad(&leaves))?;
        Ok(gradients.iter().map(|gradient| gradient.as_ref().map(to_array).transpose()).collect::<Result<_>>()?)
    }

    /// Compares the gradients of the leaves with the expected ones.
    pub(super) fn compare_gradients(
        &self,
        actual: &[Option<Array>],
        expected: &[Option<Vec<f64>>],
    ) -> Result<(), CallError> {
        let mut all = self.leaves.iter().zip(actual.iter().zip(expected));
        all.try_for_each(|(leaf, (actual, expected))| {
            Ok(compare_gradient(&leaf.name, actual.as_ref(), expected.as_deref())?)
        })
    }
}

/// Makes a tensor a leaf, and returns the leaf. A complex tensor becomes a view of the leaf.
fn make_leaf(tensor: &mut Tensor) -> dispatch_runtime::Result<Tensor> {
    if !tensor.dtype().is_complex() {
        return tensor.clone().requires_grad_(true);
    }
    let leaf = aten::view_as_real(tensor)?.requires_grad_(true)?;
    *tensor = aten::view_as_complex(&leaf)?;
    Ok(leaf)
}

/// Whether an argument is a real or complex tensor whose gradient can be computed.
pub(super) fn is_real_or_complex_leaf(call: &dyn DifferentiableCall, position: usize, dtype: DType) -> bool {
    call.is_leaf(position, dtype.to_real())
}

/// Creates a tensor that requires gradients.
pub(super) fn create_leaf(array: &Array, device: Device) -> Result<Tensor, CallError> {
    let tensor = to_tensor(array, device)?;
    catch_panics(|| tensor.requires_grad_(true))
}

/// Returns the tensors among the results that require gradients. A complex one is viewed as its real and imaginary parts.
pub(super) fn differentiable_tensors(results: &[Value]) -> Result<Vec<Tensor>, CallError> {
    let real_parts = |tensor: &Tensor| {
        if !tensor.dtype().is_complex() {
            return Ok(tensor.clone());
        }
        catch_panics(|| aten::view_as_real(&aten::resolve_conj(tensor)?))
    };
    results_with_gradients(results).map(real_parts).collect()
}

fn results_with_gradients(results: &[Value]) -> impl Iterator<Item = &Tensor> {
    let has_gradient =
        |tensor: &&Tensor| (tensor.dtype().is_floating() || tensor.dtype().is_complex()) && tensor.requires_grad();
    results.iter().flat_map(Value::tensors).filter(has_gradient)
}

/// Returns the cotangents of recorded gradients, for each tensor of [`differentiable_tensors`]: the cosines of 1, 2, and so on, and zeros
/// for imaginary parts.
pub(super) fn recorded_cotangents(results: &[Value]) -> Vec<Array> {
    let cotangent = |tensor: &Tensor| {
        let cosines = cosine_cotangent(tensor);
        if !tensor.dtype().is_complex() {
            return cosines;
        }
        let elements: Vec<f64> = to_floats(&cosines).into_iter().flat_map(|cosine| [cosine, 0.0]).collect();
        Array::from_floats(&[tensor.sizes(), &[2]].concat(), &elements)
    };
    results_with_gradients(results).map(cotangent).collect()
}

/// Returns the cotangent of a tensor: the cosines of 1, 2, and so on.
pub(crate) fn cosine_cotangent(tensor: &Tensor) -> Array {
    let count = tensor.sizes().iter().product();
    let elements = (1..=count).map(|k: i64| Scalar::from(k).to_f64().unwrap_or_default().cos());
    Array::from_floats(tensor.sizes(), &elements.collect::<Vec<f64>>())
}

/// Compares a gradient with the expected one. A missing gradient counts as zeros.
fn compare_gradient(argument: &str, actual: Option<&Array>, expected: Option<&[f64]>) -> Result<(), Failure> {
    let elements: Vec<f64> = match (actual, expected) {
        (_, Some(expected)) => expected.to_vec(),
        (Some(actual), None) => vec![0.0; actual.elements.len()],
        (None, None) => return Ok(()),
    };
    let largest = elements.iter().filter(|x| x.is_finite()).fold(0.0_f64, |most, x| most.max(x.abs()));
    let tolerance = Tolerance { relative: 1e-6, absolute: 1e-9 * largest };
    let expected: Vec<Scalar> = elements.into_iter().map(Scalar::Float).collect();
    let zeros = vec![Scalar::Float(0.0); expected.len()];
    let found = actual.map_or(&zeros, |actual| &actual.elements);
    let failure = |difference| Failure::WrongGradient { argument: argument.to_owned(), difference };
    if found.len() != expected.len() {
        return Err(failure(Difference::Length { actual: found.len(), expected: expected.len() }));
    }
    first_difference(tolerance, found, &expected).map_or(Ok(()), |difference| Err(failure(difference)))
}

/// Returns the elements of a gradient as floats.
pub(super) fn to_floats(array: &Array) -> Vec<f64> {
    array.elements.iter().map(|element| element.to_f64().unwrap_or(f64::NAN)).collect()
}
