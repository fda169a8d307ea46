//! Steps that make views.

use dispatch_runtime::{Result, Tensor};

use crate::guards::call_while_held;
use crate::model::Model;
use crate::walk::{Mistake, Mistakes, PoolEntry, RandomWalk, dim_index};

const VIEW_OPERATORS: [fn(&mut RandomWalk, &PoolEntry) -> ViewCall; 10] =
    [slice, select, narrow, transpose, permute, expand, view, squeeze, unsqueeze, diagonal];

type ViewFn = Box<dyn FnOnce(&Tensor) -> Result<Tensor>>;

/// A call of a view operator, its mistakes, and the model of its result.
struct ViewCall {
    operator: &'static str,
    call: ViewFn,
    mistakes: Mistakes,
    model: Option<Model>,
}

impl ViewCall {
    fn new(
        operator: &'static str,
        mistakes: Mistakes,
        model: Option<Model>,
        call: impl FnOnce(&Tensor) -> Result<Tensor> + 'static,
    ) -> Self {
        Self { operator, call: Box::new(call), mistakes, model }
    }
}

impl RandomWalk {
    pub(crate) fn view(&mut self) {
        let (base, held) = (self.random_handle(), self.random_guard());
        let ViewCall { operator, call, mistakes, model } = self.random.choose(&VIEW_OPERATORS)(self, &base);
        // A view accesses no element, so a guard does not affect it.
        let result = call_while_held(held.as_ref(), || call(&base.tensor));
        if let (Some(tensor), Some(model)) = (self.check_outcome(operator, &mistakes, result), model) {
            assert!(tensor.storage().same(base.tensor.storage()), "`{operator}` returned a copy");
            self.check_and_add(operator, tensor, model);
        }
    }

    /// Transposes a handle in place.
    pub(crate) fn transpose_in_place(&mut self) {
        let at = self.random_index();
        let rank = self.pool[at].model.rank();
        let (dim0, dim1) = (self.random_dim(rank), self.random_dim(rank));
        let (mistakes, model) = transposed(&self.pool[at].model, dim0, dim1);
        let result = aten::transpose_(&mut self.pool[at].tensor, dim0, dim1);
        if let (Some(()), Some(model)) = (self.check_outcome("aten::transpose_", &mistakes, result), model) {
            self.pool[at].model = model;
            self.check_all();
        }
    }
}

/// Returns the dimension for a view operator, if the tensor has it.
fn checked_dim(mistakes: &mut Mistakes, model: &Model, dim: i64) -> Option<usize> {
    let at = dim_index(dim, model.rank());
    mistakes.add(Mistake::Dim, at.is_none());
    mistakes.add(Mistake::Rank, at.is_some() && model.rank() == 0);
    at.filter(|_| model.rank() > 0)
}

/// Returns a view of `count` positions of a dimension, `step` apart.
fn strided_run(model: &Model, dim: usize, start: usize, count: usize, step: usize) -> Model {
    let mut sizes = model.sizes.clone();
    sizes[dim] = count;
    model.view(&sizes, |at| at.iter().enumerate().map(|(d, &i)| if d == dim { start + i * step } else { i }).collect())
}

fn to_i64(size: usize) -> i64 {
    i64::try_from(size).unwrap()
}

fn slice(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let dim = walk.random_dim(base.model.rank());
    let end = |walk: &mut RandomWalk| (!walk.random.once_in(3)).then(|| walk.random.integer_between(-5, 5));
    let (start, end) = (end(walk), end(walk));
    let step = walk.random.integer_between(1, 3) - 3 * i64::from(walk.random.once_in(20));
    let mut mistakes = Mistakes::default();
    let at = checked_dim(&mut mistakes, &base.model, dim);
    mistakes.add(Mistake::Value, step <= 0);
    let model = at.filter(|_| step > 0).map(|at| {
        let size = to_i64(base.model.sizes[at]);
        let wrap = |place: i64| (if place < 0 { place + size } else { place }).clamp(0, size);
        let first = wrap(start.unwrap_or(0));
        let positions: Vec<i64> = (first..wrap(end.unwrap_or(size))).step_by(usize::try_from(step).unwrap()).collect();
        strided_run(&base.model, at, usize::try_from(first).unwrap(), positions.len(), usize::try_from(step).unwrap())
    });
    ViewCall::new("aten::slice.Tensor", mistakes, model, move |base| aten::slice(base, dim, start, end, step))
}

