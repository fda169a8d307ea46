//! The layers `Conjugate` and `Negative`, which make conjugates and negatives lazy.
//!
//! [`_conj`](crate::_conj) and [`_neg_view`](crate::_neg_view) return a view with a math bit: the key of one of these layers. Views of it
//! keep the bit. When any other operator gets such a tensor, the layer's fallback computes the elements in new memory, and calls the
//! operator with them. A tensor that the operator writes gets the new elements by a copy, which applies the bits again.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::{conj_physical, conj_physical_, copy_, neg, neg_};

#[op_fallback(Conjugate)]
fn conjugate_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    call_with_resolved_arguments(operator, keys.below(keys::Conjugate), stack)
}

#[op_fallback(Negative)]
fn negative_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    call_with_resolved_arguments(operator, keys.below(keys::Negative), stack)
}

/// Calls an operator with the elements of lazy arguments in new memory. An operator that returns views gets the arguments as they are,
/// because its views keep the bits. A tensor of a transform level keeps its bits, because the level's call below comes here again.
fn call_with_resolved_arguments(operator: &Operator, below: KeySet, stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    if !schema.views().is_empty() {
        return operator.redispatch_boxed(below, stack);
    }
    let mut written = Vec::new();
    let arguments = stack.top_mut(operator.argument_count()).unwrap_or_default();
    for (value, argument) in arguments.iter_mut().zip(&schema.arguments) {
        for tensor in value.tensors_mut().filter(|tensor| !tensor.math_bits().is_empty() && !is_lifted(tensor)) {
            let resolved = resolve(tensor)?;
            let lazy = std::mem::replace(tensor, resolved.clone());
            if argument.is_written() {
                written.push((lazy, resolved));
            }
        }
    }
    operator.redispatch_boxed(below.below(keys::Conjugate), stack)?;
    for (mut lazy, resolved) in written {
        copy_(&mut lazy, &resolved, false)?;
        for result in stack.top_mut(schema.returns.len()).unwrap_or_default() {
            result.tensors_mut().filter(|result| result.same(&resolved)).for_each(|result| *result = lazy.clone());
        }
    }
    Ok(())
}

/// Whether a tensor belongs to a transform level.
fn is_lifted(tensor: &Tensor) -> bool {
    tensor.keys().has(keys::FuncTorchGradWrapper)
}

/// Computes the elements of a lazy tensor in new memory.
fn resolve(lazy: &Tensor) -> Result<Tensor> {
    let mut resolved = lazy.with_math_bits(KeySet::EMPTY);
    if lazy.keys().has(keys::Conjugate) {
        resolved = conj_physical(&resolved)?;
    }
    if lazy.keys().has(keys::Negative) {
        resolved = neg(&resolved)?;
    }
    Ok(resolved)
}

/// Returns a view of a tensor with one math bit more, or less if it has that bit.
pub(crate) fn toggle_math_bit(tensor: &Tensor, bit: Key) -> Tensor {
    tensor.with_math_bits(KeySet::from_bits(tensor.math_bits().bits() ^ KeySet::layers_of(bit).bits()))
}

/// Refuses a tensor with this math bit, because its elements are not those in memory.
pub(crate) fn check_not_lazy(this: &Tensor, bit: Key) -> Result<(), BadArgument> {
    if !this.keys().has(bit) {
        return Ok(());
    }
    let (found, expected) = if bit == keys::Conjugate {
        ("a lazy conjugate", "a tensor with its elements in memory, as from `resolve_conj`")
    } else {
        ("a lazy negative", "a tensor with its elements in memory, as from `resolve_neg`")
    };
    Err(BadArgument::value("self", found, expected))
}

/// Copies the elements in memory, and then applies the bits that only one of the two tensors has.
fn copy_with_math_bits(this: &Tensor, src: &Tensor, non_blocking: bool) -> Result<()> {
    let mut in_memory = this.with_math_bits(KeySet::EMPTY);
    copy_(&mut in_memory, &src.with_math_bits(KeySet::EMPTY), non_blocking)?;
    let differ = |key| this.keys().has(key) != src.keys().has(key);
    if differ(keys::Conjugate) && this.dtype().is_complex() {
        conj_physical_(&mut in_memory)?;
    }
    // A number and its negative are the same boolean.
    if differ(keys::Negative) && this.dtype() != DType::Bool {
        neg_(&mut in_memory)?;
    }
    Ok(())
}

#[op_impl(copy_, Conjugate, boxed)]
fn copy_conjugate(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    copy_from_stack(operator, keys.below(keys::Conjugate), stack)
}

#[op_impl(copy_, Negative, boxed)]
fn copy_negative(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    copy_from_stack(operator, keys.below(keys::Negative), stack)
}

/// Calls [`copy_`] with the arguments on the stack: here, or below if one belongs to a transform level.
fn copy_from_stack(operator: &Operator, below: KeySet, stack: &mut Stack) -> Result<()> {
    let Some([Value::Tensor(this), Value::Tensor(src), Value::Bool(non_blocking)]) = stack.top(3) else {
        return operator.redispatch_boxed(below, stack);
    };
    if is_lifted(this) || is_lifted(src) {
        return operator.redispatch_boxed(below, stack);
    }
    let this = this.clone();
    copy_with_math_bits(&this, src, *non_blocking)?;
    stack.drop_top(3);
    stack.push(this);
    Ok(())
}

/// Makes operators skip both layers: they read no elements, or treat the bits themselves.
macro_rules! skip_math_bits {
    ($($operator:ident)*) => {$(
        fallthrough!(crate::$operator, Conjugate, Negative);
    )*};
}

skip_math_bits! {
    clone empty_like full_like zeros_like ones_like
    // Views in place.
    as_strided_ detach_ resize_ resize_as_ set_ set__source_storage set__source_storage_storage_offset set__source_tensor
    set__source_tensor_storage_offset squeeze_ squeeze__dim squeeze__dims t_ transpose_ unsqueeze_
    // Queries.
    _debug_has_internal_overlap _has_compatible_shallow_copy_type _has_same_storage_numel _version dim element_size get_device is_conj
    is_contiguous is_contiguous_memory_format is_leaf is_neg is_same_size is_set_to numel output_nr requires_grad_ retains_grad size
    size_int storage_offset stride stride_int sym_is_contiguous sym_numel sym_size sym_size_int sym_storage_offset sym_stride
    sym_stride_int
}
