//! A large call, and its expected results.

use std::collections::HashSet;
use std::error::Error as _;

use dispatch_checks::Failure;
use dispatch_checks::plumbing::{
    Array, CallError, ComparedProperties, Datum, HOST_DEVICE, arguments_by_name, call_catching_panics,
    compare_properties, create_values, round_to_dtype, to_integer,
};
use dispatch_runtime::{BadArgument, DType, Device, ErrorKind, Operator, Problem, Value};

use super::MAX_TRUSTED_ELEMENTS;
use super::input::ArrayLines;

/// An argument of a large call.
#[derive(Clone, Debug)]
pub(super) enum LargeArgument {
    /// A tensor in the dtype under test.
    CastTensor(Array),
    /// A list of tensors in the dtype under test.
    CastTensors(Vec<Array>),
    /// The dtype under test itself, as an argument.
    DTypeArgument,
    /// A value that is the same for every dtype.
    Fixed(Datum),
}

impl LargeArgument {
    fn to_datum(&self, dtype: Option<DType>) -> Datum {
        let cast = |array: &Array| array.with_dtype(dtype.unwrap_or(array.dtype));
        match self {
            Self::CastTensor(array) => Datum::Array(cast(array)),
            Self::CastTensors(arrays) => Datum::Arrays(arrays.iter().map(cast).collect()),
            Self::DTypeArgument => Datum::NonTensor(dtype.unwrap_or(DType::F64).into()),
            Self::Fixed(datum) => datum.clone(),
        }
    }

    /// Returns the number of elements of the largest tensor.
    fn max_element_count(&self) -> usize {
        let arrays = match self {
            Self::CastTensor(array) => vec![array],
            Self::CastTensors(arrays) => arrays.iter().collect(),
            Self::DTypeArgument => Vec::new(),
            Self::Fixed(datum) => datum.arrays(),
        };
        arrays.iter().map(|array| array.elements.len()).max().unwrap_or(0)
    }
}

impl From<Array> for LargeArgument {
    fn from(array: Array) -> Self {
        Self::CastTensor(array)
    }
}

pub(super) fn fixed_value(value: impl Into<Value>) -> LargeArgument {
    LargeArgument::Fixed(Datum::NonTensor(value.into()))
}

/// Creates an argument whose dtype, such as `i64` of indices, does not depend on the dtype under test.
pub(super) fn fixed_tensor(array: Array) -> LargeArgument {
    LargeArgument::Fixed(Datum::Array(array))
}

/// A result of a large call.
#[derive(Clone, Debug)]
pub(super) enum ExpectedResult {
    /// The given elements, rounded to the dtype of the actual result. The recordings check that dtype.
    Elements(Array),
    /// Indices of elements of `of` with these values, along `dim` or in the flattened array. Along `dim`, the indices of a line are
    /// distinct.
    Indices { of: Array, dim: Option<usize>, values: Array },
    /// The result is not compared.
    NotCompared,
}

