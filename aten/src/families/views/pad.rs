//! Padding: borders around tensors, constant, mirrored, repeated or circular.
//!
//! Paddings come in pairs (before, after), starting with the last dimension. A negative padding removes elements.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Expected};

use crate::image_spec_like;

/// Pads the tensor with a constant.
#[op_def(
    "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn constant_pad_nd(this: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    let rank = this.sizes().len();
    if !pad.len().is_multiple_of(2) || pad.len() > 2 * rank {
        return Err(
            BadArgument::sizes("pad", pad, format!("at most {rank} pairs of numbers, one for each dimension")).into()
        );
    }
    let mut inside = this.clone();
    let mut sizes = Dims::from_slice(this.sizes());
    for (dim, before, after) in dim_paddings(pad, rank) {
        sizes[dim] = padded_size(pad, sizes[dim], before, after)?;
        let cut = (-before).max(0);
        let length = this.sizes()[dim] - cut - (-after).max(0);
        inside = crate::narrow(&inside, dim_to_i64(dim), cut, length.max(0))?;
    }
    if pad.iter().all(|&pad| pad <= 0) {
        return crate::clone(&inside, None);
    }
    let geometry = image_spec_like(this, &sizes).geometry;
    let (sizes, strides) = (geometry.sizes(), geometry.strides());
    let mut result = crate::empty_strided(sizes, strides, Some(this.dtype()), None, Some(this.device()), None)?;
    crate::fill__scalar(&mut result, value)?;
    let mut target = result.clone();
    for (dim, before, _) in dim_paddings(pad, rank) {
        target = crate::narrow(&target, dim_to_i64(dim), before.max(0), inside.sizes()[dim])?;
    }
    crate::copy_(&mut target, &inside, false)?;
    Ok(result)
}

/// Returns each padded dimension, with the numbers of elements to add before and after it.
fn dim_paddings(pad: &[i64], rank: usize) -> impl Iterator<Item = (usize, i64, i64)> {
    pad.chunks_exact(2).enumerate().map(move |(i, pair)| (rank - 1 - i, pair[0], pair[1]))
}

fn dim_to_i64(dim: usize) -> i64 {
    i64::try_from(dim).unwrap_or(0)
}

/// Returns the size of a dimension with its paddings.
fn padded_size(pad: &[i64], size: i64, before: i64, after: i64) -> Result<i64, BadArgument> {
    let padded = size.checked_add(before).and_then(|sum| sum.checked_add(after));
    let cut = size.checked_add(before.min(0)).and_then(|sum| sum.checked_add(after.min(0)));
    match (padded, cut) {
        (Some(padded), Some(0..)) => Ok(padded),
        _ => Err(BadArgument::sizes(
            "pad",
            pad,
            format!("numbers that remove at most {size} elements, the size of a dimension"),
        )),
    }
}

/// The values of the elements in a border.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Border {
    /// The mirror image at the outermost element, which is not repeated.
    Reflect,
    /// The outermost element, repeated.
    Replicate,
}

impl Border {
    /// Returns for each index of a padded dimension the index of the element that it repeats.
    #[must_use]
    pub fn source_indices(self, size: i64, before: i64, after: i64) -> Vec<i64> {
        let index = |at: i64| match self {
            Self::Reflect => {
                let from_start = at.abs();
                if from_start < size { from_start } else { 2 * (size - 1) - from_start }
            }
            Self::Replicate => at.clamp(0, size - 1),
        };
        // The sum does not overflow, but an intermediate sum may.
        let count = size.wrapping_add(before).wrapping_add(after);
        (0..count).map(|at| index(at.saturating_sub(before))).collect()
    }
}

/// The plan of a padding.
pub struct BorderPadPlan {
    /// The number of padded dimensions, which are the last ones.
    pub dim_count: usize,
    /// The values of the elements in the border.
    pub border: Border,
}

