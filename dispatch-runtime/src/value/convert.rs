//! Conversions between Rust types and values, one Rust type for each type of the schema language.
//!
//! [`Argument`] converts the types that kernels take, which may borrow. [`Output`] converts the types that kernels return, which are owned.

use num_complex::Complex64;

use super::argument::{Argument, Output};
use super::{Object, Value};
use crate::key::{Device, KeySet};
use crate::memory::Storage;
use crate::random::Generator;
use crate::scalar::{DType, Layout, MemoryFormat, Scalar, Str};
use crate::tensor::{Marks, Tensor};

/// Implements [`Argument`] for references to tensors and to lists of tensors. The closure iterates over the tensors.
macro_rules! impl_argument_for_tensor_references {
    ($($ty:ty, $kind:literal, $variant:ident, |$argument:ident| $tensors:expr;)*) => {$(
        impl<'a> Argument<'a> for $ty {
            const KIND_NAME: &'static str = $kind;

            #[inline(always)]
            fn keys(&self) -> KeySet {
                let $argument = &**self;
                $tensors.fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
            }

            #[inline(always)]
            fn has_any_mark(&self, marks: Marks) -> bool {
                let $argument = &**self;
                $tensors.any(|tensor| tensor.has_any_mark(marks))
            }

            #[inline]
            fn to_value(&self) -> Value {
                (**self).to_owned().into()
            }

            #[inline]
            fn from_value(value: &'a mut Value) -> Option<Self> {
                if let Value::$variant(argument) = value { Some(argument) } else { None }
            }

            #[inline(always)]
            fn keys_in_value(value: &Value) -> Option<KeySet> {
                let Value::$variant($argument) = value else { return None };
                Some($tensors.fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys()))
            }
        }
    )*};
}

impl_argument_for_tensor_references! {
    &'a Tensor, "Tensor", Tensor, |tensor| std::iter::once(tensor);
    &'a mut Tensor, "Tensor", Tensor, |tensor| std::iter::once(tensor);
    &'a [Tensor], "Tensor[]", Tensors, |tensors| tensors.iter();
    &'a mut [Tensor], "Tensor[]", Tensors, |tensors| tensors.iter();
    &'a [Option<Tensor>], "Tensor?[]", OptionalTensors, |tensors| tensors.iter().flatten();
}

impl<'a> Argument<'a> for &'a Generator {
    const KIND_NAME: &'static str = "Generator";

    #[inline]
    fn keys(&self) -> KeySet {
        Generator::keys(self)
    }

    fn to_value(&self) -> Value {
        Value::Generator((*self).clone())
    }

    fn from_value(value: &'a mut Value) -> Option<Self> {
        if let Value::Generator(generator) = value { Some(generator) } else { None }
    }

    fn keys_in_value(value: &Value) -> Option<KeySet> {
        if let Value::Generator(generator) = value { Some(generator.keys()) } else { None }
    }
}

impl<'a> Argument<'a> for &'a Value {
    const KIND_NAME: &'static str = "Any";

    fn has_any_mark(&self, marks: Marks) -> bool {
        Value::has_any_mark(self, marks)
    }

    fn to_value(&self) -> Value {
        (*self).clone()
    }

    fn from_value(value: &'a mut Value) -> Option<Self> {
        Some(value)
    }
}

impl<'a> Argument<'a> for &'a str {
    const KIND_NAME: &'static str = "str";

    fn to_value(&self) -> Value {
        (*self).into()
    }

    fn from_value(value: &'a mut Value) -> Option<Self> {
        if let Value::Str(text) = value { Some(text) } else { None }
    }
}

impl<'a, T: Argument<'a>> Argument<'a> for Option<T> {
    const KIND_NAME: &'static str = T::KIND_NAME;

    #[inline(always)]
    fn keys(&self) -> KeySet {
        self.as_ref().map_or(KeySet::EMPTY, T::keys)
    }

    #[inline(always)]
    fn has_any_mark(&self, marks: Marks) -> bool {
        self.as_ref().is_some_and(|argument| argument.has_any_mark(marks))
    }

    #[inline]
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::None, T::to_value)
    }

    #[inline]
    fn from_value(value: &'a mut Value) -> Option<Self> {
        if let Value::None = value { Some(None) } else { T::from_value(value).map(Some) }
    }

    #[inline(always)]
    fn keys_in_value(value: &Value) -> Option<KeySet> {
        if let Value::None = value { Some(KeySet::EMPTY) } else { T::keys_in_value(value) }
    }
}

impl<T: Output> Output for Option<T> {
    const KIND_NAME: &'static str = T::KIND_NAME;

    fn into_value(self) -> Value {
        self.map_or(Value::None, T::into_value)
    }

