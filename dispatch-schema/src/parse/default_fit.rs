//! Checks that a default fits its type, and converts it to a [`DefaultValue`].

use super::Parser;
use super::literal::{Literal, LiteralKind};
use super::number::{Number, parse_float, parse_number};
use crate::default::{DefaultValue, allows_list_defaults};
use crate::error::{NumberProblem, SyntaxErrorKind};
use crate::suggest::suggest;
use crate::ty::{Type, TypeKind};

/// Words that stand for integers, with their types. `int` accepts all of them, because PyTorch's operators write `int reduction=Mean`.
const WORDS_FOR_INTEGERS: [(&str, i64, Option<TypeKind>); 7] = [
    ("float", 6, Some(TypeKind::ScalarType)),
    ("double", 7, Some(TypeKind::ScalarType)),
    ("long", 4, Some(TypeKind::ScalarType)),
    ("complex", 9, Some(TypeKind::ScalarType)),
    ("strided", 0, Some(TypeKind::Layout)),
    ("contiguous_format", 0, Some(TypeKind::MemoryFormat)),
    ("Mean", 1, None),
];

/// The reason why a literal is not a value of a type.
enum LiteralMismatch {
    /// The literal is a value of another type.
    OtherType,
    BadNumber(String, NumberProblem),
    UnknownWord(String),
    WrongLength(usize),
}

impl Parser<'_> {
    /// Converts a literal to a default of type `ty`. Reports an error if it does not fit.
    pub(super) fn convert_to_default(&mut self, literal: Literal, ty: &Type) -> Option<DefaultValue> {
        let mismatch = match convert_literal(&literal.kind, ty) {
            Ok(value) => return Some(value),
            Err(mismatch) => mismatch,
        };
        let kind = match mismatch {
            LiteralMismatch::OtherType => {
                SyntaxErrorKind::DefaultDoesNotFit { ty: ty.clone(), default: literal_text(&literal.kind) }
            }
            LiteralMismatch::BadNumber(text, problem) => SyntaxErrorKind::BadNumber { text, problem },
            LiteralMismatch::WrongLength(found) => SyntaxErrorKind::BadDefaultLength { ty: ty.clone(), found },
            LiteralMismatch::UnknownWord(word) => {
                let known =
                    WORDS_FOR_INTEGERS.iter().map(|(known, ..)| *known).chain(["True", "False", "None", "inf", "nan"]);
                match suggest(&word, known) {
                    Some(near) if convert_literal(&LiteralKind::Word(near.to_owned()), ty).is_err() => {
                        SyntaxErrorKind::DefaultDoesNotFit { ty: ty.clone(), default: word }
                    }
                    near => SyntaxErrorKind::UnknownDefault { word, suggestion: near.map(str::to_owned) },
                }
            }
        };
        self.report_at(literal.span, kind);
        None
    }
}

fn convert_literal(literal: &LiteralKind, ty: &Type) -> Result<DefaultValue, LiteralMismatch> {
    match &ty.kind {
        TypeKind::Optional(_) if is_none_word(literal) => Ok(DefaultValue::None),
        TypeKind::Optional(inner) => {
            convert_literal(literal, inner).map(|value| keep_written_number_form(value, literal))
        }
        TypeKind::List(element, size) => convert_list(literal, element, *size),
        _ => convert_constant(literal, &ty.kind),
    }
}

/// Returns the default of an optional type, with a number in the form in which it is written: `float? x=1` is `1` in canonical text, and
/// `float x=1` is `1.`.
fn keep_written_number_form(value: DefaultValue, literal: &LiteralKind) -> DefaultValue {
    let LiteralKind::Number(text) = literal else {
        return value;
    };
    let written = match parse_number(text) {
        Ok(Number::Int(written)) => DefaultValue::Int(written),
        Ok(Number::Float(written)) => DefaultValue::Float(written),
        _ => return value,
    };
    match value {
        DefaultValue::List(values) => DefaultValue::List(vec![written; values.len()]),
        _ => written,
    }
}

fn is_none_word(literal: &LiteralKind) -> bool {
    matches!(literal, LiteralKind::Word(word) if word == "None")
}

fn convert_list(literal: &LiteralKind, element: &Type, size: Option<u32>) -> Result<DefaultValue, LiteralMismatch> {
    if !allows_list_defaults(&element.kind) {
        return Err(LiteralMismatch::OtherType);
    }
    let LiteralKind::List(literals) = literal else {
        // One value stands for all elements if the list has a size.
        let size = size.ok_or(LiteralMismatch::OtherType)?;
        let value = convert_constant(literal, &element.kind)?;
        return Ok(DefaultValue::List(vec![value; size as usize]));
    };
    let values =
        literals.iter().map(|literal| convert_constant(&literal.kind, &element.kind)).collect::<Result<Vec<_>, _>>()?;
    // `int[1]` accepts a single value, but also longer lists. An empty list means "not given".
    match size {
        Some(size) if size != 1 && !values.is_empty() && values.len() != size as usize => {
            Err(LiteralMismatch::WrongLength(values.len()))
        }
        _ => Ok(DefaultValue::List(values)),
    }
}

