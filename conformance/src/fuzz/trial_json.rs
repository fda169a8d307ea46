//! Prints and parses trials as lines of JSON, for findings and for the file of repaired findings.
//!
//! The tags are those of the recordings if the recordings have one. Here a tag says the kind of the value, which may not be what the schema
//! requires.

use std::fmt;

use dispatch_runtime::{Complex64, DType, Device, Generator, Layout, MemoryFormat, Scalar, Str, Value};
use serde_json::{Map, Value as Json, json};

use super::trial::{Call, Layers, TensorDescription, Trial, TrialArgument, TrialKind};
use crate::decode::{decode_element, decode_integer_list, parse_enum_name, split_tagged_json};
use crate::error::{Error, Result};

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = match &self.0 {
            TrialKind::Call(call) => call_to_json(call),
            TrialKind::Graph(text) => json!({ "graph": text }),
        };
        json.fmt(f)
    }
}

impl Trial {
    /// Parses the text of a trial.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] if the line is not a trial.
    pub fn parse(line: &str) -> Result<Self> {
        let json: Map<String, Json> = serde_json::from_str(line).map_err(|source| Error::Json { line: 1, source })?;
        if let Some(text) = json.get("graph").and_then(Json::as_str) {
            return Ok(Self(TrialKind::Graph(text.to_owned())));
        }
        let Some(operator) = json.get("op").and_then(Json::as_str) else {
            return Err(Error::MissingField { field: "`op`" });
        };
        let Some(arguments) = json.get("args").and_then(Json::as_array) else {
            return Err(Error::MissingField { field: "`args`" });
        };
        let read = |json: &Json| parse_argument(json).ok_or_else(|| wrong_argument_error(json));
        let arguments = arguments.iter().map(read).collect::<Result<_>>()?;
        let layers = match (json.get("mapped").and_then(Json::as_u64), json.contains_key("gradients")) {
            (Some(batches), _) => Layers::Vmap(batches),
            (None, true) => Layers::Autograd,
            (None, false) => Layers::BackendOnly,
        };
        Ok(Self(TrialKind::Call(Call { operator: operator.to_owned(), arguments, layers })))
    }
}

fn wrong_argument_error(json: &Json) -> Error {
    Error::WrongType { ty: "an argument".to_owned(), value: json.to_string() }
}

fn call_to_json(call: &Call) -> Json {
    let mut json =
        json!({ "op": call.operator, "args": call.arguments.iter().map(argument_to_json).collect::<Vec<_>>() });
    match call.layers {
        Layers::BackendOnly => {}
        Layers::Autograd => json["gradients"] = true.into(),
        Layers::Vmap(batches) => json["mapped"] = batches.into(),
    }
    json
}

fn argument_to_json(given: &TrialArgument) -> Json {
    let optional =
        |description: &Option<TensorDescription>| description.as_ref().map_or(Json::Null, description_to_json);
    match given {
        TrialArgument::Tensor(description) => json!({ "tensor": description_to_json(description) }),
        TrialArgument::Tensors(descriptions) => {
            json!({ "tensors": descriptions.iter().map(description_to_json).collect::<Vec<_>>() })
        }
        TrialArgument::OptionalTensors(descriptions) => {
            json!({ "optional": descriptions.iter().map(optional).collect::<Vec<_>>() })
        }
        TrialArgument::NonTensor(value) => value_to_json(value),
    }
}

fn parse_argument(json: &Json) -> Option<TrialArgument> {
    let (tag, content) = split_tagged_json(json)?;
    Some(match tag {
        "tensor" => TrialArgument::Tensor(parse_description(content)?),
        "tensors" => TrialArgument::Tensors(content.as_array()?.iter().map(parse_description).collect::<Option<_>>()?),
        "optional" => {
            let optional = |json: &Json| if json.is_null() { Some(None) } else { parse_description(json).map(Some) };
            TrialArgument::OptionalTensors(content.as_array()?.iter().map(optional).collect::<Option<_>>()?)
        }
        _ => TrialArgument::NonTensor(parse_value(tag, content)?),
    })
}

fn description_to_json(description: &TensorDescription) -> Json {
    let mut json = json!({ "dtype": description.dtype.short_name(), "shape": description.sizes });
    let defaults = TensorDescription::new(description.dtype, &description.sizes, Vec::new());
    if description.strides != defaults.strides {
        json["strides"] = description.strides.clone().into();
    }
    if description.offset != 0 {
        json["offset"] = description.offset.into();
    }
    if description.is_meta {
        json["on"] = "meta".into();
    } else if !description.elements.is_empty() {
        json["data"] = description.elements.iter().copied().map(scalar_to_json).collect();
    }
    if let Some(memory) = description.memory {
        json["memory"] = memory.into();
    }
    if description.is_number {
        json["number"] = true.into();
    }
    json
}

