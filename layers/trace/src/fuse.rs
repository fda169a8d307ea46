//! Graphs whose elementwise calls go together.

mod call;
mod group;

use std::fmt;
use std::sync::Arc;

use dispatch_runtime::{Destination, Device, KeySet, Operator, Pass, Result, Tensor, guard, keys};

use crate::argument::Id;
use crate::graph::{Graph, Node};
use crate::run::Known;

impl Graph {
    /// Puts elementwise calls together that the CPU can make in one pass over memory: one read of what is given, one write of what
    /// others use.
    ///
    /// Calls go together where their results have the same sizes and nothing between them needs one of these or writes to anything.
    /// Operators that are composed of others are looked through.
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
    pub fn fuse(&self) -> Fused {
        let units = Device::CPU.fuser().map(|fuser| group::units(self, fuser));
        Fused { graph: self.clone(), units: units.unwrap_or_else(|| (0..self.nodes.len()).map(Unit::Call).collect()) }
    }
}

/// A graph that makes some of its calls together, as [`Graph::fuse`] found them. It prints as the graph, with remarks.
#[derive(Clone)]
pub struct Fused {
    graph: Graph,
    units: Vec<Unit>,
}

/// What is done at once.
#[derive(Clone)]
enum Unit {
    Call(usize),
    Group(Arc<Group>),
}

/// Calls that go together.
struct Group {
    nodes: Vec<usize>,
    inputs: Vec<Id>,
    results: Vec<Id>,
    pass: Box<dyn Pass>,
    /// The kernels that the pass stands for.
    kernels: Vec<Kernel>,
    /// Whether autograd records one of the calls whatever the caller says.
    grad: bool,
}

/// Where calls of an operator went when the pass was made.
struct Kernel {
    operator: &'static Operator,
    /// On the CPU, below all layers.
    straight: Destination,
    /// From the layers that every tensor of the CPU's has keys of.
    plain: Option<Destination>,
}

impl Kernel {
    fn of(operator: &'static Operator) -> Option<Self> {
        let straight = operator.destination(keys::CPU.into())?;
        Some(Self { operator, straight, plain: operator.destination(Self::plain()) })
    }

    fn plain() -> KeySet {
        KeySet::from(keys::CPU) | keys::Autograd.on(keys::CPU) | keys::ADInplaceOrView
    }

    /// Whether calls with these keys go there still.
    fn serves(&self, keys: KeySet) -> bool {
        let Self { operator, straight, plain } = self;
        operator.destination(keys) == Some(*straight) && operator.destination(Self::plain()) == *plain
    }
}

impl Fused {
    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The calls that go together, by their places among the graph's nodes.
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
        self.units.iter().filter_map(|unit| if let Unit::Group(group) = unit { Some(&group.nodes[..]) } else { None })
    }

    /// Does what [`Graph::run`] does, and gives the same to the bit.
    ///
    /// Where a call would not go straight to the CPU's kernel - an input requires gradients or is elsewhere, a layer such as autocast,
    /// vmap, a mode or a trace is on for it, or somebody replaced the kernel - or where an input's elements do not lie side by side,
    /// the calls of that pass are made one by one.
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
    /// Those of [`Graph::run`].
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut known = self.graph.given(inputs)?;
        let last = self.graph.last_uses(self.units.iter().map(|unit| self.touched(unit)));
        for (at, unit) in self.units.iter().enumerate() {
            match unit {
                Unit::Call(node) => self.graph.make(*node, &mut known)?,
                Unit::Group(group) if group.run(&mut known)? => {}
                Unit::Group(group) => group.nodes.iter().try_for_each(|node| self.graph.make(*node, &mut known))?,
            }
            for id in self.touched(unit).filter(|id| last[id.0] == Some(at)) {
                known[id.0] = None;
            }
        }
        self.graph.results(&known)
    }

    /// The values that a unit uses or gives.
    fn touched(&self, unit: &Unit) -> impl Iterator<Item = Id> {
        let nodes = match unit {
            Unit::Call(node) => std::slice::from_ref(node),
            Unit::Group(group) => &group.nodes[..],
        };
        nodes.iter().map(|node| &self.graph.nodes[*node]).flat_map(Node::touched)
    }
}

impl Group {
    /// Whether the pass could be made.
    fn run(&self, known: &mut Known) -> Result<bool> {
        let inputs: Option<Vec<&Tensor>> = self.inputs.iter().map(|id| known.get(id.0)?.as_ref()).collect();
        let Some(inputs) = inputs.filter(|inputs| self.goes_straight(inputs)) else { return Ok(false) };
        let Some(results) = self.pass.run(&inputs)? else { return Ok(false) };
        for (id, result) in self.results.iter().zip(results) {
            known[id.0] = Some(result);
        }
        Ok(true)
    }

    /// Whether calls with such arguments go to the very kernels that the pass stands for.
    fn goes_straight(&self, inputs: &[&Tensor]) -> bool {
        if (self.grad || guard::is_grad_enabled()) && inputs.iter().any(|input| input.requires_grad()) {
            return false;
        }
        let carried = inputs.iter().fold(KeySet::EMPTY, |keys, input| keys | input.keys());
        // These have nothing to do where nothing requires gradients and nothing is written or viewed.
        let idle = KeySet::layers_of(keys::Autograd) | KeySet::layers_of(keys::ADInplaceOrView);
        let keys = (carried | guard::included()) - guard::excluded() - idle;
        self.kernels.iter().all(|kernel| kernel.serves(keys))
    }
}

/// The graph's text, which [`Graph::parse`] reads; behind calls that go together stands which pass they are in.
impl fmt::Display for Fused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut passes = vec![None; self.graph.nodes.len()];
        for (pass, nodes) in self.passes().enumerate() {
            for node in nodes {
                passes[*node] = Some(pass);
            }
        }
        self.graph.fmt_with(f, &|node| passes[node].map(|pass| format!("in pass {pass}")))
    }
}

impl fmt::Debug for Fused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
