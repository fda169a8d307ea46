//! Fusion of elementwise calls of a graph.

mod call;
mod group;

use std::fmt;
use std::sync::Arc;

use dispatch_runtime::{Device, FusedKernel, KernelId, KeySet, Operator, Result, Tensor, guard, keys};

use crate::argument::ValueId;
use crate::graph::{Graph, Node};
use crate::run::RunValues;

impl Graph {
    /// Fuses elementwise calls that the CPU can compute in one pass over memory: it reads each input once, and writes each result that
    /// other calls use once.
    ///
    /// Calls are fused if their results have the same sizes, and no call between them uses a result of the pass or writes to a tensor. A
    /// composite is fused by the operators of which it is composed.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_trace::{Graph, trace};
    ///
    /// # fn main() -> Result<()> {
    /// let x = Tensor::from([1.0_f32, -2.0]);
    /// let graph = trace(|x| Ok([aten::sum(&aten::relu(&aten::mul_scalar(&x[0], 2.into())?)?, None)?]), &[x.clone()])?;
    /// let fused = graph.fuse();
    /// let text = "\
    /// fn graph(v0: f32[2]) {
    ///     let v1: f32[2] = aten::mul_scalar(&v0, 2); // in pass 0
    ///     let v2: f32[2] = aten::relu(&v1); // in pass 0
    ///     let v3: f32[] = aten::sum(&v2);
    ///     [v3]
    /// }
    /// ";
    /// assert_eq!(fused.to_string(), text);
    /// assert_eq!(&Graph::parse(text, &[])?, fused.graph());
    /// assert_eq!(&*fused.run(&[x])?[0].read::<f32>()?, [2.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn fuse(&self) -> FusedGraph {
        let steps = Device::CPU.fuser().map(|fuser| group::group_calls(self, fuser));
        FusedGraph {
            graph: self.clone(),
            steps: steps.unwrap_or_else(|| (0..self.nodes.len()).map(RunStep::Call).collect()),
        }
    }
}

/// A graph with the calls that [`Graph::fuse`] has fused. It prints as the graph, with a comment after each fused call.
#[derive(Clone)]
pub struct FusedGraph {
    graph: Graph,
    steps: Vec<RunStep>,
}

/// A step of a run: one call or one group of fused calls.
#[derive(Clone)]
enum RunStep {
    Call(usize),
    Group(Arc<FusedCalls>),
}

/// A group of calls that one fused pass computes.
struct FusedCalls {
    nodes: Vec<usize>,
    inputs: Vec<ValueId>,
    results: Vec<ValueId>,
    pass: Box<dyn FusedKernel>,
    /// The kernels that the pass replaces.
    kernels: Vec<OperatorKernels>,
    /// Whether autograd records one of the calls even if the caller is in `no_grad`.
    records_grad: bool,
}

/// The kernels that calls of an operator reached at the time of fusion.
struct OperatorKernels {
    operator: &'static Operator,
    /// The kernel of a call on the CPU below all layers.
    direct: KernelId,
    /// The kernel of a call with the keys that every CPU tensor has.
    with_default_keys: Option<KernelId>,
}

impl OperatorKernels {
    fn for_operator(operator: &'static Operator) -> Option<Self> {
        let direct = operator.kernel_id(keys::CPU.into())?;
        Some(Self { operator, direct, with_default_keys: operator.kernel_id(Self::default_tensor_keys()) })
    }

    fn default_tensor_keys() -> KeySet {
        KeySet::from(keys::CPU) | keys::Autograd.on(keys::CPU) | keys::ADInplaceOrView
    }

    /// Returns whether calls with these keys still reach the same kernel.
    fn is_unchanged(&self, keys: KeySet) -> bool {
        let Self { operator, direct, with_default_keys } = self;
        operator.kernel_id(keys) == Some(*direct)
            && operator.kernel_id(Self::default_tensor_keys()) == *with_default_keys
    }
}