fn parse_description(json: &Json) -> Option<TensorDescription> {
    let body = json.as_object()?;
    let dtype: DType = body.get("dtype")?.as_str()?.parse().ok()?;
    let elements = match body.get("data") {
        Some(data) => data.as_array()?.iter().map(decode_element).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    let mut description = TensorDescription::new(dtype, &decode_integer_list(body, "shape")?, elements);
    if body.contains_key("strides") {
        description.strides = decode_integer_list(body, "strides")?;
    }
    description.offset = body.get("offset").map_or(Some(0), Json::as_i64)?;
    description.is_meta = body.contains_key("on");
    description.memory = body.get("memory").and_then(Json::as_u64).and_then(|memory| usize::try_from(memory).ok());
    description.is_number = body.contains_key("number");
    Some(description)
}

fn scalar_to_json(number: Scalar) -> Json {
    match number {
        Scalar::Bool(value) => value.into(),
        Scalar::Int(value) => value.into(),
        Scalar::Float(value) => float_to_json(value),
        Scalar::Complex(value) => json!([float_to_json(value.re), float_to_json(value.im)]),
    }
}

fn float_to_json(value: f64) -> Json {
    if value.is_finite() { value.into() } else { value.to_string().to_lowercase().into() }
}

fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!({ "bool": value }),
        Value::Int(value) => json!({ "int": value }),
        Value::Float(value) => json!({ "float": float_to_json(*value) }),
        Value::Complex(value) => json!({ "complex": scalar_to_json(Scalar::Complex(**value)) }),
        Value::Str(value) => json!({ "str": &***value }),
        Value::Ints(values) => json!({ "ints": **values }),
        Value::Floats(values) => json!({ "floats": values.iter().map(|x| float_to_json(*x)).collect::<Vec<_>>() }),
        Value::Bools(values) => json!({ "bools": **values }),
        Value::Scalars(values) => json!({ "numbers": values.iter().map(|x| scalar_to_json(*x)).collect::<Vec<_>>() }),
        Value::Strs(values) => json!({ "strs": values.iter().map(|text| &**text).collect::<Vec<&str>>() }),
        Value::DType(dtype) => json!({ "dtype": dtype.short_name() }),
        Value::Layout(layout) => json!({ "layout": layout.to_string() }),
        Value::MemoryFormat(format) => json!({ "format": format.to_string() }),
        Value::Device(device) => json!({ "device": device.to_string() }),
        Value::Generator(generator) => json!({ "generator": generator.device().to_string() }),
        Value::List(values) => json!({ "list": values.iter().map(value_to_json).collect::<Vec<_>>() }),
        // Trials have no other values.
        _ => json!({ "none": true }),
    }
}

fn parse_value(tag: &str, content: &Json) -> Option<Value> {
    let float = |json: &Json| decode_element(json)?.to_f64();
    let items = || content.as_array();
    Some(match tag {
        "none" => Value::None,
        "bool" => content.as_bool()?.into(),
        "int" => content.as_i64()?.into(),
        "float" => float(content)?.into(),
        "complex" => match decode_element(content)? {
            Scalar::Complex(value) => Value::Complex(Box::<Complex64>::new(value)),
            _ => return None,
        },
        "str" => Str::from(content.as_str()?).into(),
        "ints" => items()?.iter().map(Json::as_i64).collect::<Option<Vec<_>>>()?.into(),
        "floats" => items()?.iter().map(float).collect::<Option<Vec<_>>>()?.into(),
        "bools" => items()?.iter().map(Json::as_bool).collect::<Option<Vec<_>>>()?.into(),
        "numbers" => items()?.iter().map(decode_element).collect::<Option<Vec<_>>>()?.into(),
        "strs" => items()?.iter().map(|text| text.as_str().map(Str::from)).collect::<Option<Vec<_>>>()?.into(),
        "dtype" => content.as_str()?.parse::<DType>().ok()?.into(),
        "layout" => parse_enum_name(content.as_str()?, Layout::from_number)?.into(),
        "format" => parse_enum_name(content.as_str()?, MemoryFormat::from_number)?.into(),
        "device" => content.as_str()?.parse::<Device>().ok()?.into(),
        "generator" => Generator::new(content.as_str()?.parse().ok()?, 0).into(),
        "list" => {
            let item = |json: &Json| split_tagged_json(json).and_then(|(tag, content)| parse_value(tag, content));
            Value::List(items()?.iter().map(item).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
