//! The checks of a call's arguments: dtypes, ranks, sizes, ranges of symbols, fixed values and guards.
//!
//! A program holds for the sizes that torch.export recorded for its inputs, which may be expressions of symbols. A call gives a value to each
//! symbol, and all sizes of its arguments must agree with these values.

mod guard;
mod symbols;

use dispatch_runtime::{DType, Tensor, Value};

pub(crate) use symbols::{Agreement, Symbols};

use crate::error::Pt2Problem;
use crate::expression::{Expression, Quantity};
use crate::format::{Argument, ConstantValue, ExportedProgram, Graph, InputSpec, RangeConstraint, SymArgument};
use crate::inputs::LeafPath;
use crate::recorded::RecordedValue;
use guard::Guard;

/// The conditions on the arguments of a call.
#[derive(Debug)]
pub(crate) struct InputConstraints {
    inputs: Vec<ConstrainedInput>,
    ranges: Vec<(Expression, RangeConstraint)>,
    guards: Vec<Guard>,
    /// The values of the symbols in the example that the program was exported with.
    hints: Symbols,
}

#[derive(Debug)]
pub(crate) struct ConstrainedInput {
    path: LeafPath,
    expected: Expected,
}

/// The condition on an argument.
#[derive(Debug)]
pub(crate) enum Expected {
    Tensor {
        dtype: Option<DType>,
        sizes: Vec<Expression>,
        strides: Vec<Expression>,
    },
    Int(Expression),
    Float(Expression),
    Bool(Expression),
    /// A value that the caller must pass as it was in the example.
    Fixed(Value),
    /// The file does not describe the argument.
    Anything,
}

/// A number in the arguments of a call.
#[derive(Debug, Clone, Copy)]
struct Place {
    input: usize,
    /// The dimension of a tensor. A number has none.
    dimension: Option<usize>,
}

/// A number in the arguments of a call, and the expression that it must be equal to.
struct Fact<'a> {
    place: Place,
    expression: &'a Expression,
    value: Quantity,
}

impl InputConstraints {
    /// Makes the conditions from a program's records. `paths` are the places of the inputs in the arguments.
    pub(crate) fn new(record: &ExportedProgram, paths: Vec<LeafPath>) -> Self {
        let graph = &record.graph_module.graph;
        let expected = record.graph_module.signature.input_specs.iter().filter_map(|spec| Expected::of(graph, spec));
        let inputs: Vec<_> =
            paths.into_iter().zip(expected).map(|(path, expected)| ConstrainedInput { path, expected }).collect();
        let ranges = record.range_constraints.iter().map(|(key, range)| (Expression::parse(key), *range)).collect();
        let guards = record.guards_code.iter().filter_map(|text| Guard::parse(text, &inputs)).collect();
        Self { inputs, ranges, guards, hints: hints(graph) }
    }

    pub(crate) fn expected(&self) -> impl Iterator<Item = &Expected> {
        self.inputs.iter().map(|input| &input.expected)
    }

    pub(crate) fn hints(&self) -> &Symbols {
        &self.hints
    }

    /// Returns the lowest and the highest value of a symbol. `None` is no bound.
    pub(crate) fn range(&self, symbol: &str) -> (Option<i64>, Option<i64>) {
        let found = self.ranges.iter().find(|(key, _)| key.as_symbol() == Some(symbol));
        found.map_or((None, None), |(_, range)| (range.min_val, range.max_val))
    }

    /// Checks the arguments of a call, and returns the values of the symbols.
    pub(crate) fn check(&self, leaves: &[Value]) -> Result<Symbols, Pt2Problem> {
        for (at, (input, leaf)) in self.inputs.iter().zip(leaves).enumerate() {
            input.expected.check_kind(leaf).map_err(|reason| self.refuse(at, reason))?;
        }
        let facts = self.facts(leaves);
        let symbols = self.unify(&facts)?;
        self.check_ranges(&facts, &symbols)?;
        for guard in &self.guards {
            guard.check(&self.inputs, leaves).map_err(|(input, reason)| self.refuse(input, reason))?;
        }
        Ok(symbols)
    }

    /// Returns a sentence for each tensor that has another dtype than in the example.
    pub(crate) fn other_dtypes(&self, leaves: &[Value]) -> Vec<String> {
        let inputs = self.inputs.iter().zip(leaves);
        let other = inputs.filter_map(|(input, leaf)| match (&input.expected, leaf) {
            (Expected::Tensor { dtype: Some(dtype), .. }, Value::Tensor(tensor)) if *dtype != tensor.dtype() => {
                Some(format!("argument `{}` is {}, and was {dtype} in the example", input.path.name, tensor.dtype()))
            }
            _ => None,
        });
        other.collect()
    }

    #[cold]
    fn refuse(&self, input: usize, reason: String) -> Pt2Problem {
        let input = self.inputs.get(input).map_or_else(String::new, |input| input.path.name.clone());
        Pt2Problem::Input { input, reason }
    }

