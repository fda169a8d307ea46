//! A program: a prepared graph with its state.

mod load;
mod memory;
mod module;
mod nodes;
mod state;
mod state_writes;

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aten::prelude::*;
use dispatch_runtime::{Device, Tensor, Value, guard};

use crate::archive::Archive;
use crate::constraints::InputConstraints;
use crate::error::{Pt2Error, Pt2Problem};
use crate::inputs::{InputSpec, Inputs};
use crate::prepare::{Instruction, PreparedGraph};
use crate::run::run_graph_observed;
use crate::tree::{Tree, TreeSpec};
pub use memory::MemoryReport;
pub use nodes::{ProgramNode, ProgramValue};
use state::StateEntry;
use state_writes::StateWrites;

/// A program of `torch.export`, with its parameters and buffers.
///
/// A clone shares the parameters and buffers. Threads can run one program at once. A program that writes its buffers is an exception: a
/// run fails while another one writes the same buffers, so each thread has a [`deep_clone`](dispatch_nn::Module::deep_clone).
///
/// Runs on the CPU under [`no_grad`](dispatch_runtime::guard::no_grad) with the same sizes use the memory of their intermediate results again:
/// from the third run on, each large one has a fixed place in one region ([`MemoryLayout`](dispatch_runtime::MemoryLayout)).
///
/// A program runs on the device of its parameters and buffers, or of its inputs if it has none:
/// [`to`](dispatch_nn::Module::to) moves it. A node that names another device runs on the device of the program, too.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::Program;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let program = Program::load("tests/programs/mlp.pt2")?;
/// let output = program.run(Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]))?;
/// assert_eq!(output.as_tensor().unwrap().sizes(), [1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Program {
    layout: Arc<Layout>,
    state: Vec<StateEntry>,
}

/// All of a program but its state.
pub(crate) struct Layout {
    path: PathBuf,
    name: String,
    pub(crate) graph: PreparedGraph,
    inputs: Vec<InputRole>,
    outputs: Vec<OutputRole>,
    /// The names of the inputs that the caller passes.
    user_inputs: Vec<String>,
    input_spec: InputSpec,
    constraints: InputConstraints,
    output_spec: Option<TreeSpec>,
    /// The positions of the state's tensors that a run writes to.
    written_state: Vec<usize>,
    state_writes: StateWrites,
}

/// The source of a graph's input.
#[derive(Debug, Clone)]
enum InputRole {
    State(usize),
    User(usize),
    Token,
}

/// The use of a graph's output.
#[derive(Debug, Clone, Copy)]
enum OutputRole {
    User,
    WriteState(usize),
    WriteInput(usize),
    Ignored,
}

