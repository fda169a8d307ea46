//! Rows: the cells of one operator, each with the kernels that were registered for it.

use super::cell::{ActiveKernels, Cell, KernelRegistration, RegistrationSource, kernel_sites};
use super::resolve::RegisteredKeys;
use crate::error::{Error, ErrorKind};
use crate::key::{Alias, Key, SlotOrAlias};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{BoxedKernel, Operator, Table};

/// An operator's definition and kernels. The kernels of a row without definition cannot be called.
pub(crate) struct OperatorRow {
    pub(crate) name: Name<'static>,
    pub(crate) definitions: Vec<&'static Operator>,
    /// The operator's definitions that were removed. They are kept, because a program may still use them.
    pub(crate) removed_definitions: Vec<&'static Operator>,
    /// The cells, sorted by their slot or alias.
    pub(crate) cells: Vec<(SlotOrAlias, Cell)>,
    /// Every table of the row's definitions so far. They are kept, because a call may still use one.
    tables: Vec<&'static Table>,
}

impl OperatorRow {
    pub(crate) const fn new(name: Name<'static>) -> Self {
        Self { name, definitions: Vec::new(), removed_definitions: Vec::new(), cells: Vec::new(), tables: Vec::new() }
    }

    pub(crate) fn definition(&self) -> Option<&'static Operator> {
        self.definitions.first().copied()
    }

    pub(crate) fn cell(&self, target: SlotOrAlias) -> Option<&Cell> {
        self.cell_index(target).map(|at| &self.cells[at].1)
    }

    /// Returns the index of the cell for a slot or an alias, if the row has one.
    pub(crate) fn cell_index(&self, target: SlotOrAlias) -> Option<usize> {
        self.cells.binary_search_by_key(&target, |(target, _)| *target).ok()
    }

    /// Returns the kernels that run for a slot or an alias. If all have conditions, the operator's composite kernel is the default.
    pub(crate) fn active_kernels(&self, target: SlotOrAlias) -> ActiveKernels<'_> {
        let Some(cell) = self.cell(target) else { return ActiveKernels::None };
        let mut active = cell.active_kernels();
        if let ActiveKernels::Conditional(kernels) = &mut active
            && kernels.iter().all(|kernel| kernel.condition.is_some())
            && let Some(composite) = self.composite_kernel()
        {
            kernels.push(composite);
        }
        active
    }

    fn composite_kernel(&self) -> Option<&KernelRegistration> {
        let aliases = [Alias::CompositeExplicitAutograd, Alias::CompositeImplicitAutograd].map(SlotOrAlias::Alias);
        aliases.into_iter().find_map(|alias| match self.cell(alias)?.active_kernels() {
            ActiveKernels::One(kernel) => Some(kernel),
            _ => None,
        })
    }

    /// Returns the key for which a kernel is registered.
    pub(crate) fn key_of_kernel(&self, kernel: &KernelRegistration) -> Option<Key> {
        let has = |cell: &Cell| cell.kernels.iter().any(|other| std::ptr::eq(other, kernel));
        self.cells.iter().find(|(_, cell)| has(cell)).map(|(target, _)| Key::from_slot_or_alias(*target))
    }

    /// Whether the operator's schema has alias annotations on arguments.
    pub(crate) fn is_aliasing(&self) -> bool {
        self.definition().is_some_and(Operator::is_aliasing)
    }

    pub(crate) fn returns_views(&self) -> bool {
        self.definition().is_some_and(Operator::returns_views)
    }

    /// Returns the keys that have kernels.
    pub(crate) fn registered_keys(&self) -> RegisteredKeys {
        let mut registered_keys = RegisteredKeys::default();
        self.cells.iter().for_each(|(target, _)| registered_keys.add(*target));
        registered_keys
    }

    pub(crate) fn add_kernel(&mut self, target: SlotOrAlias, kernel: KernelRegistration) {
        match self.cells.binary_search_by_key(&target, |(target, _)| *target) {
            Ok(at) => self.cells[at].1.kernels.push(kernel),
            Err(at) => self.cells.insert(at, (target, Cell { kernels: vec![kernel] })),
        }
        self.unbind_definitions();
    }

    pub(crate) fn remove_kernel(&mut self, target: SlotOrAlias, source: RegistrationSource) -> Option<BoxedKernel> {
        let at = self.cells.binary_search_by_key(&target, |(target, _)| *target).ok()?;
        let removed = self.cells[at].1.remove_by_source(source);
        if self.cells[at].1.kernels.is_empty() {
            self.cells.remove(at);
        }
        self.unbind_definitions();
        removed
    }

    /// Returns a copy of the row without the kernels for the keys in `removed`, and with `kernel` as the only one for the keys in `added`.
    pub(crate) fn with_changed_kernels(
        &self,
        added: &[SlotOrAlias],
        removed: &[SlotOrAlias],
        kernel: &KernelRegistration,
    ) -> Self {
        let kept = self.cells.iter().filter(|(target, _)| !removed.contains(target) && !added.contains(target));
        let mut cells: Vec<(SlotOrAlias, Cell)> = kept.cloned().collect();
        cells.extend(added.iter().map(|&target| (target, Cell { kernels: vec![kernel.clone()] })));
        cells.sort_by_key(|(target, _)| *target);
        cells.dedup_by_key(|(target, _)| *target);
        Self { definitions: self.definitions.clone(), cells, ..Self::new(self.name) }
    }

    /// Returns the table with a static lifetime. Equal tables are stored once.
    pub(crate) fn intern_table(&mut self, table: Table) -> &'static Table {
        let known = self.tables.iter().copied().find(|known| **known == table);
        known.unwrap_or_else(|| {
            let table = table.leak();
            self.tables.push(table);
            table
        })
    }

    pub(crate) fn unbind_definitions(&self) {
        self.definitions.iter().for_each(|operator| operator.unbind());
    }

    pub(crate) fn duplicate_definitions_error(&self) -> Error {
        let mut locations: Vec<Location> = self.definitions.iter().map(|operator| operator.location()).collect();
        locations.sort();
        ErrorKind::DuplicateOperator { operator: self.name, locations }.into()
    }

    /// Returns the error of kernels that were compiled for another operator of this name, which can have other types.
    pub(crate) fn kernels_of_other_definition_error(&self, operator: &Operator) -> Option<Error> {
        let kernels = self.cells.iter().flat_map(|(_, cell)| &cell.kernels);
        let is_foreign =
            |kernel: &&KernelRegistration| kernel.compiled_for.is_some_and(|of| !std::ptr::eq(of, operator));
        let foreign: Vec<&KernelRegistration> = kernels.filter(is_foreign).collect();
        (!foreign.is_empty()).then(|| {
            let (location, kernels) = (operator.location(), kernel_sites(&foreign));
            ErrorKind::KernelOfOtherDefinition { operator: self.name, location, kernels }.into()
        })
    }

    /// Returns the removed definition with this signature and location, if there is one.
    pub(crate) fn find_removed_definition(&self, signature: &str, location: Location) -> Option<&'static Operator> {
        let mut former = self.removed_definitions.iter().copied();
        former.find(|operator| operator.signature_text() == signature && operator.location() == location)
    }

    /// Returns the error of a call of an operator whose name has another definition now.
    pub(crate) fn operator_redefined_error(&self, operator: &Operator) -> Option<Error> {
        let new_location = self.definition()?.location();
        Some(ErrorKind::OperatorRedefined { operator: self.name, location: operator.location(), new_location }.into())
    }

    pub(crate) fn missing_definition_error(&self) -> Error {
        let mut kernels: Vec<_> =
            self.cells.iter().flat_map(|(_, cell)| &cell.kernels).map(|kernel| kernel.location).collect();
        kernels.sort();
        ErrorKind::MissingDefinition { operator: self.name, kernels }.into()
    }
}
