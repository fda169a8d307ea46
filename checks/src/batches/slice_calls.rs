//! Calls of single slices: the expected outcome of the call of a batch.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use dispatch_runtime::{Generator, Operator, Scalar, Value};

use crate::aliasing::version_counters;
use crate::array::Array;
use crate::compare::{ComparedProperties, compare_properties};
use crate::datum::{Datum, create_values};
use crate::reference_call::{HostOutcome, ReferenceCall, call_and_check_aliasing, copy_outcome_to_host};
use crate::verdict::CallError;

/// Makes a reference call, and calls with slices in place of the given tensors.
pub(super) struct SliceCalls<'a> {
    pub(super) case: &'a ReferenceCall,
    pub(super) operator: &'static Operator,
    /// For each tensor, the index of its argument, and its index in a list.
    tensors: Vec<(usize, Option<usize>)>,
    cache: RefCell<HashMap<Vec<usize>, Option<Rc<SliceCall>>>>,
    is_random: bool,
}

/// A call of one slice, and its outcome.
pub(super) struct SliceCall {
    pub(super) arguments: Vec<Datum>,
    pub(super) outcome: HostOutcome,
    /// For each argument, whether the call wrote it.
    written: Vec<bool>,
}

/// Returns the number of the slice that a tensor, mapped over `dims`, has at index `place` of the batch.
pub(super) fn slice_number(dims: &[Option<usize>], place: &[usize]) -> usize {
    // No level has more than three slices.
    dims.iter().zip(place).filter(|(dim, _)| dim.is_some()).fold(0, |count, (_, at)| count * 3 + at)
}

impl<'a> SliceCalls<'a> {
    pub(super) fn new(case: &'a ReferenceCall, operator: &'static Operator) -> Self {
        let mut tensors = Vec::new();
        for (argument, datum) in case.arguments.iter().enumerate() {
            match datum {
                Datum::Array(_) => tensors.push((argument, None)),
                datum => tensors.extend((0..datum.arrays().len()).map(|i| (argument, Some(i)))),
            }
        }
        let drawn = Generator::reservation_count();
        let mut slices = Self { case, operator, tensors, cache: RefCell::default(), is_random: false };
        _ = slices.call_reference();
        slices.is_random = Generator::reservation_count() != drawn;
        slices
    }

    /// Returns the number of tensors of the call.
    pub(super) const fn tensor_count(&self) -> usize {
        self.tensors.len()
    }

    /// Whether the reference call draws random numbers.
    pub(super) const fn is_random(&self) -> bool {
        self.is_random
    }

    /// Returns the index of the argument that has this tensor.
    pub(super) fn argument_index(&self, at: usize) -> usize {
        self.tensors[at].0
    }

    pub(super) fn tensor_name(&self, at: usize) -> String {
        let (argument, number) = self.tensors[at];
        let name = &self.operator.schema().arguments[argument].name;
        number.map_or_else(|| format!("`{name}`"), |number| format!("`{name}[{number}]`"))
    }

    /// Returns the index of a tensor in its list, if it is in one.
    pub(super) fn list_index(&self, at: usize) -> Option<usize> {
        self.tensors[at].1
    }

    fn given_array(&self, at: usize) -> &Array {
        let (argument, number) = self.tensors[at];
        self.case.arguments[argument].arrays()[number.unwrap_or(0)]
    }

    /// Returns the number of dimensions of a tensor.
    pub(super) fn tensor_rank(&self, at: usize) -> usize {
        self.given_array(at).sizes.len()
    }

    /// Whether the reference call writes a tensor.
    pub(super) fn is_written(&self, at: usize) -> bool {
        self.call_with_slices_cached(&vec![0; self.tensor_count()])
            .is_some_and(|slice| slice.written[self.argument_index(at)])
    }

    /// Returns slice `which` of a tensor. Slice 0 is the given tensor.
    pub(super) fn slice_array(&self, at: usize, which: usize) -> Array {
        array_variant(self.given_array(at), which)
    }

    /// Returns the given arguments with their tensors replaced.
    fn arguments_with_tensors(&self, tensors: &[Array]) -> Vec<Datum> {
        let mut tensors = tensors.iter().cloned();
        let mut next = |array: &Array| tensors.next().unwrap_or_else(|| array.clone());
        self.case.arguments.iter().map(|datum| datum.map_arrays(&mut next)).collect()
    }

    /// Returns the given arguments with their tensors replaced, as values on the device.
    pub(super) fn values_with_tensors(&self, tensors: &[Array]) -> Result<Vec<Value>, CallError> {
        Ok(create_values(&self.arguments_with_tensors(tensors), self.case.device)?)
    }

    /// Makes the reference call.
    pub(super) fn call_reference(&self) -> Result<Rc<SliceCall>, CallError> {
        self.call_with_slices(&vec![0; self.tensor_count()])
    }

    /// Makes the call with these slices, once. Returns `None` if the operator refuses them.
    pub(super) fn call_with_slices_cached(&self, which: &[usize]) -> Option<Rc<SliceCall>> {
        if let Some(cached) = self.cache.borrow().get(which) {
            return cached.clone();
        }
        let slice = self.call_with_slices(which).ok();
        self.cache.borrow_mut().insert(which.to_vec(), slice.clone());
        slice
    }

    fn call_with_slices(&self, which: &[usize]) -> Result<Rc<SliceCall>, CallError> {
        let tensors: Vec<Array> = which.iter().enumerate().map(|(at, &which)| self.slice_array(at, which)).collect();
        let arguments = self.arguments_with_tensors(&tensors);
        let given = create_values(&arguments, self.case.device)?;
        let versions: Vec<_> = given.iter().map(version_counters).collect();
        let outcome = call_and_check_aliasing(self.operator, given)?;
        let written =
            outcome.given.iter().zip(versions).map(|(value, before)| version_counters(value) != before).collect();
        Ok(Rc::new(SliceCall { arguments, outcome: copy_outcome_to_host(self.operator, &outcome)?, written }))
    }

    /// Returns `number` if the operator accepts this slice together with the given other tensors, and 0 (the given slice) otherwise.
    pub(super) fn accepted_slice_number(&self, at: usize, number: usize) -> usize {
        let mut which = vec![0; self.tensor_count()];
        which[at] = number;
        if self.have_equal_result_sizes(&[which]) { number } else { 0 }
    }

    /// Whether the operator accepts all of these slices and returns results of the same sizes for all.
    pub(super) fn have_equal_result_sizes(&self, all: &[Vec<usize>]) -> bool {
        let recorded = self.call_with_slices_cached(&vec![0; self.tensor_count()]);
        let alike = |slice: &SliceCall, recorded: &SliceCall| {
            slice
                .outcome
                .results
                .iter()
                .zip(&recorded.outcome.results)
                .all(|(a, b)| compare_properties(ComparedProperties::DTypeAndSizes, a, b).is_ok())
        };
        all.iter().all(|which| match (self.call_with_slices_cached(which), &recorded) {
            (Some(slice), Some(recorded)) => alike(&slice, recorded),
            _ => false,
        })
    }
}

/// Returns variant `which` of an array: elements reversed, scaled towards zero, or both. A variant is always scaled if reversal does not
/// change the array.
pub(super) fn array_variant(array: &Array, which: usize) -> Array {
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
