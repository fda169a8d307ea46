//! The cells of an operator's table that hypothetical registrations would change.

use dispatch_runtime::{Key, Operator};
use serde::Serialize;

use crate::coverage::backends_to_show;
use crate::{Cell, Failure, table_cells};

/// The cells of an operator's table that hypothetical registrations would change. Nothing is registered: the runtime assembles the
/// hypothetical table by the same rule as all tables.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
///
/// let lab = Registrar::new("if_lab");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CompositeImplicitAutograd, |_, _, _| Ok(()))?;
///
/// let what_if = dispatch_inspect::WhatIf::for_changes(operator, &["CPU".to_owned()]).unwrap();
/// let changes: Vec<_> = what_if.changes.iter().map(|change| (change.before.key.as_str(), change.after.provenance)).collect();
/// assert_eq!(changes, [("CPU", "kernel"), ("AutogradCPU", "missing")]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WhatIf {
    /// The name of the operator.
    pub operator: String,
    /// The keys for which a kernel would be added.
    pub added: Vec<String>,
    /// The keys whose kernel would be removed.
    pub removed: Vec<String>,
    /// The added keys for which the operator has a kernel already. A registration without override is refused there.
    pub displaced: Vec<String>,
    /// The cells that would change, the lowest key first.
    pub changes: Vec<CellChange>,
}

/// A cell before and after the hypothetical registrations.
///
/// ```
/// # let lab = dispatch_runtime::Registrar::new("change");
/// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
/// let what_if = dispatch_inspect::WhatIf::for_changes(operator, &["CPU".to_owned()]).unwrap();
/// assert_eq!((what_if.changes[0].before.kernels.len(), what_if.changes[0].after.kernels.len()), (0, 1));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CellChange {
    /// The cell in the present table.
    pub before: Cell,
    /// The cell in the hypothetical table.
    pub after: Cell,
}

impl WhatIf {
    /// Returns the changes if these registrations were made: `KEY` adds a kernel for a key, and `-KEY` removes it.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Usage`] if a key is unknown, and [`Failure::NoSuchKernel`] if a key has no kernel to remove.
    ///
    /// ```
    /// # let lab = dispatch_runtime::Registrar::new("what_if_of");
    /// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// let error = dispatch_inspect::WhatIf::for_changes(operator, &["-CPU".to_owned()]).unwrap_err();
    /// assert!(error.to_string().contains("has no kernel for CPU that could be removed"));
    /// ```
    pub fn for_changes(operator: &'static Operator, words: &[String]) -> Result<Self, Failure> {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for word in words {
            let (name, keys) = match word.strip_prefix('-') {
                Some(name) => (name, &mut removed),
                None => (word.strip_prefix('+').unwrap_or(word), &mut added),
            };
            let key = name.parse::<Key>().map_err(|unknown| Failure::Usage(unknown.to_string()))?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let present: Vec<Key> = operator.registrations().iter().map(|kernel| kernel.site.key).collect();
        if let Some(key) = removed.iter().find(|key| !present.contains(key)) {
            let (operator, key) = (operator.to_string(), key.to_string());
            let mut keys: Vec<String> = present.iter().map(ToString::to_string).collect();
            keys.dedup();
            return Err(Failure::NoSuchKernel { operator, key, keys });
        }
        let displaced = added.iter().copied().filter(|key| present.contains(key) && !removed.contains(key)).collect();
        let backends = backends_to_show(&[operator]);
        let after = operator.hypothetical_table(&added, &removed)?;
        let pairs =
            table_cells(operator).into_iter().zip(after.iter().map(|cell| Cell::from_table_cell(cell, &backends)));
        let changes =
            pairs.filter(|(before, after)| before != after).map(|(before, after)| CellChange { before, after });
        let names = |keys: Vec<Key>| keys.iter().map(ToString::to_string).collect();
        Ok(Self {
            operator: operator.to_string(),
            changes: changes.collect(),
            added: names(added),
            removed: names(removed),
            displaced: names(displaced),
        })
    }
}
