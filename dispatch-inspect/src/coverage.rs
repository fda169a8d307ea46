//! Coverage: the kind of kernel for each key of each operator.

use dispatch_runtime::keys::{Autocast, Autograd};
use dispatch_runtime::{Device, Key, KeySet, Operator, Provenance, TableCell};
use serde::Serialize;

use crate::{KernelKind, specific_kernel_kind};

/// A matrix of kernels: a row for each operator and a column for each key.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::CPU};
/// use dispatch_inspect::{Coverage, KernelKind};
///
/// let lab = Registrar::new("coverage");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CPU, |_, _, _| Ok(()))?;
/// let coverage = Coverage::for_operators(&[operator]);
/// let cpu = coverage.keys.iter().position(|key| key == "CPU").unwrap();
/// assert_eq!(coverage.rows[0].cells[cpu], KernelKind::Kernel);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Coverage {
    /// The keys of linked backends, and of layers with a kernel or a fallback. The lowest comes first.
    pub keys: Vec<String>,
    /// The rows, one for each operator.
    pub rows: Vec<CoverageRow>,
}

/// The kinds of kernels of one operator.
///
/// ```
/// let none = dispatch_inspect::Coverage::for_operators(&[]);
/// assert_eq!(none.rows, []);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CoverageRow {
    /// The name of the operator.
    pub operator: String,
    /// The kind of kernel for each key.
    pub cells: Vec<KernelKind>,
    /// The name of each cell's kernel, more specific than its kind: `formula` or `none` for autograd, `shape`, `plan`, `form`
    /// or `data` for kernels that a definition generates.
    pub words: Vec<&'static str>,
}

impl Coverage {
    /// Returns the coverage of these operators.
    ///
    /// ```
    /// dispatch_runtime::Registrar::new("coverage_of").define("id(Tensor self) -> Tensor").unwrap();
    /// let everything = dispatch_inspect::Coverage::for_operators(&dispatch_runtime::Operator::all());
    /// assert!(everything.keys.contains(&"CPU".to_owned()));
    /// ```
    #[must_use]
    pub fn for_operators(operators: &[&'static Operator]) -> Self {
        let tables: Vec<Vec<TableCell>> = operators.iter().map(|operator| operator.table()).collect();
        let backends = backends_to_show(operators);
        let is_wanted = |at: usize, key: Key| {
            let is_of_layer = |cell: &TableCell| {
                let by_layer = cell.registered_for.is_none_or(|by| by == key || by == Autograd || by == Autocast);
                by_layer && cell.provenance != Provenance::Missing && !cell.falls_through
            };
            match KeySet::from(key).device() {
                Some(device) if !backends.contains(&device.key()) => false,
                Some(device) if device.key() == key => true,
                _ => tables.iter().filter_map(|table| table.get(at)).any(is_of_layer),
            }
        };
        let all = tables.first().map(|table| table.iter().map(|cell| cell.key).collect::<Vec<_>>()).unwrap_or_default();
        let wanted: Vec<usize> = (1..all.len()).filter(|&at| is_wanted(at, all[at])).collect();
        let row = |(&operator, table): (&&'static Operator, &Vec<TableCell>)| CoverageRow {
            operator: operator.to_string(),
            cells: wanted.iter().filter_map(|&at| table.get(at)).map(KernelKind::from_table_cell).collect(),
            words: wanted
                .iter()
                .filter_map(|&at| table.get(at))
                .map(|cell| specific_kernel_kind::specific_kernel_kind(operator, cell))
                .collect(),
        };
        Self {
            keys: wanted.iter().map(|&at| all[at].to_string()).collect(),
            rows: operators.iter().zip(&tables).map(row).collect(),
        }
    }

    /// Returns for each key the number of operators that have a kernel there.
    ///
    /// ```
    /// assert!(dispatch_inspect::Coverage::for_operators(&[]).kernel_counts().is_empty());
    /// ```
    #[must_use]
    pub fn kernel_counts(&self) -> Vec<usize> {
        let serves = |at: usize| {
            let is_served = |row: &&CoverageRow| {
                !matches!(
                    row.cells.get(at),
                    None | Some(KernelKind::Missing | KernelKind::Fallthrough | KernelKind::Ambiguous)
                )
            };
            self.rows.iter().filter(is_served).count()
        };
        (0..self.keys.len()).map(serves).collect()
    }
}

/// Returns the backends that can hold tensors, or for which any of these operators has a kernel.
pub(crate) fn backends_to_show(operators: &[&'static Operator]) -> Vec<Key> {
    let registered = operators.iter().flat_map(|operator| operator.registrations()).map(|kernel| kernel.site.key);
    let registered = registered.filter(|&key| KeySet::from(key).device().is_some_and(|device| device.key() == key));
    let linked = Device::all_linked().into_iter().map(Device::key);
    let mut backends: Vec<Key> = Vec::new();
    registered.chain(linked).for_each(|key| {
        if !backends.contains(&key) {
            backends.push(key);
        }
    });
    backends
}