/// Plans an operator that pads the last `count` dimensions.
pub(crate) fn border_pad_plan(
    this: &Tensor,
    padding: &[i64],
    count: usize,
    border: Border,
) -> Result<Plan<BorderPadPlan>, BadArgument> {
    let rank = this.sizes().len();
    if padding.len() != 2 * count {
        return Err(BadArgument::length("padding", padding.len(), 2 * count));
    }
    if rank != count + 1 && rank != count + 2 {
        return Err(BadArgument::rank("self", rank, count + 1..=count + 2));
    }
    let batched = usize::from(rank == count + 2);
    if this.sizes()[batched..].contains(&0) {
        return Err(BadArgument::sizes("self", this.sizes(), "no dimension of size 0, except the batch dimension"));
    }
    let mut sizes = Dims::from_slice(this.sizes());
    for (dim, before, after) in dim_paddings(padding, rank) {
        let size = sizes[dim];
        if border == Border::Reflect && (before >= size || after >= size) {
            return Err(BadArgument::number("padding", before.max(after), Expected::Below(size.into()))
                .because("a dimension has this size"));
        }
        sizes[dim] = match size.checked_add(before).and_then(|sum| sum.checked_add(after)) {
            Some(padded) if padded > 0 => padded,
            _ => return Err(BadArgument::sizes("padding", padding, "numbers that leave elements in each dimension")),
        };
    }
    Ok(Plan::new(BorderPadPlan { dim_count: count, border }, [image_spec_like(this, &sizes)]))
}

/// Plans the gradient of an operator that pads the last `count` dimensions.
pub(crate) fn border_pad_backward_plan(
    grad_output: &Tensor,
    this: &Tensor,
    padding: &[i64],
    count: usize,
    border: Border,
) -> Result<Plan<BorderPadPlan>, BadArgument> {
    let Plan { value, outputs: [padded] } = border_pad_plan(this, padding, count, border)?;
    if grad_output.sizes() != padded.geometry.sizes() {
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), padded.geometry.sizes())
            .because("the padded tensor has"));
    }
    if grad_output.dtype() != this.dtype() {
        return Err(BadArgument::dtype("grad_output", grad_output.dtype(), this.dtype()).like("self"));
    }
    Ok(Plan::new(value, [image_spec_like(this, this.sizes())]))
}

/// Pads the tensor, in one of the modes `constant`, `reflect`, `replicate` and `circular`.
#[op_def("pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor")]
pub fn pad(this: &Tensor, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
    let number = PADDING_MODES.iter().position(|known| *known == mode);
    match number {
        Some(number) => pad_in_mode(this, pad, number, value),
        None => Err(BadArgument::keyword("mode", mode, &["constant", "reflect", "replicate", "circular"]).into()),
    }
}

/// Computes [`pad()`], with PyTorch's number of the mode.
#[op_def("_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor")]
pub fn _pad_enum(this: &Tensor, pad: &[i64], mode: i64, value: Option<f64>) -> Result<Tensor> {
    match usize::try_from(mode) {
        Ok(mode) if mode < PADDING_MODES.len() => pad_in_mode(this, pad, mode, value),
        _ => Err(BadArgument::number("mode", mode, 0..=3).into()),
    }
}

/// The padding modes, in the order of PyTorch's numbers.
const PADDING_MODES: [&str; 4] = ["reflect", "replicate", "circular", "constant"];

fn pad_in_mode(this: &Tensor, pad: &[i64], mode: usize, value: Option<f64>) -> Result<Tensor> {
    if PADDING_MODES[mode] == "constant" {
        return constant_pad_nd(this, pad, value.unwrap_or(0.0).into());
    }
    if value.is_some_and(|value| value != 0.0) {
        return Err(BadArgument::number("value", value.unwrap_or(0.0), 0)
            .because("only the mode `constant` takes a value")
            .into());
    }
    match (PADDING_MODES[mode], pad.len()) {
        ("reflect", 2) => reflection_pad1d(this, pad),
        ("reflect", 4) => reflection_pad2d(this, pad),
        ("reflect", 6) => reflection_pad3d(this, pad),
        ("replicate", 2) => replication_pad1d(this, pad),
        ("replicate", 4) => replication_pad2d(this, pad),
        ("replicate", 6) => replication_pad3d(this, pad),
        ("circular", 2 | 4 | 6) => _pad_circular(this, pad),
        _ => Err(BadArgument::length("pad", pad.len(), &[2, 4, 6])
            .because("the mode pads one, two or three dimensions")
            .into()),
    }
}

