//! Errors of keys: a key does not exist, has no cell, or its name is unknown.

use std::fmt;

use super::Key;
use super::index_assignment::NoFreeKeyIndex;

/// The error of parsing a text that is not the name of a key.
///
/// ```
/// let error = "AutogradCPUU".parse::<dispatch_runtime::Key>().unwrap_err();
/// assert_eq!(error.suggestion.as_deref(), Some("AutogradCPU"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownKey {
    /// The text that was parsed.
    pub name: String,
    /// The most similar key name, if one is similar.
    pub suggestion: Option<String>,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dispatch key `{}`", self.name)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?"),
            None => {
                f.write_str("; keys are listed in `dispatch_runtime::keys`, and `#[dispatch_key]` declares new ones")
            }
        }
    }
}

impl std::error::Error for UnknownKey {}

/// The reason why [`Key::on`] made an invalid key.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
/// let error = Registrar::new("lab").kernel("op", Tracer.on(CPU), |_, _, _| Ok(())).unwrap_err();
/// assert!(error.to_string().starts_with("`Tracer` is not a per-backend layer"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The key is not a per-backend layer.
    NotPerBackend {
        /// The name of the key.
        key: &'static str,
    },
    /// The key is on a backend already.
    AlreadyOnBackend {
        /// The layer of the key.
        layer: &'static str,
    },
    /// The argument of [`Key::on`] is not a backend.
    NotABackend {
        /// The name of the argument, or of its layer.
        key: &'static str,
    },
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPerBackend { key } => {
                write!(f, "`{key}` is not a per-backend layer, so there is no such key; leave `.on(..)` out")
            }
            Self::AlreadyOnBackend { layer } => write!(
                f,
                "this key of `{layer}` is on a backend already, so there is no such key; write `{layer}.on(..)`, once"
            ),
            Self::NotABackend { key } => {
                write!(
                    f,
                    "`{key}` is not a backend, so there is no such key; write `.on(..)` with the key of a backend"
                )
            }
        }
    }
}

impl std::error::Error for InvalidKey {}

/// The reason why a key has no cell for registrations or calls.
#[derive(Clone, Debug)]
pub(crate) enum KeyError {
    /// No backend or layer index is free for the key.
    NoFreeIndex(NoFreeKeyIndex),
    /// The key does not exist.
    Invalid(InvalidKey),
    /// The key is not a runtime key.
    NotARuntimeKey(Key),
}

impl From<NoFreeKeyIndex> for KeyError {
    #[cold]
    fn from(full: NoFreeKeyIndex) -> Self {
        Self::NoFreeIndex(full)
    }
}

impl From<InvalidKey> for KeyError {
    #[cold]
    fn from(invalid: InvalidKey) -> Self {
        Self::Invalid(invalid)
    }
}
