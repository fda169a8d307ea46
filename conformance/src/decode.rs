//! Decodes recorded JSON values to arguments and results, by the types of the schema.
//!
//! The tag of a recorded value is its Python type and not its schema type: `{"int": 2}` may also be a float or a list of one integer. The
//! schema decides the type, and the tag only has to be convertible to it.

use dispatch_checks::plumbing::{Array, Datum, HOST_DEVICE, omitted_argument, round_to_dtype};
use dispatch_runtime::schema::{Schema, Type, TypeKind};
use dispatch_runtime::{Complex64, DType, Layout, MemoryFormat, Scalar, Str, Value};
use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};
use crate::recording::Call;

/// Decodes all arguments of a call, in the schema's order. An argument that was not recorded gets the schema's default.
///
/// ```
/// use conformance::{Call, Datum, decode_arguments};
/// use dispatch_runtime::{Value, schema::Schema};
///
/// let call = Call::parse(r#"{"op": "f", "args": [{"int": 2}], "kwargs": {}, "out": {"none": true}}"#)?;
/// let schema = Schema::parse("f(float x, *, int[2] y=1) -> ()").unwrap();
/// let arguments = decode_arguments(&call, &schema)?;
/// assert!(matches!(arguments[0], Datum::NonTensor(Value::Float(2.0))));
/// assert!(matches!(&arguments[1], Datum::NonTensor(Value::Ints(y)) if **y == [1, 1]));
/// # Ok::<(), conformance::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`Error::Check`] if an argument has neither a recorded value nor a default, and another [`Error`] if a value does not fit its type.
pub fn decode_arguments(call: &Call, schema: &Schema) -> Result<Vec<Datum>> {
    let decoded = schema.arguments.iter().enumerate().map(|(i, argument)| {
        match call.arguments.get(i).or_else(|| call.named.get(&argument.name)) {
            Some(json) => decode_datum(json, &argument.ty),
            None => Ok(omitted_argument(&call.operator, argument)?),
        }
    });
    let mut arguments = decoded.collect::<Result<Vec<_>>>()?;
    for i in 0..arguments.len() {
        if is_recorded_as_scalar(call, schema, i) {
            let dtype = scalar_tensor_dtype(&arguments, i);
            arguments[i] = arguments[i].map_arrays(|array| array.with_dtype(dtype));
        }
    }
    Ok(arguments)
}

/// Whether the recording has a scalar for a tensor argument.
pub(crate) fn is_recorded_as_scalar(call: &Call, schema: &Schema, i: usize) -> bool {
    let argument = &schema.arguments[i];
    let json = call.arguments.get(i).or_else(|| call.named.get(&argument.name));
    argument.ty.without_optional().kind == TypeKind::Tensor && json.and_then(decode_scalar).is_some()
}

/// Returns the dtype of a scalar that was given for a tensor. The scalar must not decide the dtype of the result if there are tensors of
/// its category (floating-point or integral).
///
/// Next to tensors with dimensions, a tensor without dimensions never decides the result dtype. Next to tensors without dimensions, the
/// scalar takes their dtype.
fn scalar_tensor_dtype(arguments: &[Datum], number: usize) -> DType {
    let others = arguments.iter().enumerate().filter(|&(i, _)| i != number).flat_map(|(_, datum)| datum.arrays());
    let Some(own) = arguments[number].as_array().map(|array| array.dtype) else { return DType::F64 };
    let of_its_kind = |dtype: DType| if own.is_floating() { dtype.is_floating() } else { dtype.is_integral() };
    let mut of_its_kind = others.filter(|array| of_its_kind(array.dtype)).peekable();
    match of_its_kind.peek() {
        None if own.is_floating() => DType::F32,
        Some(other) if other.sizes.is_empty() => other.dtype,
        _ => own,
    }
}

