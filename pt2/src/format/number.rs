//! Numbers, which may be expressions of symbols.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// A number, or an expression of symbols with the value that it had in the example.
#[derive(Deserialize, Debug, Clone, PartialEq)]
#[serde(expecting = "a number")]
pub(crate) enum SymNumber {
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(rename = "as_float")]
    Float(Number),
    #[serde(rename = "as_bool")]
    Bool(bool),
    #[serde(rename = "as_expr")]
    Expression(SymExpression),
}

impl SymNumber {
    /// Returns the text of the expression and the integer that it had in the example.
    pub(crate) fn hint(&self) -> Option<(&str, i64)> {
        match self {
            Self::Expression(SymExpression { expr_str, hint: Some(Hint::Int(hint)) }) => Some((expr_str, *hint)),
            _ => None,
        }
    }
}

#[derive(Deserialize, Debug, Clone, PartialEq)]
#[serde(expecting = "an expression")]
pub(crate) struct SymExpression {
    pub(crate) expr_str: String,
    #[serde(default)]
    pub(crate) hint: Option<Hint>,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq)]
#[serde(expecting = "a number")]
pub(crate) enum Hint {
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(rename = "as_float")]
    Float(Number),
    #[serde(rename = "as_bool")]
    Bool(bool),
}

/// A floating-point number. Those that JSON does not have are the strings `Infinity`, `-Infinity` and `NaN`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"Infinity\", \"-Infinity\" or \"NaN\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        match text {
            "Infinity" => Ok(Number(f64::INFINITY)),
            "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
            "NaN" => Ok(Number(f64::NAN)),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}
