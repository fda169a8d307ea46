//! What only the code that the macros generate names. Not public API.

#[allow(unsafe_code, reason = "code goes back to the operator's own type")]
pub(crate) mod returns;

pub use returns::{
    Anchor, Fresh, FreshName, Given, HasDType, Kernel, KernelError, Named, NamesDevice, OnMeta, Predicate, Returns,
    Takes, carried, check_on_meta, crate_of, explained, failed, fresh_name, function, in_call, in_form, kernel, keys,
    keys_for, unsupported_dtype,
};