impl Program {
    /// Loads the only program of a file, or the one with the name `model`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is damaged, or needs operators that no linked crate defines.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Pt2Error> {
        Archive::open(path)?.only_program()
    }

    /// Loads a program from a reader of an archive: the only one, or the one with the name `model`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`load`](Self::load).
    pub fn read(reader: impl Read) -> Result<Self, Pt2Error> {
        Archive::read(reader)?.only_program()
    }

    /// Loads a program from the bytes of an archive: the only one, or the one with the name `model`. A vector is not copied.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`load`](Self::load).
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, Pt2Error> {
        Archive::from_bytes(bytes)?.only_program()
    }

    /// Runs the program, and returns what its forward function returns.
    ///
    /// Calls go through the whole dispatcher, so gradients are recorded, and modes and layers see every call.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments do not fit the program, or if an operator fails.
    pub fn run(&self, inputs: impl Into<Inputs>) -> Result<Tree, Pt2Error> {
        Ok(self.tree(self.run_leaves(self.leaves(inputs)?)?))
    }

    /// Returns the arguments without their containers: one value for each of the [`input_names`](Self::input_names), in that order.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Program;
    /// use dispatch_runtime::Tensor;
    ///
    /// let program = Program::load("tests/programs/mlp.pt2")?;
    /// let leaves = program.leaves(Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]))?;
    /// assert_eq!(program.run_leaves(leaves)?.len(), program.run(Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]))?.leaves().len());
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the number or the structure of the arguments does not fit the program.
    pub fn leaves(&self, inputs: impl Into<Inputs>) -> Result<Vec<Value>, Pt2Error> {
        let leaves = self.layout.input_spec.flatten(&inputs.into());
        leaves.map_err(|reason| self.error(Pt2Problem::Arguments { reason }))
    }

    /// Runs the program on one value for each of its inputs, and returns the values of its outputs, both without their containers.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Self::run).
    pub fn run_leaves(&self, leaves: Vec<Value>) -> Result<Vec<Value>, Pt2Error> {
        self.run_observed(leaves, &mut |_, _| {}).map_err(|problem| self.error(problem))
    }

    /// Returns the values of [`run_leaves`](Self::run_leaves) in the containers that the forward function returns.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Program;
    /// use dispatch_runtime::Tensor;
    ///
    /// let program = Program::load("tests/programs/mlp.pt2")?;
    /// let outputs = program.run_leaves(program.leaves(Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]))?)?;
    /// assert_eq!(program.tree(outputs).as_tensor().unwrap().sizes(), [1, 2]);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    #[must_use]
    pub fn tree(&self, outputs: Vec<Value>) -> Tree {
        let mut outputs = outputs.into_iter();
        match &self.layout.output_spec {
            Some(spec) => spec.build(&mut outputs),
            None => match (outputs.next(), outputs.len()) {
                (Some(only), 0) => Tree::Leaf(only),
                (first, _) => Tree::Tuple(first.into_iter().chain(outputs).map(Tree::Leaf).collect()),
            },
        }
    }

    /// Runs the program, and calls `observe` with the slots after each instruction.
    #[expect(clippy::needless_pass_by_value, reason = "the values of the inputs are dropped after the run")]
    fn run_observed(
        &self,
        leaves: Vec<Value>,
        observe: &mut impl FnMut(&Instruction, &[Value]),
    ) -> Result<Vec<Value>, Pt2Problem> {
        let layout = &*self.layout;
        if leaves.len() != layout.user_inputs.len() {
            let reason = format!("the program takes {} inputs, and got {}", layout.user_inputs.len(), leaves.len());
            return Err(Pt2Problem::Arguments { reason });
        }
        layout.constraints.check(&leaves)?;
        let written = layout.written_state.iter().filter_map(|at| self.state.get(*at));
        let _writes = layout.state_writes.begin(written)?;
        let state = |at: usize| self.state.get(at).map(|entry| entry.tensor().clone().into());
        let inputs = self.graph_inputs(state, &leaves);
        let outputs = run_graph_observed(&layout.graph, inputs, self.device(&leaves), observe).map_err(|problem| {
            let Pt2Problem::Run { node, module, source, .. } = problem else { return problem };
            Pt2Problem::Run { node, module, source, other_dtypes: layout.constraints.other_dtypes(&leaves) }
        })?;
        let (mut results, mut writes) = (Vec::new(), Vec::new());
        for (role, value) in layout.outputs.iter().zip(outputs) {
            let target = match role {
                OutputRole::User => {
                    results.push(value);
                    continue;
                }
                OutputRole::WriteState(at) => self.state.get(*at).map(StateEntry::tensor),
                OutputRole::WriteInput(at) => leaves.get(*at).and_then(Value::as_tensor),
                OutputRole::Ignored => None,
            };
            if let (Some(target), Value::Tensor(value)) = (target, value) {
                writes.push((target, value));
            }
        }
        write_back(writes).map_err(Pt2Problem::Tensor)?;
        Ok(results)
    }

    /// Returns the device of the run: that of the first parameter or buffer, or else of the first input.
    fn device(&self, leaves: &[Value]) -> Device {
        let state = self.state.first().map(StateEntry::tensor);
        state.or_else(|| leaves.iter().find_map(Value::as_tensor)).map_or(Device::CPU, Tensor::device)
    }

    pub(crate) fn graph(&self) -> &PreparedGraph {
        &self.layout.graph
    }

    pub(crate) fn constraints(&self) -> &InputConstraints {
        &self.layout.constraints
    }

    pub(crate) fn state_tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.state.iter().map(StateEntry::tensor)
    }

    /// Returns a value for each input of the graph, from tensors of the state by their positions and from the caller's arguments.
    pub(crate) fn graph_inputs(
        &self,
        state: impl Fn(usize) -> Option<Value>,
        leaves: &[Value],
    ) -> impl Iterator<Item = Value> {
        let input = move |role: &InputRole| match role {
            InputRole::State(at) => state(*at),
            InputRole::User(at) => leaves.get(*at).cloned(),
            InputRole::Token => None,
        };
        self.layout.inputs.iter().map(move |role| input(role).unwrap_or(Value::None))
    }

    /// Returns the name of the program in its archive.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.layout.name
    }

    /// Returns the names of the inputs that a call passes, in order.
    #[must_use]
    pub fn input_names(&self) -> &[String] {
        &self.layout.user_inputs
    }

    pub(crate) fn error(&self, problem: Pt2Problem) -> Pt2Error {
        Pt2Error::new(&*self.layout.path, problem)
    }
}

/// Writes the new values of tensors, which a functional program returns.
fn write_back(mut writes: Vec<(&Tensor, Tensor)>) -> dispatch_runtime::Result<()> {
    let _no_grad = guard::no_grad();
    // A new value can be another written tensor, as in a program that swaps two buffers.
    let targets: Vec<&Tensor> = writes.iter().map(|(target, _)| *target).collect();
    for (own, value) in &mut writes {
        if targets.iter().any(|target| !target.same(own) && target.storage().same(value.storage())) {
            *value = aten::clone(value, None)?;
        }
    }
    for (target, value) in writes {
        target.copy_(&value)?;
    }
    Ok(())
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({}, {} nodes)", self.layout.name, self.layout.graph.instructions.len())
    }
}
