//! The findings of [`verify`](crate::verify), and their messages.

use std::fmt;

use crate::error::Error;
use crate::key::{InsertionPoint, Key};
use crate::location::Location;
use crate::name::Name;
use crate::rust_operator::RustOperator;

/// One finding of [`verify`](crate::verify).
#[derive(Debug)]
#[non_exhaustive]
pub enum Finding {
    /// Calls will fail with this error.
    Error(Error),
    /// Two crates declare different keys with the same name.
    DuplicateKey {
        /// The name of both keys.
        name: &'static str,
        /// The locations of the declarations.
        locations: [Location; 2],
    },
    /// Two backends have the same device name, which is the key's name in lower case.
    DuplicateDevice {
        /// The names of the backends.
        names: [&'static str; 2],
        /// The locations of the declarations.
        locations: [Location; 2],
    },
    /// A key has the name of a built-in key, or a backend has that of a built-in device.
    BuiltInKeyName {
        /// The name of the key.
        name: &'static str,
        /// The location of the declaration.
        location: Location,
    },
    /// A backend's own kernel of a composite operator disables autograd on that backend. The kernel does not call differentiable operators,
    /// and the operator has no derivative.
    KernelDisablesAutograd {
        /// The name of the operator.
        operator: Name<'static>,
        /// The backend that loses autograd.
        backend: Key,
        /// The location of the kernel.
        kernel: Location,
        /// The location of the composite.
        composite: Location,
    },
    /// The operator's kernel for Autograd, such as its derivative, never runs: a kernel for `CompositeImplicitAutograd` serves all calls
    /// in its place, because no backend has a kernel of its own.
    CompositeReplacesAutograd {
        /// The name of the operator.
        operator: Name<'static>,
        /// The location of the kernel for `CompositeImplicitAutograd`.
        composite: Location,
        /// The location of the kernel for Autograd.
        autograd: Location,
    },
    /// Calls through `AutogradOther` will fail: a composite and a storage's kernel could both serve them.
    AmbiguousAutogradOther {
        /// The name of the operator.
        operator: Name<'static>,
        /// The key of the storage.
        storage: Key,
    },
    /// Layers of users at one insertion point run in the order of their names, because neighbours are not declared above each other.
    LayersOrderedByName {
        /// The insertion point of the layers.
        above: InsertionPoint,
        /// The layers, in the order in which a call goes through them.
        layers: Vec<(&'static str, Location)>,
    },
    /// Two operators implement the same Rust operator.
    DuplicateRustOperatorImpl {
        /// The Rust operator.
        rust_operator: RustOperator,
        /// The operator that is not used.
        operator: Name<'static>,
        /// The operator that is used.
        winner: Name<'static>,
    },
    /// A layer has two rules for one operator.
    DuplicateRule {
        /// The name of the operator.
        operator: Name<'static>,
        /// The name of the rules' type.
        rule_type: &'static str,
        /// The locations of the rules. The first rule is used.
        rules: Vec<Location>,
    },
    /// A composite operator has another kernel for the same alias key, besides its body.
    AliasKernelBesideBody {
        /// The name of the operator.
        operator: Name<'static>,
        /// The locations of the kernels.
        kernels: Vec<Location>,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::DuplicateKey { name, locations: [a, b] } => {
                write!(
                    f,
                    "two keys are called `{name}`:\n  {a}\n  {b}\n  Rename one of them, or link only one of the crates."
                )
            }
            Self::DuplicateDevice { names: [first, second], locations: [a, b] } => write!(
                f,
                "the devices of `{first}` and `{second}` are both called `{}`:\n  {a}\n  {b}\n  \
                 Rename one of the backends, or link only one of the crates.",
                first.to_ascii_lowercase()
            ),
            Self::BuiltInKeyName { name, location } => {
                write!(f, "`{name}` is the name of a built-in key or of its device:\n  {location}\n  Rename the key.")
            }
            Self::KernelDisablesAutograd { operator, backend, kernel, composite } => write!(
                f,
                "the kernel of `{operator}` for {backend} disables autograd on that backend\n  kernel: {kernel}\n  composite: {composite}\n  \
                 Give the operator a derivative, or remove the kernel, so that the composite serves that backend."
            ),
            Self::CompositeReplacesAutograd { operator, composite, autograd } => write!(
                f,
                "the derivative of `{operator}` never runs, because a kernel for CompositeImplicitAutograd serves its calls\n  \
                 kernel: {composite}\n  derivative: {autograd}\n  \
                 Name a key for the kernel: `#[op_impl({}, CPU)]`.",
                operator.base
            ),
            Self::AmbiguousAutogradOther { operator, storage } => write!(
                f,
                "`{operator}` has a composite kernel and one for {storage}, so calls through AutogradOther are ambiguous\n  \
                 Register a kernel for AutogradOther."
            ),
            Self::LayersOrderedByName { above, layers } => {
                let layers = layers.iter().map(|(name, location)| format!("\n  {name} ({location})"));
                write!(
                    f,
                    "these layers above `{}` run in the order of their names, the last one first:{}\n  \
                     Declare one of them `above` the other to decide the order.",
                    above.name(),
                    layers.collect::<String>()
                )
            }
            Self::DuplicateRustOperatorImpl { rust_operator, operator, winner } => write!(
                f,
                "`{operator}` and `{winner}` both implement Rust's `{rust_operator:?}`, and `{winner}` is used; \
                 remove one `operator = {rust_operator:?}`"
            ),
            Self::DuplicateRule { operator, rule_type, rules } => {
                write!(
                    f,
                    "`{operator}` has several rules of type `{rule_type}`:{}\n  The first is used; keep one.",
                    location_list(rules)
                )
            }
            Self::AliasKernelBesideBody { operator, kernels } => {
                let kernels = location_list(kernels);
                write!(f, "`{operator}` has a body and another catch-all kernel:{kernels}\n  Remove one of them.")
            }
        }
    }
}

fn location_list(locations: &[Location]) -> String {
    locations.iter().fold(String::new(), |list, location| list + &format!("\n  {location}"))
}
