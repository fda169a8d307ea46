//! Default values of arguments.

use std::hash::{Hash, Hasher};

use crate::ty::TypeKind;

/// The default value of an argument, already checked against the argument's type.
///
/// Words such as `Mean`, `long` or `contiguous_format` are integers here, as they are in canonical text. A single value for a sized list
/// (`int[2] stride=1`) becomes the whole list. Floats are equal if their bits are equal, so a schema can be a hash key and `-0.` differs
/// from `0.`.
///
/// ```
/// use dispatch_schema::{DefaultValue, Schema};
///
/// let schema = Schema::parse("f(int[2] stride=1, float eps=1, int reduction=Mean) -> ()").unwrap();
/// let default = |i: usize| schema.arguments[i].default.clone().unwrap();
/// assert_eq!(default(0), DefaultValue::List(vec![DefaultValue::Int(1), DefaultValue::Int(1)]));
/// assert_eq!(default(1), DefaultValue::Float(1.0));
/// assert_eq!(default(2), DefaultValue::Int(1));
/// ```
#[derive(Clone, Debug)]
pub enum DefaultValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer, also for a `Scalar`, a `ScalarType`, a `Layout`, a `MemoryFormat`, and for a `float?` or `complex?` that is written
    /// without a decimal point.
    Int(i64),
    /// A number with a decimal point or an exponent, also for a `complex?`; `inf`, `-inf`, `nan`.
    Float(f64),
    /// A complex number: the real and the imaginary part.
    Complex(f64, f64),
    /// A string.
    Str(String),
    /// A device by its name: `cpu`, `cuda:0`.
    Device(String),
    /// A list.
    List(Vec<Self>),
}

impl PartialEq for DefaultValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Complex(a, b), Self::Complex(c, d)) => (a.to_bits(), b.to_bits()) == (c.to_bits(), d.to_bits()),
            (Self::Str(a), Self::Str(b)) | (Self::Device(a), Self::Device(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for DefaultValue {}

impl Hash for DefaultValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::None => {}
            Self::Bool(value) => value.hash(state),
            Self::Int(value) => value.hash(state),
            Self::Float(value) => value.to_bits().hash(state),
            Self::Complex(re, im) => (re.to_bits(), im.to_bits()).hash(state),
            Self::Str(value) | Self::Device(value) => value.hash(state),
            Self::List(values) => values.hash(state),
        }
    }
}

/// Whether lists of this element type can have defaults, as in PyTorch.
pub(crate) fn allows_list_defaults(element: &TypeKind) -> bool {
    use TypeKind::{Bool, Complex, Float, Int, Layout, MemoryFormat, ScalarType, SymInt};
    matches!(element, Int | SymInt | Float | Bool | Complex | ScalarType | Layout | MemoryFormat)
}

/// Whether a type can have a default other than `None`.
pub(crate) fn allows_defaults(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::List(element, _) => allows_list_defaults(&element.kind),
        TypeKind::Scalar | TypeKind::Str | TypeKind::Device => true,
        _ => allows_list_defaults(kind),
    }
}
