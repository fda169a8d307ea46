//! Arguments of a call that is made, from words.
//!
//! A tensor is said as its device, its dtype and sizes, and whether it requires gradients: `cpu,f32[2,3],requires_grad`; tensors of a list
//! have `;` between them. All else is written as a schema writes defaults, and is read by what reads those.

use dispatch_inspect::Failure;
use opdispatch::prelude::*;
use opdispatch::schema::{Argument, DefaultValue, Schema, Type, TypeKind};
use opdispatch::{Complex64, DType, Device, Layout, MemoryFormat, Operator, Spec, Str, Tensor, Value, aten, guard};

/// What a tensor is where nobody says anything.
const PLAIN: &str = "cpu,f32[2,3]";

/// Every argument of an operator: those with words in their order or as `name=word`; others by their defaults, or for a tensor as the one
/// before it.
pub(crate) fn arguments(operator: &Operator, words: &[&String]) -> Result<Vec<Value>, Failure> {
    let schema = operator.schema();
    let is_named = |word: &&&String| schema.arguments.iter().any(|argument| named(word, argument).is_some());
    let mut in_order = words.iter().filter(|word| !is_named(word));
    let mut last = PLAIN;
    let mut values = Vec::new();
    for argument in &schema.arguments {
        let by_name = words.iter().find_map(|word| named(word, argument));
        let word =
            by_name.or_else(|| if argument.keyword_only { None } else { in_order.next().map(|word| word.as_str()) });
        let value = match (word, &argument.default) {
            (Some(word), _) => {
                last = if argument.ty.is_tensor_like() && !is_none(word) { word } else { last };
                parse(word, argument)?
            }
            (None, Some(default)) => {
                of_default(default, &argument.ty).ok_or_else(|| cannot(argument, "its default"))?
            }
            (None, None) if argument.ty.is_tensor_like() => parse(last, argument)?,
            (None, None) if argument.ty.accepts_none() => Value::None,
            (None, None) => {
                let (name, ty) = (&argument.name, &argument.ty);
                return Err(Failure::Usage(format!(
                    "`{operator}` wants to know `{name}`, which is {ty} and has no default"
                )));
            }
        };
        values.push(value);
    }
    match in_order.next() {
        Some(word) => Err(Failure::Usage(format!("`{operator}` has no argument for `{word}`: {schema}"))),
        None => Ok(values),
    }
}

fn named<'a>(word: &'a str, argument: &Argument) -> Option<&'a str> {
    word.split_once('=').filter(|(name, _)| *name == argument.name).map(|(_, word)| word)
}

fn is_none(word: &str) -> bool {
    matches!(word, "none" | "None" | "_")
}

fn parse(word: &str, argument: &Argument) -> Result<Value, Failure> {
    let ty = &argument.ty;
    let wrong = || cannot(argument, word);
    if is_none(word) && ty.accepts_none() {
        return Ok(Value::None);
    }
    match &ty.required().kind {
        TypeKind::Tensor => Ok(Value::Tensor(tensor(word, argument)?)),
        TypeKind::List(element, _) if element.required().kind == TypeKind::Tensor => {
            let all = word.split(';').map(|word| tensor(word, argument)).collect::<Result<Vec<_>, _>>()?;
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
            // Rust's words, in which results are printed, do as well as those of schemas.
            let word = word.replace("true", "True").replace("false", "False");
            let schema = Schema::parse(&format!("f({ty} x={word}) -> ()")).map_err(|_| wrong())?;
            let default = schema.arguments.first().and_then(|argument| argument.default.as_ref());
            default.and_then(|default| of_default(default, ty)).ok_or_else(wrong)
        }
    }
}

fn cannot(argument: &Argument, word: &str) -> Failure {
    Failure::Usage(format!("`{}` is {}, which cannot be made of `{word}`", argument.name, argument.ty))
}

/// A tensor of ones, as a word says.
fn tensor(word: &str, argument: &Argument) -> Result<Tensor, Failure> {
    let (mut device, mut dtype, mut sizes) = (Device::CPU, DType::F32, vec![2, 3]);
    let (mut requires_grad, mut is_inference) = (false, false);
    for part in parts(word) {
        let (name, dims) = part.split_once('[').map_or((part, None), |(name, dims)| (name, dims.strip_suffix(']')));
        match name {
            "requires_grad" => requires_grad = true,
            "inference" => is_inference = true,
            _ if name.parse::<DType>().is_ok() => dtype = name.parse().map_err(|_| cannot(argument, word))?,
            _ => device = name.parse().map_err(|_| cannot(argument, word))?,
        }
        if let Some(dims) = dims {
            let dims = dims.split(',').map(str::trim).filter(|size| !size.is_empty());
            sizes = dims.map(str::parse).collect::<Result<_, _>>().map_err(|_| cannot(argument, word))?;
        }
    }
    let _inference = is_inference.then(guard::inference_mode);
    let mut made = Spec::contiguous(dtype, &sizes).on(device)?;
    aten::fill__scalar(&mut made, 1.into())?;
    Ok(if requires_grad { made.requires_grad_(true)? } else { made })
}

/// What stands between commas, but for those in brackets.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    word.split(move |character| {
        depth += i32::from(character == '[') - i32::from(character == ']');
        character == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

/// What a schema writes, as a value.
fn of_default(default: &DefaultValue, ty: &Type) -> Option<Value> {
    Some(match (default, &ty.required().kind) {
        (DefaultValue::None, _) => Value::None,
        (DefaultValue::Int(number), TypeKind::ScalarType) => Value::DType(DType::from_number(*number)?),
        (DefaultValue::Int(number), TypeKind::Layout) => Value::Layout(Layout::from_number(*number)?),
        (DefaultValue::Int(number), TypeKind::MemoryFormat) => Value::MemoryFormat(MemoryFormat::from_number(*number)?),
        #[expect(clippy::cast_precision_loss, reason = "what somebody wrote by hand")]
        (DefaultValue::Int(number), TypeKind::Float) => Value::Float(*number as f64),
        // A number stands for a list of so many of it.
        (DefaultValue::Int(number), TypeKind::List(_, Some(length))) => {
            Value::Ints(Box::new(vec![*number; *length as usize]))
        }
        (DefaultValue::List(items), TypeKind::List(element, _)) => {
            let values = items.iter().map(|item| of_default(item, element)).collect::<Option<Vec<_>>>()?;
            list(values, &element.kind)?
        }
        (DefaultValue::Bool(value), _) => Value::Bool(*value),
        (DefaultValue::Int(value), _) => Value::Int(*value),
        (DefaultValue::Float(value), _) => Value::Float(*value),
        (DefaultValue::Complex(re, im), _) => Value::Complex(Box::new(Complex64::new(*re, *im))),
        (DefaultValue::Str(value), _) => Value::Str(Box::new(Str::from(value.as_str()))),
        (DefaultValue::Device(name), _) => Value::Device(name.parse().ok()?),
        (DefaultValue::List(_), _) => return None,
    })
}

fn list(values: Vec<Value>, element: &TypeKind) -> Option<Value> {
    macro_rules! all {
        ($kind:ident, $list:ident) => {{
            let of_kind = |value| if let Value::$kind(value) = value { Some(value) } else { None };
            Value::$list(Box::new(values.into_iter().map(of_kind).collect::<Option<_>>()?))
        }};
    }
    Some(match element {
        TypeKind::Int | TypeKind::SymInt => all!(Int, Ints),
        TypeKind::Float => all!(Float, Floats),
        TypeKind::Bool | TypeKind::SymBool => all!(Bool, Bools),
        _ => Value::List(Box::new(values)),
    })
}
