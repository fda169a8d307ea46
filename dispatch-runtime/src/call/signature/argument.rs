//! Types of arguments without lifetimes.

use std::marker::PhantomData;

use super::results::convert_result;
use crate::error::Result;
use crate::key::{Device, KeySet};
use crate::operator::{self, Operator};
use crate::tensor::Tensor;
use crate::value::{Argument, Output, Value};

/// The type of one argument, without its lifetime.
pub trait ArgumentKind: 'static {
    /// The argument's Rust type.
    type RustType<'a>: Argument<'a>;
    /// The argument's type in a condition, which only reads written arguments.
    type ConditionType<'a>;
    /// Whether a kernel writes to the argument.
    const IS_WRITTEN: bool = false;

    /// Returns the argument in the form that a condition takes.
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a>;

    /// Returns the keys that the argument adds to a boxed call, or `None` if the value is of another kind.
    #[inline(always)]
    fn keys_in_value(value: &Value) -> Option<KeySet> {
        <Self::RustType<'_> as Argument<'_>>::keys_in_value(value)
    }

    /// Binds a written argument to the handle that a boxed kernel returned, which can be another tensor.
    #[inline]
    fn replace_written(_argument: Self::RustType<'_>, _operator: &Operator, _value: Option<Value>) -> Result<()> {
        Ok(())
    }
}

/// The kind of an argument of type `T`.
pub struct Owned<T>(PhantomData<T>);

/// The kind of an argument of type `Option<T>`.
pub struct OptOwned<T>(PhantomData<T>);

/// The kind of an argument of type `&T`.
pub struct Ref<T: ?Sized>(PhantomData<T>);

/// The kind of an argument of type `Option<&T>`.
pub struct OptRef<T: ?Sized>(PhantomData<T>);

/// The kind of an argument of type `&mut T`.
pub struct Mut<T: ?Sized>(PhantomData<T>);

/// The kind of an argument of type `Option<&mut T>`.
pub struct OptMut<T: ?Sized>(PhantomData<T>);

/// The kind of a device argument, or an optional one, that determines the keys of a call without tensors.
pub struct DeviceArgument<T>(PhantomData<T>);

impl<T: Copy + 'static> ArgumentKind for Owned<T>
where
    for<'a> T: Argument<'a>,
{
    type RustType<'a> = T;
    type ConditionType<'a> = T;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        *argument
    }
}

impl<T: Copy + 'static> ArgumentKind for OptOwned<T>
where
    for<'a> T: Argument<'a>,
{
    type RustType<'a> = Option<T>;
    type ConditionType<'a> = Option<T>;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        *argument
    }
}

impl<T: ?Sized + 'static> ArgumentKind for Ref<T>
where
    for<'a> &'a T: Argument<'a>,
{
    type RustType<'a> = &'a T;
    type ConditionType<'a> = &'a T;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        argument
    }
}

impl<T: ?Sized + 'static> ArgumentKind for OptRef<T>
where
    for<'a> &'a T: Argument<'a>,
{
    type RustType<'a> = Option<&'a T>;
    type ConditionType<'a> = Option<&'a T>;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        *argument
    }
}

impl<T: ReplaceTensors + ?Sized + 'static> ArgumentKind for Mut<T>
where
    for<'a> &'a mut T: Argument<'a>,
{
    type RustType<'a> = &'a mut T;
    type ConditionType<'a> = &'a T;
    const IS_WRITTEN: bool = true;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        argument
    }

    #[inline(never)]
    fn replace_written(argument: &mut T, operator: &Operator, value: Option<Value>) -> Result<()> {
        argument.replace_tensors(convert_result(operator, value)?);
        Ok(())
    }
}

impl<T: ReplaceTensors + ?Sized + 'static> ArgumentKind for OptMut<T>
where
    for<'a> &'a mut T: Argument<'a>,
{
    type RustType<'a> = Option<&'a mut T>;
    type ConditionType<'a> = Option<&'a T>;
    const IS_WRITTEN: bool = true;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        argument.as_deref()
    }

    fn replace_written(argument: Option<&mut T>, operator: &Operator, value: Option<Value>) -> Result<()> {
        if let (Some(argument), Some(handle)) = (argument, convert_result::<Option<T::Replacement>>(operator, value)?) {
            argument.replace_tensors(handle);
        }
        Ok(())
    }
}

impl<T: HasDeviceKeys + Copy + 'static> ArgumentKind for DeviceArgument<T>
where
    for<'a> T: Argument<'a>,
{
    type RustType<'a> = T;
    type ConditionType<'a> = T;

    #[inline(always)]
    fn as_condition_argument<'a>(argument: &'a Self::RustType<'_>) -> Self::ConditionType<'a> {
        *argument
    }

    #[inline(always)]
    fn keys_in_value(value: &Value) -> Option<KeySet> {
        Some(operator::keys_of_device_value(value))
    }
}

/// A type that an operator's argument refers to by `&mut`.
pub trait ReplaceTensors {
    /// The type of the result that a boxed kernel returns for a written argument.
    type Replacement: Output;

    /// Replaces the caller's tensor, or list of tensors, with the tensors that a boxed kernel returned.
    fn replace_tensors(&mut self, handle: Self::Replacement);
}

impl ReplaceTensors for Tensor {
    type Replacement = Self;

    #[inline]
    fn replace_tensors(&mut self, handle: Self) {
        *self = handle;
    }
}

impl ReplaceTensors for [Tensor] {
    type Replacement = Vec<Tensor>;

    fn replace_tensors(&mut self, handles: Vec<Tensor>) {
        self.iter_mut().zip(handles).for_each(|(tensor, handle)| *tensor = handle);
    }
}

/// An argument that determines the device of a call without tensors.
pub trait HasDeviceKeys {
    /// Returns the keys of the device.
    fn device_keys(&self) -> KeySet;
}

impl HasDeviceKeys for Device {
    #[inline(always)]
    fn device_keys(&self) -> KeySet {
        self.keys()
    }
}

impl HasDeviceKeys for Option<Device> {
    #[inline(always)]
    fn device_keys(&self) -> KeySet {
        self.unwrap_or(Device::CPU).keys()
    }
}