fn select(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let (dim, place) = (walk.random_dim(base.model.rank()), walk.random.integer_between(-3, 3));
    let mut mistakes = Mistakes::default();
    let at = checked_dim(&mut mistakes, &base.model, dim);
    let model = at.and_then(|at| {
        let size = base.model.sizes[at];
        let chosen = dim_index(place, size).filter(|_| size > 0);
        mistakes.add(Mistake::Index, chosen.is_none());
        let mut sizes = base.model.sizes.clone();
        sizes.remove(at);
        Some(strided_run(&base.model, at, chosen?, 1, 1).reshaped(sizes))
    });
    ViewCall::new("aten::select.int", mistakes, model, move |base| aten::select_int(base, dim, place))
}

fn narrow(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let dim = walk.random_dim(base.model.rank());
    let (start, count) =
        (walk.random.integer_between(-4, 4), walk.random.integer_between(0, 4) - i64::from(walk.random.once_in(12)));
    let mut mistakes = Mistakes::default();
    let at = checked_dim(&mut mistakes, &base.model, dim);
    let model = at.and_then(|at| {
        let size = to_i64(base.model.sizes[at]);
        let first = if start < 0 { start + size } else { start };
        let is_inside = (0..=size).contains(&first);
        mistakes.add(Mistake::Index, !is_inside);
        mistakes.add(Mistake::Value, count < 0 || (is_inside && first + count > size));
        let fits = is_inside && count >= 0 && first + count <= size;
        fits.then(|| strided_run(&base.model, at, usize::try_from(first).unwrap(), usize::try_from(count).unwrap(), 1))
    });
    mistakes.add_possible(Mistake::Value, count < 0);
    ViewCall::new("aten::narrow", mistakes, model, move |base| aten::narrow(base, dim, start, count))
}

fn transpose(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let (dim0, dim1) = (walk.random_dim(base.model.rank()), walk.random_dim(base.model.rank()));
    let (mistakes, model) = transposed(&base.model, dim0, dim1);
    ViewCall::new("aten::transpose.int", mistakes, model, move |base| aten::transpose_int(base, dim0, dim1))
}

fn transposed(model: &Model, dim0: i64, dim1: i64) -> (Mistakes, Option<Model>) {
    let mut mistakes = Mistakes::default();
    let pair = dim_index(dim0, model.rank()).zip(dim_index(dim1, model.rank()));
    mistakes.add(Mistake::Dim, pair.is_none());
    let turned = pair.map(|(a, b)| {
        let mut order: Vec<usize> = (0..model.rank()).collect();
        if model.rank() > 0 {
            order.swap(a, b);
        }
        reordered(model, &order)
    });
    (mistakes, turned)
}

fn reordered(model: &Model, order: &[usize]) -> Model {
    let sizes: Vec<usize> = order.iter().map(|&dim| model.sizes[dim]).collect();
    model.view(&sizes, |at| {
        let mut from = vec![0; at.len()];
        order.iter().zip(at).for_each(|(&dim, &i)| from[dim] = i);
        from
    })
}

fn permute(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let rank = base.model.rank();
    let mut order: Vec<usize> = (0..rank).collect();
    (1..rank).for_each(|i| order.swap(i, walk.random.below(i + 1)));
    let mut dims: Vec<i64> = order.iter().map(|&dim| to_i64(dim)).collect();
    let mut mistakes = Mistakes::default();
    match walk.random.below(30) {
        0 => {
            dims.push(0);
            mistakes.add(Mistake::Sizes, true);
        }
        1 if rank > 0 => {
            dims[0] = to_i64(rank);
            mistakes.add(Mistake::Dim, true);
        }
        2 if rank > 1 => {
            dims[0] = dims[1] - to_i64(rank);
            mistakes.add(Mistake::RepeatedDim, true);
        }
        3.. if rank > 0 => dims[0] -= to_i64(rank),
        _ => {}
    }
    let model = Some(reordered(&base.model, &order));
    ViewCall::new("aten::permute", mistakes, model, move |base| aten::permute(base, &dims))
}

fn expand(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let new = walk.random.below(2);
    let mut sizes = vec![0; new].iter().map(|_: &usize| walk.random.below(4)).collect::<Vec<_>>();
    sizes.extend(base.model.sizes.iter().map(|&size| if size == 1 { walk.random.below(4) } else { size }));
    let mut mistakes = Mistakes::default();
    let mut list: Vec<i64> = sizes.iter().map(|&size| to_i64(size)).collect();
    if let Some(last) = list.last_mut().filter(|_| new < sizes.len() && walk.random.once_in(20)) {
        *last += 1;
        mistakes.add(Mistake::Sizes, base.model.sizes.last() != Some(&1));
        sizes.last_mut().into_iter().for_each(|last| *last += 1);
    }
    let fits = base.model.sizes.iter().rev().zip(sizes.iter().rev()).all(|(&own, &size)| own == size || own == 1);
    let model = fits.then(|| base.model.broadcast_to(&sizes));
    ViewCall::new("aten::expand", mistakes, model, move |base| aten::expand(base, &list, false))
}

