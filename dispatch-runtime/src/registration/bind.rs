//! Making and publishing an operator's table.

use super::registry::{self, Registry};
use crate::error::Result;
use crate::operator::{Operator, Table, TableVersion};
use crate::table::{Row, TableLayout, layout};
use crate::tensor::Marks;

impl Operator {
    /// The table, made now if this is the first call.
    pub(crate) fn bound_table(&self) -> Result<&'static Table> {
        match self.published().bound() {
            Some(table) => Ok(table),
            None => bind(self),
        }
    }

    /// Whether this is not its table any more: somebody registered something, or a library was loaded that did.
    #[cold]
    pub(crate) fn was_changed(&self, table: &Table) -> bool {
        registry::load();
        self.published().bound().is_none_or(|now| !std::ptr::eq(now, table))
    }

    /// The present version of the table; none where the operator cannot be called, because it has no definition or several.
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
        self.bound_table().ok().map(|_| TableVersion::now())
    }
}

/// Makes and publishes the table of an operator that is called for the first time, or for the first time since a change.
#[cold]
pub(crate) fn bind(operator: &Operator) -> Result<&'static Table> {
    let mut registry = registry::lock();
    let layout = registry.layout_of(operator)?;
    let row = registry.row_of(operator)?;
    let table = layout::table(row, &layout, &registry.fallbacks, Marks::unseen());
    let table = registry.row_mut(operator.name()).keep(table);
    operator.publish(table.head());
    Ok(table)
}

/// The table that a row would have, unpublished, in a program in which no tensor has the `absent` marks.
pub(crate) fn table_of(registry: &Registry, row: &Row, absent: Marks) -> Table {
    let layout = TableLayout::new(row, &row.direct(), &registry.fallbacks);
    layout::table(row, &layout, &registry.fallbacks, absent)
}

/// Gives every operator its table now, which otherwise happens at its first call.
///
/// ```
/// dispatch_runtime::assemble();
/// ```
pub fn assemble() {
    for operator in Operator::all() {
        // An operator that cannot be bound says so when it is called, and to `verify`.
        drop(operator.bound_table());
    }
}
