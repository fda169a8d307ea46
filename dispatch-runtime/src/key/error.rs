//! What can be wrong with a key: it does not exist, it has no cell, or its name is unknown.

use std::fmt;

use super::Key;
use super::places::LandingFull;

/// A word is not the name of a key.
///
/// ```
/// let error = "AutogradCPUU".parse::<dispatch_runtime::Key>().unwrap_err();
/// assert_eq!(error.suggestion.as_deref(), Some("AutogradCPU"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownKey {
    /// The word.
    pub name: String,
    /// The key that was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dispatch key `{}`", self.name)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?"),
            None => f.write_str("; keys are listed in `dispatch_runtime::keys`, and `#[dispatch_key]` makes new ones"),
        }
    }
}

impl std::error::Error for UnknownKey {}

/// [`Key::on`] was asked for a key that there is not.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
/// let error = Registrar::new("lab").kernel("op", Tracer.on(CPU), |_, _, _| Ok(())).unwrap_err();
/// assert!(error.to_string().starts_with("`Tracer` is not multiplied by backend"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidKey {
    /// What was to be put on a backend has one kernel for all of them, or is no layer.
    NotPerBackend {
        /// The name of the key.
        key: &'static str,
    },
    /// What was to be put on a backend is on one already.
    OnABackendAlready {
        /// The layer of the key.
        layer: &'static str,
    },
    /// What a layer was to be put on is not a backend.
    NotABackend {
        /// The name of the key, or its layer's.
        key: &'static str,
    },
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPerBackend { key } => {
                write!(f, "`{key}` is not multiplied by backend, so there is no such key; leave `.on(..)` out")
            }
            Self::OnABackendAlready { layer } => write!(
                f,
                "this key of `{layer}` is on a backend already, so there is no such key; write `{layer}.on(..)`, once"
            ),
            Self::NotABackend { key } => {
                write!(f, "`{key}` is not a backend, so there is no such key; write `.on(..)` with a backend's own key")
            }
        }
    }
}

impl std::error::Error for InvalidKey {}

/// A key has no cell to register for or to call.
#[derive(Clone, Debug)]
pub(crate) enum KeyError {
    /// No place is left for it.
    Full(LandingFull),
    /// There is no such key.
    Invalid(InvalidKey),
    /// It is no runtime key.
    NotARuntimeKey(Key),
}

impl From<LandingFull> for KeyError {
    #[cold]
    fn from(full: LandingFull) -> Self {
        Self::Full(full)
    }
}

impl From<InvalidKey> for KeyError {
    #[cold]
    fn from(invalid: InvalidKey) -> Self {
        Self::Invalid(invalid)
    }
}
