//! What would be otherwise.

use dispatch_runtime::{Key, Operator};
use serde::Serialize;

use crate::coverage::backends;
use crate::{Cell, Failure, table};

/// The cells of an operator's table that registrations would change. Nothing is registered: the runtime makes the table that there
/// would be, by the rule that makes all tables.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
///
/// let lab = Registrar::new("if_lab");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CompositeImplicitAutograd, |_, _, _| Ok(()))?;
///
/// let what_if = dispatch_inspect::WhatIf::of(operator, &["CPU".to_owned()]).unwrap();
/// let changes: Vec<_> = what_if.changes.iter().map(|change| (change.before.key.as_str(), change.after.provenance)).collect();
/// assert_eq!(changes, [("CPU", "kernel"), ("AutogradCPU", "missing")]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WhatIf {
    /// The operator.
    pub operator: String,
    /// The keys that get a kernel.
    pub added: Vec<String>,
    /// The keys that lose theirs.
    pub removed: Vec<String>,
    /// The keys of those that get one and have one: a registration that does not override is refused there.
    pub displaced: Vec<String>,
    /// The cells that would be otherwise, lowest key first.
    pub changes: Vec<Change>,
}

/// A cell as it is and as it would be.
///
/// ```
/// # let lab = dispatch_runtime::Registrar::new("change");
/// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
/// let what_if = dispatch_inspect::WhatIf::of(operator, &["CPU".to_owned()]).unwrap();
/// assert_eq!((what_if.changes[0].before.kernels.len(), what_if.changes[0].after.kernels.len()), (0, 1));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// What is there.
    pub before: Cell,
    /// What would be.
    pub after: Cell,
}

impl WhatIf {
    /// The account of a change: names of keys that get a kernel, and with a `-` before them of those that lose theirs.
    ///
    /// # Errors
    ///
    /// Where there is no such key, or it has no kernel to lose.
    ///
    /// ```
    /// # let lab = dispatch_runtime::Registrar::new("what_if_of");
    /// let operator = lab.define("id(Tensor self) -> Tensor").unwrap().operator().unwrap();
    /// let error = dispatch_inspect::WhatIf::of(operator, &["-CPU".to_owned()]).unwrap_err();
    /// assert!(error.to_string().contains("has no kernel for CPU that could be removed"));
    /// ```
    pub fn of(operator: &'static Operator, words: &[String]) -> Result<Self, Failure> {
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
        let backends = backends(&[operator]);
        let after = operator.table_if(&added, &removed)?;
        let pairs = table(operator).into_iter().zip(after.iter().map(|cell| Cell::of(cell, &backends)));
        let changes = pairs.filter(|(before, after)| before != after).map(|(before, after)| Change { before, after });
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
