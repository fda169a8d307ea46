//! The CPU kernel of `nms`.

use std::cmp::Ordering;

use dispatch_runtime::prelude::*;

use crate::nms;

#[op_impl(nms, CPU, dtypes(floating))]
fn nms_cpu<T: Floating>(_plan: &(), dets: &Tensor, scores: &Tensor, iou_threshold: f64) -> Result<Tensor> {
    let (edges, scores) = (dets.to_vec::<T>()?, scores.to_vec::<T>()?);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| compare_scores(scores[b], scores[a]));
    let boxes = SortedBoxes::new(&edges, &order);
    let mut is_removed = vec![false; order.len()];
    let mut kept = Vec::new();
    for (at, &index) in order.iter().enumerate() {
        if !is_removed[at] {
            kept.push(i64::try_from(index).unwrap_or(i64::MAX));
            boxes.remove_overlapping(at, iou_threshold, &mut is_removed);
        }
    }
    Ok(Tensor::from_slice(&kept))
}

/// Compares scores; NaN is the largest.
fn compare_scores<T: Floating>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.to_f64().is_nan().cmp(&b.to_f64().is_nan()))
}

/// The boxes in the order of their scores, with a list for each edge, so that the loop over boxes becomes vector instructions.
struct SortedBoxes<T> {
    left: Vec<T>,
    upper: Vec<T>,
    right: Vec<T>,
    lower: Vec<T>,
    area: Vec<T>,
}

impl<T: Floating> SortedBoxes<T> {
    fn new(edges: &[T], order: &[usize]) -> Self {
        let edge = |at: usize| order.iter().map(|&index| edges[4 * index + at]).collect::<Vec<T>>();
        let [left, upper, right, lower] = [0, 1, 2, 3].map(edge);
        let area = (0..order.len()).map(|i| (right[i] - left[i]) * (lower[i] - upper[i])).collect();
        Self { left, upper, right, lower, area }
    }

    /// Removes the boxes after box `at` whose overlap with it is above the threshold.
    fn remove_overlapping(&self, at: usize, threshold: f64, is_removed: &mut [bool]) {
        let (left, upper, right, lower) = (self.left[at], self.upper[at], self.right[at], self.lower[at]);
        let later = at + 1..is_removed.len();
        let others = self.left[later.clone()].iter().zip(&self.upper[later.clone()]);
        let others = others.zip(self.right[later.clone()].iter().zip(&self.lower[later.clone()]));
        let others = others.zip(&self.area[later.clone()]).zip(&mut is_removed[later]);
        for ((((&other_left, &other_upper), (&other_right, &other_lower)), &area), is_removed) in others {
            let width = max(T::ZERO, min(right, other_right) - max(left, other_left));
            let height = max(T::ZERO, min(lower, other_lower) - max(upper, other_upper));
            let intersection = width * height;
            let overlap = intersection / (self.area[at] + area - intersection);
            *is_removed |= overlap.to_f64() > threshold;
        }
    }
}

/// The larger number, or the first if one is NaN.
fn max<T: Floating>(a: T, b: T) -> T {
    if a < b { b } else { a }
}

/// The smaller number, or the first if one is NaN.
fn min<T: Floating>(a: T, b: T) -> T {
    if b < a { b } else { a }
}
