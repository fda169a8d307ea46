//! What is in a cell of the dispatcher's table.

use std::fmt;

use dispatch_runtime::{Key, KeySet, Location, Operator, Provenance, RegisteredKernel, Site, TableCell};
use serde::Serialize;

use crate::coverage::backends;

/// What kind of kernel serves a key.
///
/// ```
/// assert_eq!(dispatch_inspect::KernelKind::Composite.to_string(), "composite");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelKind {
    /// One of the key's own, or of an alias made for such keys.
    Kernel,
    /// Other operators, each of which goes its own way.
    Composite,
    /// One that works on every backend.
    Any,
    /// What the key does for all operators.
    Fallback,
    /// None: calls pass over the key.
    Fallthrough,
    /// None: two could, and a call ends in an error.
    Ambiguous,
    /// None.
    Missing,
}

impl KernelKind {
    /// All of them, best first.
    ///
    /// ```
    /// assert_eq!(dispatch_inspect::KernelKind::ALL.len(), 7);
    /// ```
    pub const ALL: [Self; 7] =
        [Self::Kernel, Self::Composite, Self::Any, Self::Fallback, Self::Fallthrough, Self::Ambiguous, Self::Missing];

    /// The word for it.
    ///
    /// ```
    /// assert_eq!(dispatch_inspect::KernelKind::Missing.name(), "-");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Composite => "composite",
            Self::Any => "any",
            Self::Fallback => "fallback",
            Self::Fallthrough => "fallthrough",
            Self::Ambiguous => "ambiguous",
            Self::Missing => "-",
        }
    }

    /// What the word means.
    ///
    /// ```
    /// assert_eq!(dispatch_inspect::KernelKind::Any.meaning(), "one kernel that works on every backend");
    /// ```
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Kernel => "a kernel of the key's own, or of an alias made for such keys",
            Self::Composite => "other operators, each of which goes its own way",
            Self::Any => "one kernel that works on every backend",
            Self::Fallback => "what the key does for all operators",
            Self::Fallthrough => "calls pass over the key, because somebody said so",
            Self::Ambiguous => "two kernels could serve it, so a call ends in an error",
            Self::Missing => "nothing: calls pass over a layer, and end in an error at a backend",
        }
    }

    pub(crate) fn of(cell: &TableCell) -> Self {
        match cell.provenance {
            _ if cell.falls_through => Self::Fallthrough,
            Provenance::MathKernel => Self::Composite,
            Provenance::DefaultBackendKernel => Self::Any,
            Provenance::BackendFallback => Self::Fallback,
            Provenance::AmbiguousAutogradOther => Self::Ambiguous,
            Provenance::Missing => Self::Missing,
            Provenance::Kernel
            | Provenance::NestedKernel
            | Provenance::AutogradKernel
            | Provenance::BatchedKernel
            | Provenance::AutocastKernel => Self::Kernel,
        }
    }
}

impl fmt::Display for KernelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One cell of an operator's table.
///
/// ```
/// use dispatch_runtime::{Registrar, keys::*};
/// use dispatch_inspect::{KernelKind, table};
///
/// let lab = Registrar::new("cell");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CompositeExplicitAutograd, |_, _, _| Ok(()))?;
/// let cell = table(operator).into_iter().find(|cell| cell.key == "CUDA").unwrap();
/// assert_eq!((cell.served, cell.registered_for.as_deref()), (KernelKind::Any, Some("CompositeExplicitAutograd")));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Cell {
    /// The key.
    pub key: String,
    /// What serves it.
    pub served: KernelKind,
    /// The rule that put it there, in PyTorch's words.
    pub provenance: &'static str,
    /// The key that it was registered for; none for a fallback and for nothing.
    pub registered_for: Option<String>,
    /// The kernels with their places; several where they carry conditions or conflict.
    pub kernels: Vec<String>,
    /// Whether the key is one of a backend that is not linked, and for which the operator has no kernel of its own.
    pub is_elsewhere: bool,
}

impl Cell {
    pub(crate) fn of(cell: &TableCell, backends: &[Key]) -> Self {
        let device = KeySet::from(cell.key).device();
        Self {
            is_elsewhere: cell.registered_for != Some(cell.key)
                && device.is_some_and(|device| !backends.contains(&device.key())),
            key: cell.key.to_string(),
            served: KernelKind::of(cell),
            provenance: cell.provenance.name(),
            registered_for: cell.registered_for.map(|key| key.to_string()),
            kernels: cell.kernels.clone(),
        }
    }
}

/// Every cell of an operator's table, lowest key first.
///
/// ```
/// # let operator = dispatch_runtime::Registrar::new("table").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
/// assert_eq!(dispatch_inspect::table(operator)[0].key, "Undefined");
/// ```
#[must_use]
pub fn table(operator: &'static Operator) -> Vec<Cell> {
    let backends = backends(&[operator]);
    operator.table().iter().map(|cell| Cell::of(cell, &backends)).collect()
}

/// A file and a line.
///
/// ```
/// let place = dispatch_inspect::Place::from(dispatch_runtime::Location::caller());
/// assert!(place.to_string().ends_with(&format!(":{}", place.line)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// The file, as the compiler was given it.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

impl From<Location> for Place {
    fn from(location: Location) -> Self {
        Self { file: location.file(), line: location.line() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A kernel that was registered for an operator.
///
/// ```
/// # use dispatch_runtime::{Registrar, keys::CPU};
/// let lab = Registrar::new("kernels");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CPU, |_, _, _| Ok(()))?;
/// assert_eq!(dispatch_inspect::OperatorInfo::of(operator).kernels[0].key, "CPU");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Kernel {
    /// The key that it is registered for.
    pub key: String,
    /// The name of its function.
    pub name: &'static str,
    /// Where it is.
    pub place: Place,
    /// `typed`, `boxed` or `fallthrough`; none where a call is explained.
    pub kind: Option<&'static str>,
    /// Whether it is one that runs for its key.
    pub is_active: bool,
    /// When it is fit for a call.
    pub condition: Option<&'static str>,
}

impl From<RegisteredKernel> for Kernel {
    fn from(registered: RegisteredKernel) -> Self {
        let RegisteredKernel { site, kind, is_active, condition } = registered;
        Self { kind: Some(kind), condition, ..Self::at(&site, is_active) }
    }
}

impl Kernel {
    pub(crate) fn at(site: &Site, is_active: bool) -> Self {
        let (key, place) = (site.key.to_string(), site.location.into());
        Self { key, name: site.kernel, place, kind: None, is_active, condition: None }
    }
}
