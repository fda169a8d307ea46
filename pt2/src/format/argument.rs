//! Arguments of nodes: a union of 31 kinds.

#![expect(dead_code, reason = "records have all keys that a file must have, so that a damaged file is refused")]

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Graph;
use super::number::Number;

/// An argument or a result of a node, or an input or output of a graph.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case", expecting = "an argument")]
#[expect(clippy::enum_variant_names, reason = "the variants have the names of the keys in the file")]
pub(crate) enum Argument {
    AsNone(bool),
    AsTensor(TensorName),
    AsTensors(Vec<TensorName>),
    AsNestedTensors(Vec<Vec<TensorName>>),
    AsOptionalTensor(OptionalTensor),
    AsOptionalTensors(Vec<OptionalTensor>),
    AsInt(i64),
    AsInts(Vec<i64>),
    AsIntLists(Vec<Vec<i64>>),
    AsFloat(Number),
    AsFloats(Vec<Number>),
    AsFloatLists(Vec<Vec<Number>>),
    AsBool(bool),
    AsBools(Vec<bool>),
    AsString(String),
    AsStrings(Vec<String>),
    AsComplex(ComplexRecord),
    AsSymInt(SymArgument),
    AsSymInts(Vec<SymArgument>),
    AsSymFloat(SymArgument),
    AsSymFloats(Vec<SymArgument>),
    AsSymBool(SymArgument),
    AsSymBools(Vec<SymArgument>),
    AsScalarType(i64),
    AsLayout(i64),
    AsMemoryFormat(i64),
    AsDevice(DeviceRecord),
    AsGraph(Box<GraphArgument>),
    AsOperator(String),
    AsCustomObj(CustomObject),
    AsStringToArgument(BTreeMap<String, Self>),
}

#[derive(Deserialize, Debug, Clone)]
#[serde(expecting = "the name of a tensor")]
pub(crate) struct TensorName {
    pub(crate) name: String,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a tensor or none")]
pub(crate) enum OptionalTensor {
    #[serde(rename = "as_tensor")]
    Tensor(TensorName),
    #[serde(rename = "as_none")]
    None(bool),
}

impl OptionalTensor {
    pub(crate) const fn tensor(&self) -> Option<&TensorName> {
        if let Self::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.tensor().map(|tensor| tensor.name.as_str())
    }
}

/// A number, or the name of a value that is one.
#[derive(Deserialize, Debug)]
#[serde(expecting = "a number or its name")]
pub(crate) enum SymArgument {
    #[serde(rename = "as_name")]
    Name(String),
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(rename = "as_float")]
    Float(Number),
    #[serde(rename = "as_bool")]
    Bool(bool),
}

#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(expecting = "a complex number")]
pub(crate) struct ComplexRecord {
    pub(crate) real: Number,
    pub(crate) imag: Number,
}

#[derive(Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(expecting = "a device")]
pub(crate) struct DeviceRecord {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) index: Option<i64>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a graph")]
pub(crate) struct GraphArgument {
    pub(crate) name: String,
    pub(crate) graph: Graph,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "a custom object")]
pub(crate) struct CustomObject {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) class_fqn: String,
}

impl Argument {
    /// Returns the key of the kind in the file.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::AsNone(_) => "as_none",
            Self::AsTensor(_) => "as_tensor",
            Self::AsTensors(_) => "as_tensors",
            Self::AsNestedTensors(_) => "as_nested_tensors",
            Self::AsOptionalTensor(_) => "as_optional_tensor",
            Self::AsOptionalTensors(_) => "as_optional_tensors",
            Self::AsInt(_) => "as_int",
            Self::AsInts(_) => "as_ints",
            Self::AsIntLists(_) => "as_int_lists",
            Self::AsFloat(_) => "as_float",
            Self::AsFloats(_) => "as_floats",
            Self::AsFloatLists(_) => "as_float_lists",
            Self::AsBool(_) => "as_bool",
            Self::AsBools(_) => "as_bools",
            Self::AsString(_) => "as_string",
            Self::AsStrings(_) => "as_strings",
            Self::AsComplex(_) => "as_complex",
            Self::AsSymInt(_) => "as_sym_int",
            Self::AsSymInts(_) => "as_sym_ints",
            Self::AsSymFloat(_) => "as_sym_float",
            Self::AsSymFloats(_) => "as_sym_floats",
            Self::AsSymBool(_) => "as_sym_bool",
            Self::AsSymBools(_) => "as_sym_bools",
            Self::AsScalarType(_) => "as_scalar_type",
            Self::AsLayout(_) => "as_layout",
            Self::AsMemoryFormat(_) => "as_memory_format",
            Self::AsDevice(_) => "as_device",
            Self::AsGraph(_) => "as_graph",
            Self::AsOperator(_) => "as_operator",
            Self::AsCustomObj(_) => "as_custom_obj",
            Self::AsStringToArgument(_) => "as_string_to_argument",
        }
    }
}
