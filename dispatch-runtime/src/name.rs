//! The name of an operator: `namespace::base.overload`.

use std::fmt;

/// An operator's name in three parts: namespace, base and overload. The overload is empty for most operators.
///
/// ```
/// use dispatch_runtime::Name;
/// let name = Name::parse("aten::add.Tensor").unwrap();
/// assert_eq!((name.namespace, name.base, name.overload), ("aten", "add", "Tensor"));
/// assert_eq!(name.to_string(), "aten::add.Tensor");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'a> {
    /// The namespace: the defining crate's name, unless the schema spells another one.
    pub namespace: &'a str,
    /// The base name, which all overloads share.
    pub base: &'a str,
    /// The overload name, which is empty if there is only one.
    pub overload: &'a str,
}

/// Returns the schema's name of a Rust parameter: `self` for `this`, any other unchanged.
pub(crate) const fn argument_name_in_schema(argument: &'static str) -> &'static str {
    if let b"this" = argument.as_bytes() { "self" } else { argument }
}

impl<'a> Name<'a> {
    /// Splits a full name into its parts. Returns `None` if the namespace is missing.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (namespace, rest) = text.split_once("::")?;
        let (base, overload) = rest.split_once('.').unwrap_or((rest, ""));
        Some(Self { namespace, base, overload })
    }

    /// Returns a copy that lives until the program ends, for operators that are defined at run time.
    pub(crate) fn leak(self) -> Name<'static> {
        let leak = |text: &str| -> &'static str { Box::leak(text.into()) };
        Name { namespace: leak(self.namespace), base: leak(self.base), overload: leak(self.overload) }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.namespace, self.base)?;
        if self.overload.is_empty() { Ok(()) } else { write!(f, ".{}", self.overload) }
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The kernel name of every closure.
pub(crate) const CLOSURE_KERNEL_NAME: &str = "closure";
