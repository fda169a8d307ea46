//! Copies, joins, and elements in other places.

mod join;
mod pad;
