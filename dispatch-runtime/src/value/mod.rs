//! Values: any argument or result of any operator.
//!
//! Boxed kernels get their arguments as values on a [`Stack`](crate::Stack), so one kernel can serve every operator. A value is two words;
//! larger data is in a thin box.

pub(crate) mod argument;
mod convert;
mod nested;
mod schema_type;
mod stack;
mod value_tensors;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use num_complex::Complex64;

use crate::key::{Device, KeySet};
use crate::memory::Storage;
use crate::random::Generator;
use crate::scalar::{DType, Layout, MemoryFormat, Scalar, Str};
use crate::tensor::{Marks, Tensor, TensorSummary};
use nested::NestedValueDisplay;

pub use argument::{Argument, Output};
pub(crate) use argument::{ErasedArgument, stack_from_arguments};
pub use nested::Values;
pub(crate) use schema_type::kind_of_type;
pub use stack::Stack;

/// One argument or result of an operator.
///
/// ```
/// use dispatch_runtime::{Tensor, Value};
///
/// let value = Value::from(Tensor::from_slice(&[1.0_f32]));
/// assert_eq!(value.kind(), "Tensor");
/// assert!(value.as_tensor().is_some() && Value::from(2_i64).as_tensor().is_none());
/// ```
// The variant takes a whole word, so that values are moved as two words and not byte by byte.
#[derive(Clone, Default)]
#[repr(u64)]
#[non_exhaustive]
pub enum Value {
    /// No value: an optional argument that was not given.
    #[default]
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(Box<Complex64>),
    /// A text.
    Str(Box<Str>),
    /// A tensor.
    Tensor(Tensor),
    /// A list of tensors.
    Tensors(Box<Vec<Tensor>>),
    /// A list of tensors, some of which may be missing.
    OptionalTensors(Box<Vec<Option<Tensor>>>),
    /// A list of integers.
    Ints(Box<Vec<i64>>),
    /// A list of floating-point numbers.
    Floats(Box<Vec<f64>>),
    /// A list of booleans.
    Bools(Box<Vec<bool>>),
    /// A list of scalars of any kind.
    Scalars(Box<Vec<Scalar>>),
    /// A list of texts.
    Strs(Box<Vec<Str>>),
    /// A dtype: the type of a tensor's elements.
    DType(DType),
    /// A layout of a tensor's elements.
    Layout(Layout),
    /// A memory format: the order of a tensor's dimensions in memory.
    MemoryFormat(MemoryFormat),
    /// A device.
    Device(Device),
    /// A random number generator.
    Generator(Generator),
    /// A storage of tensors.
    Storage(Storage),
    /// A list of other values, such as a list of lists.
    List(Values),
    /// A tuple: a fixed number of values of different types.
    Tuple(Values),
    /// A dictionary: keys and values, alternating, in insertion order.
    Dict(Values),
    /// An object: a value of a type that the runtime does not know.
    Object(Box<Object>),
}

/// A value of a type that the runtime does not know, shared between its handles.
///
/// ```
/// use dispatch_runtime::Object;
/// let packed = Object::new(vec![1_u8, 2]);
/// assert_eq!(packed.downcast::<Vec<u8>>().unwrap().len(), 2);
/// ```
#[derive(Clone)]
pub struct Object(Arc<dyn Any + Send + Sync>);

impl Object {
    /// Makes an object from a value.
    #[must_use]
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Arc::new(value))
    }

    /// Returns the value in the object, if it has the type `T`.
    #[must_use]
    pub fn downcast<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

/// The names of the kinds of values, indexed by [`Value::kind_index`].
pub(crate) const KIND_NAMES: [&str; 24] = [
    "None",
    "bool",
    "int",
    "float",
    "complex",
    "str",
    "Tensor",
    "Tensor[]",
    "Tensor?[]",
    "int[]",
    "float[]",
    "bool[]",
    "Scalar[]",
    "str[]",
    "ScalarType",
    "Layout",
    "MemoryFormat",
    "Device",
    "Generator",
    "Storage",
    "list",
    "tuple",
    "Dict",
    "object",
];

