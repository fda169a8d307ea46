//! Views: tensors that share memory, and therefore history.
//!
//! A view is tied to its base, the tensor at the bottom that is no view itself. As a tensor's geometry never changes, the two
//! geometries say everything about how gradients go from one to the other: no operator that makes views needs to be known.

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

/// Makes a tensor a view of the tensor that it was made of, if both share memory.
#[inline(always)]
pub(crate) fn mark_view(view: &mut Tensor, source: &Tensor, origin: Origin) {
    if !view.storage().same(source.storage()) {
        return;
    }
    // What carries no mark is no view, and was never written to in a way that gradients follow.
    let is_marked = source.has_any(Marks::VIEW | Marks::REQUIRES_GRAD | Marks::INFERENCE);
    if is_marked || origin != Origin::Plain || !guard::is_grad_enabled() {
        mark_view_of_marked(view, source, origin);
    } else {
        view.tie_to(source);
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
    // A leaf that is itself a view is where its gradient ends.
    let base = source.base().filter(|_| !(source.requires_grad() && source.is_leaf()));
    history::set_view(view, base.unwrap_or(source), origin);
}

/// The same for one view, or for several that one call gave.
pub(crate) fn mark_views(source: &Value, views: &mut [Tensor]) {
    let Value::Tensor(source) = source else { return };
    let origin = if views.len() == 1 { Origin::Plain } else { Origin::OneOfMany };
    for view in views {
        mark_view(view, source, origin);
    }
}

/// Derives the node of a view anew, whose base was written to since.
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

    /// Behind the last element.
    fn end(&self) -> i64 {
        if self.geometry().count() == 0 { self.start() } else { self.geometry().end().unwrap_or(0) }
    }

    /// How many elements there are from the first to the last, those between included.
    fn extent(&self) -> i64 {
        self.end() - self.start()
    }

    /// What is at this place in a piece of the storage that begins at `start`.
    fn within(&self, piece: &Tensor, start: i64) -> Result<Tensor> {
        aten::as_strided(piece, self.geometry().sizes(), self.geometry().strides(), Some(self.start() - start))
    }

    /// The same, with an element that is shown several times divided among these.
    fn shares(&self, piece: &Tensor, start: i64) -> Result<Tensor> {
        if self.shows_each_once() {
            return self.within(piece, start);
        }
        let places = self.within(&Tensor::arange(0..piece.sizes()[0], self.device())?, start)?.reshape(&[-1])?;
        let one = Tensor::ones(&[], (self.dtype(), self.device()))?.expand(places.sizes())?;
        let shown = aten::index_add(&piece.zeros_like()?, 0, &places, &one, 1.into())?;
        self.within(&(piece / shown)?, start)
    }

    /// Whether no element is shown twice, as far as strides tell: each dimension steps over all that the finer ones reach.
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

    /// A tensor of zeros that lies as the one of this place does, at the beginning of a storage of its own. It is of the same transforms
    /// as `gradient`, which is going to be written to it.
    pub(crate) fn zeros_as_it_lies(&self, gradient: &Tensor) -> Result<Tensor> {
        let all = self.zeros_for(gradient, self.extent())?;
        aten::as_strided(&all, self.geometry().sizes(), self.geometry().strides(), Some(0))
    }

    /// So many zeros in a row.
    fn zeros_for(&self, gradient: &Tensor, count: i64) -> Result<Tensor> {
        aten::new_zeros(gradient, &[count], Some(self.dtype()), None, Some(self.device()), None)
    }

    /// The part of `whole`, a tensor that lies as the one of this place does, that `view` shows.
    pub(crate) fn part(&self, whole: &Tensor, view: &Self) -> Result<Tensor> {
        let offset = (view.geometry().offset() - self.geometry().offset()).saturating_add(whole.geometry().offset());
        aten::as_strided(whole, view.geometry().sizes(), view.geometry().strides(), Some(offset))
    }
}

/// From the gradient of a view to that of its base.
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

/// The gradient of a base, given that of a view of its storage: each element gathers the gradients of all places that show it. Places
/// of a base that are the same element share what that has gathered.
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

/// The graph behind a base after one of its views was written to: gradients of what the view shows go through the written call,
/// all others straight back.
pub(crate) struct BaseRebase {
    base: Outline,
    view: Outline,
    call: Shared<Node>,
    /// Which edge of the call is that of the view as it was before.
    own: Option<usize>,
}

impl BaseRebase {
    /// Its first edge goes to the base as it was before, the others are those of the call.
    pub(crate) fn node(base: &Tensor, view: &Tensor, call: Shared<Node>, own: Option<usize>) -> Result<Shared<Node>> {
        let others = call.edges().iter().enumerate().filter(|(i, _)| Some(*i) != own).map(|(_, edge)| edge.clone());
        let edges = std::iter::once(history::edge(base)?).chain(others).collect();
        let rebase = Self { base: Outline::of(base), view: Outline::of(view), call, own };
        Ok(Node::of_one(base, Function::BaseRebase(Box::new(rebase)), edges))
    }

    /// The call that wrote to the view.
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
