//! CUDA kernels of `multinomial`: indices drawn with the given weights.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::MultinomialPlan;

use crate::engine::random_stream::fill_random;
use crate::engine::sort_select::SortInput;
use crate::prelude::*;

kernel! {
    // SAFETY: weights are packed, the sums have an element for each of them and for each piece, and a search ends inside of its row.
    static MULTINOMIAL_KERNEL = unsafe { Kernel::new("multinomial", include_str!("../../../kernels/random/multinomial.cu"), |instances| {
        for template in ["sum_within_pieces", "sum_before_pieces", "with_replacement", "without_replacement", "check_weight_sums"] {
            instances.add(template, &[]);
        }
    }) };
}

define_parameters! {
    /// The kernels' `struct WeightRows`: the sizes of the weights' rows and of the pieces that they are summed in.
    struct WeightRows {
        count: i64,
        width: i64,
        piece: i64,
        site: FaultSite,
        fault: DevicePointer,
    }
}

impl WeightRows {
    fn new(weights: &Tensor, launch: Launch) -> Self {
        let width = weights.sizes().last().copied().unwrap_or(1).max(1);
        let count = weights.geometry().count() / width;
        let piece = i64::try_from(MultinomialPlan::SCAN_CHUNK_SIZE).unwrap_or(1);
        Self { count, width, piece, site: fault_site!("aten::multinomial", "self"), fault: launch.fault_record() }
    }

    fn pieces_per_row(&self) -> i64 {
        (self.width - 1) / self.piece + 1
    }
}

#[op_impl(aten::multinomial, CUDA)]
fn multinomial(_plan: &MultinomialPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let weights = contiguous(this, DType::F64)?;
    if replacement {
        return sample_with_replacement(out, &weights, num_samples, generator);
    }
    let positions = sample_without_replacement(&weights, num_samples, generator)?;
    copy_into(out, &positions.restride(Geometry::contiguous(out.sizes()))?)
}

/// Draws with replacement: finds random numbers in the running sums of the weights.
fn sample_with_replacement(
    out: &mut Tensor,
    weights: &Tensor,
    samples: i64,
    generator: Option<&Generator>,
) -> Result<()> {
    fill_random(out, generator, 2, |launch, grid, to, stream| {
        let rows = WeightRows::new(weights, launch);
        let room = |sizes: &[i64]| Spec::contiguous(DType::F64, sizes).on(weights.device());
        let (within, before) = (room(weights.sizes())?, room(&[rows.count, rows.pieces_per_row() + 1])?);
        launch.run_per_element(
            &MULTINOMIAL_KERNEL,
            "sum_within_pieces",
            &[],
            rows.count * rows.pieces_per_row(),
            (weights, &within, rows),
        )?;
        launch.run_per_element(&MULTINOMIAL_KERNEL, "sum_before_pieces", &[], rows.count, (&within, &before, rows))?;
        Ok(launch.run(
            &MULTINOMIAL_KERNEL,
            "with_replacement",
            &[],
            grid,
            (to, stream, &within, &before, samples, rows),
        )?)
    })
}

/// Draws without replacement: each index waits for an exponentially distributed time with its weight as the rate, and the first ones are
/// drawn.
fn sample_without_replacement(weights: &Tensor, samples: i64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut times = Spec::contiguous(DType::F64, weights.sizes()).on(weights.device())?;
    fill_random(&mut times, generator, 2, |launch, grid, to, stream| {
        Ok(launch.run(
            &MULTINOMIAL_KERNEL,
            "without_replacement",
            &[],
            grid,
            (to, stream, weights, WeightRows::new(weights, launch)),
        )?)
    })?;
    let (first, positions) =
        SortInput::along_dim(&times, times.sizes().len().saturating_sub(1), false)?.first_elements(samples)?;
    let launch = Launch::on_device_of(&first)?;
    let rows = WeightRows::new(weights, launch);
    launch.run_per_element(&MULTINOMIAL_KERNEL, "check_weight_sums", &[], rows.count, (&first, samples, rows))?;
    Ok(positions)
}
