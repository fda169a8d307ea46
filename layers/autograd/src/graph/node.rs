//! The graph: a node for each recorded call, and an edge to wherever its gradients go.
//!
//! A node belongs to the tensors that it gave and to the nodes behind it, so a graph lives exactly as long as somebody can still go
//! back through it. Chains of a million nodes are dropped in a bounded stack: a few nodes deep, the contents of a node are put into a list,
//! and the outermost drop empties that list.

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

/// A recorded call, and how to go back through it.
pub struct Node {
    pub(crate) function: Function,
    pub(crate) edges: Edges,
    pub(crate) results: Outlines,
    /// Later nodes have larger numbers, so going back in their order goes back in time.
    sequence: u64,
    state: ThreadState,
    site: Option<Site>,
    hooks: OnceLock<Arc<Hooks>>,
    /// The last one, as fields are dropped in this order.
    _dropped: Dropped,
}

/// Where a gradient goes.
#[derive(Clone)]
pub(crate) enum Edge {
    /// To a node, as the gradient of one of its results.
    Node(Shared<Node>, u32),
    /// To a leaf.
    Leaf(Tensor),
}

/// One for each tensor that a call can be differentiated by; none where it does not require gradients.
pub(crate) type Edges = SmallVec<[Option<Edge>; 2]>;

/// Gradients of a call's tensors, in order.
pub(crate) type Gradients = SmallVec<[Option<Tensor>; 2]>;

thread_local! {
    static SEQUENCE: Cell<u64> = const { Cell::new(0) };
    /// How many nodes are being dropped, one by another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Never dropped, as a thread may drop graphs until its very end; empty whenever no node is being dropped.
    static DEFERRED: ManuallyDrop<RefCell<Vec<DeferredDrop>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// How many nodes may be dropped one by another.
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
        node.share()
    }

    /// The node of one tensor.
    pub(crate) fn of_one(result: &Tensor, function: Function, edges: Edges) -> Shared<Self> {
        Self::new(function, edges, Outlines::One(Outline::of(result)))
    }

    /// A node of this thread's next call, whose edges and results are still to be found.
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

    /// A number that no other node has while this one lives.
    pub(crate) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The name of the operator or of the custom function that was called.
    #[must_use]
    pub fn name(&self) -> String {
        self.function.name()
    }

    /// What error messages call its derivative.
    pub(crate) fn named(&self) -> String {
        format!("the derivative of `{}`", self.name())
    }

    /// The nodes that its gradients go to; none in place of leaves and of tensors that do not require gradients.
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

/// While it lives, this thread's nodes have numbers above those of all that were made before: a part of the graph that can be told from
/// the rest, whichever thread that was made on.
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

    /// The number of its first node.
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
    /// Whether both lead to the same place.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Node(node, result), Self::Node(other, of_other)) => result == of_other && Shared::same(node, other),
            (Self::Leaf(leaf), Self::Leaf(other)) => leaf.same(other),
            _ => false,
        }
    }

    /// Makes a gradient one of what this edge leads to: of its sizes, dtype and kind of number.
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

/// Sums a gradient over what was broadcast, and gives it the dtype.
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

/// The sum over the dimensions along which `sizes` was broadcast to this; none where it was not.
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
    /// Hands what may be the last handles to other nodes to the outermost drop.
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

/// Dropped when all else of a node is.
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

/// Drops the deferred contents of nodes, and those that this defers in turn.
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
