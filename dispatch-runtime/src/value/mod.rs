//! Any argument or result of any operator.
//!
//! Boxed kernels see calls as values on a [`Stack`](crate::Stack), which is what lets one kernel serve every operator. A value is
//! two words: what is larger sits behind a thin box.

pub(crate) mod argument;
mod convert;
mod fits;
mod nested;
mod stack;
mod tensors;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use num_complex::Complex64;

use crate::key::{Device, KeySet};
use crate::memory::Storage;
use crate::random::Generator;
use crate::scalar::{DType, Layout, MemoryFormat, Scalar, Str};
use crate::tensor::{Brief, Marks, Tensor};
use nested::Inside;

pub use argument::{Argument, Output};
pub(crate) use argument::{ToValue, stack_of};
pub(crate) use fits::kind_of;
pub use nested::Values;
pub use stack::Stack;

/// One argument or result.
///
/// ```
/// use dispatch_runtime::{Tensor, Value};
///
/// let value = Value::from(Tensor::from_slice(&[1.0_f32]));
/// assert_eq!(value.kind(), "Tensor");
/// assert!(value.as_tensor().is_some() && Value::from(2_i64).as_tensor().is_none());
/// ```
// A whole word for the variant: values are then moved as two words, and not byte by byte.
#[derive(Clone, Default)]
#[repr(u64)]
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
    List(Values),
    /// A fixed number of values of different types.
    Tuple(Values),
    /// Keys and values in turn, in the order in which they were given.
    Dict(Values),
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

/// The kinds of values, by [`Value::variant`].
pub(crate) const KINDS: [&str; 24] = [
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

const _: () = assert!(size_of::<Option<Value>>() == 16, "a value is two words, and so is one that may be missing");

impl Value {
    /// What a schema calls this kind of value.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        KINDS[self.variant()]
    }

    /// The place of the value's kind in [`KINDS`]: one load, where the name itself is a jump.
    #[inline]
    pub(crate) const fn variant(&self) -> usize {
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

    /// The keys that the value adds to a call: those of a tensor, of a list of tensors, or of a generator.
    #[inline]
    #[must_use]
    pub fn keys(&self) -> KeySet {
        if let Self::Tensor(tensor) = self { tensor.keys() } else { self.keys_of_others() }
    }

    #[inline(never)]
    fn keys_of_others(&self) -> KeySet {
        match self {
            Self::Tensors(tensors) => tensors.iter().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys()),
            Self::OptionalTensors(tensors) => {
                tensors.iter().flatten().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
            }
            Self::Generator(generator) => generator.keys(),
            _ => KeySet::EMPTY,
        }
    }

    /// Whether a tensor in it, however deep, carries one of these marks.
    pub(crate) fn has_any(&self, marks: Marks) -> bool {
        match self {
            Self::Tensor(tensor) => tensor.has_any(marks),
            Self::Tensors(tensors) => tensors.iter().any(|tensor| tensor.has_any(marks)),
            Self::OptionalTensors(tensors) => tensors.iter().flatten().any(|tensor| tensor.has_any(marks)),
            Self::List(_) | Self::Tuple(_) | Self::Dict(_) => self.tensors().any(|tensor| tensor.has_any(marks)),
            _ => false,
        }
    }

    /// Drops a value. Most are tensors: those are dropped where it is asked for, the others out of line.
    ///
    /// # Safety
    ///
    /// As for [`std::ptr::drop_in_place`].
    #[inline]
    pub(crate) unsafe fn discard(place: *mut Self) {
        // SAFETY: the caller says that there is a value, and that nobody uses it after this.
        unsafe {
            if let Self::Tensor(tensor) = &mut *place {
                std::ptr::drop_in_place(tensor);
            } else {
                Self::discard_others(place);
            }
        }
    }

    /// # Safety
    ///
    /// As for [`discard`](Self::discard).
    #[inline(never)]
    unsafe fn discard_others(place: *mut Self) {
        // SAFETY: passed on.
        unsafe { std::ptr::drop_in_place(place) }
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
            Self::Tensor(value) => Brief(value).fmt(f),
            Self::Tensors(values) => f.debug_list().entries(values.iter().map(Brief)).finish(),
            Self::OptionalTensors(values) => {
                f.debug_list().entries(values.iter().map(|value| value.as_ref().map(Brief))).finish()
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
            Self::List(_) | Self::Tuple(_) | Self::Dict(_) => Inside { value: self, depth: 0 }.fmt(f),
            Self::Object(_) => f.write_str("object"),
        }
    }
}
