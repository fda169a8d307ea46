//! Detection of two definitions of one operator in a crate.
//!
//! Two definitions of one operator would clash in every namespace, and the compiler would report each clash. It expands all macros of a
//! crate in one process, so the expansion of the second definition can find the first, and report one error.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use proc_macro2::Span;

/// A source location: file, line and column.
type SourceLocation = (String, usize, usize);

/// The location of the definition of each operator.
static DEFINITION_LOCATIONS: Mutex<Option<HashMap<String, SourceLocation>>> = Mutex::new(None);

/// Records a definition at `location`. Returns the location of another definition of the same operator, if there is one.
pub(crate) fn record_and_find_duplicate(operator: &str, location: Span) -> Option<String> {
    // An editor expands the same definition repeatedly, while its location changes.
    if std::env::var_os("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_some() {
        return None;
    }
    let location = location.unwrap();
    let location = (location.file(), location.line(), location.column());
    let mut definitions = DEFINITION_LOCATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let first = definitions.get_or_insert_default().entry(operator.to_owned()).or_insert_with(|| location.clone());
    (*first != location).then(|| format!("{}:{}", first.0, first.1))
}
