//! The operators that this crate has defined so far.
//!
//! Two definitions of one operator would clash in every namespace, and the compiler would say so for each. It expands all macros of a
//! crate in one process, so the second definition can know of the first, and be one error.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use proc_macro2::Span;

/// A file, a line and a column.
type Place = (String, usize, usize);

/// By operator: where it is defined.
static DEFINED: Mutex<Option<HashMap<String, Place>>> = Mutex::new(None);

/// Notes a definition at `place`; gives the place of another one of the same operator.
pub(crate) fn other_definition(operator: &str, place: Span) -> Option<String> {
    // An editor expands the same definition again and again, while it moves.
    if std::env::var_os("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_some() {
        return None;
    }
    let place = place.unwrap();
    let place = (place.file(), place.line(), place.column());
    let mut defined = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = defined.get_or_insert_default().entry(operator.to_owned()).or_insert_with(|| place.clone());
    (*first != place).then(|| format!("{}:{}", first.0, first.1))
}