impl FusedGraph {
    /// Returns the original graph, with all its calls, from which [`Graph::fuse`] made this.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the groups of fused calls, as indices of the graph's nodes.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # use dispatch_runtime::prelude::*;
    /// # fn main() -> Result<()> {
    /// let graph = dispatch_trace::trace(|x| Ok([aten::exp(&aten::neg(&x[0])?)?]), &[Tensor::from([1.0_f32, 2.0])])?;
    /// assert_eq!(graph.fuse().passes().collect::<Vec<_>>(), [[0, 1]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn passes(&self) -> impl Iterator<Item = &[usize]> {
        self.steps
            .iter()
            .filter_map(|step| if let RunStep::Group(group) = step { Some(&group.nodes[..]) } else { None })
    }

    /// Runs the graph as [`Graph::run`] does. Results are equal bit by bit.
    ///
    /// The calls of a pass are made one by one if one of them would not go straight to the CPU's kernel, or if the elements of an input are
    /// not contiguous. A call does not go straight there if an input requires gradients or is on another device, if a layer such as
    /// autocast, vmap, a mode or a trace is active, or if the kernel was replaced.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_autograd::Differentiable;
    /// use dispatch_runtime::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let fused = dispatch_trace::trace(
    ///     |x| Ok([aten::sum(&aten::mul(&aten::exp(&x[0])?, &x[0])?, None)?]),
    ///     &[Tensor::from([0.0, 0.0])],
    /// )?
    /// .fuse();
    /// let x = Tensor::from([0.0, 1.0]).requires_grad_(true)?;
    /// fused.run(std::slice::from_ref(&x))?[0].backward()?;
    /// assert_eq!(x.grad().unwrap().read::<f64>()?[0], 1.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Graph::run`].
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut values = self.graph.check_and_bind_inputs(inputs)?;
        let last = self.graph.last_uses(self.steps.iter().map(|step| self.step_values(step)));
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                RunStep::Call(node) => self.graph.run_node(*node, &mut values)?,
                RunStep::Group(group) if group.run(&mut values)? => {}
                RunStep::Group(group) => {
                    group.nodes.iter().try_for_each(|node| self.graph.run_node(*node, &mut values))?;
                }
            }
            for id in self.step_values(step).filter(|id| last[id.0] == Some(at)) {
                values[id.0] = None;
            }
        }
        self.graph.collect_results(&values)
    }

    /// Returns the values that a step uses or returns.
    fn step_values(&self, step: &RunStep) -> impl Iterator<Item = ValueId> {
        let nodes = match step {
            RunStep::Call(node) => std::slice::from_ref(node),
            RunStep::Group(group) => &group.nodes[..],
        };
        nodes.iter().map(|node| &self.graph.nodes[*node]).flat_map(Node::all_values)
    }
}

impl FusedCalls {
    /// Computes the group's results in one pass. Returns false if the pass cannot replace the calls for these inputs.
    fn run(&self, values: &mut RunValues) -> Result<bool> {
        let inputs: Option<Vec<&Tensor>> = self.inputs.iter().map(|id| values.get(id.0)?.as_ref()).collect();
        let Some(inputs) = inputs.filter(|inputs| self.reaches_expected_kernels(inputs)) else { return Ok(false) };
        let Some(results) = self.pass.run(&inputs)? else { return Ok(false) };
        for (id, result) in self.results.iter().zip(results) {
            values[id.0] = Some(result);
        }
        Ok(true)
    }

    /// Returns whether calls with these inputs reach the kernels that the pass replaces.
    fn reaches_expected_kernels(&self, inputs: &[&Tensor]) -> bool {
        if (self.records_grad || guard::is_grad_enabled()) && inputs.iter().any(|input| input.requires_grad()) {
            return false;
        }
        let input_keys = inputs.iter().fold(KeySet::EMPTY, |keys, input| keys | input.keys());
        // These layers only redispatch if nothing requires gradients, and nothing is written or viewed.
        let redispatching = KeySet::layers_of(keys::Autograd) | KeySet::layers_of(keys::ADInplaceOrView);
        let keys = (input_keys | guard::included()) - guard::excluded() - redispatching;
        self.kernels.iter().all(|kernel| kernel.is_unchanged(keys))
    }
}

/// Prints the graph's text, which [`Graph::parse`] reads, with the number of the pass after each fused call.
impl fmt::Display for FusedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut passes = vec![None; self.graph.nodes.len()];
        for (pass, nodes) in self.passes().enumerate() {
            for node in nodes {
                passes[*node] = Some(pass);
            }
        }
        self.graph.fmt_with_remarks(f, &|node| passes[node].map(|pass| format!("in pass {pass}")))
    }
}

impl fmt::Debug for FusedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
