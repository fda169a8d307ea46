//! The cells of an operator's table and its registered kernels, as data.

use crate::error::{KernelSite, Result};
use crate::key::{Key, KeyError, Provenance, Slot, SlotOrAlias};
use crate::location::Location;
use crate::operator::{BoxedKernel, Operator};
use crate::registration::{Registry, bind, registry};
use crate::table::{ActiveKernels, Cell, Kernel, KernelRegistration, OperatorRow, RegistrationSource};
use crate::tensor::Marks;

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
    /// The reason why the kernel fills the cell.
    pub provenance: Provenance,
    /// The key that the kernel was registered for; `None` for a fallback and for an empty cell.
    pub registered_for: Option<Key>,
    /// The kernel's name and location, as text. There are several if kernels have conditions or conflict.
    pub kernels: Vec<String>,
    /// Whether calls skip the cell.
    pub falls_through: bool,
    /// The marks without which typed calls skip the cell, or `None` if they never skip it.
    pub marks: Option<Marks>,
}

/// A registered kernel of an operator, active or not.
///
/// ```
/// # use dispatch_runtime::{Registrar, keys::*};
/// let lab = Registrar::new("registered");
/// let op = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
/// drop(lab.fallthrough("id", Tracer).unwrap());
/// assert_eq!(op.registrations()[0].kind, "fallthrough");
/// ```
#[derive(Clone, Debug)]
pub struct RegisteredKernel {
    /// The kernel's key, name and location.
    pub site: KernelSite,
    /// `typed`, `boxed` or `fallthrough`.
    pub kind: &'static str,
    /// Whether the kernel runs for its key. Other kernels replace an inactive one, or conflict with it.
    pub is_active: bool,
    /// The condition under which the kernel runs.
    pub condition: Option<&'static str>,
}

impl Operator {
    /// Returns every cell of the operator's table, lowest key first. The first cell is for calls without tensors.
    #[must_use]
    pub fn table(&self) -> Vec<TableCell> {
        let registry = registry::lock();
        registry.row_of_operator(self).map(|row| table_cells(&registry, row)).unwrap_or_default()
    }

    /// Returns the table that the operator would have without any kernel for the `removed` keys, and with one new kernel for each of the
    /// `added` keys. Nothing changes.
    ///
    /// # Errors
    ///
    /// Returns an error if a key has no cells, or if the operator does not have exactly one definition.
    ///
    /// ```
    /// # use dispatch_runtime::{Registrar, keys::*, Provenance};
    /// let lab = Registrar::new("what_if");
    /// let op = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// drop(lab.kernel("id", CompositeImplicitAutograd, |_, _, _| Ok(())).unwrap());
    /// let autograd = |table: Vec<dispatch_runtime::TableCell>| {
    ///     table.into_iter().find(|cell| cell.key == AutogradCPU).unwrap().provenance
    /// };
    /// // Autograd cannot differentiate through a backend's own kernel.
    /// assert_eq!(autograd(op.table()), Provenance::MathKernel);
    /// assert_eq!(autograd(op.hypothetical_table(&[CPU], &[])?), Provenance::Missing);
    /// assert_eq!(autograd(op.hypothetical_table(&[], &[CompositeImplicitAutograd])?), Provenance::Missing);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn hypothetical_table(&self, added: &[Key], removed: &[Key]) -> Result<Vec<TableCell>> {
        let location = Location::caller();
        let targets =
            |keys: &[Key]| keys.iter().map(|&key| key.registration_target()).collect::<Result<Vec<_>, KeyError>>();
        let (added, removed) = (targets(added)?, targets(removed)?);
        let registry = registry::lock();
        let row = registry.row_of_operator(self)?;
        let kernel = Kernel::Boxed(BoxedKernel::Function(|_, _, _| Ok(())));
        let hypothetical =
            KernelRegistration::new_without_options(kernel, "what if", location, RegistrationSource::Attribute);
        Ok(table_cells(&registry, &row.with_changed_kernels(&added, &removed, &hypothetical)))
    }

    /// Returns every registered kernel of the operator, by key, runtime keys before aliases, newest first.
    ///
    /// ```
    /// # use dispatch_runtime::{Registrar, keys::*};
    /// let lab = Registrar::new("registrations");
    /// let op = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// drop(lab.kernel("id", CPU, |_, _, _| Ok(())).unwrap());
    /// let kernels = op.registrations();
    /// assert!(matches!(&kernels[..], [one] if one.site.key == CPU && one.kind == "boxed" && one.is_active));
    /// ```
    #[must_use]
    pub fn registrations(&self) -> Vec<RegisteredKernel> {
        let registry = registry::lock();
        registry
            .row_of_operator(self)
            .map(|row| row.cells.iter().flat_map(kernels_of_cell).collect())
            .unwrap_or_default()
    }
}

/// Returns every cell of a row's table, lowest key first. The first cell is for calls without tensors.
fn table_cells(registry: &Registry, row: &OperatorRow) -> Vec<TableCell> {
    let table = row
        .definition()
        .and_then(Operator::typed_adapters)
        .map(|_| bind::build_unpublished_table(registry, row, Marks::NONE));
    let cell = |slot: Slot| {
        let (provenance, active, target) = registry::kernels_with_provenance(registry, row, slot);
        let kernels = match &active {
            ActiveKernels::None => Vec::new(),
            ActiveKernels::One(kernel) => vec![*kernel],
            ActiveKernels::Conditional(kernels) | ActiveKernels::Conflict(kernels) => kernels.clone(),
        };
        TableCell {
            key: Key::from_slot(slot),
            provenance,
            registered_for: target.map(Key::from_slot_or_alias),
            marks: table.as_ref().and_then(|table| table.marks_that_prevent_skip(slot)),
            falls_through: matches!(active, ActiveKernels::One(kernel) if matches!(kernel.kernel, Kernel::Fallthrough)),
            kernels: kernels.iter().map(|kernel| format!("`{}` ({})", kernel.name, kernel.location)).collect(),
        }
    };
    std::iter::once(Slot::UNDEFINED).chain(Slot::all()).map(cell).collect()
}

pub(super) fn kernels_of_cell((target, cell): &(SlotOrAlias, Cell)) -> Vec<RegisteredKernel> {
    let runs = match cell.active_kernels() {
        ActiveKernels::None | ActiveKernels::Conflict(_) => Vec::new(),
        ActiveKernels::One(kernel) => vec![kernel],
        ActiveKernels::Conditional(kernels) => kernels,
    };
    let describe = |kernel: &KernelRegistration| RegisteredKernel {
        site: KernelSite { key: Key::from_slot_or_alias(*target), kernel: kernel.name, location: kernel.location },
        kind: match kernel.kernel {
            Kernel::Typed(_) => "typed",
            Kernel::Boxed(_) => "boxed",
            Kernel::Fallthrough => "fallthrough",
        },
        is_active: runs.iter().any(|&one| std::ptr::eq(one, kernel)),
        condition: kernel.condition.map(|condition| condition.text),
    };
    cell.kernels_by_precedence().into_iter().map(describe).collect()
}
