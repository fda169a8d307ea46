//! Parser of the arguments of a call that is really made.
//!
//! A tensor is described by its device, dtype and sizes, and whether it requires gradients: `cpu,f32[2,3],requires_grad`. Tensors of a list
//! are separated by `;`. Other arguments are written as defaults in a schema, and parsed by the schema parser.

use dispatch_inspect::Failure;
use opdispatch::backend::schema::{Argument, Schema, TypeKind};
use opdispatch::backend::{Operator, Spec, Str, Value};
use opdispatch::prelude::*;
use opdispatch::{DType, Device, Tensor, aten, autograd};

/// The description of a tensor argument for which the command line has no word.
const DEFAULT_TENSOR_WORD: &str = "f32[2,3]";

/// Returns all arguments of an operator. Words describe arguments in order, or as `name=word`. An argument without a word has its default;
/// a tensor without a word is like the one before it. Tensors are on `device` if the words do not name another.
pub(crate) fn parse_arguments(operator: &Operator, words: &[String], device: Device) -> Result<Vec<Value>, Failure> {
    let schema = operator.schema();
    let is_named = |word: &&String| schema.arguments.iter().any(|argument| word_after_name(word, argument).is_some());
    let mut in_order = words.iter().filter(|word| !is_named(word));
    let mut last = DEFAULT_TENSOR_WORD;
    let mut values = Vec::new();
    for argument in &schema.arguments {
        let by_name = words.iter().find_map(|word| word_after_name(word, argument));
        let word = by_name.or_else(|| if argument.keyword_only { None } else { in_order.next().map(String::as_str) });
        let value = match (word, &argument.default) {
            (Some(word), _) => {
                last = if argument.ty.is_tensor_like() && !is_none_word(word) { word } else { last };
                parse_value(word, argument, device)?
            }
            (None, Some(_)) => Value::default_of(argument).ok_or_else(|| wrong_value_error(argument, "its default"))?,
            (None, None) if argument.ty.is_tensor_like() => parse_value(last, argument, device)?,
            (None, None) if argument.ty.accepts_none() => Value::None,
            (None, None) => {
                let (name, ty) = (&argument.name, &argument.ty);
                return Err(Failure::Usage(format!("`{operator}` needs `{name}`, which is {ty} and has no default")));
            }
        };
        values.push(value);
    }
    match in_order.next() {
        Some(word) => Err(Failure::Usage(format!("`{operator}` has no argument for `{word}`: {schema:#}"))),
        None => Ok(values),
    }
}

fn word_after_name<'a>(word: &'a str, argument: &Argument) -> Option<&'a str> {
    word.split_once('=').filter(|(name, _)| *name == argument.name).map(|(_, word)| word)
}

fn is_none_word(word: &str) -> bool {
    matches!(word, "none" | "None" | "_")
}

fn parse_value(word: &str, argument: &Argument, device: Device) -> Result<Value, Failure> {
    let ty = &argument.ty;
    let wrong = || wrong_value_error(argument, word);
    if is_none_word(word) && ty.accepts_none() {
        return Ok(Value::None);
    }
    match &ty.without_optional().kind {
        TypeKind::Tensor => Ok(Value::Tensor(create_tensor(word, argument, device)?)),
        TypeKind::List(element, _) if element.without_optional().kind == TypeKind::Tensor => {
            let all =
                word.split(';').map(|word| create_tensor(word, argument, device)).collect::<Result<Vec<_>, _>>()?;
            Ok(if element.accepts_none() {
                Value::OptionalTensors(Box::new(all.into_iter().map(Some).collect()))
            } else {
                Value::Tensors(Box::new(all))
            })
        }
        TypeKind::Device => Ok(Value::Device(word.parse().map_err(|_| wrong())?)),
        TypeKind::Str => Ok(Value::Str(Box::new(Str::from(word)))),
        TypeKind::ScalarType if word.parse::<DType>().is_ok() => word.parse().map(Value::DType).map_err(|_| wrong()),
        _ => {
            // Results are printed with Rust's `true` and `false`, so these are accepted beside Python's words of schemas.
            let word = word.replace("true", "True").replace("false", "False");
            let schema = Schema::parse(&format!("f({ty} x={word}) -> ()")).map_err(|_| wrong())?;
            schema.arguments.first().and_then(Value::default_of).ok_or_else(wrong)
        }
    }
}

fn wrong_value_error(argument: &Argument, word: &str) -> Failure {
    Failure::Usage(format!("`{}` is {}, and `{word}` does not describe one", argument.name, argument.ty))
}

/// Creates a tensor of ones from its description.
fn create_tensor(word: &str, argument: &Argument, mut device: Device) -> Result<Tensor, Failure> {
    let (mut dtype, mut sizes) = (DType::F32, vec![2, 3]);
    let (mut requires_grad, mut is_inference) = (false, false);
    for part in split_at_commas(word) {
        let (name, dims) = part.split_once('[').map_or((part, None), |(name, dims)| (name, dims.strip_suffix(']')));
        match name {
            "requires_grad" => requires_grad = true,
            "inference" => is_inference = true,
            _ if name.parse::<DType>().is_ok() => {
                dtype = name.parse().map_err(|_| wrong_value_error(argument, word))?;
            }
            _ => device = name.parse().map_err(|_| wrong_value_error(argument, word))?,
        }
        if let Some(dims) = dims {
            let dims = dims.split(',').map(str::trim).filter(|size| !size.is_empty());
            sizes = dims.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong_value_error(argument, word))?;
        }
    }
    let _inference = is_inference.then(autograd::inference_mode);
    let mut made = Spec::contiguous(dtype, &sizes).on(device)?;
    aten::fill__scalar(&mut made, 1.into())?;
    Ok(if requires_grad { made.requires_grad_(true)? } else { made })
}

/// Splits a word at its commas, except for those in brackets.
fn split_at_commas(word: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    word.split(move |character| {
        depth += i32::from(character == '[') - i32::from(character == ']');
        character == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}
