//! Cells of an operator's table, and kernels with their locations.

use std::fmt;

use dispatch_runtime::{KernelSite, Key, KeySet, Location, Operator, Provenance, RegisteredKernel, TableCell};
use serde::Serialize;

use crate::coverage::backends_to_show;

/// The kind of kernel in a cell of a table.
///
/// ```
/// assert_eq!(dispatch_inspect::KernelKind::Composite.to_string(), "composite");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelKind {
    /// A kernel of the key itself, or of an alias for such keys.
    Kernel,
    /// A composite: it calls other operators, each of which is dispatched.
    Composite,
    /// A kernel that works on every backend.
    Any,
    /// The fallback of the key, which serves all operators.
    Fallback,
    /// A registered fallthrough: calls skip the key.
    Fallthrough,
    /// No kernel, because two could serve the key: a call returns an error.
    Ambiguous,
    /// No kernel.
    Missing,
}

impl KernelKind {
    /// All kinds, the most specific first.
    ///
    /// ```
    /// assert_eq!(dispatch_inspect::KernelKind::ALL.len(), 7);
    /// ```
    pub const ALL: [Self; 7] =
        [Self::Kernel, Self::Composite, Self::Any, Self::Fallback, Self::Fallthrough, Self::Ambiguous, Self::Missing];

    /// Returns the name of the kind.
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

    /// Returns the meaning of the kind as text.
    ///
    /// ```
    /// assert_eq!(dispatch_inspect::KernelKind::Any.meaning(), "one kernel that works on every backend");
    /// ```
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Kernel => "a kernel of the key's own, or of an alias made for such keys",
            Self::Composite => "other operators, each of which is dispatched",
            Self::Any => "one kernel that works on every backend",
            Self::Fallback => "what the key does for all operators",
            Self::Fallthrough => "calls skip the key, because a fallthrough is registered",
            Self::Ambiguous => "two kernels could serve it, so a call ends in an error",
            Self::Missing => "nothing: calls skip a layer, and fail at a backend",
        }
    }

    pub(crate) fn from_table_cell(cell: &TableCell) -> Self {
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
/// use dispatch_inspect::{KernelKind, table_cells};
///
/// let lab = Registrar::new("cell");
/// let operator = lab.define("id(Tensor self) -> Tensor")?.operator().unwrap();
/// lab.kernel("id", CompositeExplicitAutograd, |_, _, _| Ok(()))?;
/// let cell = table_cells(operator).into_iter().find(|cell| cell.key == "CUDA").unwrap();
/// assert_eq!((cell.served, cell.registered_for.as_deref()), (KernelKind::Any, Some("CompositeExplicitAutograd")));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Cell {
    /// The key of the cell.
    pub key: String,
    /// The kind of kernel in the cell.
    pub served: KernelKind,
    /// The rule that put the kernel in the cell, in PyTorch's terms.
    pub provenance: &'static str,
    /// The key for which the kernel was registered; `None` for a fallback and for a cell without a kernel.
    pub registered_for: Option<String>,
    /// The kernels with their locations; several if they have conditions or conflict.
    pub kernels: Vec<String>,
    /// Whether the key is of a backend that is not linked, and for which the operator has no kernel of its own.
    pub is_unlinked: bool,
}

impl Cell {
    pub(crate) fn from_table_cell(cell: &TableCell, backends: &[Key]) -> Self {
        let device = KeySet::from(cell.key).device();
        Self {
            is_unlinked: cell.registered_for != Some(cell.key)
                && device.is_some_and(|device| !backends.contains(&device.key())),
            key: cell.key.to_string(),
            served: KernelKind::from_table_cell(cell),
            provenance: cell.provenance.name(),
            registered_for: cell.registered_for.map(|key| key.to_string()),
            kernels: cell.kernels.clone(),
        }
    }
}

/// Returns all cells of an operator's table, the lowest key first.
///
/// ```
/// # let operator = dispatch_runtime::Registrar::new("table").define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
/// assert_eq!(dispatch_inspect::table_cells(operator)[0].key, "Undefined");
/// ```
#[must_use]
pub fn table_cells(operator: &'static Operator) -> Vec<Cell> {
    let backends = backends_to_show(&[operator]);
    operator.table().iter().map(|cell| Cell::from_table_cell(cell, &backends)).collect()
}

/// A source location: a file and a line.
///
/// ```
/// let place = dispatch_inspect::SourceLocation::from(dispatch_runtime::Location::caller());
/// assert!(place.to_string().ends_with(&format!(":{}", place.line)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SourceLocation {
    /// The path of the file, as it was passed to the compiler.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

impl From<Location> for SourceLocation {
    fn from(location: Location) -> Self {
        Self { file: location.file(), line: location.line() }
    }
}

impl fmt::Display for SourceLocation {
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
/// assert_eq!(dispatch_inspect::OperatorInfo::for_operator(operator).kernels[0].key, "CPU");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Kernel {
    /// The key for which the kernel is registered.
    pub key: String,
    /// The name of the kernel's function.
    pub name: &'static str,
    /// The location of the kernel's function.
    pub place: SourceLocation,
    /// `typed`, `boxed` or `fallthrough`; `None` in the explanation of a call.
    pub kind: Option<&'static str>,
    /// Whether the kernel is one of those that run for its key.
    pub is_active: bool,
    /// The condition under which the kernel accepts a call.
    pub condition: Option<&'static str>,
}

impl From<RegisteredKernel> for Kernel {
    fn from(registered: RegisteredKernel) -> Self {
        let RegisteredKernel { site, kind, is_active, condition } = registered;
        Self { kind: Some(kind), condition, ..Self::from_site(&site, is_active) }
    }
}

impl Kernel {
    pub(crate) fn from_site(site: &KernelSite, is_active: bool) -> Self {
        let (key, place) = (site.key.to_string(), site.location.into());
        Self { key, name: site.kernel, place, kind: None, is_active, condition: None }
    }
}
