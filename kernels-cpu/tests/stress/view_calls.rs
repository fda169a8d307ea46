//! Random calls that make views.

use dispatch_runtime::{Result, Tensor};

use crate::held_borrows::call_while_borrowed;
use crate::model::TensorModel;
use crate::walk::{CallMistake, CallMistakes, PoolEntry, RandomWalk, dim_index};

const VIEW_OPERATORS: [fn(&mut RandomWalk, &PoolEntry) -> ViewCall; 10] = [
    call_slice,
    call_select,
    call_narrow,
    call_transpose,
    call_permute,
    call_expand,
    call_view,
    call_squeeze,
    call_unsqueeze,
    call_diagonal,
];

type CallViewFn = Box<dyn FnOnce(&Tensor) -> Result<Tensor>>;

/// A call of a view operator, its mistakes, and the model of its result.
struct ViewCall {
    operator: &'static str,
    call: CallViewFn,
    mistakes: CallMistakes,
    model: Option<TensorModel>,
}

impl ViewCall {
    fn new(
        operator: &'static str,
        mistakes: CallMistakes,
        model: Option<TensorModel>,
        call: impl FnOnce(&Tensor) -> Result<Tensor> + 'static,
    ) -> Self {
        Self { operator, call: Box::new(call), mistakes, model }
    }
}

impl RandomWalk {
    pub(crate) fn call_view_operator(&mut self) {
        let (base, held) = (self.random_handle(), self.random_borrow());
        let ViewCall { operator, call, mistakes, model } = self.random.choose_from(&VIEW_OPERATORS)(self, &base);
        // A view accesses no element, so a guard does not affect it.
        let result = call_while_borrowed(held.as_ref(), || call(&base.tensor));
        if let (Some(tensor), Some(model)) = (self.check_outcome(operator, &mistakes, result), model) {
            assert!(tensor.storage().same(base.tensor.storage()), "`{operator}` returned a copy");
            self.check_and_add_to_pool(operator, tensor, model);
        }
    }

    /// Transposes a tensor of the pool in place.
    pub(crate) fn transpose_in_place(&mut self) {
        let at = self.random_pool_index();
        let rank = self.pool[at].model.rank();
        let (dim0, dim1) = (self.random_dim(rank), self.random_dim(rank));
        let (mistakes, model) = model_of_transpose(&self.pool[at].model, dim0, dim1);
        let result = aten::transpose_(&mut self.pool[at].tensor, dim0, dim1);
        if let (Some(()), Some(model)) = (self.check_outcome("aten::transpose_", &mistakes, result), model) {
            self.pool[at].model = model;
            self.check_all_tensors();
        }
    }
}

/// Returns the index of a view operator's dimension. If the tensor does not have it, adds the mistake and returns `None`.
fn dim_index_or_mistake(mistakes: &mut CallMistakes, model: &TensorModel, dim: i64) -> Option<usize> {
    let at = dim_index(dim, model.rank());
    mistakes.add_if(CallMistake::Dim, at.is_none());
    mistakes.add_if(CallMistake::Rank, at.is_some() && model.rank() == 0);
    at.filter(|_| model.rank() > 0)
}

/// Returns a view of `count` positions of a dimension, `step` apart.
fn view_of_strided_positions(model: &TensorModel, dim: usize, start: usize, count: usize, step: usize) -> TensorModel {
    let mut sizes = model.sizes.clone();
    sizes[dim] = count;
    model.view(&sizes, |at| at.iter().enumerate().map(|(d, &i)| if d == dim { start + i * step } else { i }).collect())
}

fn i64_from_usize(size: usize) -> i64 {
    i64::try_from(size).unwrap()
}

fn call_slice(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let dim = walk.random_dim(base.model.rank());
    let end = |walk: &mut RandomWalk| (!walk.random.true_once_in(3)).then(|| walk.random.integer_between(-5, 5));
    let (start, end) = (end(walk), end(walk));
    let step = walk.random.integer_between(1, 3) - 3 * i64::from(walk.random.true_once_in(20));
    let mut mistakes = CallMistakes::default();
    let at = dim_index_or_mistake(&mut mistakes, &base.model, dim);
    mistakes.add_if(CallMistake::Value, step <= 0);
    let model = at.filter(|_| step > 0).map(|at| {
        let size = i64_from_usize(base.model.sizes[at]);
        let wrap = |place: i64| (if place < 0 { place + size } else { place }).clamp(0, size);
        let first = wrap(start.unwrap_or(0));
        let positions: Vec<i64> = (first..wrap(end.unwrap_or(size))).step_by(usize::try_from(step).unwrap()).collect();
        view_of_strided_positions(
            &base.model,
            at,
            usize::try_from(first).unwrap(),
            positions.len(),
            usize::try_from(step).unwrap(),
        )
    });
    ViewCall::new("aten::slice.Tensor", mistakes, model, move |base| aten::slice(base, dim, start, end, step))
}

