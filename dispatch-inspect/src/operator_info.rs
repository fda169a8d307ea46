//! The definition and the registrations of one operator.

use dispatch_runtime::keys::{Autograd, CPU};
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Operator, Promotion, Provenance, ShapeWord, TableCell};
use serde::Serialize;

use crate::{Coverage, Kernel, KernelKind, SourceLocation};

/// The definition and the registrations of an operator.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// /// Counts.
/// #[op_def("tally(Tensor[] tensors) -> int")]
/// pub fn tally(tensors: &[Tensor]) -> Result<i64> {
///     Ok(tensors.len() as i64)
/// }
///
/// let info = dispatch_inspect::OperatorInfo::for_operator(tally::operator());
/// assert_eq!((info.docs, info.kernels[0].key.as_str()), ("Counts.", "CompositeImplicitAutograd"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OperatorInfo {
    /// The name of the operator.
    pub operator: String,
    /// The schema of the operator.
    pub schema: String,
    /// The doc comment of the definition.
    pub docs: &'static str,
    /// The location of the definition.
    pub place: SourceLocation,
    /// The functional operator of which this is the in-place or the `out=` form.
    pub form_of: Option<String>,
    /// The shape word, if the definition has one.
    pub shape: Option<String>,
    /// How the gradients of the operator are computed.
    pub derivative: Derivative,
    /// Remarks of layers, such as how vmap makes its calls: a title and a text.
    pub remarks: Vec<(&'static str, String)>,
    /// All registered kernels, by key.
    pub kernels: Vec<Kernel>,
    /// The rules of layers: the type of each rule, and its location.
    pub rules: Vec<(&'static str, SourceLocation)>,
    /// The kind of kernel for each key of the linked backends and layers.
    pub coverage: Vec<(String, KernelKind)>,
}

/// How the gradients of an operator are computed.
///
/// ```
/// use dispatch_inspect::Derivative;
/// assert_eq!(Derivative::None.to_string(), "none, as declared");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Derivative {
    /// A kernel of the autograd layer computes the gradients.
    Kernel(String),
    /// A derivative rule computes the gradients: a rule of the operator or of its functional operator.
    Rule(SourceLocation),
    /// The operators that the composite calls compute the gradients.
    Composite,
    /// Not differentiable, which was declared.
    None,
    /// No derivative was declared.
    Unknown,
}

impl std::fmt::Display for Derivative {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kernel(kernel) => f.write_str(kernel),
            Self::Rule(place) => write!(f, "by a rule ({place})"),
            Self::Composite => f.write_str("through the operators that it calls"),
            Self::None => f.write_str("none, as declared"),
            Self::Unknown => f.write_str("not declared"),
        }
    }
}

impl OperatorInfo {
    /// Collects the definition and the registrations of an operator.
    ///
    /// ```
    /// # let operator = dispatch_runtime::Registrar::new("info").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// assert_eq!(dispatch_inspect::OperatorInfo::for_operator(operator).schema, "info::id(Tensor x) -> Tensor");
    /// ```
    #[must_use]
    pub fn for_operator(operator: &'static Operator) -> Self {
        let coverage = Coverage::for_operators(&[operator]);
        let cells = coverage.rows.into_iter().flat_map(|row| row.cells);
        Self {
            operator: operator.to_string(),
            schema: format!("{:#}", operator.schema()),
            docs: operator.docs().trim(),
            place: operator.location().into(),
            form_of: operator.functional().map(ToString::to_string),
            shape: operator.shape_word().map(|shape| format_shape_word(operator, shape)),
            derivative: derivative_of(operator),
            remarks: operator.annotations(),
            kernels: operator.registrations().into_iter().map(Kernel::from).collect(),
            rules: operator.rule_locations().into_iter().map(|(of, place)| (of, place.into())).collect(),
            coverage: coverage.keys.into_iter().zip(cells).collect(),
        }
    }
}

/// Returns how gradients are computed. Autograd's kernels are the same for every backend, so the CPU's key stands for all.
pub(crate) fn derivative_of(operator: &'static Operator) -> Derivative {
    let key = Autograd.on(CPU);
    let found = operator.table().into_iter().find(|cell| cell.key == key);
    match found {
        Some(TableCell { provenance: Provenance::MathKernel, .. }) => Derivative::Composite,
        Some(TableCell { provenance: Provenance::AutogradKernel | Provenance::Kernel, kernels, .. }) => {
            // `not_differentiable!` registers a kernel with this name.
            if kernels.iter().all(|kernel| kernel.starts_with("`not_differentiable`")) {
                Derivative::None
            } else {
                Derivative::Kernel(kernels.join(" or "))
            }
        }
        // An `out=` form has no derivative. For other operators without a kernel, the layer's fallback looks for a rule.
        _ if operator.schema().kind() == SchemaKind::Out => Derivative::None,
        _ => match (derivative_rule_location(operator), operator.functional()) {
            (Some(place), _) if has_tensor_arguments(operator) => Derivative::Rule(place),
            // Without tensor arguments there is nothing to differentiate: the rule declares that there is no derivative.
            (Some(_), _) => Derivative::None,
            (None, Some(functional)) => derivative_of(functional),
            (None, None) => Derivative::Unknown,
        },
    }
}

fn has_tensor_arguments(operator: &Operator) -> bool {
    operator.schema().arguments.iter().any(|argument| argument.ty.is_tensor_like())
}

fn derivative_rule_location(operator: &Operator) -> Option<SourceLocation> {
    let rules = operator.rule_locations();
    rules.iter().find(|(of, _)| of.ends_with("::Derivative")).map(|(_, place)| (*place).into())
}

/// Returns a shape word as it was written.
fn format_shape_word(operator: &Operator, shape: ShapeWord) -> String {
    let name =
        |at: usize| operator.schema().arguments.get(at).map_or("?", |argument| argument.name.as_str()).to_owned();
    let with = |word: String, dtype: Promotion| match format!("{dtype:?}").to_lowercase() {
        common if common == "common" => word,
        dtype => format!("{word}, dtype = {dtype}"),
    };
    match shape {
        ShapeWord::Pointwise { operands, dtype, .. } => {
            let names: Vec<String> = operands.iter().map(|&at| name(at)).collect();
            with(format!("pointwise({})", names.join(", ")), dtype)
        }
        ShapeWord::Reduce { dims, dtype, .. } => {
            with(format!("reduce({})", dims.map_or_else(String::new, name)), dtype)
        }
        ShapeWord::Product { letters } => format!("{letters:?}"),
        other => format!("{other:?}"),
    }
}