/// Decodes the recorded results of a call.
///
/// ```
/// use conformance::{Call, decode_results};
/// use dispatch_runtime::schema::Schema;
///
/// let call = Call::parse(r#"{"op": "f", "args": [], "kwargs": {}, "out": {"list": [{"int": 1}, {"bool": true}]}}"#)?;
/// assert_eq!(decode_results(&call, &Schema::parse("f() -> (int, bool)").unwrap())?.len(), 2);
/// # Ok::<(), conformance::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`Error::MissingField`] if the number of values is not the schema's, and another [`Error`] if a value does not fit its type.
pub fn decode_results(call: &Call, schema: &Schema) -> Result<Vec<Datum>> {
    match &schema.returns[..] {
        [] => Ok(Vec::new()),
        [one] => Ok(vec![decode_datum(&call.returned, &one.ty)?]),
        several => {
            let values = call.returned.get("list").and_then(Json::as_array);
            let values = values.filter(|values| values.len() == several.len());
            let values = values.ok_or(Error::MissingField { field: "one result for each return" })?;
            values.iter().zip(several).map(|(json, ret)| decode_datum(json, &ret.ty)).collect()
        }
    }
}

/// Decodes the arguments after the call: `None` for each argument that is not a tensor. Returns `None` if they were not recorded.
pub(crate) fn decode_arguments_after(call: &Call, schema: &Schema) -> Result<Option<Vec<Option<Datum>>>> {
    let Some(by_position) = &call.arguments_after else { return Ok(None) };
    let after = schema.arguments.iter().enumerate().map(|(i, argument)| {
        let json = by_position.get(i).or_else(|| call.named_after.get(&argument.name));
        json.filter(|json| !json.is_null()).map(|json| decode_datum(json, &argument.ty)).transpose()
    });
    after.collect::<Result<_>>().map(Some)
}

fn decode_datum(json: &Json, ty: &Type) -> Result<Datum> {
    let unfit = || Error::WrongType { ty: ty.to_string(), value: json.to_string() };
    let (tag, content) = split_tagged_json(json).ok_or_else(unfit)?;
    if tag == "none" {
        return Ok(Datum::NonTensor(Value::None));
    }
    match &ty.without_optional().kind {
        TypeKind::Tensor => match decode_scalar(json) {
            Some(number) => Ok(Datum::Array(scalar_as_array(number))),
            None => decode_tensor(json).map(Datum::Array),
        },
        TypeKind::List(element, _) if element.kind == TypeKind::Tensor => {
            content.as_array().ok_or_else(unfit)?.iter().map(decode_tensor).collect::<Result<_>>().map(Datum::Arrays)
        }
        TypeKind::List(element, _) if element.is_tensor_like() => {
            let optional = |json| if is_json_none(json) { Ok(None) } else { decode_tensor(json).map(Some) };
            content.as_array().ok_or_else(unfit)?.iter().map(optional).collect::<Result<_>>().map(Datum::OptionalArrays)
        }
        TypeKind::List(element, length) => {
            let several = content.as_array();
            let numbers = match several {
                Some(items) => items.iter().map(decode_scalar).collect::<Option<Vec<Scalar>>>(),
                None => decode_scalar(json).map(|one| vec![one; length.unwrap_or(1) as usize]),
            };
            decode_list(&element.kind, numbers, several).map(Datum::NonTensor).ok_or_else(unfit)
        }
        kind => decode_value(kind, tag, content, json).map(Datum::NonTensor).ok_or_else(unfit),
    }
}

fn decode_value(kind: &TypeKind, tag: &str, content: &Json, json: &Json) -> Option<Value> {
    let text = || content.as_str();
    Some(match kind {
        TypeKind::Scalar => decode_scalar(json)?.into(),
        TypeKind::Int | TypeKind::SymInt => scalar_to_integer(decode_scalar(json)?)?.into(),
        TypeKind::Float => decode_scalar(json)?.to_f64()?.into(),
        TypeKind::Complex => dispatch_checks::plumbing::to_complex(decode_scalar(json)?).into(),
        TypeKind::Bool | TypeKind::SymBool => (decode_scalar(json)?.to_f64()? != 0.0).into(),
        TypeKind::Str => Str::from(text()?).into(),
        TypeKind::ScalarType if tag == "int" => DType::from_number(content.as_i64()?)?.into(),
        TypeKind::ScalarType => text()?.parse::<DType>().ok()?.into(),
        TypeKind::Layout => parse_enum_name(text()?, Layout::from_number)?.into(),
        TypeKind::MemoryFormat => parse_enum_name(text()?, MemoryFormat::from_number)?.into(),
        // `Datum::to_value` replaces this by the device under test.
        TypeKind::Device => HOST_DEVICE.into(),
        _ => return None,
    })
}

