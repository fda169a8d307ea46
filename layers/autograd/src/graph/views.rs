//! Autograd of views: tensors that share memory, and therefore history.
//!
//! A view is tied to its base, a tensor that is no view. The geometry of a tensor never changes, so the geometries of view and base
//! determine how gradients flow between them. No view operator needs a rule of its own.

use aten::prelude::*;
use dispatch_runtime::guard;
use dispatch_runtime::{Marks, Result, Shared, Tensor, Value};
use smallvec::smallvec;

use crate::graph::custom_function::{Backward, BackwardContext};
use crate::graph::function::Function;
use crate::graph::history::{self, Origin};
use crate::graph::node::{Gradients, Node, fit};
use crate::graph::outline::Outline;
use crate::graph::saved::Saved;

/// Marks a tensor as a view of its source, if both share storage.
#[inline(always)]
pub(crate) fn mark_view(view: &mut Tensor, source: &Tensor, origin: Origin) {
    if !view.storage().same(source.storage()) {
        return;
    }
    // A source without marks is no view and has no recorded writes.
    let is_marked = source.has_any(Marks::VIEW | Marks::REQUIRES_GRAD | Marks::INFERENCE);
    if is_marked || origin != Origin::Plain || !guard::is_grad_enabled() {
        mark_view_of_marked(view, source, origin);
    } else {
        view.make_view_of(source);
    }
}

#[inline(never)]
fn mark_view_of_marked(view: &mut Tensor, source: &Tensor, origin: Origin) {
    if source.is_inference() {
        return;
    }
    let origin = match (history::origin(source), origin) {
        (Origin::Plain, Origin::Plain) if !guard::is_grad_enabled() => Origin::Unrecorded,
        (Origin::Plain, origin) => origin,
        (of_source, _) => of_source,
    };
    // A leaf that is itself a view is the base: gradients end there.
    let base = source.base().filter(|_| !(source.requires_grad() && source.is_leaf()));
    history::set_view(view, base.unwrap_or(source), origin);
}

/// Marks the views that one call returned as views of their source.
pub(crate) fn mark_views(source: &Value, views: &mut [Tensor]) {
    let Value::Tensor(source) = source else { return };
    let origin = if views.len() == 1 { Origin::Plain } else { Origin::OneOfMany };
    for view in views {
        mark_view(view, source, origin);
    }
}

/// Replaces the node of a view whose base was written to since.
#[cold]
pub(crate) fn follow(view: &Tensor, base: &Tensor) -> Result<()> {
    let generation = history::generation(base);
    let node = history::edge(base)?.map(|edge| {
        let backward = ViewBackward { base: Outline::of(base), view: Outline::of(view) };
        Node::of_one(view, Function::custom(backward, Saved::default()), smallvec![Some(edge)])
    });
    history::follow(view, node, generation);
    Ok(())
}

impl Outline {
    fn start(&self) -> i64 {
        self.geometry().offset()
    }

    /// The offset behind the last element.
    fn end(&self) -> i64 {
        if self.geometry().count() == 0 { self.start() } else { self.geometry().end().unwrap_or(0) }
    }

    /// The number of elements of storage from the first to the last element.
    fn extent(&self) -> i64 {
        self.end() - self.start()
    }

    /// Returns this outline's elements from `piece`, a part of the storage that begins at offset `start`.
    fn within(&self, piece: &Tensor, start: i64) -> Result<Tensor> {
        aten::as_strided(piece, self.geometry().sizes(), self.geometry().strides(), Some(self.start() - start))
    }

    /// Returns this outline's elements from `piece`. An element that is shown several times is divided by that number.
    fn shares(&self, piece: &Tensor, start: i64) -> Result<Tensor> {
        if self.shows_each_once() {
            return self.within(piece, start);
        }
        let places = self.within(&Tensor::arange(0..piece.sizes()[0], self.device())?, start)?.reshape(&[-1])?;
        let one = Tensor::ones(&[], (self.dtype(), self.device()))?.expand(places.sizes())?;
        let shown = aten::index_add(&piece.zeros_like()?, 0, &places, &one, 1.into())?;
        self.within(&(piece / shown)?, start)
    }

    /// Whether no element is shown twice, judged by strides: each stride exceeds the extent of the smaller dimensions.
    fn shows_each_once(&self) -> bool {
        let steps = self.geometry().strides().iter().zip(self.geometry().sizes()).filter(|(_, size)| **size > 1);
        let mut steps: Vec<(i64, i64)> = steps.map(|(stride, size)| (*stride, *size)).collect();
        steps.sort_unstable();
        let mut reach = 0;
        steps.into_iter().all(|(stride, size)| {
            let over = stride > reach;
            reach = stride.saturating_mul(size - 1).saturating_add(reach);
            over
        })
    }

