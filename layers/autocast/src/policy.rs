//! The policies: kernels that run when an operator is called while autocast is on.
//!
//! A policy is a boxed kernel of the layer. It switches autocast off for its backend, changes the arguments, and calls the operator again
//! from the highest layer. Autocast is off inside of this call, so the operators that a composite calls are not cast again.

use std::fmt;

use dispatch_runtime::guard;
use dispatch_runtime::keys::Autocast;
use dispatch_runtime::prelude::*;
use dispatch_runtime::schema::TypeKind;

use crate::cast_cache::{cached_cast, may_cast, promote_type};

/// The device of a call whose arguments are cast, and the low-precision dtype of the region.
#[derive(Clone, Copy)]
struct CastTarget {
    device: Device,
    low: DType,
}

/// Casts eligible arguments to the dtype of the region, and calls the operator.
pub fn lower(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    with_autocast_off(operator, keys, stack, |target, stack| {
        cast_arguments(operator, stack, target, target.low)?;
        operator.call_boxed(stack)
    })
}

/// Casts eligible arguments to `float32`, and calls the operator.
pub fn fp32(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    with_autocast_off(operator, keys, stack, |target, stack| {
        cast_arguments(operator, stack, target, DType::F32)?;
        operator.call_boxed(stack)
    })
}

/// Casts eligible arguments to `float32`, unless all of them have the dtype of the region, and calls the operator.
pub fn promote(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    with_autocast_off(operator, keys, stack, |target, stack| {
        let arguments = stack.top(operator.argument_count()).unwrap_or(&[]);
        let widest = promote_type(target.low, target.device, arguments.iter().flat_map(Value::tensors));
        cast_arguments(operator, stack, target, widest)?;
        operator.call_boxed(stack)
    })
}

/// Sets a missing `dtype` argument to `float32` if the first tensor is eligible, and calls the operator.
pub fn set_dtype(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    with_autocast_off(operator, keys, stack, |target, stack| {
        let arguments = stack.top_mut(operator.argument_count()).unwrap_or(&mut []);
        if arguments.first().and_then(Value::as_tensor).is_some_and(|first| may_cast(first, target.device)) {
            for (value, argument) in arguments.iter_mut().zip(&operator.schema().arguments) {
                if matches!(value, Value::None) && argument.ty.without_optional().kind == TypeKind::ScalarType {
                    *value = Value::DType(DType::F32);
                }
            }
        }
        operator.call_boxed(stack)
    })
}

/// Calls the overload `with_dtype`: with `float32` if the first tensor is eligible, else with that tensor's dtype.
pub fn append_dtype(operator: &Operator, keys: KeySet, stack: &mut Stack, with_dtype: &Operator) -> Result<()> {
    with_autocast_off(operator, keys, stack, |target, stack| {
        let first = stack.top(operator.argument_count()).and_then(<[Value]>::first).and_then(Value::as_tensor);
        let Some(first) = first else { return operator.call_boxed(stack) };
        let dtype = if may_cast(first, target.device) { DType::F32 } else { first.dtype() };
        stack.push(dtype);
        with_dtype.call_boxed(stack)
    })
}

/// Returns the error [`BannedOperator`].
pub fn banned(operator: &Operator, keys: KeySet, stack: &mut Stack, advice: &'static str) -> Result<()> {
    with_autocast_off(operator, keys, stack, |target, _| {
        Err(Error::kernel(BannedOperator { device: target.device, advice }).in_operator(operator.name()))
    })
}

/// The error of an operator that loses too much precision under autocast, and that no cast can help.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_autocast::{self as autocast, BannedOperator};
/// use dispatch_runtime::{DType, Device, Spec};
///
/// let x = Spec::contiguous(DType::F32, &[2]).on(Device::META).unwrap();
/// let _on = autocast::enable(Device::META, None).unwrap();
/// let error = aten::binary_cross_entropy(&x, &x, None, 1).unwrap_err();
/// assert!(error.to_string().contains("binary_cross_entropy_with_logits"), "{error}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BannedOperator {
    /// The device for which autocast is on.
    pub device: Device,
    /// Advice on which operator to call instead.
    pub advice: &'static str,
}

impl fmt::Display for BannedOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, advice } = self;
        write!(f, "unsafe under autocast, which is on for {device}: {advice}; or switch it off for this call")
    }
}

impl std::error::Error for BannedOperator {}

/// Switches autocast off and runs a policy. If autocast is already off for the call's backend, redispatches below autocast instead.
fn with_autocast_off(
    operator: &Operator,
    keys: KeySet,
    stack: &mut Stack,
    policy: impl FnOnce(CastTarget, &mut Stack) -> Result<()>,
) -> Result<()> {
    let target = keys.device().and_then(|device| Some(CastTarget { device, low: guard::autocast_dtype(device)? }));
    let Some(target) = target else { return operator.redispatch_boxed(keys.below(Autocast), stack) };
    let _off = guard::autocast(target.device, None);
    policy(target, stack)
}

fn cast_arguments(operator: &Operator, stack: &mut Stack, target: CastTarget, to: DType) -> Result<()> {
    let arguments = stack.top_mut(operator.argument_count()).unwrap_or(&mut []);
    for (value, argument) in arguments.iter_mut().zip(&operator.schema().arguments) {
        // An operator must write to the given tensor, not to a cast copy of it.
        if argument.ty.is_written() {
            continue;
        }
        for tensor in value.tensors_mut() {
            *tensor = cached_cast(tensor, to, target.device)?;
        }
    }
    Ok(())
}
