//! The records of `models/NAME.json`, as torch.export writes them. Unknown keys are skipped, so files of later minor versions are read.

mod argument;
mod number;
mod signature;
mod tensor;

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

pub(crate) use argument::{Argument, OptionalTensor, SymArgument, TensorName};
pub(crate) use number::{Number, SymNumber};
pub(crate) use signature::{ConstantValue, InputSpec, OutputSpec, Signature};
pub(crate) use tensor::{Payload, PayloadConfig, TensorMeta, dtype_of_id, layout_of_id, memory_format_of_id};

/// The major version of the records that this crate reads.
pub(crate) const SCHEMA_MAJOR: i64 = 8;

#[derive(Deserialize, Debug)]
#[serde(expecting = "a program")]
pub(crate) struct ExportedProgram {
    pub(crate) graph_module: GraphModule,
    #[serde(default)]
    pub(crate) range_constraints: BTreeMap<String, RangeConstraint>,
    /// Conditions on the inputs, in Python.
    #[serde(default)]
    pub(crate) guards_code: Vec<String>,
}

/// The version of the records. It is read first, because a later version may change all other records.
#[derive(Deserialize, Debug)]
#[serde(expecting = "a program")]
pub(crate) struct Versioned {
    pub(crate) schema_version: SchemaVersion,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a version")]
pub(crate) struct SchemaVersion {
    pub(crate) major: i64,
    pub(crate) minor: i64,
}

/// The range of a symbol. `None` is no bound.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(expecting = "a range")]
pub(crate) struct RangeConstraint {
    pub(crate) min_val: Option<i64>,
    pub(crate) max_val: Option<i64>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a module with a graph")]
pub(crate) struct GraphModule {
    pub(crate) graph: Graph,
    pub(crate) signature: Signature,
    #[serde(default)]
    pub(crate) module_call_graph: Vec<ModuleCall>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a call of a module")]
pub(crate) struct ModuleCall {
    #[serde(default)]
    pub(crate) fqn: String,
    #[serde(default)]
    pub(crate) signature: Option<ModuleCallSignature>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "the signature of a call")]
pub(crate) struct ModuleCallSignature {
    #[serde(default)]
    pub(crate) in_spec: String,
    #[serde(default)]
    pub(crate) out_spec: String,
    #[serde(default)]
    pub(crate) forward_arg_names: Option<Vec<String>>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a graph")]
pub(crate) struct Graph {
    pub(crate) inputs: Vec<Argument>,
    pub(crate) outputs: Vec<Argument>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) tensor_values: HashMap<String, TensorMeta>,
    #[serde(default)]
    pub(crate) sym_int_values: HashMap<String, SymNumber>,
    #[serde(default)]
    pub(crate) sym_bool_values: HashMap<String, SymNumber>,
    #[serde(default)]
    pub(crate) sym_float_values: HashMap<String, SymNumber>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a node")]
pub(crate) struct Node {
    pub(crate) target: String,
    pub(crate) inputs: Vec<NamedArgument>,
    pub(crate) outputs: Vec<Argument>,
    #[serde(default)]
    pub(crate) metadata: NodeMetadata,
    #[serde(default)]
    pub(crate) name: Option<String>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "an argument")]
pub(crate) struct NamedArgument {
    pub(crate) name: String,
    pub(crate) arg: Argument,
}

/// The module that PyTorch notes for nodes outside of all modules, such as checks of sizes.
const WITHOUT_MODULE: &str = "_empty_nn_module_stack_from_metadata_hook";

/// The notes of a node that this crate uses.
#[derive(Deserialize, Debug, Default)]
#[serde(expecting = "the metadata of a node")]
pub(crate) struct NodeMetadata {
    /// The modules around the node, from the outermost one: `key,path,type;key,path,type`.
    #[serde(default)]
    pub(crate) nn_module_stack: Option<String>,
}

impl NodeMetadata {
    /// Returns the path of the innermost module, such as `layers.0.attention`. It is empty for the outermost module.
    pub(crate) fn module_path(&self) -> &str {
        let last = self.nn_module_stack.as_deref().and_then(|stack| stack.rsplit(';').next());
        last.and_then(|entry| entry.split(',').nth(1)).filter(|path| *path != WITHOUT_MODULE).unwrap_or_default()
    }
}