fn call_select(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let (dim, place) = (walk.random_dim(base.model.rank()), walk.random.integer_between(-3, 3));
    let mut mistakes = CallMistakes::default();
    let at = dim_index_or_mistake(&mut mistakes, &base.model, dim);
    let model = at.and_then(|at| {
        let size = base.model.sizes[at];
        let chosen = dim_index(place, size).filter(|_| size > 0);
        mistakes.add_if(CallMistake::Index, chosen.is_none());
        let mut sizes = base.model.sizes.clone();
        sizes.remove(at);
        Some(view_of_strided_positions(&base.model, at, chosen?, 1, 1).reshaped(sizes))
    });
    ViewCall::new("aten::select.int", mistakes, model, move |base| aten::select_int(base, dim, place))
}

fn call_narrow(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let dim = walk.random_dim(base.model.rank());
    let (start, count) = (
        walk.random.integer_between(-4, 4),
        walk.random.integer_between(0, 4) - i64::from(walk.random.true_once_in(12)),
    );
    let mut mistakes = CallMistakes::default();
    let at = dim_index_or_mistake(&mut mistakes, &base.model, dim);
    let model = at.and_then(|at| {
        let size = i64_from_usize(base.model.sizes[at]);
        let first = if start < 0 { start + size } else { start };
        let is_inside = (0..=size).contains(&first);
        mistakes.add_if(CallMistake::Index, !is_inside);
        mistakes.add_if(CallMistake::Value, count < 0 || (is_inside && first + count > size));
        let fits = is_inside && count >= 0 && first + count <= size;
        fits.then(|| {
            view_of_strided_positions(
                &base.model,
                at,
                usize::try_from(first).unwrap(),
                usize::try_from(count).unwrap(),
                1,
            )
        })
    });
    mistakes.add_if_possible(CallMistake::Value, count < 0);
    ViewCall::new("aten::narrow", mistakes, model, move |base| aten::narrow(base, dim, start, count))
}

fn call_transpose(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let (dim0, dim1) = (walk.random_dim(base.model.rank()), walk.random_dim(base.model.rank()));
    let (mistakes, model) = model_of_transpose(&base.model, dim0, dim1);
    ViewCall::new("aten::transpose.int", mistakes, model, move |base| aten::transpose_int(base, dim0, dim1))
}

fn model_of_transpose(model: &TensorModel, dim0: i64, dim1: i64) -> (CallMistakes, Option<TensorModel>) {
    let mut mistakes = CallMistakes::default();
    let pair = dim_index(dim0, model.rank()).zip(dim_index(dim1, model.rank()));
    mistakes.add_if(CallMistake::Dim, pair.is_none());
    let turned = pair.map(|(a, b)| {
        let mut order: Vec<usize> = (0..model.rank()).collect();
        if model.rank() > 0 {
            order.swap(a, b);
        }
        model_with_dim_order(model, &order)
    });
    (mistakes, turned)
}

fn model_with_dim_order(model: &TensorModel, order: &[usize]) -> TensorModel {
    let sizes: Vec<usize> = order.iter().map(|&dim| model.sizes[dim]).collect();
    model.view(&sizes, |at| {
        let mut from = vec![0; at.len()];
        order.iter().zip(at).for_each(|(&dim, &i)| from[dim] = i);
        from
    })
}

fn call_permute(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let rank = base.model.rank();
    let mut order: Vec<usize> = (0..rank).collect();
    (1..rank).for_each(|i| order.swap(i, walk.random.integer_below(i + 1)));
    let mut dims: Vec<i64> = order.iter().map(|&dim| i64_from_usize(dim)).collect();
    let mut mistakes = CallMistakes::default();
    match walk.random.integer_below(30) {
        0 => {
            dims.push(0);
            mistakes.add_if(CallMistake::Sizes, true);
        }
        1 if rank > 0 => {
            dims[0] = i64_from_usize(rank);
            mistakes.add_if(CallMistake::Dim, true);
        }
        2 if rank > 1 => {
            dims[0] = dims[1] - i64_from_usize(rank);
            mistakes.add_if(CallMistake::RepeatedDim, true);
        }
        3.. if rank > 0 => dims[0] -= i64_from_usize(rank),
        _ => {}
    }
    let model = Some(model_with_dim_order(&base.model, &order));
    ViewCall::new("aten::permute", mistakes, model, move |base| aten::permute(base, &dims))
}

