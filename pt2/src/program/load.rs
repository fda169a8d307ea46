//! Loading: from the records of an archive to a program.

use std::collections::HashMap;
use std::sync::Arc;

use dispatch_nn::{Buffer, Param};

use super::state::{StateEntry, StatePart};
use super::state_writes::StateWrites;
use super::{InputRole, Layout, OutputRole, Program};
use crate::archive::Archive;
use crate::constraints::InputConstraints;
use crate::error::{PayloadProblem, Pt2Error, Pt2Problem};
use crate::format::{self, Argument, ExportedProgram, GraphModule, OutputSpec, SCHEMA_MAJOR, Versioned};
use crate::inputs::InputSpec;
use crate::prepare::prepare_program;
use crate::tree::TreeSpec;
use crate::weights::Weights;

impl Archive {
    /// Loads a program by its name.
    ///
    /// The programs of one `Archive` share the data of tensors that the file has once; a program that is loaded twice shares all of them.
    /// A [`deep_clone`](dispatch_nn::Module::deep_clone) has data of its own.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_pt2::Archive;
    ///
    /// let archive = Archive::open("tests/programs/mlp.pt2")?;
    /// assert_eq!(archive.program("model")?.input_names(), ["x"]);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such program, if it is damaged, or if it needs operators that no linked crate defines.
    pub fn program(&self, name: &str) -> Result<Program, Pt2Error> {
        load(self, name).map_err(|problem| self.error(problem))
    }

    /// Loads the only program, or the one with the name `model`.
    pub(crate) fn only_program(&self) -> Result<Program, Pt2Error> {
        let mut names = self.program_names();
        let only = match (names.next(), names.next()) {
            (Some(only), None) => Some(only),
            (Some(_), Some(_)) => self.program_names().find(|name| *name == "model"),
            _ => None,
        };
        let name = only.ok_or_else(|| self.error(self.no_program(None)))?;
        self.program(name)
    }

    /// Makes the error for an archive without a program of this name.
    pub(crate) fn no_program(&self, requested: Option<&str>) -> Pt2Problem {
        let has = |prefix: &str| self.entry_names().any(|name| name.starts_with(prefix));
        let instead = if has("data/aotinductor/") {
            Some("code that PyTorch compiled (AOTInductor), which this crate does not run")
        } else {
            None
        };
        Pt2Problem::NoProgram {
            requested: requested.map(str::to_owned),
            found: self.program_names().map(str::to_owned).collect(),
            instead,
        }
    }
}

fn load(archive: &Archive, name: &str) -> Result<Program, Pt2Problem> {
    let entry = format!("models/{name}.json");
    let bytes = archive.entry(&entry).ok_or_else(|| archive.no_program(Some(name)))?;
    let Versioned { schema_version: version } = crate::json::parse(&entry, bytes)?;
    if version.major != SCHEMA_MAJOR && (version.major, version.minor) != (0, 0) {
        return Err(Pt2Problem::SchemaVersion { major: version.major, minor: version.minor });
    }
    let record: ExportedProgram = crate::json::parse(&entry, bytes)?;
    let GraphModule { graph, signature, module_call_graph } = &record.graph_module;
    if graph.inputs.len() != signature.input_specs.len() {
        let reason =
            format!("the graph has {} inputs, and the signature {}", graph.inputs.len(), signature.input_specs.len());
        return Err(Pt2Problem::Signature { reason });
    }
    if graph.outputs.len() != signature.output_specs.len() {
        let reason = format!(
            "the graph has {} outputs, and the signature {}",
            graph.outputs.len(),
            signature.output_specs.len()
        );
        return Err(Pt2Problem::Signature { reason });
    }
    let prepared = prepare_program(graph)?;
    let mut loader = Loader {
        weights: Weights::read(archive, name)?,
        params: HashMap::new(),
        state: Vec::new(),
        user_inputs: Vec::new(),
    };
    let inputs = signature.input_specs.iter().map(|spec| loader.input_role(spec)).collect::<Result<Vec<_>, _>>()?;
    let outputs = signature.output_specs.iter().map(|spec| loader.output_role(spec)).collect::<Result<Vec<_>, _>>()?;
    let Loader { state, user_inputs, .. } = loader;
    let root = module_call_graph.iter().find(|call| call.fqn.is_empty()).and_then(|call| call.signature.as_ref());
    let (in_spec, out_spec) = root.map_or(("", ""), |root| (root.in_spec.as_str(), root.out_spec.as_str()));
    let names = root.and_then(|root| root.forward_arg_names.as_deref());
    let structure = |reason| Pt2Problem::Signature { reason };
    let input_spec = InputSpec::new(in_spec, names, &user_inputs).map_err(structure)?;
    let constraints = InputConstraints::new(&record, input_spec.leaf_paths());
    let output_spec = if out_spec.is_empty() { None } else { Some(TreeSpec::parse(out_spec).map_err(structure)?) };
    let written = prepared.input_effects().written;
    let mut written_state: Vec<usize> = inputs
        .iter()
        .zip(written)
        .filter_map(|(role, written)| match role {
            InputRole::State(at) if written => Some(*at),
            _ => None,
        })
        .chain(outputs.iter().filter_map(|role| match role {
            OutputRole::WriteState(at) => Some(*at),
            _ => None,
        }))
        .collect();
    written_state.sort_unstable();
    written_state.dedup();
    let layout = Layout {
        path: archive.path().to_owned(),
        name: name.to_owned(),
        graph: prepared,
        inputs,
        outputs,
        user_inputs,
        input_spec,
        constraints,
        output_spec,
        written_state,
        state_writes: StateWrites::default(),
    };
    Ok(Program { layout: Arc::new(layout), state })
}

