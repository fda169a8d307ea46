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
use dispatch_transform::caller_state;
use smallvec::SmallVec;

use crate::graph::anomaly::CallSite;
use crate::graph::function::BackwardFunction;
use crate::graph::hooks::NodeHooks;
use crate::graph::outline::{ResultOutlines, TensorOutline};

/// A recorded call and its derivative.
pub struct Node {
    pub(crate) function: BackwardFunction,
    pub(crate) edges: Edges,
    pub(crate) results: ResultOutlines,
    /// The order of recording. A later node has a larger number, and runs earlier in a backward pass.
    sequence: u64,
    state: ThreadState,
    call_site: Option<CallSite>,
    hooks: OnceLock<Arc<NodeHooks>>,
    /// Ends the drop of the node. It is the last field, because fields are dropped in order.
    _after_drop: AfterNodeDrop,
}

/// The destination of a gradient.
#[derive(Clone)]
pub(crate) enum Edge {
    /// A node, and the index of the result to which the gradient belongs.
    Node(Shared<Node>, u32),
    /// A leaf, which accumulates the gradient.
    Leaf(Tensor),
}

/// One edge per differentiable tensor of a call. `None` if the tensor does not require gradients.
pub(crate) type Edges = SmallVec<[Option<Edge>; 2]>;

/// The gradients of a call's differentiable tensors, in order.
pub(crate) type Gradients = SmallVec<[Option<Tensor>; 2]>;

