//! The signature: the roles of a graph's inputs and outputs.

#![expect(dead_code, reason = "records have all keys that a file must have, so that a damaged file is refused")]

use serde::Deserialize;

use super::argument::{Argument, CustomObject, SymArgument, TensorName};

#[derive(Deserialize, Debug)]
#[serde(expecting = "a signature")]
pub(crate) struct Signature {
    pub(crate) input_specs: Vec<InputSpec>,
    pub(crate) output_specs: Vec<OutputSpec>,
}

/// The role of an input, in the order of the graph's inputs.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case", expecting = "the role of an input")]
pub(crate) enum InputSpec {
    UserInput { arg: Argument },
    Parameter { arg: TensorName, parameter_name: String },
    Buffer { arg: TensorName, buffer_name: String, persistent: bool },
    TensorConstant { arg: TensorName, tensor_constant_name: String },
    CustomObj { arg: CustomObject, custom_obj_name: String },
    Token { arg: TensorName },
    ConstantInput { name: String, value: ConstantValue },
}

/// A value that the caller must pass as it was in the example.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case", expecting = "a constant")]
#[expect(clippy::enum_variant_names, reason = "the variants have the names of the keys in the file")]
pub(crate) enum ConstantValue {
    AsNone(bool),
    AsInt(i64),
    AsFloat(super::Number),
    AsString(String),
    AsBool(bool),
}

/// The role of an output, in the order of the graph's outputs.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "snake_case", expecting = "the role of an output")]
pub(crate) enum OutputSpec {
    UserOutput { arg: Argument },
    LossOutput { arg: TensorName },
    BufferMutation { arg: TensorName, buffer_name: String },
    ParameterMutation { arg: TensorName, parameter_name: String },
    UserInputMutation { arg: TensorName, user_input_name: String },
    GradientToParameter { arg: TensorName, parameter_name: String },
    GradientToUserInput { arg: TensorName, user_input_name: String },
    Token { arg: TensorName },
}

impl SymArgument {
    /// Returns the name of the value, if it is no number.
    pub(crate) fn name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }
}
