//! Calls of single slices: the expected outcome of the call of a batch.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use dispatch_runtime::{Generator, Operator, Scalar, Value};

use crate::aliasing::versions_of;
use crate::array::Array;
use crate::case::{Case, Read, call, read};
use crate::compare::{Extent, compare_to};
use crate::datum::{Datum, to_values};
use crate::verdict::Stop;

/// A recorded call, and the same call with other tensors.
pub(super) struct Slices<'a> {
    pub(super) case: &'a Case,
    pub(super) operator: &'static Operator,
    /// For each tensor, the index of its argument, and its index in a list.
    tensors: Vec<(usize, Option<usize>)>,
    known: RefCell<HashMap<Vec<usize>, Option<Rc<Slice>>>>,
    is_random: bool,
}

/// A call of one slice, and its outcome.
pub(super) struct Slice {
    pub(super) arguments: Vec<Datum>,
    pub(super) left: Read,
    /// For each argument, whether the call wrote it.
    written: Vec<bool>,
}

/// Returns the number of the slice of a tensor, mapped over `dims`, at index `place` of the batch.
pub(super) fn count(dims: &[Option<usize>], place: &[usize]) -> usize {
    // No level has more than three slices.
    dims.iter().zip(place).filter(|(dim, _)| dim.is_some()).fold(0, |count, (_, at)| count * 3 + at)
}

impl<'a> Slices<'a> {
    pub(super) fn new(case: &'a Case, operator: &'static Operator) -> Self {
        let mut tensors = Vec::new();
        for (argument, datum) in case.arguments.iter().enumerate() {
            match datum {
                Datum::Array(_) => tensors.push((argument, None)),
                datum => tensors.extend((0..datum.arrays().len()).map(|i| (argument, Some(i)))),
            }
        }
        let drawn = Generator::reservation_count();
        let mut slices = Self { case, operator, tensors, known: RefCell::default(), is_random: false };
        _ = slices.recorded();
        slices.is_random = Generator::reservation_count() != drawn;
        slices
    }

    /// Returns the number of tensors of the call.
    pub(super) const fn count(&self) -> usize {
        self.tensors.len()
    }

    /// Whether the recorded call draws random numbers.
    pub(super) const fn is_random(&self) -> bool {
        self.is_random
    }

    /// Returns the index of the argument that has this tensor.
    pub(super) fn argument(&self, at: usize) -> usize {
        self.tensors[at].0
    }

    pub(super) fn name(&self, at: usize) -> String {
        let (argument, number) = self.tensors[at];
        let name = &self.operator.schema().arguments[argument].name;
        number.map_or_else(|| format!("`{name}`"), |number| format!("`{name}[{number}]`"))
    }

    fn own(&self, at: usize) -> &Array {
        let (argument, number) = self.tensors[at];
        self.case.arguments[argument].arrays()[number.unwrap_or(0)]
    }

    /// Returns the number of dimensions of a tensor.
    pub(super) fn rank(&self, at: usize) -> usize {
        self.own(at).sizes.len()
    }

    /// Whether the recorded call writes a tensor.
    pub(super) fn is_written(&self, at: usize) -> bool {
        self.call(&vec![0; self.count()]).is_some_and(|slice| slice.written[self.argument(at)])
    }

    /// Returns slice `which` of a tensor. Slice 0 is the recorded tensor.
    pub(super) fn array(&self, at: usize, which: usize) -> Array {
        other(self.own(at), which)
    }

    /// Returns the recorded arguments with their tensors replaced.
    fn arguments(&self, tensors: &[Array]) -> Vec<Datum> {
        let mut tensors = tensors.iter().cloned();
        let mut next = |array: &Array| tensors.next().unwrap_or_else(|| array.clone());
        self.case.arguments.iter().map(|datum| datum.map(&mut next)).collect()
    }

    /// Returns the recorded arguments with their tensors replaced, as values on the device.
    pub(super) fn values(&self, tensors: &[Array]) -> Result<Vec<Value>, Stop> {
        Ok(to_values(&self.arguments(tensors), self.case.device)?)
    }

    /// Makes the recorded call.
    pub(super) fn recorded(&self) -> Result<Rc<Slice>, Stop> {
        self.made(&vec![0; self.count()])
    }

    /// Makes the call with these slices, once. Returns `None` if the operator refuses them.
    pub(super) fn call(&self, which: &[usize]) -> Option<Rc<Slice>> {
        if let Some(known) = self.known.borrow().get(which) {
            return known.clone();
        }
        let slice = self.made(which).ok();
        self.known.borrow_mut().insert(which.to_vec(), slice.clone());
        slice
    }

    fn made(&self, which: &[usize]) -> Result<Rc<Slice>, Stop> {
        let tensors: Vec<Array> = which.iter().enumerate().map(|(at, &which)| self.array(at, which)).collect();
        let arguments = self.arguments(&tensors);
        let given = to_values(&arguments, self.case.device)?;
        let versions: Vec<_> = given.iter().map(versions_of).collect();
        let outcome = call(self.operator, given)?;
        let written = outcome.given.iter().zip(versions).map(|(value, before)| versions_of(value) != before).collect();
        Ok(Rc::new(Slice { arguments, left: read(self.operator, &outcome)?, written }))
    }

    /// Returns `number` if the operator accepts this slice together with the recorded other tensors, and 0 (the recorded slice) otherwise.
    pub(super) fn other(&self, at: usize, number: usize) -> usize {
        let mut which = vec![0; self.count()];
        which[at] = number;
        if self.agree(&[which]) { number } else { 0 }
    }

    /// Whether the operator accepts all of these slices and returns results of the same sizes for all.
    pub(super) fn agree(&self, all: &[Vec<usize>]) -> bool {
        let recorded = self.call(&vec![0; self.count()]);
        let alike = |slice: &Slice, recorded: &Slice| {
            slice.left.results.iter().zip(&recorded.left.results).all(|(a, b)| compare_to(Extent::Sizes, a, b).is_ok())
        };
        all.iter().all(|which| match (self.call(which), &recorded) {
            (Some(slice), Some(recorded)) => alike(&slice, recorded),
            _ => false,
        })
    }
}

/// Returns variant `which` of an array: elements reversed, scaled towards zero, or both. A variant is always scaled if reversal does not
/// change the array.
pub(super) fn other(array: &Array, which: usize) -> Array {
    let mut elements = array.elements.clone();
    if which % 2 == 1 {
        elements.reverse();
    }
    let scale = f64::from(u8::try_from(which / 2 + usize::from(which > 0 && elements == array.elements)).unwrap_or(0));
    for element in &mut elements {
        match element {
            Scalar::Float(x) => *x *= 0.75_f64.powf(scale),
            Scalar::Complex(z) => *z *= 0.75_f64.powf(scale),
            _ => {}
        }
    }
    Array { elements, ..array.clone() }
}
