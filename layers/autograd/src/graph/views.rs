//! Autograd of views: tensors that share memory, and therefore history.
//!
//! A view is tied to its base, a tensor that is no view. The geometry of a tensor never changes, so the geometries of view and base
//! determine how gradients flow between them. No view operator needs a rule of its own.

use aten::prelude::*;
use dispatch_runtime::guard;
use dispatch_runtime::{KeySet, Marks, Result, Shared, Tensor, Value, keys};
use smallvec::smallvec;

use crate::graph::custom_function::{Backward, BackwardContext};
use crate::graph::function::BackwardFunction;
use crate::graph::history::{self, ViewOrigin};
use crate::graph::node::{Gradients, Node, reduce_and_cast};
use crate::graph::outline::TensorOutline;
use crate::graph::saved::SavedValues;

/// Marks a tensor as a view of its source, if both share storage.
#[inline(always)]
pub(crate) fn mark_view(view: &mut Tensor, source: &Tensor, origin: ViewOrigin) {
    if !view.storage().same(source.storage()) {
        return;
    }
    // A source without marks is no view and has no recorded writes.
    let is_marked = source.has_any_mark(Marks::VIEW | Marks::REQUIRES_GRAD | Marks::INFERENCE);
    if is_marked || origin != ViewOrigin::Plain || !guard::is_grad_enabled() {
        set_view_history(view, source, origin);
    } else {
        view.make_view_of(source);
    }
}

#[inline(never)]
fn set_view_history(view: &mut Tensor, source: &Tensor, origin: ViewOrigin) {
    if source.is_inference() {
        return;
    }
    let origin = match (history::view_origin(source), origin) {
        (ViewOrigin::Plain, ViewOrigin::Plain) if !guard::is_grad_enabled() => ViewOrigin::Unrecorded,
        (ViewOrigin::Plain, origin) => origin,
        (of_source, _) => of_source,
    };
    // A leaf that is itself a view is the base: gradients end there.
    let base = source.base().filter(|_| !(source.requires_grad() && source.is_leaf()));
    history::set_view(view, base.unwrap_or(source), origin);
}

/// Marks the views that one call returned as views of their source.
pub(crate) fn mark_views(source: &Value, views: &mut [Tensor]) {
    let Value::Tensor(source) = source else { return };
    let origin = if views.len() == 1 { ViewOrigin::Plain } else { ViewOrigin::MultiOutput };
    for view in views {
        mark_view(view, source, origin);
    }
}

/// Replaces the node of a view whose base was written to since.
#[cold]
pub(crate) fn update_view_node(view: &Tensor, base: &Tensor) -> Result<()> {
    let generation = history::generation(base);
    let node = history::gradient_edge(base)?.map(|edge| {
        let backward = ViewBackward {
            base: TensorOutline::from_tensor(base),
            view: TensorOutline::from_tensor(view),
            math_bits: differing_math_bits(base, view),
        };
        Node::with_one_result(
            view,
            BackwardFunction::from_custom(backward, SavedValues::default()),
            smallvec![Some(edge)],
        )
    });
    history::set_view_node(view, node, generation);
    Ok(())
}

/// Returns the math bits that only one of two tensors has.
fn differing_math_bits(base: &Tensor, view: &Tensor) -> KeySet {
    KeySet::from_bits(base.math_bits().bits() ^ view.math_bits().bits())
}

/// Returns a gradient of the view for one of the base, or the reverse, if these math bits differ: its lazy conjugate or negative.
fn toggle_math_bits(gradient: &Tensor, bits: KeySet) -> Result<Tensor> {
    let mut toggled = gradient.clone();
    if bits.has(keys::Conjugate) {
        toggled = aten::_conj(&toggled)?;
    }
    if bits.has(keys::Negative) {
        toggled = aten::_neg_view(&toggled)?;
    }
    Ok(toggled)
}

impl TensorOutline {
    fn start_offset(&self) -> i64 {
        self.geometry().offset()
    }

    /// The offset behind the last element.
    fn end_offset(&self) -> i64 {
        if self.geometry().count() == 0 { self.start_offset() } else { self.geometry().end().unwrap_or(0) }
    }

    /// The number of elements of storage from the first to the last element.
    fn storage_extent(&self) -> i64 {
        self.end_offset() - self.start_offset()
    }

    /// Returns this outline's elements from `piece`, a part of the storage that begins at offset `start`.
    fn view_elements_in(&self, piece: &Tensor, start: i64) -> Result<Tensor> {
        aten::as_strided(piece, self.geometry().sizes(), self.geometry().strides(), Some(self.start_offset() - start))
    }

    /// Returns this outline's elements from `piece`, a part of the storage that begins at offset `start`. An element that is shown several
    /// times is divided by that number.
    fn elements_divided_by_overlap(&self, piece: &Tensor, start: i64) -> Result<Tensor> {
        if self.has_no_overlap() {
            return self.view_elements_in(piece, start);
        }
        let positions =
            self.view_elements_in(&Tensor::arange(0..piece.sizes()[0], self.device())?, start)?.reshape(-1)?;
        let one = Tensor::ones((), (self.dtype(), self.device()))?.expand(positions.sizes())?;
        let count = aten::index_add(&piece.zeros_like()?, 0, &positions, &one, 1.into())?;
        self.view_elements_in(&(piece / count)?, start)
    }

    /// Whether all positions show different elements of storage. The answer depends on the strides alone: each must exceed the extent of
    /// the smaller dimensions.
    fn has_no_overlap(&self) -> bool {
        let steps = self.geometry().strides().iter().zip(self.geometry().sizes()).filter(|(_, size)| **size > 1);
        let mut steps: Vec<(i64, i64)> = steps.map(|(stride, size)| (*stride, *size)).collect();
        steps.sort_unstable();
        let mut reach = 0;
        steps.into_iter().all(|(stride, size)| {
            let is_disjoint = stride > reach;
            reach = stride.saturating_mul(size - 1).saturating_add(reach);
            is_disjoint
        })
    }

