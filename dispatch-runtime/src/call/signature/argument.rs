//! An argument's type without its lifetime.

use std::marker::PhantomData;

use super::results::result;
use crate::error::Result;
use crate::key::{Device, KeySet};
use crate::operator::{self, Operator};
use crate::tensor::Tensor;
use crate::value::{Argument, Output, Value};

/// The type of one argument.
pub trait Kind: 'static {
    /// The argument.
    type At<'a>: Argument<'a>;
    /// The argument as a condition gets it: a written one is only read.
    type Shared<'a>;
    /// Whether a kernel writes to the argument.
    const WRITTEN: bool = false;

    /// Reads the argument.
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a>;

    /// The keys that the argument adds to a boxed call; none if the value is of another kind.
    #[inline(always)]
    fn keys_of(value: &Value) -> Option<KeySet> {
        <Self::At<'_> as Argument<'_>>::keys_of(value)
    }

    /// Takes the handle of a written argument that a boxed kernel gave back: it may be another one.
    #[inline]
    fn rebind(_argument: Self::At<'_>, _operator: &Operator, _value: Option<Value>) -> Result<()> {
        Ok(())
    }
}

/// `T`.
pub struct Own<T>(PhantomData<T>);

/// `Option<T>`.
pub struct OptOwn<T>(PhantomData<T>);

/// `&T`.
pub struct Ref<T: ?Sized>(PhantomData<T>);

/// `Option<&T>`.
pub struct OptRef<T: ?Sized>(PhantomData<T>);

/// `&mut T`.
pub struct Mut<T: ?Sized>(PhantomData<T>);

/// `Option<&mut T>`.
pub struct OptMut<T: ?Sized>(PhantomData<T>);

/// A device, or an option of one, that stands for the keys of tensors in a call without them.
pub struct Place<T>(PhantomData<T>);

impl<T: Copy + 'static> Kind for Own<T>
where
    for<'a> T: Argument<'a>,
{
    type At<'a> = T;
    type Shared<'a> = T;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        *argument
    }
}

impl<T: Copy + 'static> Kind for OptOwn<T>
where
    for<'a> T: Argument<'a>,
{
    type At<'a> = Option<T>;
    type Shared<'a> = Option<T>;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        *argument
    }
}

impl<T: ?Sized + 'static> Kind for Ref<T>
where
    for<'a> &'a T: Argument<'a>,
{
    type At<'a> = &'a T;
    type Shared<'a> = &'a T;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        argument
    }
}

impl<T: ?Sized + 'static> Kind for OptRef<T>
where
    for<'a> &'a T: Argument<'a>,
{
    type At<'a> = Option<&'a T>;
    type Shared<'a> = Option<&'a T>;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        *argument
    }
}

impl<T: Rebind + ?Sized + 'static> Kind for Mut<T>
where
    for<'a> &'a mut T: Argument<'a>,
{
    type At<'a> = &'a mut T;
    type Shared<'a> = &'a T;
    const WRITTEN: bool = true;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        argument
    }

    #[inline(never)]
    fn rebind(argument: &mut T, operator: &Operator, value: Option<Value>) -> Result<()> {
        argument.rebind(result(operator, value)?);
        Ok(())
    }
}

impl<T: Rebind + ?Sized + 'static> Kind for OptMut<T>
where
    for<'a> &'a mut T: Argument<'a>,
{
    type At<'a> = Option<&'a mut T>;
    type Shared<'a> = Option<&'a T>;
    const WRITTEN: bool = true;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        argument.as_deref()
    }

    fn rebind(argument: Option<&mut T>, operator: &Operator, value: Option<Value>) -> Result<()> {
        if let (Some(argument), Some(handle)) = (argument, result::<Option<T::Handle>>(operator, value)?) {
            argument.rebind(handle);
        }
        Ok(())
    }
}

impl<T: NamesDevice + Copy + 'static> Kind for Place<T>
where
    for<'a> T: Argument<'a>,
{
    type At<'a> = T;
    type Shared<'a> = T;

    #[inline(always)]
    fn look<'a>(argument: &'a Self::At<'_>) -> Self::Shared<'a> {
        *argument
    }

    #[inline(always)]
    fn keys_of(value: &Value) -> Option<KeySet> {
        Some(operator::device_keys(value))
    }
}

/// A type behind `&mut` in an operator's arguments.
pub trait Rebind {
    /// A boxed kernel's result for it.
    type Handle: Output;

    /// Takes the handle.
    fn rebind(&mut self, handle: Self::Handle);
}

impl Rebind for Tensor {
    type Handle = Self;

    #[inline]
    fn rebind(&mut self, handle: Self) {
        *self = handle;
    }
}

impl Rebind for [Tensor] {
    type Handle = Vec<Tensor>;

    fn rebind(&mut self, handles: Vec<Tensor>) {
        self.iter_mut().zip(handles).for_each(|(tensor, handle)| *tensor = handle);
    }
}

/// An argument that says where a call without tensors goes.
pub trait NamesDevice {
    /// The keys of that place.
    fn device_keys(&self) -> KeySet;
}

impl NamesDevice for Device {
    #[inline(always)]
    fn device_keys(&self) -> KeySet {
        self.keys()
    }
}

impl NamesDevice for Option<Device> {
    #[inline(always)]
    fn device_keys(&self) -> KeySet {
        self.unwrap_or(Device::CPU).keys()
    }
}