fn decode_list(element: &TypeKind, numbers: Option<Vec<Scalar>>, items: Option<&Vec<Json>>) -> Option<Value> {
    Some(match element {
        TypeKind::Int | TypeKind::SymInt => {
            numbers?.into_iter().map(scalar_to_integer).collect::<Option<Vec<_>>>()?.into()
        }
        TypeKind::Float => numbers?.into_iter().map(Scalar::to_f64).collect::<Option<Vec<_>>>()?.into(),
        TypeKind::Bool | TypeKind::SymBool => {
            numbers?.into_iter().map(|number| Some(number.to_f64()? != 0.0)).collect::<Option<Vec<_>>>()?.into()
        }
        TypeKind::Scalar => numbers?.into(),
        TypeKind::Str => {
            let text = |item: &Json| item.get("str").and_then(Json::as_str).map(Str::from);
            items?.iter().map(text).collect::<Option<Vec<_>>>()?.into()
        }
        _ => return None,
    })
}

/// Creates a tensor without dimensions from a scalar.
fn scalar_as_array(number: Scalar) -> Array {
    let dtype = match number {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::Float(_) => DType::F64,
        Scalar::Complex(_) => DType::C128,
    };
    Array::new(dtype, &[], vec![number])
}

fn decode_tensor(json: &Json) -> Result<Array> {
    let unfit = || Error::WrongType { ty: "Tensor".to_owned(), value: json.to_string() };
    let body = json.get("tensor").and_then(Json::as_object).ok_or_else(unfit)?;
    let name = body.get("dtype").and_then(Json::as_str).ok_or_else(unfit)?;
    // Unsigned integers of 64 bits become signed ones with the same bits.
    let is_unsigned = matches!(name, "u64" | "uint64");
    let dtype = if is_unsigned { DType::I64 } else { name.parse().map_err(|_| unfit())? };
    let sizes = decode_integer_list(body, "shape").ok_or_else(unfit)?;
    let strides = decode_integer_list(body, "strides").ok_or_else(unfit)?;
    let elements = body.get("data").and_then(Json::as_array).ok_or_else(unfit)?;
    let decode = |json: &Json| match json.as_u64() {
        Some(number) if is_unsigned => Some(Scalar::Int(number.cast_signed())),
        _ => decode_element(json),
    };
    let elements = elements.iter().map(decode).collect::<Option<Vec<_>>>().ok_or_else(unfit)?;
    // The recorded text of a float has fewer digits than the float.
    Ok(round_to_dtype(&Array { dtype, sizes, strides, offset: 0, elements })?)
}

pub(crate) fn decode_integer_list(body: &Map<String, Json>, key: &str) -> Option<Vec<i64>> {
    body.get(key)?.as_array()?.iter().map(Json::as_i64).collect()
}

/// Decodes one element of a tensor. A complex element is a list of its real and imaginary parts.
pub(crate) fn decode_element(json: &Json) -> Option<Scalar> {
    match json {
        Json::Bool(value) => Some(Scalar::Bool(*value)),
        Json::Number(number) => number.as_i64().map(Scalar::Int).or_else(|| number.as_f64().map(Scalar::Float)),
        Json::String(word) => parse_special_float(word).map(Scalar::Float),
        Json::Array(parts) => {
            let [re, im] = &parts[..] else { return None };
            Some(Scalar::Complex(Complex64::new(decode_element(re)?.to_f64()?, decode_element(im)?.to_f64()?)))
        }
        _ => None,
    }
}