    /// Returns zeros with this outline's sizes and strides in a new storage. The tensor is on the transform levels of `gradient`, which
    /// will be written to it.
    pub(crate) fn zeros_with_geometry(&self, gradient: &Tensor) -> Result<Tensor> {
        let all = self.flat_zeros(gradient, self.storage_extent())?;
        aten::as_strided(&all, self.geometry().sizes(), self.geometry().strides(), Some(0))
    }

    /// Returns a one-dimensional tensor of `count` zeros.
    fn flat_zeros(&self, gradient: &Tensor, count: i64) -> Result<Tensor> {
        aten::new_zeros(gradient, &[count], Some(self.dtype()), None, Some(self.device()), None)
    }

    /// Returns the elements of `view` from `whole`, a tensor with this outline's strides.
    pub(crate) fn extract_view(&self, whole: &Tensor, view: &Self) -> Result<Tensor> {
        let offset = (view.geometry().offset() - self.geometry().offset()).saturating_add(whole.geometry().offset());
        aten::as_strided(whole, view.geometry().sizes(), view.geometry().strides(), Some(offset))
    }
}

/// The backward of a view: computes the gradient of the base from the gradient of the view.
struct ViewBackward {
    base: TensorOutline,
    view: TensorOutline,
    /// The math bits that only one of base and view has.
    math_bits: KeySet,
}

impl Backward for ViewBackward {
    fn name(&self) -> String {
        "aten::as_strided".to_owned()
    }

    fn backward(&self, _: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let [Some(gradient)] = gradients else { return Ok(vec![None]) };
        let gradient = toggle_math_bits(gradient, self.math_bits)?;
        Ok(vec![Some(scatter_view_gradient(&self.base, &self.view, &gradient)?)])
    }
}

/// Returns the gradient of a base, given the gradient of a view of its storage. The gradients of all positions that show an element are
/// summed. Positions of the base that show the same element divide the sum.
pub(crate) fn scatter_view_gradient(base: &TensorOutline, view: &TensorOutline, gradient: &Tensor) -> Result<Tensor> {
    let (start, end) = (base.start_offset().min(view.start_offset()), base.end_offset().max(view.end_offset()));
    let memory = base.flat_zeros(gradient, end - start)?;
    if view.has_no_overlap() {
        aten::copy_(&mut view.view_elements_in(&memory, start)?, gradient, false)?;
        return base.elements_divided_by_overlap(&memory, start);
    }
    let positions = view.view_elements_in(&Tensor::arange(0..end - start, base.device())?, start)?;
    let gathered = aten::index_add(&memory, 0, &positions.reshape(-1)?, &gradient.reshape(-1)?, 1.into())?;
    base.elements_divided_by_overlap(&gathered, start)
}

/// The node of a base after a call wrote to one of its views. Gradients of the view's elements go through the call, all others to the base
/// before the write.
pub(crate) struct CopySlices {
    base: TensorOutline,
    view: TensorOutline,
    /// The math bits that only one of base and view has.
    math_bits: KeySet,
    call: Shared<Node>,
    /// The index of the call's edge to the view before the write, if it has one.
    written_edge_index: Option<usize>,
}

impl CopySlices {
    /// Makes the node of a base whose view was written to. Its first edge leads to the base before the write, the others are the other
    /// edges of the call.
    pub(crate) fn node_after_write(
        base: &Tensor,
        view: &Tensor,
        call: Shared<Node>,
        written_edge_index: Option<usize>,
    ) -> Result<Shared<Node>> {
        let others = call
            .edges()
            .iter()
            .enumerate()
            .filter(|(i, _)| Some(*i) != written_edge_index)
            .map(|(_, edge)| edge.clone());
        let edges = std::iter::once(history::gradient_edge(base)?).chain(others).collect();
        let rebase = Self {
            base: TensorOutline::from_tensor(base),
            view: TensorOutline::from_tensor(view),
            math_bits: differing_math_bits(base, view),
            call,
            written_edge_index,
        };
        Ok(Node::with_one_result(base, BackwardFunction::CopySlices(Box::new(rebase)), edges))
    }

    /// Returns the call that wrote to the view.
    pub(crate) fn writing_call(&self) -> &Node {
        &self.call
    }

    pub(crate) fn backward(&self, gradients: &[Option<Tensor>], needs: &[bool]) -> Result<Gradients> {
        let [Some(gradient)] = gradients else { return Ok(smallvec![None; needs.len()]) };
        let mut whole = self.base.zeros_with_geometry(gradient)?;
        aten::copy_(&mut whole, gradient, false)?;
        let mut part = toggle_math_bits(&self.base.extract_view(&whole, &self.view)?, self.math_bits)?;
        let shown = aten::clone(&part, None)?;
        let mut needs = needs.to_vec();
        let needs_base = needs.remove(0);
        if let Some(written_edge_index) = self.written_edge_index {
            needs.insert(written_edge_index, needs_base);
        }
        let mut inner = BackwardFunction::run(&self.call, &mut [Some(shown)], &needs)?;
        let before = self.written_edge_index.and_then(|written_edge_index| inner.remove(written_edge_index));
        if !needs_base {
            inner.insert(0, None);
            return Ok(inner);
        }
        match before {
            Some(before) => {
                let before = reduce_and_cast(before, part.sizes(), part.dtype(), &|| self.call.derivative_name())?;
                aten::copy_(&mut part, &before, false)?;
            }
            None => aten::zero_(&mut part)?,
        }
        inner.insert(0, Some(whole));
        Ok(inner)
    }
}
