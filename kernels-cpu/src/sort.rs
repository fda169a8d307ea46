//! Sorting, and what needs a part of an order.

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, op_impl, operands, wrap_dim};

use crate::numbers::usized;
use crate::order::{Entry, First, Ranked, entries, foremost, sort as put_in_order, with_entries};
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
    let ([first, second], [from]) = (operands.written(), operands.read());
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(dims, [from], [first], [second], |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            let mut next = values.iter_mut().zip(indices);
            let give = |place: usize| {
                if let Some((value, index)) = next.next() {
                    (*value, *index) = (line[place], i64::try_from(place).unwrap_or(i64::MAX));
                }
            };
            with_entries!(line: T, E => choice.choose::<T, E>(line, give));
        });
        Ok(())
    })?;
    drop(operands);
    Ok((values, indices))
}

/// Which elements of a line are wanted, and in which order: gives their places.
trait Choice: Sync {
    fn choose<T: Ranked, E: Entry>(&self, line: &[T], give: impl FnMut(usize));
}

/// The first so many, in order.
struct InOrder {
    first: First,
    wanted: usize,
}

impl Choice for InOrder {
    fn choose<T: Ranked, E: Entry>(&self, line: &[T], give: impl FnMut(usize)) {
        foremost::<T, E>(line, self.wanted.min(line.len()), self.first).into_iter().map(Entry::place).for_each(give);
    }
}

/// The element that so many come before.
struct Nth {
    nth: usize,
}

impl Choice for Nth {
    fn choose<T: Ranked, E: Entry>(&self, line: &[T], mut give: impl FnMut(usize)) {
        give(entries::<T, E>(line, First::Smallest).select_nth_unstable(self.nth).1.place());
    }
}

/// The median: the first that is not a number, if there is one and they count.
struct Median {
    of_numbers: bool,
}

impl Choice for Median {
    fn choose<T: Ranked, E: Entry>(&self, line: &[T], mut give: impl FnMut(usize)) {
        if !self.of_numbers
            && let Some(place) = line.iter().position(|element| element.is_none())
        {
            return give(place);
        }
        let numbers = line.iter().filter(|element| !element.is_none()).count();
        Nth { nth: numbers.saturating_sub(1) / 2 }.choose::<T, E>(line, give);
    }
}

/// The most frequent element.
struct Mode;

impl Choice for Mode {
    fn choose<T: Ranked, E: Entry>(&self, line: &[T], mut give: impl FnMut(usize)) {
        let mut entries = entries::<T, E>(line, First::Smallest);
        put_in_order(&mut entries);
        let mut best: &[E] = &[];
        for run in entries.chunk_by(|a, b| a.rank() == b.rank()) {
            if run.len() > best.len() {
                best = run;
            }
        }
        if let Some(last) = best.last() {
            give(last.place());
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
    choose::<O>(this, &dims(this, dim)?, spec, &InOrder { first: first(descending), wanted: usize::MAX })
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
    choose::<aten::topk>(this, &dims(this, dim)?, spec, &InOrder { first: first(largest), wanted: usized(k) })
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
