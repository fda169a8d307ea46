//! Construction and publication of an operator's table.

use super::registry::{self, Registry};
use crate::error::Result;
use crate::operator::{Operator, Table, TableVersion};
use crate::table::{OperatorRow, TableLayout, layout};
use crate::tensor::Marks;

impl Operator {
    /// Returns the operator's table, and makes it first if this is the first call.
    pub(crate) fn bound_table(&self) -> Result<&'static Table> {
        match self.published_table().as_bound() {
            Some(table) => Ok(table),
            None => bind(self),
        }
    }

    /// Whether `table` is no longer the operator's table, because of a registration or a loaded library.
    #[cold]
    pub(crate) fn is_table_outdated(&self, table: &Table) -> bool {
        registry::load_records();
        self.published_table().as_bound().is_none_or(|now| !std::ptr::eq(now, table))
    }

    /// Returns the current version of the table, or `None` if the operator cannot be called because it has no definition or several.
    ///
    /// ```
    /// use dispatch_runtime::{Registrar, keys::CPU};
    ///
    /// let lab = Registrar::new("versions");
    /// let id = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// let before = id.table_version();
    /// assert!(before.is_some() && id.table_version() == before);
    /// lab.kernel("id", CPU, |_, _, _| Ok(())).unwrap().remove();
    /// assert_ne!(id.table_version(), before);
    /// ```
    #[must_use]
    pub fn table_version(&self) -> Option<TableVersion> {
        self.bound_table().ok().map(|_| TableVersion::current())
    }
}

/// Makes and publishes the table of an operator that is called for the first time, or for the first time since a change.
#[cold]
pub(crate) fn bind(operator: &Operator) -> Result<&'static Table> {
    let mut registry = registry::lock();
    let layout = registry.table_layout_of(operator)?;
    let row = registry.row_of_operator(operator)?;
    let table = layout::build_table(row, &layout, &registry.fallbacks, Marks::never_set());
    let table = registry.row_or_insert(operator.name()).intern_table(table);
    operator.publish_table(table.header());
    Ok(table)
}

/// Makes the table of a row, without publishing it, for a program in which no tensor has the `absent` marks.
pub(crate) fn build_unpublished_table(registry: &Registry, row: &OperatorRow, absent: Marks) -> Table {
    let layout = TableLayout::new(row, &row.registered_keys(), &registry.fallbacks);
    layout::build_table(row, &layout, &registry.fallbacks, absent)
}

/// Makes the tables of all operators now. Otherwise, each table is made at the operator's first call.
///
/// ```
/// dispatch_runtime::bind_all();
/// ```
pub fn bind_all() {
    for operator in Operator::all() {
        // Errors are dropped: a call of the operator returns the same error, and `verify` reports it.
        drop(operator.bound_table());
    }
}