const _: () = assert!(size_of::<Option<Value>>() == 16, "`Option<Value>` must be two words, like `Value`");

impl Value {
    /// Returns the name of this kind of value in a schema.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        KIND_NAMES[self.kind_index()]
    }

    /// Returns the index of the value's kind in [`KIND_NAMES`]. This is one load; returning the name itself would be a jump.
    #[inline]
    pub(crate) const fn kind_index(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Float(_) => 3,
            Self::Complex(_) => 4,
            Self::Str(_) => 5,
            Self::Tensor(_) => 6,
            Self::Tensors(_) => 7,
            Self::OptionalTensors(_) => 8,
            Self::Ints(_) => 9,
            Self::Floats(_) => 10,
            Self::Bools(_) => 11,
            Self::Scalars(_) => 12,
            Self::Strs(_) => 13,
            Self::DType(_) => 14,
            Self::Layout(_) => 15,
            Self::MemoryFormat(_) => 16,
            Self::Device(_) => 17,
            Self::Generator(_) => 18,
            Self::Storage(_) => 19,
            Self::List(_) => 20,
            Self::Tuple(_) => 21,
            Self::Dict(_) => 22,
            Self::Object(_) => 23,
        }
    }

    /// Returns the keys that the value adds to a call: those of a tensor, of a list of tensors, or of a generator.
    #[inline]
    #[must_use]
    pub fn keys(&self) -> KeySet {
        if let Self::Tensor(tensor) = self { tensor.keys() } else { self.keys_of_non_tensor() }
    }

    #[inline(never)]
    fn keys_of_non_tensor(&self) -> KeySet {
        match self {
            Self::Tensors(tensors) => tensors.iter().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys()),
            Self::OptionalTensors(tensors) => {
                tensors.iter().flatten().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
            }
            Self::Generator(generator) => generator.keys(),
            _ => KeySet::EMPTY,
        }
    }

    /// Returns whether a tensor in the value, at any depth, has one of these marks.
    pub(crate) fn has_any_mark(&self, marks: Marks) -> bool {
        match self {
            Self::Tensor(tensor) => tensor.has_any_mark(marks),
            Self::Tensors(tensors) => tensors.iter().any(|tensor| tensor.has_any_mark(marks)),
            Self::OptionalTensors(tensors) => tensors.iter().flatten().any(|tensor| tensor.has_any_mark(marks)),
            Self::List(_) | Self::Tuple(_) | Self::Dict(_) => self.tensors().any(|tensor| tensor.has_any_mark(marks)),
            _ => false,
        }
    }

    /// Drops the value at an address. Most values are tensors, which are dropped inline. Others are dropped out of line.
    ///
    /// # Safety
    ///
    /// The same requirements as for [`std::ptr::drop_in_place`].
    #[inline]
    pub(crate) unsafe fn drop_at(value: *mut Self) {
        // SAFETY: the caller guarantees that there is a value, and that it is not used after this.
        unsafe {
            if let Self::Tensor(tensor) = &mut *value {
                std::ptr::drop_in_place(tensor);
            } else {
                Self::drop_at_out_of_line(value);
            }
        }
    }

    /// Drops the value at an address, out of line.
    ///
    /// # Safety
    ///
    /// The same requirements as for [`drop_at`](Self::drop_at).
    #[inline(never)]
    unsafe fn drop_at_out_of_line(value: *mut Self) {
        // SAFETY: the caller meets the same requirements.
        unsafe { std::ptr::drop_in_place(value) }
    }

    /// Returns the tensor, if the value is one.
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
            Self::Tensor(value) => TensorSummary(value).fmt(f),
            Self::Tensors(values) => f.debug_list().entries(values.iter().map(TensorSummary)).finish(),
            Self::OptionalTensors(values) => {
                f.debug_list().entries(values.iter().map(|value| value.as_ref().map(TensorSummary))).finish()
            }
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
            Self::List(_) | Self::Tuple(_) | Self::Dict(_) => NestedValueDisplay { value: self, depth: 0 }.fmt(f),
            Self::Object(_) => f.write_str("object"),
        }
    }
}
