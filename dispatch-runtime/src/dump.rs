//! The dispatcher's tables as text: the same program prints the same text, whatever the order of registration was.

use std::fmt::{self, Write};

use crate::explain::active;
use crate::key::{Key, Slot};
use crate::operator::Operator;
use crate::registry::{self, Active, Cell, Kernel};
use crate::resolve::Provenance;

/// One cell of an operator's table.
///
/// ```
/// # use dispatch_runtime::{Registrar, keys::*, Provenance};
/// let lab = Registrar::new("cells");
/// let op = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
/// drop(lab.kernel("id", CompositeImplicitAutograd, |_, _, _| Ok(())).unwrap());
/// let cell = op.table().into_iter().find(|cell| cell.key == AutogradCPU).unwrap();
/// assert_eq!((cell.provenance, cell.registered_for), (Provenance::MathKernel, Some(CompositeImplicitAutograd)));
/// ```
#[derive(Clone, Debug)]
pub struct TableCell {
    /// The key that the cell belongs to.
    pub key: Key,
    /// Why its kernel fills it.
    pub provenance: Provenance,
    /// The key that the kernel was registered for; none for a fallback and for nothing.
    pub registered_for: Option<Key>,
    /// The kernel's name and place, as text; several where they carry conditions or conflict.
    pub kernels: Vec<String>,
    /// Whether calls pass over the cell.
    pub falls_through: bool,
}

impl Operator {
    /// Every cell of the operator's table, lowest key first, beginning with that of calls without tensors.
    #[must_use]
    pub fn table(&self) -> Vec<TableCell> {
        let registry = registry::lock();
        let Ok(row) = registry.row_of(self) else {
            return Vec::new();
        };
        let cell = |slot: Slot| {
            let (provenance, active, target) = active(&registry, row, slot);
            let kernels = match &active {
                Active::None => Vec::new(),
                Active::One(kernel) => vec![*kernel],
                Active::Choice(kernels) | Active::Conflict(kernels) => kernels.clone(),
            };
            TableCell {
                key: Key::of_slot(slot),
                provenance,
                registered_for: target.map(Key::of_target),
                falls_through: matches!(active, Active::One(kernel) if matches!(kernel.kernel, Kernel::Fallthrough)),
                kernels: kernels.iter().map(|kernel| format!("`{}` ({})", kernel.name, kernel.location)).collect(),
            }
        };
        std::iter::once(Slot::UNDEFINED).chain(Slot::all()).map(cell).collect()
    }

    /// The operator's table as text: a line for every cell that something fills.
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

    /// The operator's registrations as text: its definition, then every kernel by key, runtime keys before aliases.
    ///
    /// ```
    /// # use dispatch_runtime::Registrar;
    /// let op = Registrar::new("dumps").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// assert!(op.dump().starts_with("name: dumps::id\nschema: dumps::id(Tensor x) -> Tensor\n"));
    /// ```
    #[must_use]
    pub fn dump(&self) -> String {
        dump_name(&self.name().to_string())
    }
}

/// The registrations under a name as text, for names without definition too.
///
/// ```
/// assert_eq!(dispatch_runtime::dump_name("nobody::home"), "");
/// ```
#[must_use]
pub fn dump_name(name: &str) -> String {
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
    for (target, cell) in &row.cells {
        _ = write_cell(&mut text, Key::of_target(*target), cell);
    }
    text
}

fn write_cell(text: &mut String, key: Key, cell: &Cell) -> fmt::Result {
    let runs = match cell.active() {
        Active::None | Active::Conflict(_) => Vec::new(),
        Active::One(kernel) => vec![kernel],
        Active::Choice(kernels) => kernels,
    };
    for kernel in cell.newest_first() {
        let alias = if key.is_alias() { "[alias]" } else { "" };
        let inactive = if runs.iter().any(|&one| std::ptr::eq(one, kernel)) { "" } else { " (inactive)" };
        let kind = match kernel.kernel {
            Kernel::Typed(_) => "typed",
            Kernel::Boxed(_) => "boxed",
            Kernel::Fallthrough => "fallthrough",
        };
        let when = kernel.condition.map_or_else(String::new, |condition| format!(" when {}", condition.text));
        writeln!(text, "{key}{alias}{inactive}: `{}` ({}) [ {kind}{when} ]", kernel.name, kernel.location)?;
    }
    Ok(())
}

/// Every operator that has a kernel for exactly this key, sorted.
///
/// ```
/// assert!(dispatch_runtime::registrations_for(dispatch_runtime::keys::FPGA).is_empty());
/// ```
#[must_use]
pub fn registrations_for(key: Key) -> Vec<String> {
    let registry = registry::lock();
    let Ok(target) = key.target() else {
        return Vec::new();
    };
    let mut names: Vec<String> =
        registry.rows.iter().filter(|row| row.cell(target).is_some()).map(|row| row.name.to_string()).collect();
    names.sort();
    names
}