thread_local! {
    static NEXT_SEQUENCE: Cell<u64> = const { Cell::new(0) };
    /// The current depth of nested node drops.
    static DROP_DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The contents of nodes whose drop is deferred. Empty whenever no node is being dropped. Never dropped itself, as a thread may drop
    /// graphs until it ends.
    static DEFERRED_DROPS: ManuallyDrop<RefCell<Vec<DeferredDrop>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The maximal depth of nested node drops.
const MAX_DROP_DEPTH: u32 = 8;

/// The contents of a node that was dropped too deep in the stack. The outermost drop drops them.
struct DeferredDrop {
    #[expect(dead_code, reason = "they are only dropped")]
    edges: Edges,
    #[expect(dead_code, reason = "it is only dropped")]
    function: BackwardFunction,
    #[expect(dead_code, reason = "they are only dropped")]
    hooks: Option<Arc<NodeHooks>>,
}

impl Node {
    pub(crate) fn new(function: BackwardFunction, edges: Edges, results: ResultOutlines) -> Shared<Self> {
        let mut node = Self::new_unlinked(function);
        (node.edges, node.results) = (edges, results);
        node.into_shared()
    }

    /// Makes the node of a call with one result.
    pub(crate) fn with_one_result(result: &Tensor, function: BackwardFunction, edges: Edges) -> Shared<Self> {
        Self::new(function, edges, ResultOutlines::One(TensorOutline::from_tensor(result)))
    }

    /// Makes the node of this thread's next call. Its edges and results are set later.
    #[inline(always)]
    pub(crate) fn new_unlinked(function: BackwardFunction) -> Unique<Self> {
        let sequence = NEXT_SEQUENCE.get();
        NEXT_SEQUENCE.set(sequence + 1);
        Unique::new(Self {
            function,
            edges: Edges::new(),
            results: ResultOutlines::default(),
            sequence,
            state: caller_state(),
            call_site: CallSite::capture(),
            hooks: OnceLock::new(),
            _after_drop: AfterNodeDrop,
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

    /// Returns the text by which error messages name the derivative of the node.
    pub(crate) fn derivative_name(&self) -> String {
        format!("the derivative of `{}`", self.name())
    }

    /// Returns the nodes to which the node sends gradients, in the order of its inputs. `None` for a leaf, and for a tensor that does not
    /// require gradients.
    pub fn next_nodes(&self) -> impl Iterator<Item = Option<&Shared<Self>>> {
        self.edges.iter().map(|edge| match edge {
            Some(Edge::Node(node, _)) => Some(node),
            _ => None,
        })
    }

    pub(crate) fn function(&self) -> &BackwardFunction {
        &self.function
    }

    pub(crate) fn edges(&self) -> &[Option<Edge>] {
        &self.edges
    }

    pub(crate) fn results(&self) -> &[TensorOutline] {
        &self.results
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn thread_state(&self) -> ThreadState {
        self.state
    }

    pub(crate) fn call_site(&self) -> Option<&CallSite> {
        self.call_site.as_ref()
    }

    pub(crate) fn hooks(&self) -> Option<&NodeHooks> {
        self.hooks.get().map(|hooks| &**hooks)
    }

    pub(crate) fn hooks_or_init(&self) -> &Arc<NodeHooks> {
        self.hooks.get_or_init(Arc::default)
    }
}

/// A scope in which this thread's nodes get sequence numbers above those of all earlier nodes of all threads. It makes the nodes recorded
/// in the scope distinguishable from all others.
pub(crate) struct SequenceScope {
    first_sequence: u64,
    outer_sequence: u64,
}

impl SequenceScope {
    pub(crate) fn begin() -> Self {
        static SCOPE_COUNT: AtomicU64 = AtomicU64::new(0);
        let first_sequence = 1 << 63 | SCOPE_COUNT.fetch_add(1, Ordering::Relaxed) << 32;
        Self { first_sequence, outer_sequence: NEXT_SEQUENCE.replace(first_sequence) }
    }

    /// Returns the smallest sequence number of the scope.
    pub(crate) fn first_sequence(&self) -> u64 {
        self.first_sequence
    }
}

impl Drop for SequenceScope {
    fn drop(&mut self) {
        NEXT_SEQUENCE.set(self.outer_sequence);
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
    pub(crate) fn reduce_and_cast(&self, gradient: Tensor, from: &Node) -> Result<Tensor> {
        match self {
            Self::Node(node, result) => {
                let outline = &node.results[*result as usize];
                reduce_and_cast(gradient, outline.sizes(), outline.dtype(), &|| from.derivative_name())
            }
            Self::Leaf(tensor) => reduce_and_cast(gradient, tensor.sizes(), tensor.dtype(), &|| from.derivative_name()),
        }
    }
}

/// Sums a gradient over broadcast dimensions and casts it to the dtype.
pub(crate) fn reduce_and_cast(
    mut gradient: Tensor,
    sizes: &[i64],
    dtype: dispatch_runtime::DType,
    from: &dyn Fn() -> String,
) -> Result<Tensor> {
    if gradient.sizes() != sizes {
        gradient = sum_to_sizes(&gradient, sizes).ok_or_else(|| crate::GradientError::WrongGradientSizes {
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
fn sum_to_sizes(tensor: &Tensor, sizes: &[i64]) -> Option<Result<Tensor>> {
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
        let depth = DROP_DEPTH.get();
        DROP_DEPTH.set(depth + 1);
        if depth >= MAX_DROP_DEPTH {
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
        DEFERRED_DROPS.with(|deferred| deferred.borrow_mut().push(node));
    }
}

/// A marker whose drop runs after all other fields of a node.
struct AfterNodeDrop;

impl Drop for AfterNodeDrop {
    #[inline]
    fn drop(&mut self) {
        let depth = DROP_DEPTH.get() - 1;
        if depth == 0 && DEFERRED_DROPS.with(|deferred| !deferred.borrow().is_empty()) {
            drop_deferred();
        }
        DROP_DEPTH.set(depth);
    }
}

/// Drops the deferred contents of nodes, and those that these drops defer in turn.
#[cold]
fn drop_deferred() {
    while let Some(node) = DEFERRED_DROPS.with(|deferred| deferred.borrow_mut().pop()) {
        drop(node);
    }
    drop(DEFERRED_DROPS.with(|deferred| deferred.take()));
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.name())
    }
}
