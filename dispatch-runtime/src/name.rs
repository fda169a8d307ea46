//! The name of an operator: `namespace::base.overload`.

use std::fmt;

/// A name in its three parts. The overload is empty for most operators.
///
/// ```
/// use dispatch_runtime::Name;
/// let name = Name::parse("aten::add.Tensor").unwrap();
/// assert_eq!((name.namespace, name.base, name.overload), ("aten", "add", "Tensor"));
/// assert_eq!(name.to_string(), "aten::add.Tensor");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'a> {
    /// The crate, or whatever the schema spells out.
    pub namespace: &'a str,
    /// What all overloads have in common.
    pub base: &'a str,
    /// What tells them apart.
    pub overload: &'a str,
}

/// What a schema calls an argument: its `self` is `this` in Rust.
pub(crate) const fn in_schema(argument: &'static str) -> &'static str {
    if let b"this" = argument.as_bytes() { "self" } else { argument }
}

impl<'a> Name<'a> {
    /// The parts of a full name; none where the namespace is missing.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (namespace, rest) = text.split_once("::")?;
        let (base, overload) = rest.split_once('.').unwrap_or((rest, ""));
        Some(Self { namespace, base, overload })
    }

    /// A copy that lives as long as the program, for operators that are made while it runs.
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

/// The name of closures among kernels.
pub(crate) const CLOSURE: &str = "closure";
