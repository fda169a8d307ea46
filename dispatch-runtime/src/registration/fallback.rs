//! Registration of fallbacks at run time.

use super::registrar::kernel_label;
use super::registration_handle::{Registration, RegistrationKind};
use super::registry;
use crate::error::{ErrorKind, Result};
use crate::key::{Key, KeySet, SlotOrAlias};
use crate::location::Location;
use crate::operator::{BoxedClosure, Operator};
use crate::table::KernelRegistration;
use crate::value::Stack;

/// Registers a kernel that `key` runs for all operators without a kernel for it.
///
/// # Errors
///
/// Returns an error if `key` is not one runtime key, or has a fallback already.
///
/// ```
/// use dispatch_runtime::{fallback, keys::*};
///
/// let counting = fallback(PreDispatch, |op, keys, stack| op.redispatch_boxed(keys.below(PreDispatch), stack)).unwrap();
/// counting.remove();
/// ```
#[track_caller]
pub fn fallback(
    key: Key,
    kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
) -> Result<Registration> {
    add_fallback(key, Some(Box::new(kernel)))
}

/// Makes calls of all operators without a kernel for `key` skip it.
///
/// # Errors
///
/// Returns an error in the same cases as [`fallback`].
///
/// ```
/// dispatch_runtime::fallback_fallthrough(dispatch_runtime::keys::Negative).unwrap().remove();
/// ```
#[track_caller]
pub fn fallback_fallthrough(key: Key) -> Result<Registration> {
    add_fallback(key, None)
}

#[track_caller]
fn add_fallback(key: Key, closure: Option<BoxedClosure>) -> Result<Registration> {
    let (location, label) = (Location::caller(), kernel_label(closure.as_ref()));
    let slot = match key.slot_or_alias()? {
        SlotOrAlias::Slot(slot) if slot.layer_and_backend().is_some() => slot,
        _ => return Err(ErrorKind::NotARuntimeKey { key }.into()),
    };
    let mut registry = registry::lock();
    let present = &registry.fallbacks[slot.index()].kernels;
    if !present.is_empty() {
        let mut fallbacks: Vec<_> = present.iter().map(|kernel| (kernel.name, kernel.location)).collect();
        fallbacks.push((label, location));
        return Err(ErrorKind::DuplicateFallback { key, fallbacks }.into());
    }
    let source = registry.next_registrar_source();
    let kernel = closure.map(|closure| registry.store_closure((None, SlotOrAlias::Slot(slot)), closure));
    registry.push_fallback(slot, KernelRegistration::new_without_options(kernel.into(), label, location, source));
    Ok(Registration(RegistrationKind::Fallback { slot, source }))
}
