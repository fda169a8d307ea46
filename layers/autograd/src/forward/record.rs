//! The forward: what a kernel at autograd does when something requires gradients.

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::{Argument, KeySet, Result, Shared, Tensor, Unique, Value, keys};

use crate::derivative::{Derivative, Source};
use crate::graph::function::Function;
use crate::graph::history::{self, Origin};
use crate::graph::node::{Edges, Node};
use crate::graph::outline::{self, Outline, Outlines};
use crate::graph::saved::{Kept, SavedTensor};
use crate::graph::views;

/// A call that is being recorded. Not public API: kernels that `#[op_grad]` makes use it.
#[doc(hidden)]
pub struct Recording {
    rule: &'static Derivative,
    node: Unique<Node>,
}

/// A result of a call: the tensor, and whether the derivative is of it.
#[doc(hidden)]
pub(crate) type ResultOf<'a> = (&'a mut Tensor, bool);

/// Arguments that gradients may be asked for.
#[doc(hidden)]
pub trait Inputs {
    /// Whether gradients may have to be followed.
    fn may_require_grad(&self) -> bool;

    /// Adds where the gradient of each goes.
    fn link(&self, recording: &mut Recording) -> Result<()>;

    /// The first tensor: of what a view is a view.
    fn first(&self) -> Option<&Tensor>;
}

impl Inputs for &Tensor {
    #[inline(always)]
    fn may_require_grad(&self) -> bool {
        history::may_require_grad(self)
    }

    fn link(&self, recording: &mut Recording) -> Result<()> {
        recording.node.edges.push(history::edge(self)?);
        Ok(())
    }

    #[inline(always)]
    fn first(&self) -> Option<&Tensor> {
        Some(self)
    }
}

impl Inputs for Option<&Tensor> {
    #[inline(always)]
    fn may_require_grad(&self) -> bool {
        self.is_some_and(history::may_require_grad)
    }

    fn link(&self, recording: &mut Recording) -> Result<()> {
        let edge = self.map(history::edge).transpose()?;
        recording.node.edges.push(edge.flatten());
        Ok(())
    }

    fn first(&self) -> Option<&Tensor> {
        *self
    }
}

impl Inputs for &[Tensor] {
    #[inline]
    fn may_require_grad(&self) -> bool {
        self.iter().any(history::may_require_grad)
    }

    fn link(&self, recording: &mut Recording) -> Result<()> {
        self.iter().try_for_each(|tensor| tensor.link(recording))
    }

    fn first(&self) -> Option<&Tensor> {
        <[Tensor]>::first(self)
    }
}

impl Inputs for &[Option<Tensor>] {
    #[inline]
    fn may_require_grad(&self) -> bool {
        self.iter().flatten().any(history::may_require_grad)
    }

    fn link(&self, recording: &mut Recording) -> Result<()> {
        self.iter().try_for_each(|tensor| tensor.as_ref().link(recording))
    }

    fn first(&self) -> Option<&Tensor> {
        self.iter().flatten().next()
    }
}

impl Recording {
    /// Starts to record a call.
    #[must_use]
    pub fn start(rule: &'static Derivative) -> Self {
        Self { rule, node: Node::unlinked(Function::derivative(rule)) }
    }

    /// Finds where the gradients of an input go. To be called in the order in which the derivative gives them.
    pub fn input(&mut self, input: &impl Inputs) -> Result<()> {
        input.link(self)
    }

    /// Whether there is anything to record.
    #[must_use]
    pub fn is_concerned(&self) -> bool {
        guard::is_grad_enabled() && self.node.edges.iter().any(Option::is_some)
    }