    /// Returns the numbers in the arguments with their expressions.
    fn facts<'a>(&'a self, leaves: &[Value]) -> Vec<Fact<'a>> {
        let mut facts = Vec::new();
        for (at, (input, leaf)) in self.inputs.iter().zip(leaves).enumerate() {
            match (&input.expected, leaf) {
                (Expected::Tensor { sizes, .. }, Value::Tensor(tensor)) => {
                    for (dimension, (expression, size)) in sizes.iter().zip(tensor.sizes()).enumerate() {
                        let place = Place { input: at, dimension: Some(dimension) };
                        facts.push(Fact { place, expression, value: Quantity::integer(*size) });
                    }
                }
                (Expected::Int(expression) | Expected::Float(expression) | Expected::Bool(expression), leaf) => {
                    let place = Place { input: at, dimension: None };
                    facts.extend(quantity(leaf).map(|value| Fact { place, expression, value }));
                }
                _ => {}
            }
        }
        facts
    }

    /// Gives each symbol its value. Sizes that are symbols come first, because an expression may have a symbol of a later size.
    fn unify(&self, facts: &[Fact<'_>]) -> Result<Symbols, Pt2Problem> {
        let mut symbols = Symbols::default();
        let (plain, composed): (Vec<_>, Vec<_>) = facts.iter().partition(|fact| fact.expression.as_symbol().is_some());
        for fact in plain.into_iter().chain(composed) {
            let reason = match symbols.unify(fact.expression, fact.value) {
                Agreement::Agrees => continue,
                Agreement::Impossible => format!(
                    "{} is {}, and must be {} for an integer {}",
                    fact.place,
                    number_text(fact.value),
                    fact.expression,
                    fact.expression.symbols().join(", ")
                ),
                Agreement::Differs(known) => format!(
                    "{} is {}, and must be {}{}",
                    fact.place,
                    number_text(fact.value),
                    number_text(known),
                    self.origin(fact, facts)
                ),
            };
            return Err(self.refuse(fact.place.input, reason));
        }
        Ok(symbols)
    }

    /// Returns the place that a size must agree with, in parentheses.
    fn origin(&self, fact: &Fact<'_>, facts: &[Fact<'_>]) -> String {
        if fact.expression.as_int().is_some() {
            return " (the size in the example; export with `dynamic_shapes` to allow others)".to_owned();
        }
        let shares = |other: &&Fact<'_>| {
            !(std::ptr::eq(*other, fact))
                && other.expression.symbols().iter().any(|symbol| fact.expression.symbols().contains(symbol))
        };
        let Some(other) = facts.iter().find(shares) else { return String::new() };
        let path = self.inputs.get(other.place.input).map_or("", |input| &input.path.name);
        let place = match other.place.dimension {
            Some(dimension) => format!("dimension {dimension} of `{path}`"),
            None => format!("`{path}`"),
        };
        if other.expression == fact.expression {
            return format!(" (as {place})");
        }
        format!(" ({}, and {place} is {} = {})", fact.expression, other.expression, number_text(other.value))
    }

    /// Checks the ranges of symbols and expressions. As in PyTorch, a lower bound of 2 or less allows sizes of 0 and 1: it only says that the
    /// program was exported without special cases for them.
    fn check_ranges(&self, facts: &[Fact<'_>], symbols: &Symbols) -> Result<(), Pt2Problem> {
        for (key, range) in &self.ranges {
            let Some(value) = symbols.evaluate(key).and_then(Quantity::as_int) else { continue };
            let bound = match range {
                RangeConstraint { min_val: Some(lowest), .. } if *lowest > 2 && value < *lowest => {
                    format!("at least {lowest}")
                }
                RangeConstraint { max_val: Some(highest), .. } if value > *highest => format!("at most {highest}"),
                _ => continue,
            };
            let shares =
                |fact: &&Fact<'_>| key.symbols().iter().any(|symbol| fact.expression.symbols().contains(symbol));
            let found = facts.iter().find(|fact| fact.expression == key).or_else(|| facts.iter().find(shares));
            let Some(fact) = found else { continue };
            let reason = if fact.expression == key {
                format!("{} is {value}, and must be {bound}", fact.place)
            } else {
                format!("{} is {}, so {key} is {value}, and must be {bound}", fact.place, number_text(fact.value))
            };
            return Err(self.refuse(fact.place.input, reason));
        }
        Ok(())
    }
}

impl Expected {
    /// Returns the condition on an input that the caller passes, or `None` for other inputs.
    fn of(graph: &Graph, spec: &InputSpec) -> Option<Self> {
        let arg = match spec {
            InputSpec::UserInput { arg } => arg,
            InputSpec::ConstantInput { value, .. } => return Some(Self::Fixed(value.into())),
            _ => return None,
        };
        let number = |name: &str| match RecordedValue::of(graph, name) {
            RecordedValue::Number(expression) => Some(expression),
            _ => None,
        };
        let expected = match arg {
            Argument::AsTensor(tensor) => match RecordedValue::of(graph, &tensor.name) {
                RecordedValue::Tensor { dtype, sizes, strides } => Some(Self::Tensor { dtype, sizes, strides }),
                _ => None,
            },
            Argument::AsSymInt(SymArgument::Name(name)) => number(name).map(Self::Int),
            Argument::AsSymFloat(SymArgument::Name(name)) => number(name).map(Self::Float),
            Argument::AsSymBool(SymArgument::Name(name)) => number(name).map(Self::Bool),
            Argument::AsInt(value) => Some(Self::Fixed((*value).into())),
            Argument::AsFloat(value) => Some(Self::Fixed(value.0.into())),
            Argument::AsBool(value) => Some(Self::Fixed((*value).into())),
            Argument::AsString(text) => Some(Self::Fixed(Value::from(text.as_str()))),
            Argument::AsNone(_) => Some(Self::Fixed(Value::None)),
            _ => None,
        };
        Some(expected.unwrap_or(Self::Anything))
    }