/// Pads the tensor periodically: the border continues at the opposite end.
#[op_def("_pad_circular(Tensor self, SymInt[] pad) -> Tensor")]
pub fn _pad_circular(this: &Tensor, pad: &[i64]) -> Result<Tensor> {
    let (rank, count) = (this.sizes().len(), pad.len() / 2);
    if !pad.len().is_multiple_of(2) || (rank != count + 1 && rank != count + 2) {
        let expected =
            format!("{} or {} numbers, as `self` has {rank} dimensions", 2 * rank.max(2) - 4, 2 * rank.max(1) - 2);
        return Err(BadArgument::sizes("pad", pad, expected).into());
    }
    let mut padded = this.clone();
    for (dim, before, after) in dim_paddings(pad, rank) {
        let size = this.sizes()[dim];
        if before > size || after > size {
            return Err(BadArgument::number("pad", before.max(after), ..=size)
                .because("a dimension has this size")
                .into());
        }
        padded_size(pad, size, before, after)?;
        let (at, cut) = (dim_to_i64(dim), (-before).max(0));
        let inside = crate::narrow(&padded, at, cut, size - cut - (-after).max(0))?;
        let left = inside.sizes()[dim];
        let (before, after) = (before.max(0), after.max(0));
        if before > left || after > left {
            return Err(BadArgument::number("pad", before.max(after), ..=left)
                .because("no more elements remain after the other side was cut")
                .into());
        }
        let (tail, head) = (crate::narrow(&inside, at, left - before, before)?, crate::narrow(&inside, at, 0, after)?);
        padded = crate::cat(&[tail, inside, head], at)?;
    }
    Ok(padded)
}

macro_rules! define_border_pads {
    ($(#[doc = $doc:literal] $name:ident $plan:ident $schema:literal, $backward:ident $backward_plan:ident $backward_schema:literal:
        $count:literal $border:ident;)*) => {$(
        #[doc = $doc]
        #[op_def($schema, plan, out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        #[op_plan($name)]
        fn $plan(this: &Tensor, padding: &[i64]) -> Result<Plan<BorderPadPlan>, BadArgument> {
            border_pad_plan(this, padding, $count, Border::$border)
        }

        #[doc = concat!("The gradient of [`", stringify!($name), "`].")]
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        #[op_plan($backward)]
        fn $backward_plan(_: ...) -> Result<Plan<BorderPadPlan>, BadArgument> {
            border_pad_backward_plan(grad_output, this, padding, $count, Border::$border)
        }
    )*};
}

define_border_pads! {
    /// Pads rows by reflection at the outermost elements.
    reflection_pad1d reflection_pad1d_plan "reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
    reflection_pad1d_backward reflection_pad1d_backward_plan "reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor": 1 Reflect;
    /// Pads images by reflection at the outermost elements.
    reflection_pad2d reflection_pad2d_plan "reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
    reflection_pad2d_backward reflection_pad2d_backward_plan "reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor": 2 Reflect;
    /// Pads volumes by reflection at the outermost elements.
    reflection_pad3d reflection_pad3d_plan "reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
    reflection_pad3d_backward reflection_pad3d_backward_plan "reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor": 3 Reflect;
    /// Pads rows by repetition of the outermost elements.
    replication_pad1d replication_pad1d_plan "replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
    replication_pad1d_backward replication_pad1d_backward_plan "replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor": 1 Replicate;
    /// Pads images by repetition of the outermost elements.
    replication_pad2d replication_pad2d_plan "replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
    replication_pad2d_backward replication_pad2d_backward_plan "replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor": 2 Replicate;
    /// Pads volumes by repetition of the outermost elements.
    replication_pad3d replication_pad3d_plan "replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
    replication_pad3d_backward replication_pad3d_backward_plan "replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor": 3 Replicate;
}