/// The state and the inputs of a program, while its signature is read.
struct Loader<'a> {
    weights: Weights<'a>,
    /// The parameters that were made so far, by the identity of their data: tied parameters are one.
    params: HashMap<usize, Param>,
    state: Vec<StateEntry>,
    user_inputs: Vec<String>,
}

impl Loader<'_> {
    fn input_role(&mut self, spec: &format::InputSpec) -> Result<InputRole, Pt2Problem> {
        Ok(match spec {
            format::InputSpec::Parameter { parameter_name, .. } => self.parameter(parameter_name)?,
            format::InputSpec::Buffer { buffer_name, persistent, .. } => self.buffer(buffer_name, *persistent)?,
            format::InputSpec::TensorConstant { tensor_constant_name, .. } => {
                self.buffer(tensor_constant_name, false)?
            }
            format::InputSpec::CustomObj { custom_obj_name, .. } => {
                return Err(Pt2Problem::Payload { tensor: custom_obj_name.clone(), reason: PayloadProblem::Pickled });
            }
            format::InputSpec::Token { .. } => InputRole::Token,
            format::InputSpec::UserInput { arg } => {
                let name = user_input_name(arg).unwrap_or_else(|| self.user_inputs.len().to_string());
                self.user_inputs.push(name);
                InputRole::User(self.user_inputs.len() - 1)
            }
            format::InputSpec::ConstantInput { name, .. } => {
                self.user_inputs.push(name.clone());
                InputRole::User(self.user_inputs.len() - 1)
            }
        })
    }

    fn parameter(&mut self, name: &str) -> Result<InputRole, Pt2Problem> {
        let found = self.weights.tensor(name)?;
        if !found.is_param {
            return Err(Pt2Problem::Payload { tensor: name.to_owned(), reason: PayloadProblem::NotAParameter });
        }
        let dtype = found.tensor.dtype();
        let part = if dtype.is_floating() || dtype.is_complex() {
            let param = match self.params.get(&found.tensor.identity()) {
                Some(param) => param.clone(),
                None => Param::new(found.tensor.clone()).map_err(Pt2Problem::Tensor)?,
            };
            if !found.requires_grad {
                param.requires_grad_(false).map_err(Pt2Problem::Tensor)?;
            }
            self.params.insert(found.tensor.identity(), param.clone());
            StatePart::Param(param)
        } else {
            StatePart::Buffer(Buffer::new(found.tensor))
        };
        self.state.push(StateEntry { name: name.to_owned(), part });
        Ok(InputRole::State(self.state.len() - 1))
    }

    fn buffer(&mut self, name: &str, persistent: bool) -> Result<InputRole, Pt2Problem> {
        let tensor = self.weights.tensor(name)?.tensor;
        let buffer = if persistent { Buffer::new(tensor) } else { Buffer::not_persistent(tensor) };
        self.state.push(StateEntry { name: name.to_owned(), part: StatePart::Buffer(buffer) });
        Ok(InputRole::State(self.state.len() - 1))
    }

    fn output_role(&self, spec: &OutputSpec) -> Result<OutputRole, Pt2Problem> {
        let missing = |name: &str| Pt2Problem::Signature {
            reason: format!("an output is written to `{name}`, which is no input of the program"),
        };
        let state = |name: &String| {
            self.state
                .iter()
                .position(|entry| entry.name == *name)
                .map(OutputRole::WriteState)
                .ok_or_else(|| missing(name))
        };
        Ok(match spec {
            OutputSpec::UserOutput { .. } | OutputSpec::LossOutput { .. } => OutputRole::User,
            OutputSpec::BufferMutation { buffer_name, .. } => state(buffer_name)?,
            OutputSpec::ParameterMutation { parameter_name, .. } => state(parameter_name)?,
            OutputSpec::UserInputMutation { user_input_name, .. } => {
                let position = self.user_inputs.iter().position(|name| name == user_input_name);
                OutputRole::WriteInput(position.ok_or_else(|| missing(user_input_name))?)
            }
            OutputSpec::GradientToParameter { .. }
            | OutputSpec::GradientToUserInput { .. }
            | OutputSpec::Token { .. } => OutputRole::Ignored,
        })
    }
}

fn user_input_name(argument: &Argument) -> Option<String> {
    match argument {
        Argument::AsTensor(tensor) => Some(tensor.name.clone()),
        Argument::AsSymInt(number) | Argument::AsSymFloat(number) | Argument::AsSymBool(number) => {
            number.name().map(str::to_owned)
        }
        _ => None,
    }
}
