//! A backend with its services, and layers.

use crate::other_meanings::*;

use ::opdispatch as api;
use ::opdispatch::backend::{self, annotate, backend, dispatch_key, fallthrough, fuser, op_fallback, task_runner};

/// The key of a backend without memory.
#[dispatch_key(backend)]
pub(crate) static TPU: backend::Key;

struct Driver;

backend!(TPU, Driver);
task_runner!(TPU, Driver);
fuser!(TPU, Driver);

const NO_MEMORY: &::core::primitive::str = "this device has no memory";

impl backend::Backend for Driver {
    fn allocate(&self, _: api::Device, _: ::core::primitive::usize) -> api::Result<backend::Storage> {
        ::core::result::Result::Err(NO_MEMORY.into())
    }

    fn copy_in(&self, _: &[::core::primitive::u8], _: &backend::Storage) -> api::Result<()> {
        ::core::result::Result::Err(NO_MEMORY.into())
    }

    fn copy_out(&self, _: &backend::Storage, _: &mut [::core::primitive::u8]) -> api::Result<()> {
        ::core::result::Result::Err(NO_MEMORY.into())
    }
}

impl backend::TaskRunner for Driver {
    fn run(
        &self,
        count: ::core::primitive::usize,
        task: &(dyn ::core::ops::Fn(::core::primitive::usize) + ::core::marker::Sync),
    ) {
        (0..count).for_each(task);
    }
}

impl backend::Fuser for Driver {
    fn fuse(&self, _: &backend::FusionGroup) -> ::core::option::Option<::std::boxed::Box<dyn backend::FusedKernel>> {
        ::core::option::Option::None
    }
}

/// The key of a layer that has a fallback.
#[dispatch_key(layer, above = Everything)]
pub(crate) static Watcher: backend::Key;

#[op_fallback(Watcher, marked(REQUIRES_GRAD))]
fn redispatch_below_watcher(
    op: &backend::Operator,
    keys: backend::KeySet,
    stack: &mut backend::Stack,
) -> api::Result<()> {
    op.redispatch_boxed(keys.below(Watcher), stack)
}

/// The key of a layer above another one.
#[dispatch_key(layer, above = Watcher)]
pub(crate) static Bystander: backend::Key;

fallthrough!(Bystander);
fallthrough!(crate::operators::doubled, Watcher);
annotate!("arguments", |operator| ::core::option::Option::Some(operator.argument_count().to_string()));