fn call_expand(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let new = walk.random.integer_below(2);
    let mut sizes = vec![0; new].iter().map(|_: &usize| walk.random.integer_below(4)).collect::<Vec<_>>();
    sizes.extend(base.model.sizes.iter().map(|&size| if size == 1 { walk.random.integer_below(4) } else { size }));
    let mut mistakes = CallMistakes::default();
    let mut list: Vec<i64> = sizes.iter().map(|&size| i64_from_usize(size)).collect();
    if let Some(last) = list.last_mut().filter(|_| new < sizes.len() && walk.random.true_once_in(20)) {
        *last += 1;
        mistakes.add_if(CallMistake::Sizes, base.model.sizes.last() != Some(&1));
        sizes.last_mut().into_iter().for_each(|last| *last += 1);
    }
    let fits = base.model.sizes.iter().rev().zip(sizes.iter().rev()).all(|(&own, &size)| own == size || own == 1);
    let model = fits.then(|| base.model.broadcast_to(&sizes));
    ViewCall::new("aten::expand", mistakes, model, move |base| aten::expand(base, &list, false))
}

fn call_view(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let count = base.model.positions.len();
    let mut sizes: Vec<usize> = Vec::new();
    let mut rest = count;
    while rest > 1 {
        let divisors: Vec<usize> = (2..=rest).filter(|size| rest.is_multiple_of(*size)).collect();
        sizes.push(walk.random.choose_from(&divisors));
        rest /= sizes.last().unwrap();
    }
    if count != 1 || walk.random.true_once_in(2) {
        sizes.insert(walk.random.integer_below(sizes.len() + 1), usize::from(count != 0));
    }
    let mut list: Vec<i64> = sizes.iter().map(|&size| i64_from_usize(size)).collect();
    let mut mistakes = CallMistakes::default();
    if walk.random.true_once_in(3) && !list.is_empty() {
        let at = walk.random.integer_below(list.len());
        list[at] = -1;
        mistakes.add_if(CallMistake::Sizes, count == 0 && list.len() > 1 && list.contains(&0));
    } else if walk.random.true_once_in(20) {
        list.push(walk.random.choose_from(&[2, 3, -2]));
        mistakes.add_if(CallMistake::Sizes, count > 0 || list.contains(&-2));
        sizes.push(usize::try_from(list[list.len() - 1]).unwrap_or(1));
    }
    // The strides decide whether such a view exists.
    mistakes.add_if_possible(CallMistake::Sizes, !base.tensor.geometry().is_contiguous());
    let model = base.model.reshaped(sizes);
    ViewCall::new("aten::view", mistakes, Some(model), move |base| aten::view(base, &list))
}

fn call_squeeze(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let rank = base.model.rank();
    let dim = (!walk.random.true_once_in(2)).then(|| walk.random_dim(rank));
    let mut mistakes = CallMistakes::default();
    let at = dim.and_then(|dim| dim_index(dim, rank));
    mistakes.add_if(CallMistake::Dim, dim.is_some() && at.is_none());
    let sizes = base.model.sizes.iter().enumerate();
    let kept = sizes.filter(|&(d, &size)| size != 1 || (dim.is_some() && at != Some(d))).map(|(_, &size)| size);
    let model = Some(base.model.reshaped(kept.collect()));
    match dim {
        Some(dim) => ViewCall::new("aten::squeeze.dim", mistakes, model, move |base| aten::squeeze_dim(base, dim)),
        None => ViewCall::new("aten::squeeze", mistakes, model, aten::squeeze),
    }
}

fn call_unsqueeze(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let rank = base.model.rank() + 1;
    let dim = walk.random_dim(rank);
    let mut mistakes = CallMistakes::default();
    let at = dim_index(dim, rank);
    mistakes.add_if(CallMistake::Dim, at.is_none());
    let mut sizes = base.model.sizes.clone();
    sizes.insert(at.unwrap_or(0), 1);
    let model = Some(base.model.reshaped(sizes));
    ViewCall::new("aten::unsqueeze", mistakes, model, move |base| aten::unsqueeze(base, dim))
}

fn call_diagonal(walk: &mut RandomWalk, base: &PoolEntry) -> ViewCall {
    let (model, rank) = (&base.model, base.model.rank());
    let (dim1, dim2, offset) = (walk.random_dim(rank), walk.random_dim(rank), walk.random.integer_between(-2, 2));
    let mut mistakes = CallMistakes::default();
    let pair = dim_index(dim1, rank).zip(dim_index(dim2, rank));
    mistakes.add_if(CallMistake::Dim, pair.is_none());
    mistakes.add_if(CallMistake::RepeatedDim, pair.is_some_and(|(a, b)| a == b));
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
