//! Gradients within vmap: compares the backward pass of a batch with the backward passes of its slices.
//!
//! This covers operators that only derivatives call.

use dispatch_autograd::functional::vjp;
use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Result, Tensor, Value};
use dispatch_vmap::Vmap;

use super::batch::stack_slices;
use super::mapped_call::replace_tensors;
use super::slice_calls::array_variant;
use super::{ONE_LEVEL_BATCH_SIZES, is_host_read_error};
use crate::array::Array;
use crate::compare::{ComparedProperties, compare_results};
use crate::datum::{Datum, create_values};
use crate::gradients::{DifferentiableCall, cosine_cotangent};
use crate::reference_call::ReferenceCall;
use crate::tensors::{to_array, to_tensor};
use crate::verdict::{CallError, Failure, Verdict, catch_panics};

/// Checks the gradients of a batch. Returns `None` if the call has no gradient arguments, if the call writes arguments, or if its results are
/// unpredictable.
pub(super) fn check(case: &ReferenceCall) -> Option<Verdict> {
    let arguments = case.gradient_arguments.as_ref()?;
    let writes = case.operator.schema().arguments.iter().any(Argument::is_written);
    if writes || case.is_unpredictable() {
        return None;
    }
    let check = BatchGradientCheck { case, arguments };
    Some(match check.compare_with_slices() {
        Ok(()) => Verdict::Passed,
        Err(CallError::Failed(Failure::Refused(error))) if is_host_read_error(&error) => {
            Verdict::NotApplicable("it reads elements on the host")
        }
        Err(error) => error.into(),
    })
}

struct BatchGradientCheck<'a> {
    case: &'a ReferenceCall,
    arguments: &'a [Datum],
}

impl BatchGradientCheck<'_> {
    /// Returns, for each tensor of the call, whether a gradient with respect to it is computed.
    fn leaf_flags(&self) -> Vec<bool> {
        let of = |(i, datum): (usize, &Datum)| {
            datum.arrays().into_iter().map(|array| self.case.is_leaf(i, array.dtype)).collect::<Vec<_>>()
        };
        self.arguments.iter().enumerate().flat_map(of).collect()
    }

    fn compare_with_slices(&self) -> std::result::Result<(), CallError> {
        let values = create_values(self.arguments, self.case.device)?;
        let leaves = self.leaf_flags();
        let arrays = self.arguments.iter().flat_map(Datum::arrays).zip(&leaves);
        let mut asked: Vec<Array> = arrays.filter(|(_, is_leaf)| **is_leaf).map(|(array, _)| array.clone()).collect();
        if asked.is_empty() {
            return Ok(());
        }
        // The last input is a factor of the cotangents, so that each slice has its own cotangents too.
        asked.push(Array::from_floats(&[], &[1.0]));
        let alone = |which: usize| -> std::result::Result<Vec<Datum>, CallError> {
            let slices = asked.iter().map(|array| to_tensor(&array_variant(array, which), self.case.device));
            let slices = slices.collect::<std::result::Result<Vec<_>, _>>()?;
            let found = catch_panics(|| self.compute_gradients(&values, &leaves, &slices))?;
            found.iter().map(|tensor| Ok(Datum::Array(to_array(tensor)?))).collect()
        };
        let recorded = alone(0)?;
        // The slices have other elements if the operator accepts them.
        let expected: Vec<(usize, Vec<Datum>)> = (0..ONE_LEVEL_BATCH_SIZES[0])
            .map(|i| alone(i).map_or_else(|_| (0, recorded.clone()), |found| (i, found)))
            .collect();
        let batches = asked.iter().map(|array| {
            let slices: Vec<Array> = expected.iter().map(|(which, _)| array_variant(array, *which)).collect();
            to_tensor(&stack_slices(&slices, &[Some(0)], ONE_LEVEL_BATCH_SIZES, false), self.case.device)
        });
        let batches = batches.collect::<std::result::Result<Vec<_>, _>>()?;
        let back = |slices: &Vec<Tensor>| self.compute_gradients(&values, &leaves, slices);
        let found = catch_panics(|| Vmap::new().call(back, &batches[..]))?;
        for (at, (_, expected)) in (0..).zip(&expected) {
            let slice = |found| Ok(Datum::Array(to_array(&catch_panics(|| aten::select_int(found, 0, at))?)?));
            let slices = found.iter().map(slice).collect::<std::result::Result<Vec<_>, CallError>>()?;
            compare_results(ComparedProperties::AllButStrides, &slices, expected)?;
        }
        Ok(())
    }

    /// Computes the gradients of the call with respect to its leaves. `given` has the leaves, and last the factor of the cotangents.
    fn compute_gradients(&self, values: &[Value], is_leaf: &[bool], given: &[Tensor]) -> Result<Vec<Tensor>> {
        let Some((times, leaves)) = given.split_last() else { return Ok(Vec::new()) };
        let call = |leaves: &Vec<Tensor>| {
            let mut leaves = leaves.iter();
            let all = values.iter().flat_map(Value::tensors).zip(is_leaf);
            let all = all.map(|(tensor, is_leaf)| if *is_leaf { leaves.next().unwrap_or(tensor) } else { tensor });
            let results = self.case.operator.call(replace_tensors(values, &all.cloned().collect::<Vec<_>>()))?;
            let differentiable = results.iter().flat_map(Value::tensors).filter(|tensor| tensor.dtype().is_floating());
            Ok(differentiable.cloned().collect::<Vec<_>>())
        };
        let (outputs, pullback) = vjp(call, leaves)?;
        let seeds = outputs.iter().map(|output| {
            let seed =
                to_tensor(&cosine_cotangent(output), self.case.device).map_err(dispatch_runtime::Error::kernel)?;
            aten::to_dtype(&aten::mul(&seed, times)?, output.dtype(), false, false, None)
        });
        let seeds = seeds.collect::<Result<Vec<_>>>()?;
        pullback.call(seeds)
    }
}
