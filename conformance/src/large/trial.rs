//! A large call, and its expected results.

use std::collections::HashSet;
use std::error::Error as _;

use dispatch_runtime::{BadArgument, DType, Device, ErrorKind, Operator, Problem, Value};

use super::FEW;
use crate::array::Array;
use crate::compare::{Extent, compare_to};
use crate::datum::{Datum, to_values};
use crate::decode;
use crate::tensors::{HOST, rounded, whole};
use crate::verdict::{Failure, Stop, invoke};

/// An argument of a large call.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// A tensor in the dtype under test.
    Data(Array),
    /// A list of tensors in the dtype under test.
    List(Vec<Array>),
    /// The dtype under test.
    Dtype,
    /// A value that is the same for every dtype.
    Fixed(Datum),
}

impl Given {
    fn datum(&self, dtype: Option<DType>) -> Datum {
        let cast = |array: &Array| array.cast(dtype.unwrap_or(array.dtype));
        match self {
            Self::Data(array) => Datum::Array(cast(array)),
            Self::List(arrays) => Datum::Arrays(arrays.iter().map(cast).collect()),
            Self::Dtype => Datum::Plain(dtype.unwrap_or(DType::F64).into()),
            Self::Fixed(datum) => datum.clone(),
        }
    }

    /// Returns the number of elements of the largest tensor.
    fn largest(&self) -> usize {
        let arrays = match self {
            Self::Data(array) => vec![array],
            Self::List(arrays) => arrays.iter().collect(),
            Self::Dtype => Vec::new(),
            Self::Fixed(datum) => datum.arrays(),
        };
        arrays.iter().map(|array| array.elements.len()).max().unwrap_or(0)
    }
}

impl From<Array> for Given {
    fn from(array: Array) -> Self {
        Self::Data(array)
    }
}

pub(super) fn fixed(value: impl Into<Value>) -> Given {
    Given::Fixed(Datum::Plain(value.into()))
}

/// Creates an argument whose dtype, such as `i64` of indices, does not depend on the dtype under test.
pub(super) fn positions(array: Array) -> Given {
    Given::Fixed(Datum::Array(array))
}

/// A result of a large call.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// These elements, rounded to the dtype of the actual result. The recordings check that dtype.
    Numbers(Array),
    /// Indices of elements of `of` with these values, along `dim` or in the flattened array. Along `dim`, the indices of a line are
    /// distinct.
    Positions { of: Array, dim: Option<usize>, values: Array },
    /// Any result.
    Anything,
}

pub(super) type Named = Vec<(&'static str, Given)>;

#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) label: String,
    pub(super) given: Named,
    pub(super) expected: Vec<Expected>,
}

impl Trial {
    pub(super) fn new(label: impl Into<String>, given: Named, expected: Vec<Expected>) -> Self {
        Self { label: label.into(), given, expected }
    }

    /// Makes the call, and compares the results with the expected ones.
    pub(super) fn run(&self, operator: &'static Operator, dtype: DType, device: Device) -> Result<(), Stop> {
        let values = arguments(operator, &self.given, Some(dtype), device)?;
        let written: Vec<Value> = values.clone();
        let mut results = invoke(operator, values)?;
        if results.is_empty() {
            results = written.into_iter().filter(|value| value.as_tensor().is_some()).take(1).collect();
        }
        let found = read(&results)?;
        for (index, (found, expected)) in found.iter().zip(&self.expected).enumerate() {
            expected.check(index, found)?;
        }
        if found.len() < self.expected.len() {
            let (actual, expected) = (found.len(), self.expected.len());
            return Err(Stop::Failed(Failure::Results { actual, expected }));
        }
        Ok(())
    }
}

impl Expected {
    fn check(&self, index: usize, found: &Datum) -> Result<(), Stop> {
        let (found, expected) = match (self, found) {
            (Self::Anything, _) => return Ok(()),
            (Self::Numbers(expected), Datum::Array(found)) => {
                (found.clone(), rounded(&expected.contiguous().cast(found.dtype))?)
            }
            (Self::Positions { of, dim, values }, Datum::Array(found)) => {
                (at(of, *dim, found).ok_or(Stop::Failed(Failure::Positions { index }))?, values.clone())
            }
            (_, found) => {
                let actual = usize::from(matches!(found, Datum::Array(_)));
                return Err(Stop::Failed(Failure::Results { actual, expected: 1 }));
            }
        };
        let compared = compare_to(Extent::Values, &Datum::Array(found), &Datum::Array(expected));
        compared.map_err(|difference| Stop::Failed(Failure::Result { index, difference }))
    }
}

/// Returns the elements at these indices. Returns `None` if an index is out of range or occurs twice in a line.
fn at(of: &Array, dim: Option<usize>, positions: &Array) -> Option<Array> {
    let index = |at: usize| usize::try_from(whole(positions.elements[at])).ok();
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
    let (mut elements, mut lines) = (positions.elements.clone(), positions.sized(&sizes).lines(dim));
    for within in of.lines(dim) {
        let mut seen = HashSet::new();
        for at in lines.next()? {
            let position = index(at).filter(|&position| seen.insert(position))?;
            elements[at] = of.elements[*within.get(position)?];
        }
    }
    lines.next().is_none().then(|| Array::new(of.dtype, &positions.sizes, elements))
}

/// Creates all arguments in the schema's order, in this dtype or in that of the expected results.
fn arguments(operator: &Operator, given: &Named, dtype: Option<DType>, device: Device) -> Result<Vec<Value>, Stop> {
    let of_name = |name: &str| given.iter().find(|(given, _)| *given == name).map(|(_, given)| given.datum(dtype));
    Ok(to_values(&decode::by_name(operator.schema(), of_name)?, device)?)
}

/// Reads the results of a call, with lists flattened.
fn read(results: &[Value]) -> Result<Vec<Datum>, Stop> {
    let mut found = Vec::new();
    for result in results {
        match Datum::read(result)? {
            Datum::Arrays(arrays) => found.extend(arrays.into_iter().map(Datum::Array)),
            other => found.push(other),
        }
    }
    Ok(found)
}

/// Returns the results of a call on the host. The call is small, so its results are trusted.
pub(super) fn small(operator: &'static Operator, given: &Named) -> Result<Vec<Array>, Stop> {
    for (name, argument) in given {
        let count = argument.largest();
        assert!(count <= FEW, "{name} of {operator} has {count} elements, which is not few");
    }
    let results = read(&invoke(operator, arguments(operator, given, None, HOST)?)?)?;
    Ok(results.iter().filter_map(Datum::as_array).map(Array::contiguous).collect())
}

/// Returns the first result of a small call of another operator.
pub(super) fn first_of(name: &str, given: &Named) -> Result<Array, Stop> {
    let operator = Operator::find(name).map_err(|error| Stop::NotImplemented(error.to_string()))?;
    let expected = Failure::Results { actual: 0, expected: 1 };
    small(operator, given)?.into_iter().next().ok_or(Stop::Failed(expected))
}

/// Whether a call was refused because the operator does not support the dtype.
pub(super) fn is_about_dtype(stop: &Stop) -> bool {
    let Stop::Failed(Failure::Refused(error)) = stop else { return false };
    let cause = error.source().and_then(|source| source.downcast_ref::<BadArgument>());
    matches!(error.kind(), ErrorKind::UnsupportedDType { .. })
        || cause.is_some_and(|cause| matches!(*cause.problem, Problem::DType { .. }))
}
