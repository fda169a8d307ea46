//! Construction of dispatch tables from registrations: which kernel fills which cell of an operator.

pub(crate) mod cell;
pub(crate) mod layout;
mod resolve;
mod row;

pub(crate) use cell::{ActiveKernels, Cell, Kernel, KernelRegistration, RegistrationSource};
pub(crate) use layout::TableLayout;
pub(crate) use resolve::{RegisteredKeys, resolve_slot};
pub(crate) use row::OperatorRow;