    fn from_value(value: Value) -> Option<Self> {
        if let Value::None = value { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl Output for Value {
    const KIND_NAME: &'static str = "Any";

    fn into_value(self) -> Value {
        self
    }

    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl Argument<'_> for Scalar {
    const KIND_NAME: &'static str = "Scalar";

    fn to_value(&self) -> Value {
        (*self).into()
    }

    fn from_value(value: &mut Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Complex(value) => Self::Complex(**value),
            _ => return None,
        })
    }
}

impl Output for Scalar {
    const KIND_NAME: &'static str = "Scalar";

    fn into_value(self) -> Value {
        self.into()
    }

    fn from_value(mut value: Value) -> Option<Self> {
        Argument::from_value(&mut value)
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Int(value) => Self::Int(value),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Complex(value) => value.into(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Str::from(text).into()
    }
}

impl From<&Tensor> for Value {
    fn from(tensor: &Tensor) -> Self {
        Self::Tensor(tensor.clone())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// Implements the conversions of types that are copied, and are stored directly or in a box.
macro_rules! impl_argument_for_copied_types {
    ($($ty:ty, $kind:literal, $variant:ident $(, $boxed:ident)?;)*) => {$(
        impl Argument<'_> for $ty {
            const KIND_NAME: &'static str = $kind;

            fn to_value(&self) -> Value {
                (*self).into()
            }

            fn from_value(value: &mut Value) -> Option<Self> {
                if let Value::$variant(value) = value { Some(impl_argument_for_copied_types!(@read value $($boxed)?)) } else { None }
            }
        }
        impl_argument_for_copied_types!(@owned $ty, $kind, $variant $(, $boxed)?);
    )*};
    (@read $value:ident) => { *$value };
    (@read $value:ident $boxed:ident) => { **$value };
    (@owned $ty:ty, $kind:literal, $variant:ident) => {
        impl_output_for_owned_types! { $ty, $kind, $variant, |value| value, |value| value }
    };
    (@owned $ty:ty, $kind:literal, $variant:ident, boxed) => {
        impl_output_for_owned_types! { $ty, $kind, $variant, |value| Box::new(value), |value| *value }
    };
}

/// Implements the conversions of types that can be returned and pushed on a stack.
macro_rules! impl_output_for_owned_types {
    ($ty:ty, $kind:literal, $variant:ident, |$in:ident| $into:expr, |$out:ident| $from:expr) => {
        impl From<$ty> for Value {
            #[inline]
            fn from($in: $ty) -> Self {
                Self::$variant($into)
            }
        }

        impl Output for $ty {
            const KIND_NAME: &'static str = $kind;

            #[inline]
            fn into_value(self) -> Value {
                self.into()
            }

            #[inline]
            fn from_value(value: Value) -> Option<Self> {
                if let Value::$variant($out) = value { Some($from) } else { None }
            }
        }
    };
}

/// Implements the conversions of lists, which are taken as slices and returned as vectors.
macro_rules! impl_argument_for_slices {
    ($($element:ty, $kind:literal, $variant:ident;)*) => {$(
        impl<'a> Argument<'a> for &'a [$element] {
            const KIND_NAME: &'static str = $kind;

            fn to_value(&self) -> Value {
                self.to_vec().into()
            }

            fn from_value(value: &'a mut Value) -> Option<Self> {
                if let Value::$variant(values) = value { Some(values) } else { None }
            }
        }
        impl_output_for_owned_types! { Vec<$element>, $kind, $variant, |values| Box::new(values), |values| *values }
    )*};
}

impl_argument_for_copied_types! {
    bool, "bool", Bool;
    i64, "int", Int;
    f64, "float", Float;
    Complex64, "complex", Complex, boxed;
    DType, "ScalarType", DType;
    Layout, "Layout", Layout;
    MemoryFormat, "MemoryFormat", MemoryFormat;
    Device, "Device", Device;
}

impl_argument_for_slices! {
    i64, "int[]", Ints;
    f64, "float[]", Floats;
    bool, "bool[]", Bools;
    Scalar, "Scalar[]", Scalars;
    Str, "str[]", Strs;
}

impl_output_for_owned_types! { Tensor, "Tensor", Tensor, |tensor| tensor, |tensor| tensor }
impl_output_for_owned_types! { Vec<Tensor>, "Tensor[]", Tensors, |tensors| Box::new(tensors), |tensors| *tensors }
impl_output_for_owned_types! { Vec<Option<Tensor>>, "Tensor?[]", OptionalTensors, |tensors| Box::new(tensors), |tensors| *tensors }
impl_output_for_owned_types! { Str, "str", Str, |text| Box::new(text), |text| *text }
impl_output_for_owned_types! { Generator, "Generator", Generator, |generator| generator, |generator| generator }
impl_output_for_owned_types! { Storage, "Storage", Storage, |storage| storage, |storage| storage }
impl_output_for_owned_types! { Object, "object", Object, |object| Box::new(object), |object| *object }