pub(super) type NamedArguments = Vec<(&'static str, LargeArgument)>;

#[derive(Clone, Debug)]
pub(super) struct LargeTrial {
    pub(super) label: String,
    pub(super) given: NamedArguments,
    pub(super) expected: Vec<ExpectedResult>,
}

impl LargeTrial {
    pub(super) fn new(label: impl Into<String>, given: NamedArguments, expected: Vec<ExpectedResult>) -> Self {
        Self { label: label.into(), given, expected }
    }

    /// Makes the call, and compares the results with the expected ones.
    pub(super) fn run(&self, operator: &'static Operator, dtype: DType, device: Device) -> Result<(), CallError> {
        let values = create_arguments(operator, &self.given, Some(dtype), device)?;
        let written: Vec<Value> = values.clone();
        let mut results = call_catching_panics(operator, values)?;
        if results.is_empty() {
            results = written.into_iter().filter(|value| value.as_tensor().is_some()).take(1).collect();
        }
        let found = read_flattened_results(&results)?;
        for (index, (found, expected)) in found.iter().zip(&self.expected).enumerate() {
            expected.check_result(index, found)?;
        }
        if found.len() < self.expected.len() {
            let (actual, expected) = (found.len(), self.expected.len());
            return Err(CallError::Failed(Failure::WrongResultCount { actual, expected }));
        }
        Ok(())
    }
}

impl ExpectedResult {
    fn check_result(&self, index: usize, found: &Datum) -> Result<(), CallError> {
        let (found, expected) = match (self, found) {
            (Self::NotCompared, _) => return Ok(()),
            (Self::Elements(expected), Datum::Array(found)) => {
                (found.clone(), round_to_dtype(&expected.contiguous().with_dtype(found.dtype))?)
            }
            (Self::Indices { of, dim, values }, Datum::Array(found)) => (
                elements_at_indices(of, *dim, found).ok_or(CallError::Failed(Failure::InvalidIndices { index }))?,
                values.clone(),
            ),
            (_, found) => {
                let actual = usize::from(matches!(found, Datum::Array(_)));
                return Err(CallError::Failed(Failure::WrongResultCount { actual, expected: 1 }));
            }
        };
        let compared =
            compare_properties(ComparedProperties::AllButStrides, &Datum::Array(found), &Datum::Array(expected));
        compared.map_err(|difference| CallError::Failed(Failure::WrongResult { index, difference }))
    }
}

/// Returns the elements at these indices. Returns `None` if an index is out of range or occurs twice in a line.
fn elements_at_indices(of: &Array, dim: Option<usize>, positions: &Array) -> Option<Array> {
    let index = |at: usize| usize::try_from(to_integer(positions.elements[at])).ok();
    let Some(dim) = dim else {
        let elements = (0..positions.elements.len()).map(|at| of.elements.get(index(at)?).copied());
        return Some(Array::new(of.dtype, &positions.sizes, elements.collect::<Option<_>>()?));
    };
    // A removed dimension had size 1. Several dimensions in place of one are flattened.
    let mut sizes = positions.sizes.clone();
    if sizes.len() < of.sizes.len() {
        sizes.insert(dim, 1);
    } else if sizes.len() > of.sizes.len() {
        sizes = [&sizes[..dim], &[sizes[dim..].iter().product()]].concat();
    }
    let (mut elements, mut lines) = (positions.elements.clone(), positions.reshaped(&sizes).line_indices(dim));
    for within in of.line_indices(dim) {
        let mut seen = HashSet::new();
        for at in lines.next()? {
            let position = index(at).filter(|&position| seen.insert(position))?;
            elements[at] = of.elements[*within.get(position)?];
        }
    }
    lines.next().is_none().then(|| Array::new(of.dtype, &positions.sizes, elements))
}

/// Creates all arguments in the schema's order, in this dtype or in that of the expected results.
fn create_arguments(
    operator: &Operator,
    given: &NamedArguments,
    dtype: Option<DType>,
    device: Device,
) -> Result<Vec<Value>, CallError> {
    let of_name = |name: &str| given.iter().find(|(given, _)| *given == name).map(|(_, given)| given.to_datum(dtype));
    Ok(create_values(&arguments_by_name(operator, of_name)?, device)?)
}

/// Reads the results of a call, with lists flattened.
fn read_flattened_results(results: &[Value]) -> Result<Vec<Datum>, CallError> {
    let mut found = Vec::new();
    for result in results {
        match Datum::from_value(result)? {
            Datum::Arrays(arrays) => found.extend(arrays.into_iter().map(Datum::Array)),
            other => found.push(other),
        }
    }
    Ok(found)
}

/// Returns the results of a call on the host. The call is small, so its results are trusted.
pub(super) fn call_small(operator: &'static Operator, given: &NamedArguments) -> Result<Vec<Array>, CallError> {
    for (name, argument) in given {
        let count = argument.max_element_count();
        assert!(
            count <= MAX_TRUSTED_ELEMENTS,
            "{name} of {operator} has {count} elements, more than {MAX_TRUSTED_ELEMENTS}"
        );
    }
    let results = read_flattened_results(&call_catching_panics(
        operator,
        create_arguments(operator, given, None, HOST_DEVICE)?,
    )?)?;
    Ok(results.iter().filter_map(Datum::as_array).map(Array::contiguous).collect())
}

/// Returns the first result of a small call of another operator.
pub(super) fn call_small_by_name(name: &str, given: &NamedArguments) -> Result<Array, CallError> {
    let operator = Operator::find(name).map_err(|error| CallError::NotImplemented(error.to_string()))?;
    let expected = Failure::WrongResultCount { actual: 0, expected: 1 };
    call_small(operator, given)?.into_iter().next().ok_or(CallError::Failed(expected))
}

/// Whether a call was refused because the operator does not support the dtype.
pub(super) fn is_dtype_error(error: &CallError) -> bool {
    let CallError::Failed(Failure::Refused(error)) = error else { return false };
    let cause = error.source().and_then(|source| source.downcast_ref::<BadArgument>());
    matches!(error.kind(), ErrorKind::UnsupportedDType { .. })
        || cause.is_some_and(|cause| matches!(*cause.problem, Problem::DType { .. }))
}
