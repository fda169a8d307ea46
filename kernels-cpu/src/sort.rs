//! Sorting, and what needs a part of an order.

use dispatch_runtime::{DType, Geometry, Operation, Result, Spec, Tensor, op_impl, operands};

use crate::numbers::usized;
use crate::order::{Entry, First, Order, Ranked, ordered};
use crate::reduce::{computed, kept_sizes, lines, marked};

/// Chooses elements of every line, with their places.
fn choose<O: Operation>(
    [values, indices]: [&mut Tensor; 2],
    this: &Tensor,
    dims: &[bool],
    choice: &impl Choice,
) -> Result<()> {
    let operands = operands!(write values, indices; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(dims, &operands, |_, [line]: [&[T]; 1], [values]: [&mut [T]; 1], [indices]: [&mut [i64]; 1]| {
            ordered!(line, choice.first(), order => choice.choose(&order, line, values, indices));
        });
        Ok(())
    })
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

/// A result, with the dimensions that are gone as dimensions of size 1.
fn kept(out: &Tensor, this: &Tensor, gone: &[bool]) -> Result<Tensor> {
    let sizes = kept_sizes(this.sizes(), gone, true);
    Ok(out.restride(Geometry::contiguous(&sizes).at(out.geometry().offset()))?)
}

/// One element of each line.
fn one<O: Operation>(out: [&mut Tensor; 2], this: &Tensor, dim: usize, choice: &impl Choice) -> Result<()> {
    let dims = marked(this.sizes().len(), dim);
    let [values, indices] = out.map(|out| kept(out, this, &dims));
    choose::<O>([&mut values?, &mut indices?], this, &dims, choice)
}

fn sorted<O: Operation>(out: [&mut Tensor; 2], this: &Tensor, dim: usize, descending: bool) -> Result<()> {
    let first = if descending { First::Largest } else { First::Smallest };
    choose::<O>(out, this, &marked(this.sizes().len(), dim), &InOrder(first))
}

#[op_impl(aten::sort, CPU)]
fn sort(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, descending: bool) -> Result<()> {
    sorted::<aten::sort>(out, this, *plan, descending)
}

#[op_impl(aten::sort_stable, CPU)]
fn sort_stable(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, descending: bool) -> Result<()> {
    sorted::<aten::sort_stable>(out, this, *plan, descending)
}

#[op_impl(aten::topk, CPU)]
fn topk(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, largest: bool) -> Result<()> {
    sorted::<aten::topk>(out, this, *plan, largest)
}

#[op_impl(aten::kthvalue, CPU)]
fn kthvalue(plan: &usize, out: [&mut Tensor; 2], this: &Tensor, k: i64) -> Result<()> {
    one::<aten::kthvalue>(out, this, *plan, &Nth { nth: usized(k - 1) })
}

/// The median of all elements; of none, what is not a number.
fn median_of_all<O: Operation>(out: &mut Tensor, this: &Tensor, of_numbers: bool) -> Result<()> {
    if this.geometry().count() == 0 {
        return aten::copy_(out, &Tensor::number(f64::NAN.into()), false);
    }
    let dims = vec![true; this.sizes().len()];
    let mut values = kept(out, this, &dims)?;
    let mut indices = Spec::contiguous(DType::I64, values.sizes()).on(this.device())?;
    choose::<O>([&mut values, &mut indices], this, &dims, &Median { of_numbers })
}

#[op_impl(aten::median, CPU)]
fn median(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    median_of_all::<aten::median>(out, this, false)
}

#[op_impl(aten::nanmedian, CPU)]
fn nanmedian(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    median_of_all::<aten::nanmedian>(out, this, true)
}

#[op_impl(aten::median_dim, CPU)]
fn median_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    one::<aten::median_dim>(out, this, *plan, &Median { of_numbers: false })
}

#[op_impl(aten::nanmedian_dim, CPU)]
fn nanmedian_dim(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    one::<aten::nanmedian_dim>(out, this, *plan, &Median { of_numbers: true })
}

#[op_impl(aten::mode, CPU)]
fn mode(plan: &usize, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    one::<aten::mode>(out, this, *plan, &Mode)
}