    /// Saves an argument. To be called in the order in which the derivative takes them.
    pub fn save<'a>(&mut self, argument: &impl Argument<'a>) -> Result<()> {
        self.save_value(argument.to_value())
    }

    /// Saves an argument, if the gradient of an input goes anywhere that needs it.
    pub fn save_for<'a>(&mut self, inputs: u64, argument: &impl Argument<'a>) -> Result<()> {
        self.save_value_for(inputs, |_| Ok(argument.to_value()))
    }

    #[inline(always)]
    pub(crate) fn save_value_for(&mut self, inputs: u64, value: impl FnOnce(&Edges) -> Result<Value>) -> Result<()> {
        if self.is_for(inputs) {
            let value = value(&self.node.edges)?;
            return self.save_value(value);
        }
        self.node.function.save(Kept::Unneeded);
        Ok(())
    }

    /// Whether the gradient of one of these inputs, each of which is a bit, goes anywhere.
    #[inline(always)]
    fn is_for(&self, inputs: u64) -> bool {
        self.node.edges.iter().zip(0..).any(|(edge, i)| edge.is_some() && inputs >> i.min(63) & 1 == 1)
    }

    #[inline(always)]
    pub(crate) fn save_value(&mut self, value: Value) -> Result<()> {
        match value {
            Value::Tensor(_) | Value::Tensors(_) | Value::OptionalTensors(_) => self.save_tensors(value)?,
            value => self.node.function.save(Kept::Value(value)),
        }
        Ok(())
    }

    fn save_tensors(&mut self, value: Value) -> Result<()> {
        let (rule, position) = (self.rule, self.node.function.saved().len());
        let kept = Kept::argument(value, || (rule.operator().name().to_string(), rule.saved_name(position)))?;
        self.node.function.save(kept);
        Ok(())
    }

    /// Saves what a tensor looks like.
    pub fn save_outline(&mut self, tensor: &Tensor) {
        self.node.function.save(Kept::Outline(Box::new(Outline::of(tensor))));
    }

    /// Saves what each of some tensors looks like.
    pub fn save_outlines(&mut self, tensors: &[Tensor]) {
        self.node.function.save(Kept::Outlines(tensors.iter().map(Outline::of).collect()));
    }

    /// Some operators write to optional arguments, and their schemas do not say so: batch normalisation to its running statistics. What
    /// the call itself has overwritten is no argument of its derivative.
    pub fn forget_written(&mut self) {
        let (rule, arguments) = (self.rule, &self.rule.operator().schema().arguments);
        for (kept, source) in self.node.function.saved().iter_mut().zip(rule.saved) {
            if let (Kept::Tensor(saved), Source::Argument(at, _)) = (&*kept, *source)
                && saved.is_modified()
                && arguments[at].ty.accepts_none()
            {
                *kept = Kept::Value(Value::None);
            }
        }
    }

    /// Makes the one result that of the call.
    pub fn finish_one(mut self, result: &mut Tensor) -> Result<()> {
        self.save_results(&mut [(result, true)])?;
        if outline::is_differentiable(result.dtype()) {
            history::set(result, self.node.share(), 0);
        }
        Ok(())
    }

    /// Makes results those of the call.
    pub fn finish(self, results: &mut [ResultOf<'_>]) -> Result<()> {
        let node = self.into_node(results)?;
        for ((tensor, differentiable), i) in results.iter_mut().zip(0..) {
            if *differentiable && outline::is_differentiable(tensor.dtype()) {
                history::set(tensor, node.clone(), i);
            }
        }
        Ok(())
    }

    pub(crate) fn into_node(mut self, results: &mut [ResultOf<'_>]) -> Result<Shared<Node>> {
        self.save_results(results)?;
        Ok(self.node.share())
    }

    #[inline(always)]
    fn save_results(&mut self, results: &mut [ResultOf<'_>]) -> Result<()> {
        let rule = self.rule;
        for source in &rule.saved[self.node.function.saved().len()..] {
            let kept = match *source {
                // A result's position counts results, and a list of tensors is the only one.
                Source::Result(_) if rule.results.len() == 1 && results.len() != 1 => {
                    let saved =
                        results.iter().zip(0..).map(|((tensor, _), i)| SavedTensor::of_result(tensor, i).map(Some));
                    Kept::Tensors(saved.collect::<Result<_>>()?)
                }
                Source::Result(i) => {
                    let number = u32::try_from(i).unwrap_or(u32::MAX);
                    Kept::Tensor(SavedTensor::of_result(results[i].0, number)?)
                }
                Source::OutlineOfResult(i) => Kept::Outline(Box::new(Outline::of(results[i].0))),
                Source::Argument(..) | Source::OutlineOf(_) => continue,
            };
            self.node.function.save(kept);
        }
        self.node.results = match results {
            [(result, _)] => Outlines::One(Outline::of(result)),
            several => Outlines::Several(several.iter().map(|(tensor, _)| Outline::of(tensor)).collect()),
        };
        Ok(())
    }
}

/// Sees to it that a result has memory of its own: a kernel may have given an argument back.
#[doc(hidden)]
#[inline]
pub fn fresh(result: &mut Tensor) -> Result<()> {
    if result.is_only_handle() { Ok(()) } else { copied(result) }
}

/// Replaces a result by a copy.
#[cold]
pub(crate) fn copied(result: &mut Tensor) -> Result<()> {
    let _unseen = computing();
    *result = aten::clone(result, None)?;
    Ok(())
}

/// Sees to it that a view is a tensor of its own.
#[doc(hidden)]
pub fn own(result: &mut Tensor) -> Result<()> {
    if !result.is_only_handle() {
        *result = history::bare(result)?;
    }
    Ok(())
}

/// Makes a result a view of the argument that it was made of.
#[doc(hidden)]
pub fn mark_view(view: &mut Tensor, source: Option<&Tensor>) {
    if let Some(source) = source {
        views::mark_view(view, source, Origin::Plain);
    }
}

/// The same for one of several.
#[doc(hidden)]
pub fn mark_views(views: &mut [Tensor], source: Option<&Tensor>) {
    if let Some(source) = source {
        for view in views {
            views::mark_view(view, source, Origin::OneOfMany);
        }
    }
}

/// The keys with which a kernel at autograd hands a call on.
#[doc(hidden)]
#[inline(always)]
#[must_use]
pub fn below(keys: KeySet) -> KeySet {
    keys.below(keys::ADInplaceOrView)
}

/// Held while a recorded call is computed: what its kernel calls is not recorded again.
#[doc(hidden)]
#[inline]
pub fn computing() -> Guard {
    guard::below_ad_inplace_or_view()
}
