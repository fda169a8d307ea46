//! Nodes of the autograd graph: one for each recorded call, with an edge for each input.
//!
//! A node is owned by the tensors that it computed and by the nodes that lead to it, so a graph lives as long as it is reachable. Chains of
//! a million nodes are dropped in a bounded stack: below a few nested drops, the contents of a node are moved to a list, which the
//! outermost drop empties.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use aten::prelude::*;
use dispatch_runtime::guard::ThreadState;
use dispatch_runtime::{Result, Shared, Tensor, Unique};
use dispatch_transform::calling_state;
use smallvec::SmallVec;

use crate::graph::anomaly::Site;
use crate::graph::function::Function;
use crate::graph::hooks::Hooks;
use crate::graph::outline::{Outline, Outlines};

/// A recorded call and its derivative.
pub struct Node {
    pub(crate) function: Function,
    pub(crate) edges: Edges,
    pub(crate) results: Outlines,
    /// The order of recording. A later node has a larger number, and runs earlier in a backward pass.
    sequence: u64,
    state: ThreadState,
    site: Option<Site>,
    hooks: OnceLock<Arc<Hooks>>,
    /// The last field, because fields are dropped in this order.
    _dropped: Dropped,
}

/// The destination of a gradient.
#[derive(Clone)]
pub(crate) enum Edge {
    /// A node, and the index of its result.
    Node(Shared<Node>, u32),
    /// A leaf, which accumulates the gradient.
    Leaf(Tensor),
}

/// One edge per differentiable tensor of a call. `None` if the tensor does not require gradients.
pub(crate) type Edges = SmallVec<[Option<Edge>; 2]>;

/// The gradients of a call's differentiable tensors, in order.
pub(crate) type Gradients = SmallVec<[Option<Tensor>; 2]>;

thread_local! {
    static SEQUENCE: Cell<u64> = const { Cell::new(0) };
    /// The current depth of nested node drops.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The contents of deferred drops. Empty whenever no node is being dropped. Never dropped itself, as a thread may drop graphs until it
    /// ends.
    static DEFERRED: ManuallyDrop<RefCell<Vec<DeferredDrop>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The maximal depth of nested node drops.
const DEEPEST: u32 = 8;

/// The contents of a node that was dropped too deep in the stack. The outermost drop drops them.
struct DeferredDrop {
    #[expect(dead_code, reason = "they are only dropped")]
    edges: Edges,
    #[expect(dead_code, reason = "it is only dropped")]
    function: Function,
    #[expect(dead_code, reason = "they are only dropped")]
    hooks: Option<Arc<Hooks>>,
}

impl Node {
    pub(crate) fn new(function: Function, edges: Edges, results: Outlines) -> Shared<Self> {
        let mut node = Self::unlinked(function);
        (node.edges, node.results) = (edges, results);
        node.into_shared()
    }

    /// Makes the node of a call with one result.
    pub(crate) fn of_one(result: &Tensor, function: Function, edges: Edges) -> Shared<Self> {
        Self::new(function, edges, Outlines::One(Outline::of(result)))
    }

    /// Makes the node of this thread's next call. Its edges and results are set later.
    #[inline(always)]
    pub(crate) fn unlinked(function: Function) -> Unique<Self> {
        let sequence = SEQUENCE.get();
        SEQUENCE.set(sequence + 1);
        Unique::new(Self {
            function,
            edges: Edges::new(),
            results: Outlines::default(),
            sequence,
            state: calling_state(),
            site: Site::here(),
            hooks: OnceLock::new(),
            _dropped: Dropped,
        })
    }

    /// Returns an identifier, unique among living nodes.
    pub(crate) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Returns the name of the called operator or custom function.
    #[must_use]
    pub fn name(&self) -> String {
        self.function.name()
    }

    /// Returns the name of its derivative in error messages.
    pub(crate) fn named(&self) -> String {
        format!("the derivative of `{}`", self.name())
    }

    /// Returns the nodes that its gradients go to. `None` for a leaf, and for a tensor that does not require gradients.
    pub fn next(&self) -> impl Iterator<Item = Option<&Shared<Self>>> {
        self.edges.iter().map(|edge| match edge {
            Some(Edge::Node(node, _)) => Some(node),
            _ => None,
        })
    }

    pub(crate) fn function(&self) -> &Function {
        &self.function
    }

    pub(crate) fn edges(&self) -> &[Option<Edge>] {
        &self.edges
    }

    pub(crate) fn results(&self) -> &[Outline] {
        &self.results
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn state(&self) -> ThreadState {
        self.state
    }

    pub(crate) fn site(&self) -> Option<&Site> {
        self.site.as_ref()
    }

    pub(crate) fn hooks(&self) -> Option<&Hooks> {
        self.hooks.get().map(|hooks| &**hooks)
    }

    pub(crate) fn hooks_or_new(&self) -> &Arc<Hooks> {
        self.hooks.get_or_init(Arc::default)
    }
}

/// A scope in which this thread's nodes get sequence numbers above those of all earlier nodes of all threads. It tells the nodes recorded
/// in the scope from all others.
pub(crate) struct SequenceScope {
    first: u64,
    before: u64,
}

impl SequenceScope {
    pub(crate) fn begin() -> Self {
        static PARTS: AtomicU64 = AtomicU64::new(0);
        let first = 1 << 63 | PARTS.fetch_add(1, Ordering::Relaxed) << 32;
        Self { first, before: SEQUENCE.replace(first) }
    }

    /// Returns the smallest sequence number of the scope.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }
}

impl Drop for SequenceScope {
    fn drop(&mut self) {
        SEQUENCE.set(self.before);
    }
}

impl Edge {
    /// Whether both edges lead to the same result or leaf.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Node(node, result), Self::Node(other, of_other)) => result == of_other && Shared::same(node, other),
            (Self::Leaf(leaf), Self::Leaf(other)) => leaf.same(other),
            _ => false,
        }
    }

    /// Reduces and casts a gradient to the sizes and dtype of this edge's tensor.
    pub(crate) fn fit(&self, gradient: Tensor, from: &Node) -> Result<Tensor> {
        match self {
            Self::Node(node, result) => {
                let outline = &node.results[*result as usize];
                fit(gradient, outline.sizes(), outline.dtype(), &|| from.named())
            }
            Self::Leaf(tensor) => fit(gradient, tensor.sizes(), tensor.dtype(), &|| from.named()),
        }
    }
}

