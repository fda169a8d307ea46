//! Copies, joins, and elements in other places.

mod copy;
mod diagonal;
mod join;
mod pad;
mod rearrange;