fn parse_special_float(word: &str) -> Option<f64> {
    match word {
        "nan" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Decodes a scalar with a numeric tag. Returns `None` for other tags.
pub(crate) fn decode_scalar(json: &Json) -> Option<Scalar> {
    let (tag, content) = split_tagged_json(json)?;
    let number = decode_element(content)?;
    match (tag, number) {
        // `{"float": 2}` is a float.
        ("float", number) => number.to_f64().map(Scalar::Float),
        ("bool" | "int" | "complex", number) => Some(number),
        _ => None,
    }
}

fn scalar_to_integer(number: Scalar) -> Option<i64> {
    match number {
        Scalar::Int(value) => Some(value),
        Scalar::Bool(value) => Some(value.into()),
        _ => None,
    }
}

pub(crate) fn split_tagged_json(json: &Json) -> Option<(&str, &Json)> {
    let mut pairs = json.as_object()?.iter();
    let (tag, content) = pairs.next()?;
    pairs.next().is_none().then_some((tag, content))
}

fn is_json_none(json: &Json) -> bool {
    json.is_null() || json.get("none").is_some()
}

/// Finds the enum value whose text is `word`, among the values of the numbers 0 to 15.
pub(crate) fn parse_enum_name<T: ToString>(word: &str, of_number: impl Fn(i64) -> Option<T>) -> Option<T> {
    (0..16).filter_map(of_number).find(|value| value.to_string() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_text(json: &str, ty: &str) -> Result<Datum> {
        decode_datum(&serde_json::from_str(json).unwrap(), &Type::parse(ty).unwrap())
    }

    #[test]
    fn the_schema_decides_the_type_of_a_number() {
        let kinds = [("float", "float"), ("Scalar", "int"), ("int", "int"), ("bool", "bool"), ("complex", "complex")];
        for (ty, kind) in kinds {
            let Ok(Datum::NonTensor(value)) = decode_text(r#"{"int": 1}"#, ty) else { panic!("{ty}") };
            assert_eq!(value.kind(), kind, "{ty}");
        }
        assert!(matches!(decode_text(r#"{"bool": true}"#, "Scalar"), Ok(Datum::NonTensor(Value::Bool(true)))));
        assert!(matches!(decode_text(r#"{"int": 3}"#, "int[2]"), Ok(Datum::NonTensor(Value::Ints(v))) if *v == [3, 3]));
        assert!(matches!(
            decode_text(r#"{"float": "-inf"}"#, "float"),
            Ok(Datum::NonTensor(Value::Float(f64::NEG_INFINITY)))
        ));
        assert!(matches!(decode_text(r#"{"list": []}"#, "Tensor?[]"), Ok(Datum::OptionalArrays(v)) if v.is_empty()));
        assert!(decode_text(r#"{"float": 1.5}"#, "int").is_err());
        assert!(decode_text(r#"{"str": "1"}"#, "int").is_err());
    }

    #[test]
    fn large_integers_are_not_converted_to_floats() {
        let json = r#"{"tensor": {"dtype": "i64", "shape": [1], "strides": [1], "data": [9223372036854775807]}}"#;
        let Ok(Datum::Array(array)) = decode_text(json, "Tensor") else { panic!("it is a tensor") };
        assert_eq!(array.elements, [Scalar::Int(i64::MAX)]);
        assert!(matches!(
            decode_text(r#"{"int": 9223372036854775807}"#, "Scalar"),
            Ok(Datum::NonTensor(Value::Int(i64::MAX)))
        ));
    }

    #[test]
    fn defaults_have_the_type_of_the_schema() {
        let call = Call::parse(r#"{"op": "f", "args": [], "kwargs": {}, "out": {"none": true}}"#).unwrap();
        let schema = "f(int[2] a=1, float b=2, ScalarType c=long, str d=\"x\", Tensor? e=None, bool f=True, Layout g=strided) -> ()";
        let arguments = decode_arguments(&call, &Schema::parse(schema).unwrap()).unwrap();
        let kinds: Vec<&str> = arguments
            .iter()
            .map(|argument| if let Datum::NonTensor(value) = argument { value.kind() } else { "tensor" })
            .collect();
        assert_eq!(kinds, ["int[]", "float", "ScalarType", "str", "None", "bool", "Layout"]);
        assert!(matches!(&arguments[2], Datum::NonTensor(Value::DType(DType::I64))));
    }
}
