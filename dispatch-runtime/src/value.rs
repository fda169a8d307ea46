//! Any argument or result of any operator.
//!
//! Boxed kernels see calls as values on a [`Stack`](crate::Stack), which is what lets one kernel serve every operator. A value is
//! two words: what is larger sits behind a thin box.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use num_complex::Complex64;

use crate::device::Device;
use crate::dtype::DType;
use crate::generator::Generator;
use crate::key_set::KeySet;
use crate::scalar::{Layout, MemoryFormat, Scalar, Str};
use crate::tensor::{Storage, Tensor};

/// One argument or result.
///
/// ```
/// use dispatch_runtime::{Tensor, Value};
///
/// let value = Value::from(Tensor::from_slice(&[1.0_f32]));
/// assert_eq!(value.kind(), "Tensor");
/// assert!(value.as_tensor().is_some() && Value::from(2_i64).as_tensor().is_none());
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Value {
    /// Nothing: an optional argument that was not given.
    #[default]
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Box<Complex64>),
    /// A text.
    Str(Box<Str>),
    /// A tensor.
    Tensor(Tensor),
    /// Tensors.
    Tensors(Box<Vec<Tensor>>),
    /// Tensors, some of which may be missing.
    OptionalTensors(Box<Vec<Option<Tensor>>>),
    /// Integers.
    Ints(Box<Vec<i64>>),
    /// Real numbers.
    Floats(Box<Vec<f64>>),
    /// Booleans.
    Bools(Box<Vec<bool>>),
    /// Numbers of any kind.
    Scalars(Box<Vec<Scalar>>),
    /// Texts.
    Strs(Box<Vec<Str>>),
    /// The type of a tensor's elements.
    DType(DType),
    /// How a tensor's elements are laid out.
    Layout(Layout),
    /// Which dimension is innermost.
    MemoryFormat(MemoryFormat),
    /// Where a tensor lives.
    Device(Device),
    /// Where random numbers come from.
    Generator(Generator),
    /// The memory behind tensors.
    Storage(Storage),
    /// A list of anything else, such as lists of lists.
    List(Box<Vec<Self>>),
    /// A fixed number of values of different types.
    Tuple(Box<Vec<Self>>),
    /// Keys and values, in the order in which they were given.
    Dict(Box<Vec<(Self, Self)>>),
    /// A value of a type that only its users know.
    Object(Box<Object>),
}

/// A value of a type that only its users know, shared between its handles.
///
/// ```
/// use dispatch_runtime::Object;
/// let packed = Object::new(vec![1_u8, 2]);
/// assert_eq!(packed.downcast::<Vec<u8>>().unwrap().len(), 2);
/// ```
#[derive(Clone)]
pub struct Object(Arc<dyn Any + Send + Sync>);

impl Object {
    /// Takes a value over.
    #[must_use]
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Arc::new(value))
    }

    /// The value, if it is of this type.
    #[must_use]
    pub fn downcast<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

const _: () = assert!(size_of::<Value>() == 16, "a value is two words");

impl Value {
    /// What a schema calls this kind of value.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(_) => "complex",
            Self::Str(_) => "str",
            Self::Tensor(_) => "Tensor",
            Self::Tensors(_) => "Tensor[]",
            Self::OptionalTensors(_) => "Tensor?[]",
            Self::Ints(_) => "int[]",
            Self::Floats(_) => "float[]",
            Self::Bools(_) => "bool[]",
            Self::Scalars(_) => "Scalar[]",
            Self::Strs(_) => "str[]",
            Self::DType(_) => "ScalarType",
            Self::Layout(_) => "Layout",
            Self::MemoryFormat(_) => "MemoryFormat",
            Self::Device(_) => "Device",
            Self::Generator(_) => "Generator",
            Self::Storage(_) => "Storage",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "Dict",
            Self::Object(_) => "object",
        }
    }

    /// The keys that the value adds to a call: those of a tensor, of a list of tensors, or of a generator.
    #[inline]
    #[must_use]
    pub fn keys(&self) -> KeySet {
        match self {
            Self::Tensor(tensor) => tensor.keys(),
            Self::Tensors(tensors) => tensors.iter().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys()),
            Self::OptionalTensors(tensors) => {
                tensors.iter().flatten().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
            }
            Self::Generator(generator) => generator.keys(),
            _ => KeySet::EMPTY,
        }
    }

    /// The tensor, if it is one.
    #[must_use]
    pub const fn as_tensor(&self) -> Option<&Tensor> {
        if let Self::Tensor(tensor) = self { Some(tensor) } else { None }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Complex(value) => write!(f, "{value}"),
            Self::Str(value) => value.fmt(f),
            Self::Tensor(value) => value.fmt(f),
            Self::Tensors(values) => values.fmt(f),
            Self::OptionalTensors(values) => values.fmt(f),
            Self::Ints(values) => values.fmt(f),
            Self::Floats(values) => values.fmt(f),
            Self::Bools(values) => values.fmt(f),
            Self::Scalars(values) => values.fmt(f),
            Self::Strs(values) => values.fmt(f),
            Self::DType(value) => write!(f, "{value}"),
            Self::Layout(value) => write!(f, "{value}"),
            Self::MemoryFormat(value) => write!(f, "{value}"),
            Self::Device(value) => value.fmt(f),
            Self::Generator(value) => value.fmt(f),
            Self::Storage(value) => value.fmt(f),
            Self::List(values) => values.fmt(f),
            Self::Tuple(values) => {
                let mut tuple = f.debug_tuple("");
                values.iter().for_each(|value| _ = tuple.field(value));
                tuple.finish()
            }
            Self::Dict(pairs) => f.debug_map().entries(pairs.iter().map(|(key, value)| (key, value))).finish(),
            Self::Object(_) => f.write_str("object"),
        }
    }
}
