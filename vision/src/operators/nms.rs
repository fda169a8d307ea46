//! `nms`: non-maximum suppression.

use dispatch_runtime::{BadArgument, prelude::*};

use crate::checks::{check_floating, check_rank, check_same_kind, check_sizes};

/// Non-maximum suppression: the indices of the boxes that remain if each box removes those that overlap it and have a lower score.
///
/// A row of `dets` is a box: its left, upper, right and lower edge. Two boxes overlap if the area of their intersection, divided by that of
/// their union, is above `iou_threshold`. The indices are in the order of descending scores; boxes with equal scores keep their order.
///
/// ```
/// use dispatch_vision::nms;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let boxes = Tensor::from([[0.0, 0.0, 10.0, 10.0], [1.0, 0.0, 11.0, 10.0], [20.0, 0.0, 30.0, 10.0]]);
/// let kept = nms(&boxes, &Tensor::from([0.8, 0.9, 0.3]), 0.5)?;
/// assert_eq!(kept.to_vec::<i64>()?, [1, 2]);
/// # Ok(())
/// # }
/// ```
#[op_def("torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", data_dependent, plan)]
pub fn nms(_: ...) -> Result<Tensor>;

#[op_plan(nms)]
fn nms_plan(dets: &Tensor, scores: &Tensor) -> Result<Plan<(), 0>, BadArgument> {
    let [count, edges] = check_rank("dets", dets)?;
    if edges != 4 {
        return Err(BadArgument::size("dets", dets.sizes(), 1, 4));
    }
    check_floating("dets", dets)?;
    check_same_kind("scores", scores, ("dets", dets))?;
    check_sizes("scores", scores, &[count], "there is one score for each row of `dets`")?;
    Ok(Plan::without_outputs(()))
}
