//! Dumps: tables and registrations as text. The same program prints the same text in any order of registration.

use std::fmt::Write;

use super::table_cells::{RegisteredKernel, kernels_of_cell};
use crate::error::KernelSite;
use crate::key::{Key, Provenance};
use crate::operator::Operator;
use crate::registration::registry;

impl Operator {
    /// Returns the operator's table as text: a line for every cell with a kernel.
    ///
    /// ```
    /// # use dispatch_runtime::{Registrar, keys::*};
    /// let lab = Registrar::new("tables");
    /// let op = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// drop(lab.kernel("id", CPU, |_, _, _| Ok(())).unwrap());
    /// assert!(op.dump_table().contains("CPU: `closure`"));
    /// ```
    #[must_use]
    pub fn dump_table(&self) -> String {
        let mut text = String::new();
        for cell in self.table().into_iter().filter(|cell| cell.provenance != Provenance::Missing) {
            let falls_through = if cell.falls_through { "fallthrough " } else { "" };
            let kernels = cell.kernels.join(" or ");
            _ = writeln!(text, "{}: {falls_through}{kernels} [{}]", cell.key, cell.provenance.name());
        }
        text
    }

    /// Returns the operator's registrations as text: its definition, then every kernel by key, runtime keys before aliases.
    ///
    /// ```
    /// # use dispatch_runtime::Registrar;
    /// let op = Registrar::new("dumps").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// assert!(op.dump().starts_with("name: dumps::id\nschema: dumps::id(Tensor x) -> Tensor\n"));
    /// ```
    #[must_use]
    pub fn dump(&self) -> String {
        dump_by_name(&self.name().to_string())
    }
}

/// Returns the registrations under a name as text, also for names without definition.
///
/// ```
/// assert_eq!(dispatch_runtime::dump_by_name("myops::missing"), "");
/// ```
#[must_use]
pub fn dump_by_name(name: &str) -> String {
    let registry = registry::lock();
    let mut text = String::new();
    let Some(row) = crate::name::Name::parse(name).and_then(|name| registry.row(name)) else {
        return text;
    };
    if row.definitions.is_empty() && row.cells.is_empty() {
        return text;
    }
    _ = writeln!(text, "name: {}", row.name);
    match row.definition() {
        Some(operator) => {
            _ = writeln!(text, "schema: {}\ndefined: {}", operator.schema(), operator.location());
        }
        None => _ = writeln!(text, "schema: (none)"),
    }
    for kernel in row.cells.iter().flat_map(kernels_of_cell) {
        let alias = if kernel.site.key.is_alias() { "[alias]" } else { "" };
        let inactive = if kernel.is_active { "" } else { " (inactive)" };
        let when = kernel.condition.map_or_else(String::new, |condition| format!(" when {condition}"));
        let RegisteredKernel { site: KernelSite { key, kernel: name, location }, kind, .. } = kernel;
        _ = writeln!(text, "{key}{alias}{inactive}: `{name}` ({location}) [ {kind}{when} ]");
    }
    text
}

/// Returns the names of all operators with a kernel for exactly this key, sorted.
///
/// ```
/// assert!(dispatch_runtime::operator_names_with_kernel_for(dispatch_runtime::keys::FPGA).is_empty());
/// ```
#[must_use]
pub fn operator_names_with_kernel_for(key: Key) -> Vec<String> {
    let registry = registry::lock();
    let Ok(target) = key.slot_or_alias() else {
        return Vec::new();
    };
    let mut names: Vec<String> =
        registry.rows.iter().filter(|row| row.cell(target).is_some()).map(|row| row.name.to_string()).collect();
    names.sort();
    names
}
