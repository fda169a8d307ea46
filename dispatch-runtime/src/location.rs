//! Source locations (file and line), for messages.

use std::{fmt, panic};

/// A source location: a file and a line.
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
    /// Creates a location from `file!()` and `line!()`.
    #[must_use]
    pub const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line }
    }

    /// Returns the location of this call. Inside a `#[track_caller]` function, returns the location of the call of that function instead.
    #[track_caller]
    #[must_use]
    pub const fn caller() -> Self {
        Self::from_std(panic::Location::caller())
    }

    pub(crate) const fn from_std(location: &panic::Location<'static>) -> Self {
        Self { file: location.file(), line: location.line() }
    }

    /// Returns the path of the file, as the compiler received it.
    #[must_use]
    pub const fn file(self) -> &'static str {
        self.file
    }

    /// Returns the line, counted from 1.
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
