//! Sorting, and what needs a part of an order.

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, op_impl, operands, wrap_dim};

use crate::numbers::usized;
use crate::order::{Entry, First, Order, Ranked, ordered};
use crate::reduce::{computed, dropped, kept_sizes, lines, marked};

fn dims(this: &Tensor, dim: i64) -> Result<Vec<bool>> {
    let rank = this.sizes().len();
    Ok(marked(rank, wrap_dim("dim", dim, rank)?))
}

/// Chooses elements of every line, with their places, into results of these sizes.
fn choose<O: Operation>(this: &Tensor, dims: &[bool], spec: Spec, choice: &impl Choice) -> Result<(Tensor, Tensor)> {
    let mut indices = Spec { dtype: DType::I64, ..spec.clone() }.on(this.device())?;
    let mut values = spec.on(this.device())?;
    let operands = operands!(write values, indices; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(dims, &operands, |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            ordered!(line, choice.first(), order => choice.choose(&order, line, values, indices));
        });
        Ok(())
    })?;
    drop(operands);
    Ok((values, indices))
}

/// Which elements of a line are wanted, and in which order.
trait Choice: Sync {
    fn first(&self) -> First {
        First::Smallest
    }

    fn choose<T: Ranked, E: Entry>(&self, order: &Order<T, E>, line: &[T], values: &mut [T], places: &mut [i64]);
}

/// Gives the element at a place, and the place.
fn give<T: Ranked>(line: &[T], at: usize, values: &mut [T], places: &mut [i64]) {
    values[0] = line[at];
    places[0] = i64::try_from(at).unwrap_or(i64::MAX);
}

/// As many as there is room for, in order.
struct InOrder(First);

impl Choice for InOrder {
    fn first(&self) -> First {
        self.0
    }

    fn choose<T: Ranked, E: Entry>(&self, order: &Order<T, E>, line: &[T], values: &mut [T], places: &mut [i64]) {
        if values.len() == line.len() {
            return order.sorted(line, values, places);
        }
        for (i, entry) in order.foremost(line, values.len()).into_iter().enumerate() {
            give(line, order.place(entry), &mut values[i..], &mut places[i..]);
        }
    }
}

/// The element that so many come before.
struct Nth {
    nth: usize,
}

impl Choice for Nth {
    fn choose<T: Ranked, E: Entry>(&self, order: &Order<T, E>, line: &[T], values: &mut [T], places: &mut [i64]) {
        let mut entries = order.entries(line);
        let (_, &mut nth, _) = entries.select_nth_unstable(self.nth);
        give(line, order.place(nth), values, places);
    }
}

/// The median: the first that is not a number, if there is one and they count.
struct Median {
    of_numbers: bool,
}

impl Choice for Median {
    fn choose<T: Ranked, E: Entry>(&self, order: &Order<T, E>, line: &[T], values: &mut [T], places: &mut [i64]) {
        if !self.of_numbers
            && let Some(place) = line.iter().position(|element| element.is_none())
        {
            return give(line, place, values, places);
        }
        let numbers = line.iter().filter(|element| !element.is_none()).count();
        Nth { nth: numbers.saturating_sub(1) / 2 }.choose(order, line, values, places);
    }
}

/// The most frequent element.
struct Mode;

impl Choice for Mode {
    fn choose<T: Ranked, E: Entry>(&self, order: &Order<T, E>, line: &[T], values: &mut [T], places: &mut [i64]) {
        let mut entries = order.entries(line);
        order.sort(&mut entries);
        let mut best: &[E] = &[];
        for run in entries.chunk_by(|&a, &b| order.same(a, b)) {
            if run.len() > best.len() {
                best = run;
            }
        }
        if let Some(&last) = best.last() {
            give(line, order.place(last), values, places);
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
    choose::<O>(this, &dims(this, dim)?, spec, &InOrder(first(descending)))
}

fn first(descending: bool) -> First {
    if descending { First::Largest } else { First::Smallest }
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
    choose::<aten::topk>(this, &dims(this, dim)?, spec, &InOrder(first(largest)))
}

#[op_impl(aten::kthvalue, CPU)]
fn kthvalue(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    aten::kth_check(this, k, dim)?;
    one::<aten::kthvalue>(this, dim, keepdim, &Nth { nth: usized(k - 1) })
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
