//! Sorting, and what needs a part of an order.
//!
//! Elements travel together with their places. What is not a number comes after all numbers.

use std::cmp::Ordering;

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, op_impl, operands, wrap_dim};

use crate::reduce::{computed, dropped, kept_sizes, lines, marked};
use crate::reduction::extremes::Ordered;

/// An element and where it is.
type Placed<T> = (T, i64);

fn order<T: Ordered>(a: &Placed<T>, b: &Placed<T>) -> Ordering {
    a.0.partial_cmp(&b.0).unwrap_or_else(|| a.0.is_none().cmp(&b.0.is_none()))
}

/// The order with ties broken by place, so that no stable algorithm is needed.
fn total_order<T: Ordered>(a: &Placed<T>, b: &Placed<T>) -> Ordering {
    order(a, b).then(a.1.cmp(&b.1))
}

fn placed<T: Ordered>(line: &[T]) -> Vec<Placed<T>> {
    line.iter().copied().zip(0..).collect()
}

fn dims(this: &Tensor, dim: i64) -> Result<Vec<bool>> {
    let rank = this.sizes().len();
    Ok(marked(rank, wrap_dim("dim", dim, rank)?))
}

/// Chooses elements of every line, with their places, into results of these sizes.
fn choose<O: Operation>(this: &Tensor, dims: &[bool], spec: Spec, choice: &impl Choice) -> Result<(Tensor, Tensor)> {
    let mut indices = Spec { dtype: DType::I64, ..spec.clone() }.on(this.device())?;
    let mut values = spec.on(this.device())?;
    let operands = operands!(write values, indices; read this)?;
    let ([first, second], [from]) = (operands.written(), operands.read());
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(dims, [from], [first], [second], |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            choice.choose(&mut placed(line), values.len(), &mut |i, (value, at)| {
                values[i] = value;
                indices[i] = at;
            });
        });
        Ok(())
    })?;
    drop(operands);
    Ok((values, indices))
}

/// Which elements of a line are wanted, and in which order.
trait Choice: Sync {
    fn choose<T: Ordered>(&self, line: &mut [Placed<T>], wanted: usize, give: &mut dyn FnMut(usize, Placed<T>));
}

/// All of them, in order, as far as they are wanted.
struct InOrder {
    descending: bool,
}

impl Choice for InOrder {
    fn choose<T: Ordered>(&self, line: &mut [Placed<T>], wanted: usize, give: &mut dyn FnMut(usize, Placed<T>)) {
        let compare = |a: &Placed<T>, b: &Placed<T>| {
            if self.descending { order(b, a).then(a.1.cmp(&b.1)) } else { total_order(a, b) }
        };
        if wanted == 0 {
            return;
        }
        let first =
            if wanted < line.len() { line.select_nth_unstable_by(wanted - 1, compare).0.len() + 1 } else { wanted };
        line[..first].sort_unstable_by(compare);
        for (i, &element) in line.iter().enumerate().take(wanted) {
            give(i, element);
        }
    }
}

/// The element that so many come before.
struct Nth {
    nth: usize,
}

impl Choice for Nth {
    fn choose<T: Ordered>(&self, line: &mut [Placed<T>], _: usize, give: &mut dyn FnMut(usize, Placed<T>)) {
        let (_, &mut nth, _) = line.select_nth_unstable_by(self.nth, total_order);
        give(0, nth);
    }
}

/// The median: the first that is not a number, if there is one and they count.
struct Median {
    of_numbers: bool,
}

impl Choice for Median {
    fn choose<T: Ordered>(&self, line: &mut [Placed<T>], _: usize, give: &mut dyn FnMut(usize, Placed<T>)) {
        let nones = line.iter().filter(|element| element.0.is_none()).count();
        if nones > 0
            && !self.of_numbers
            && let Some(&none) = line.iter().find(|element| element.0.is_none())
        {
            return give(0, none);
        }
        let numbers = line.len() - nones;
        let (_, &mut median, _) = line.select_nth_unstable_by(numbers.saturating_sub(1) / 2, total_order);
        give(0, median);
    }
}

