//! Messages of incompatibilities.

use std::fmt;

use super::{Change, Incompatibility};

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { old, new } => write!(f, "the operator was called `{old}` and is now called `{new}`"),
            Self::Varargs => f.write_str("only one of the two schemas takes further arguments (`...`)"),
            Self::VarReturns => f.write_str("only one of the two schemas has further returns (`...`)"),
            Self::ReturnCount { old, new } => {
                write!(f, "the number of returns was {old} and is now {new}")
            }
            Self::Return { index, change } => write!(f, "return {index}: {change}"),
            Self::ArgumentRemoved { name } => write!(f, "the argument `{name}` was removed"),
            Self::ArgumentReplaced { old, new } => write!(f, "`{new}` has the position of the old argument `{old}`"),
            Self::Argument { name, change } => write!(f, "argument `{name}`: {change}"),
            Self::NewArgumentWithoutDefault { name } => {
                write!(f, "the new argument `{name}` has no default")
            }
            Self::NewContainerDefault { name } => {
                write!(f, "the new argument `{name}` has a list as its default")
            }
            Self::OutCount { old, new } => {
                write!(f, "the number of out arguments was {old} and is now {new}")
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { old, new } => {
                let described = |name: &Option<String>| {
                    name.as_ref().map_or_else(|| "no name".to_owned(), |name| format!("the name `{name}`"))
                };
                write!(f, "had {} and now has {}", described(old), described(new))
            }
            Self::Type { old, new } => {
                write!(f, "was `{old}` and is now `{new}`, which is not compatible")
            }
            Self::Alias { old, new } => write!(f, "was annotated as `{old}` and is now annotated as `{new}`"),
            Self::KeywordOnly => f.write_str("could be given by position and is now keyword-only"),
            Self::DefaultRemoved => f.write_str("had a default and has none now"),
            Self::DefaultAdded => f.write_str("had no default and has one now"),
            Self::Default { old, new } => write!(f, "had the default `{old:#}` and has `{new:#}` now"),
        }
    }
}