fn convert_constant(literal: &LiteralKind, kind: &TypeKind) -> Result<DefaultValue, LiteralMismatch> {
    match (literal, kind) {
        (LiteralKind::Word(word), _) => convert_word(word, kind),
        (LiteralKind::Str(text), TypeKind::Str) => Ok(DefaultValue::Str(text.clone())),
        (LiteralKind::Str(text), TypeKind::Device) if is_device_name(text) => Ok(DefaultValue::Device(text.clone())),
        (LiteralKind::Number(text), _) => convert_number(text, kind),
        (LiteralKind::Complex(re, im), TypeKind::Complex | TypeKind::Scalar) => convert_complex(re, im),
        _ => Err(LiteralMismatch::OtherType),
    }
}

fn convert_word(word: &str, kind: &TypeKind) -> Result<DefaultValue, LiteralMismatch> {
    match (word, kind) {
        ("True" | "False", TypeKind::Bool | TypeKind::Scalar) => {
            return Ok(DefaultValue::Bool(word == "True"));
        }
        ("True" | "False" | "None", _) => return Err(LiteralMismatch::OtherType),
        _ => {}
    }
    let Some((_, value, only)) = WORDS_FOR_INTEGERS.iter().find(|(known, ..)| *known == word) else {
        return Err(LiteralMismatch::UnknownWord(word.to_owned()));
    };
    if *kind == TypeKind::Int || only.as_ref() == Some(kind) {
        Ok(DefaultValue::Int(*value))
    } else {
        Err(LiteralMismatch::OtherType)
    }
}

fn convert_number(text: &str, kind: &TypeKind) -> Result<DefaultValue, LiteralMismatch> {
    use TypeKind::{Complex, Float, Int, Layout, MemoryFormat, Scalar, ScalarType, SymInt};
    let bad = |problem| LiteralMismatch::BadNumber(text.to_owned(), problem);
    match (kind, parse_number(text)) {
        (Int | SymInt | Scalar | ScalarType | Layout | MemoryFormat, Ok(Number::Int(value))) => {
            Ok(DefaultValue::Int(value))
        }
        (Scalar, Ok(Number::Float(value))) => Ok(DefaultValue::Float(value)),
        (Float, Ok(Number::Int(_) | Number::Float(_)) | Err(NumberProblem::IntegerOverflow)) => {
            parse_float(text).map(DefaultValue::Float).map_err(bad)
        }
        (Complex, Ok(Number::Int(_) | Number::Float(_)) | Err(NumberProblem::IntegerOverflow)) => {
            parse_float(text).map(|re| DefaultValue::Complex(re, 0.0)).map_err(bad)
        }
        (Complex | Scalar, Ok(Number::Imaginary(im))) => Ok(DefaultValue::Complex(0.0, im)),
        (_, Ok(_)) => Err(LiteralMismatch::OtherType),
        (_, Err(problem)) => Err(bad(problem)),
    }
}

fn convert_complex(re: &str, im: &str) -> Result<DefaultValue, LiteralMismatch> {
    let read = |text: &str| parse_float(text).map_err(|problem| LiteralMismatch::BadNumber(text.to_owned(), problem));
    let imaginary = im
        .strip_suffix('j')
        .ok_or_else(|| LiteralMismatch::BadNumber(format!("{re}{im}"), NumberProblem::Malformed))?;
    Ok(DefaultValue::Complex(read(re)?, read(imaginary)?))
}

/// Whether a text is a device name, such as `cpu` or `cuda:0`.
fn is_device_name(text: &str) -> bool {
    let (kind, index) = text.split_once(':').unwrap_or((text, "0"));
    crate::token::is_word(kind)
        && index.len() <= 3
        && !index.is_empty()
        && index.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the text of a literal for an error message.
fn literal_text(literal: &LiteralKind) -> String {
    match literal {
        LiteralKind::Number(text) | LiteralKind::Word(text) => text.clone(),
        LiteralKind::Complex(re, im) => format!("{re}{im}"),
        LiteralKind::Str(text) => crate::print::Quoted(text).to_string(),
        LiteralKind::List(elements) => {
            let elements: Vec<_> = elements.iter().map(|element| literal_text(&element.kind)).collect();
            format!("[{}]", elements.join(", "))
        }
    }
}
