//! Where in the source something was written, for messages.

use std::{fmt, panic};

/// A file and a line.
///
/// ```
/// let here = dispatch_runtime::Location::caller();
/// assert!(here.to_string().ends_with(&format!(":{}", here.line())));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    file: &'static str,
    line: u32,
}

impl Location {
    /// Of `file!()` and `line!()`.
    #[must_use]
    pub const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line }
    }

    /// The place that calls the function that calls this, or an outer one where that is `#[track_caller]`.
    #[track_caller]
    #[must_use]
    pub const fn caller() -> Self {
        Self::of(panic::Location::caller())
    }

    pub(crate) const fn of(location: &panic::Location<'static>) -> Self {
        Self { file: location.file(), line: location.line() }
    }

    /// The file, as the compiler was given it.
    #[must_use]
    pub const fn file(self) -> &'static str {
        self.file
    }

    /// The line, counted from 1.
    #[must_use]
    pub const fn line(self) -> u32 {
        self.line
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
