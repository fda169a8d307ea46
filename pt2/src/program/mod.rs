//! A program: a prepared graph with its state.

mod load;
mod module;
mod nodes;
mod state;

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aten::prelude::*;
use dispatch_runtime::{Tensor, Value, guard};

use crate::archive::Archive;
use crate::constraints::InputConstraints;
use crate::error::{Pt2Error, Pt2Problem};
use crate::inputs::{InputSpec, Inputs};
use crate::prepare::PreparedGraph;
use crate::run::run_graph;
use crate::tree::{Tree, TreeSpec};
pub use nodes::{ProgramNode, ProgramValue};
use state::StateEntry;

/// A program of `torch.export`, with its parameters and buffers.
///
/// A clone shares the parameters and buffers. Threads can run one program at once; a program that writes its buffers is an exception, and
/// gives each thread a [`deep_clone`](dispatch_nn::Module::deep_clone).
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
}

/// The source of a graph's input.
#[derive(Debug, Clone)]
enum InputRole {
    State(usize),
    User(usize),
    /// A value that the caller must pass as it was in the example.
    Fixed(usize, Value),
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

    /// Loads the only program of the archive that a reader has, or the one with the name `model`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`load`](Self::load).
    pub fn read(reader: impl Read) -> Result<Self, Pt2Error> {
        Archive::read(reader)?.only_program()
    }

    /// Loads the only program of the archive that these bytes are, or the one with the name `model`. A vector is not copied.
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
        self.run_checked(leaves).map_err(|problem| self.error(problem))
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

    fn run_checked(&self, leaves: Vec<Value>) -> Result<Vec<Value>, Pt2Problem> {
        let layout = &*self.layout;
        if leaves.len() != layout.user_inputs.len() {
            let reason = format!("the program takes {} inputs, and got {}", layout.user_inputs.len(), leaves.len());
            return Err(Pt2Problem::Arguments { reason });
        }
        layout.constraints.check(&leaves)?;
        let input = |role: &InputRole| -> Value {
            match role {
                InputRole::State(at) => self.state.get(*at).map_or(Value::None, |entry| entry.tensor().clone().into()),
                InputRole::User(at) | InputRole::Fixed(at, _) => leaves.get(*at).cloned().unwrap_or(Value::None),
                InputRole::Token => Value::None,
            }
        };
        let outputs = run_graph(&layout.graph, layout.inputs.iter().map(input))?;
        let mut results = Vec::new();
        for (role, value) in layout.outputs.iter().zip(outputs) {
            match role {
                OutputRole::User => results.push(value),
                OutputRole::WriteState(at) => {
                    if let Some(entry) = self.state.get(*at) {
                        write_back(entry.tensor(), &value)?;
                    }
                }
                OutputRole::WriteInput(at) => {
                    if let Some(Value::Tensor(tensor)) = leaves.get(*at) {
                        write_back(tensor, &value)?;
                    }
                }
                OutputRole::Ignored => {}
            }
        }
        Ok(results)
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

    /// Returns a value for each input of the graph, from values of the state and of the caller's arguments.
    pub(crate) fn graph_inputs(&self, state: &[Value], leaves: &[Value]) -> Vec<Value> {
        let input = |role: &InputRole| match role {
            InputRole::State(at) => state.get(*at).cloned(),
            InputRole::User(at) | InputRole::Fixed(at, _) => leaves.get(*at).cloned(),
            InputRole::Token => None,
        };
        self.layout.inputs.iter().map(|role| input(role).unwrap_or(Value::None)).collect()
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

/// Writes the new value of a tensor that a functional program returns.
fn write_back(target: &Tensor, value: &Value) -> Result<(), Pt2Problem> {
    let Value::Tensor(value) = value else { return Ok(()) };
    let _no_grad = guard::no_grad();
    target.copy_(value).map_err(Pt2Problem::Tensor)?;
    Ok(())
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({}, {} nodes)", self.layout.name, self.layout.graph.instructions.len())
    }
}