/// Sums a gradient over broadcast dimensions and casts it to the dtype.
pub(crate) fn fit(
    mut gradient: Tensor,
    sizes: &[i64],
    dtype: dispatch_runtime::DType,
    from: &dyn Fn() -> String,
) -> Result<Tensor> {
    if gradient.sizes() != sizes {
        gradient = sum_to(&gradient, sizes).ok_or_else(|| crate::GradientError::WrongGradient {
            from: from(),
            found: gradient.sizes().to_vec(),
            expected: sizes.to_vec(),
        })??;
    }
    if gradient.dtype() != dtype {
        if gradient.dtype().is_complex() && !dtype.is_complex() {
            gradient = crate::complex::real(&gradient)?;
        }
        gradient = gradient.to(dtype)?;
    }
    Ok(gradient)
}

/// Returns the sum over the dimensions along which `sizes` was broadcast. `None` if `sizes` does not broadcast to the tensor's.
fn sum_to(tensor: &Tensor, sizes: &[i64]) -> Option<Result<Tensor>> {
    let found = tensor.sizes();
    let new = found.len().checked_sub(sizes.len())?;
    let mut dims: SmallVec<[i64; 5]> = (0..i64::try_from(new).ok()?).collect();
    for (i, (&found, &size)) in found[new..].iter().zip(sizes).enumerate() {
        match (found, size) {
            (found, size) if found == size => {}
            (_, 1) => dims.push(i64::try_from(new + i).ok()?),
            _ => return None,
        }
    }
    Some(
        aten::sum_dim_intlist(tensor, Some(&dims), true, None)
            .and_then(|sum| if new == 0 { Ok(sum) } else { sum.view(sizes) }),
    )
}

impl Drop for Node {
    #[inline]
    fn drop(&mut self) {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        if depth >= DEEPEST {
            self.defer_drop();
        }
    }
}

impl Node {
    /// Moves the edges, function and hooks to the list that the outermost drop empties.
    #[cold]
    fn defer_drop(&mut self) {
        let node = DeferredDrop {
            edges: std::mem::take(&mut self.edges),
            function: self.function.take(),
            hooks: self.hooks.take(),
        };
        DEFERRED.with(|deferred| deferred.borrow_mut().push(node));
    }
}

/// A marker whose drop runs after all other fields of a node.
struct Dropped;

impl Drop for Dropped {
    #[inline]
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        if depth == 0 && DEFERRED.with(|deferred| !deferred.borrow().is_empty()) {
            drop_deferred();
        }
        DEPTH.set(depth);
    }
}

/// Drops the deferred contents of nodes, and those that these drops defer in turn.
#[cold]
fn drop_deferred() {
    while let Some(node) = DEFERRED.with(|deferred| deferred.borrow_mut().pop()) {
        drop(node);
    }
    drop(DEFERRED.with(|deferred| deferred.take()));
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.name())
    }
}