/// The most frequent element.
struct Mode;

impl Choice for Mode {
    fn choose<T: Ordered>(&self, line: &mut [Placed<T>], _: usize, give: &mut dyn FnMut(usize, Placed<T>)) {
        line.sort_unstable_by(total_order);
        let mut best: &[Placed<T>] = &[];
        for run in line.chunk_by(|a, b| order(a, b) == Ordering::Equal) {
            if run.len() > best.len() {
                best = run;
            }
        }
        if let Some(&last) = best.last() {
            give(0, last);
        }
    }
}

/// One element of each line.
fn one<O: Operation>(this: &Tensor, dim: i64, keepdim: bool, choice: &impl Choice) -> Result<(Tensor, Tensor)> {
    aten::extreme_spec(this, &[dim], keepdim)?;
    let dims = dims(this, dim)?;
    let spec = Spec::contiguous(this.dtype(), &kept_sizes(this.sizes(), &dims, true));
    let (values, indices) = choose::<O>(this, &dims, spec, choice)?;
    Ok((dropped(values, &dims, keepdim)?, dropped(indices, &dims, keepdim)?))
}

fn sorted<O: Operation>(this: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    let spec = aten::sort_spec(this, dim)?;
    choose::<O>(this, &dims(this, dim)?, spec, &InOrder { descending })
}

#[op_impl(aten::sort, CPU)]
fn sort(this: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    sorted::<aten::sort>(this, dim, descending)
}

#[op_impl(aten::sort_stable, CPU)]
fn sort_stable(this: &Tensor, _stable: Option<bool>, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    sorted::<aten::sort_stable>(this, dim, descending)
}

#[op_impl(aten::topk, CPU)]
fn topk(this: &Tensor, k: i64, dim: i64, largest: bool, _sorted: bool) -> Result<(Tensor, Tensor)> {
    let spec = aten::topk_spec(this, k, dim)?;
    choose::<aten::topk>(this, &dims(this, dim)?, spec, &InOrder { descending: largest })
}

#[op_impl(aten::kthvalue, CPU)]
fn kthvalue(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    aten::kth_check(this, k, dim)?;
    one::<aten::kthvalue>(this, dim, keepdim, &Nth { nth: usize::try_from(k - 1).unwrap_or(0) })
}

/// The median of all elements; of none, what is not a number.
fn median_of_all<O: Operation>(this: &Tensor, of_numbers: bool) -> Result<Tensor> {
    let dims = vec![true; this.sizes().len()];
    let spec = Spec::contiguous(this.dtype(), &kept_sizes(this.sizes(), &dims, true));
    if this.geometry().count() == 0 {
        let nothing = Tensor::number(f64::NAN.into());
        let mut out = Spec::contiguous(this.dtype(), &[]).on(this.device())?;
        aten::copy_(&mut out, &nothing, false)?;
        return Ok(out);
    }
    dropped(choose::<O>(this, &dims, spec, &Median { of_numbers })?.0, &dims, false)
}

#[op_impl(aten::median, CPU)]
fn median(this: &Tensor) -> Result<Tensor> {
    median_of_all::<aten::median>(this, false)
}

#[op_impl(aten::nanmedian, CPU)]
fn nanmedian(this: &Tensor) -> Result<Tensor> {
    median_of_all::<aten::nanmedian>(this, true)
}

#[op_impl(aten::median_dim, CPU)]
fn median_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    one::<aten::median_dim>(this, dim, keepdim, &Median { of_numbers: false })
}

#[op_impl(aten::nanmedian_dim, CPU)]
fn nanmedian_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    one::<aten::nanmedian_dim>(this, dim, keepdim, &Median { of_numbers: true })
}

#[op_impl(aten::mode, CPU)]
fn mode(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    one::<aten::mode>(this, dim, keepdim, &Mode)
}