    /// Returns zeros with this outline's sizes and strides in a new storage. The tensor is on the transform levels of `gradient`, which
    /// will be written to it.
    pub(crate) fn zeros_as_it_lies(&self, gradient: &Tensor) -> Result<Tensor> {
        let all = self.zeros_for(gradient, self.extent())?;
        aten::as_strided(&all, self.geometry().sizes(), self.geometry().strides(), Some(0))
    }

    /// Returns a one-dimensional tensor of `count` zeros.
    fn zeros_for(&self, gradient: &Tensor, count: i64) -> Result<Tensor> {
        aten::new_zeros(gradient, &[count], Some(self.dtype()), None, Some(self.device()), None)
    }

    /// Returns the elements of `view` from `whole`, a tensor with this outline's strides.
    pub(crate) fn part(&self, whole: &Tensor, view: &Self) -> Result<Tensor> {
        let offset = (view.geometry().offset() - self.geometry().offset()).saturating_add(whole.geometry().offset());
        aten::as_strided(whole, view.geometry().sizes(), view.geometry().strides(), Some(offset))
    }
}

/// The backward of a view: computes the gradient of the base from the gradient of the view.
struct ViewBackward {
    base: Outline,
    view: Outline,
}

impl Backward for ViewBackward {
    fn name(&self) -> String {
        "aten::as_strided".to_owned()
    }

    fn backward(&self, _: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let [Some(gradient)] = gradients else { return Ok(vec![None]) };
        Ok(vec![Some(scattered(&self.base, &self.view, gradient)?)])
    }
}

/// Returns the gradient of a base, given the gradient of a view of its storage. The gradients of all positions that show an element are
/// summed. Positions of the base that show the same element divide the sum.
pub(crate) fn scattered(base: &Outline, view: &Outline, gradient: &Tensor) -> Result<Tensor> {
    let (start, end) = (base.start().min(view.start()), base.end().max(view.end()));
    let memory = base.zeros_for(gradient, end - start)?;
    if view.shows_each_once() {
        aten::copy_(&mut view.within(&memory, start)?, gradient, false)?;
        return base.shares(&memory, start);
    }
    let places = view.within(&Tensor::arange(0..end - start, base.device())?, start)?;
    let gathered = aten::index_add(&memory, 0, &places.reshape(&[-1])?, &gradient.reshape(&[-1])?, 1.into())?;
    base.shares(&gathered, start)
}

/// The node of a base after a call wrote to one of its views. Gradients of the view's elements go through the call, all others to the base
/// before the write.
pub(crate) struct BaseRebase {
    base: Outline,
    view: Outline,
    call: Shared<Node>,
    /// The edge of the call that leads to the view before the write.
    own: Option<usize>,
}

impl BaseRebase {
    /// Makes the node. Its first edge leads to the base before the write, the others are the other edges of the call.
    pub(crate) fn node(base: &Tensor, view: &Tensor, call: Shared<Node>, own: Option<usize>) -> Result<Shared<Node>> {
        let others = call.edges().iter().enumerate().filter(|(i, _)| Some(*i) != own).map(|(_, edge)| edge.clone());
        let edges = std::iter::once(history::edge(base)?).chain(others).collect();
        let rebase = Self { base: Outline::of(base), view: Outline::of(view), call, own };
        Ok(Node::of_one(base, Function::BaseRebase(Box::new(rebase)), edges))
    }

    /// Returns the call that wrote to the view.
    pub(crate) fn call(&self) -> &Node {
        &self.call
    }

    pub(crate) fn backward(&self, gradients: &[Option<Tensor>], needs: &[bool]) -> Result<Gradients> {
        let [Some(gradient)] = gradients else { return Ok(smallvec![None; needs.len()]) };
        let mut whole = self.base.zeros_as_it_lies(gradient)?;
        aten::copy_(&mut whole, gradient, false)?;
        let mut part = self.base.part(&whole, &self.view)?;
        let shown = aten::clone(&part, None)?;
        let mut needs = needs.to_vec();
        let needs_base = needs.remove(0);
        if let Some(own) = self.own {
            needs.insert(own, needs_base);
        }
        let mut inner = Function::run(&self.call, &mut [Some(shown)], &needs)?;
        let before = self.own.and_then(|own| inner.remove(own));
        if !needs_base {
            inner.insert(0, None);
            return Ok(inner);
        }
        match before {
            Some(before) => {
                let before = fit(before, part.sizes(), part.dtype(), &|| self.call.named())?;
                aten::copy_(&mut part, &before, false)?;
            }
            None => aten::zero_(&mut part)?,
        }
        inner.insert(0, Some(whole));
        Ok(inner)
    }
}