    /// Checks all of an argument but its sizes and the values of symbols.
    fn check_kind(&self, leaf: &Value) -> Result<(), String> {
        let wrong = |expected: &str| Err(format!("it is {}, and must be {expected}", describe(leaf)));
        match (self, leaf) {
            (Self::Anything, _)
            | (Self::Int(_), Value::Int(_) | Value::Bool(_))
            | (Self::Float(_), Value::Float(_) | Value::Int(_))
            | (Self::Bool(_), Value::Bool(_)) => Ok(()),
            (Self::Tensor { dtype, sizes, .. }, Value::Tensor(tensor)) => check_tensor(tensor, *dtype, sizes),
            (Self::Fixed(expected), leaf) if is_equal(expected, leaf) => Ok(()),
            (Self::Tensor { .. }, _) => wrong("a tensor"),
            (Self::Int(_), _) => wrong("an integer"),
            (Self::Float(_), _) => wrong("a number"),
            (Self::Bool(_), _) => wrong("a truth value"),
            (Self::Fixed(expected), _) => {
                wrong(&format!("{}, because the program was exported with this value", describe(expected)))
            }
        }
    }
}

/// Checks the dtype and the rank. Another dtype of the same kind is allowed, as in PyTorch: many operators take each integer, and a program
/// can be converted with `to(dtype)`. If the dtype does not fit, an operator refuses it.
fn check_tensor(tensor: &Tensor, dtype: Option<DType>, sizes: &[Expression]) -> Result<(), String> {
    if let Some(dtype) = dtype
        && !is_same_kind(dtype, tensor.dtype())
    {
        return Err(format!("its dtype is {}, and must be {dtype}", tensor.dtype()));
    }
    let (found, expected) = (tensor.sizes().len(), sizes.len());
    if found == expected {
        return Ok(());
    }
    let size = |size: &Expression| size.as_int().map_or_else(|| "any".to_owned(), |size| size.to_string());
    let sizes: Vec<String> = sizes.iter().map(size).collect();
    Err(format!("it has {found} dimensions, and must have {expected}: [{}]", sizes.join(", ")))
}

fn is_same_kind(one: DType, other: DType) -> bool {
    let kind = |dtype: DType| (dtype == DType::Bool, dtype.is_floating(), dtype.is_complex());
    kind(one) == kind(other)
}

/// Compares as Python does: 3 and 3.0 are equal.
fn is_equal(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::None, Value::None) => true,
        (Value::Str(expected), Value::Str(found)) => expected == found,
        (expected, found) => match (quantity(expected), quantity(found)) {
            (Some(expected), Some(found)) => {
                expected.compare(found).is_some_and(std::cmp::Ordering::is_eq)
                    || expected.as_float().is_nan() && found.as_float().is_nan()
            }
            _ => false,
        },
    }
}

fn quantity(value: &Value) -> Option<Quantity> {
    Some(match value {
        Value::Int(value) => Quantity::integer(*value),
        Value::Float(value) => Quantity::Float(*value),
        Value::Bool(value) => Quantity::Bool(*value),
        _ => return None,
    })
}

fn number_text(number: Quantity) -> String {
    Expression::number(number).to_string()
}

fn describe(value: &Value) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Tensor(_) => "a tensor".to_owned(),
        Value::Str(text) => format!("{:?}", &**text),
        value => quantity(value).map_or_else(|| "a value of another kind".to_owned(), number_text),
    }
}

/// Returns the values of the symbols in the example.
fn hints(graph: &Graph) -> Symbols {
    let mut hints = Symbols::default();
    let sizes = graph.tensor_values.values().flat_map(|meta| &meta.sizes);
    for number in sizes.chain(graph.sym_int_values.values()) {
        if let Some((expression, hint)) = number.hint() {
            let expression = Expression::parse(expression);
            if let Some(symbol) = expression.as_symbol() {
                hints.set(symbol, Quantity::integer(hint));
            }
        }
    }
    hints
}

impl From<&ConstantValue> for Value {
    fn from(value: &ConstantValue) -> Self {
        match value {
            ConstantValue::AsNone(_) => Self::None,
            ConstantValue::AsInt(value) => (*value).into(),
            ConstantValue::AsFloat(value) => value.0.into(),
            ConstantValue::AsString(text) => Self::from(text.as_str()),
            ConstantValue::AsBool(value) => (*value).into(),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.dimension {
            Some(dimension) => write!(f, "dimension {dimension}"),
            None => f.write_str("it"),
        }
    }
}