fn view(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let count = base.model.positions.len();
    let mut sizes: Vec<usize> = Vec::new();
    let mut rest = count;
    while rest > 1 {
        let divisors: Vec<usize> = (2..=rest).filter(|size| rest.is_multiple_of(*size)).collect();
        sizes.push(walk.random.choose(&divisors));
        rest /= sizes.last().unwrap();
    }
    if count != 1 || walk.random.once_in(2) {
        sizes.insert(walk.random.below(sizes.len() + 1), usize::from(count != 0));
    }
    let mut list: Vec<i64> = sizes.iter().map(|&size| to_i64(size)).collect();
    let mut mistakes = Mistakes::default();
    if walk.random.once_in(3) && !list.is_empty() {
        let at = walk.random.below(list.len());
        list[at] = -1;
        mistakes.add(Mistake::Sizes, count == 0 && list.len() > 1 && list.contains(&0));
    } else if walk.random.once_in(20) {
        list.push(walk.random.choose(&[2, 3, -2]));
        mistakes.add(Mistake::Sizes, count > 0 || list.contains(&-2));
        sizes.push(usize::try_from(list[list.len() - 1]).unwrap_or(1));
    }
    // The strides decide whether such a view exists.
    mistakes.add_possible(Mistake::Sizes, !base.tensor.geometry().is_contiguous());
    let model = base.model.reshaped(sizes);
    ViewCall::new("aten::view", mistakes, Some(model), move |base| aten::view(base, &list))
}

fn squeeze(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let rank = base.model.rank();
    let dim = (!walk.random.once_in(2)).then(|| walk.random_dim(rank));
    let mut mistakes = Mistakes::default();
    let at = dim.and_then(|dim| dim_index(dim, rank));
    mistakes.add(Mistake::Dim, dim.is_some() && at.is_none());
    let sizes = base.model.sizes.iter().enumerate();
    let kept = sizes.filter(|&(d, &size)| size != 1 || (dim.is_some() && at != Some(d))).map(|(_, &size)| size);
    let model = Some(base.model.reshaped(kept.collect()));
    match dim {
        Some(dim) => ViewCall::new("aten::squeeze.dim", mistakes, model, move |base| aten::squeeze_dim(base, dim)),
        None => ViewCall::new("aten::squeeze", mistakes, model, aten::squeeze),
    }
}

fn unsqueeze(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let rank = base.model.rank() + 1;
    let dim = walk.random_dim(rank);
    let mut mistakes = Mistakes::default();
    let at = dim_index(dim, rank);
    mistakes.add(Mistake::Dim, at.is_none());
    let mut sizes = base.model.sizes.clone();
    sizes.insert(at.unwrap_or(0), 1);
    let model = Some(base.model.reshaped(sizes));
    ViewCall::new("aten::unsqueeze", mistakes, model, move |base| aten::unsqueeze(base, dim))
}

fn diagonal(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let (model, rank) = (&base.model, base.model.rank());
    let (dim1, dim2, offset) = (walk.random_dim(rank), walk.random_dim(rank), walk.random.integer_between(-2, 2));
    let mut mistakes = Mistakes::default();
    let pair = dim_index(dim1, rank).zip(dim_index(dim2, rank));
    mistakes.add(Mistake::Dim, pair.is_none());
    mistakes.add(Mistake::RepeatedDim, pair.is_some_and(|(a, b)| a == b));
    let shown = pair.filter(|(a, b)| a != b).map(|(a, b)| {
        let (down, right) = (usize::try_from(-offset).unwrap_or(0), usize::try_from(offset).unwrap_or(0));
        let count = model.sizes[a].saturating_sub(down).min(model.sizes[b].saturating_sub(right));
        let others: Vec<usize> = (0..rank).filter(|&dim| dim != a && dim != b).collect();
        let mut sizes: Vec<usize> = others.iter().map(|&dim| model.sizes[dim]).collect();
        sizes.push(count);
        model.view(&sizes, |at| {
            let mut from = vec![0; rank];
            others.iter().zip(at).for_each(|(&dim, &i)| from[dim] = i);
            (from[a], from[b]) = (at[at.len() - 1] + down, at[at.len() - 1] + right);
            from
        })
    });
    ViewCall::new("aten::diagonal", mistakes, shown, move |base| aten::diagonal(base, offset, dim1, dim2))
}
