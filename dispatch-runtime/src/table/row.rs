//! Rows: the cells of one operator, each with the kernels that were registered for it.

use super::cell::{Active, Cell, Registered, Source, sites};
use super::resolve::Direct;
use crate::error::{Error, ErrorKind};
use crate::key::{Alias, Key, Target};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{BoxedKernel, Operator, Table};

/// An operator's definition and kernels. The kernels of a row without definition cannot be called.
pub(crate) struct Row {
    pub(crate) name: Name<'static>,
    pub(crate) definitions: Vec<&'static Operator>,
    /// Removed definitions. They are kept, because a program may still use them.
    pub(crate) former: Vec<&'static Operator>,
    /// The cells, sorted by target.
    pub(crate) cells: Vec<(Target, Cell)>,
    /// Every table of the row's definitions so far. They are kept, because a call may still use one.
    tables: Vec<&'static Table>,
}

impl Row {
    pub(crate) const fn new(name: Name<'static>) -> Self {
        Self { name, definitions: Vec::new(), former: Vec::new(), cells: Vec::new(), tables: Vec::new() }
    }

    pub(crate) fn definition(&self) -> Option<&'static Operator> {
        self.definitions.first().copied()
    }

    pub(crate) fn cell(&self, target: Target) -> Option<&Cell> {
        self.position(target).map(|at| &self.cells[at].1)
    }

    /// Returns the index of a target's cell.
    pub(crate) fn position(&self, target: Target) -> Option<usize> {
        self.cells.binary_search_by_key(&target, |(target, _)| *target).ok()
    }

    /// Returns the kernels that run for a target. If all have conditions, the operator's composite kernel is the default.
    pub(crate) fn active(&self, target: Target) -> Active<'_> {
        let Some(cell) = self.cell(target) else { return Active::None };
        let mut active = cell.active();
        if let Active::Choice(kernels) = &mut active
            && kernels.iter().all(|kernel| kernel.condition.is_some())
            && let Some(composite) = self.composite()
        {
            kernels.push(composite);
        }
        active
    }

    fn composite(&self) -> Option<&Registered> {
        let aliases = [Alias::CompositeExplicitAutograd, Alias::CompositeImplicitAutograd].map(Target::Alias);
        aliases.into_iter().find_map(|alias| match self.cell(alias)?.active() {
            Active::One(kernel) => Some(kernel),
            _ => None,
        })
    }

    /// Returns the key for which a kernel is registered.
    pub(crate) fn key_of(&self, kernel: &Registered) -> Option<Key> {
        let has = |cell: &Cell| cell.kernels.iter().any(|other| std::ptr::eq(other, kernel));
        self.cells.iter().find(|(_, cell)| has(cell)).map(|(target, _)| Key::of_target(*target))
    }

    /// Whether the operator's schema has alias annotations on arguments.
    pub(crate) fn is_aliasing(&self) -> bool {
        self.definition().is_some_and(Operator::is_aliasing)
    }

    pub(crate) fn gives_views(&self) -> bool {
        self.definition().is_some_and(Operator::gives_views)
    }

    /// Returns the keys that have kernels.
    pub(crate) fn direct(&self) -> Direct {
        let mut direct = Direct::default();
        self.cells.iter().for_each(|(target, _)| direct.add(*target));
        direct
    }

    pub(crate) fn add(&mut self, target: Target, kernel: Registered) {
        match self.cells.binary_search_by_key(&target, |(target, _)| *target) {
            Ok(at) => self.cells[at].1.kernels.push(kernel),
            Err(at) => self.cells.insert(at, (target, Cell { kernels: vec![kernel] })),
        }
        self.unbind();
    }

    pub(crate) fn remove(&mut self, target: Target, source: Source) -> Option<BoxedKernel> {
        let at = self.cells.binary_search_by_key(&target, |(target, _)| *target).ok()?;
        let removed = self.cells[at].1.remove(source);
        if self.cells[at].1.kernels.is_empty() {
            self.cells.remove(at);
        }
        self.unbind();
        removed
    }

    /// Returns a copy of the row without the kernels for the keys in `removed`, and with `kernel` as the only one for the keys in `added`.
    pub(crate) fn changed(&self, added: &[Target], removed: &[Target], kernel: &Registered) -> Self {
        let kept = self.cells.iter().filter(|(target, _)| !removed.contains(target) && !added.contains(target));
        let mut cells: Vec<(Target, Cell)> = kept.cloned().collect();
        cells.extend(added.iter().map(|&target| (target, Cell { kernels: vec![kernel.clone()] })));
        cells.sort_by_key(|(target, _)| *target);
        cells.dedup_by_key(|(target, _)| *target);
        Self { definitions: self.definitions.clone(), cells, ..Self::new(self.name) }
    }

    /// Returns the table with a static lifetime. Equal tables are stored once.
    pub(crate) fn keep(&mut self, table: Table) -> &'static Table {
        let known = self.tables.iter().copied().find(|known| **known == table);
        known.unwrap_or_else(|| {
            let table = table.leak();
            self.tables.push(table);
            table
        })
    }

    pub(crate) fn unbind(&self) {
        self.definitions.iter().for_each(|operator| operator.unbind());
    }

    pub(crate) fn duplicate_definitions(&self) -> Error {
        let mut locations: Vec<Location> = self.definitions.iter().map(|operator| operator.location()).collect();
        locations.sort();
        ErrorKind::DuplicateOperator { operator: self.name, locations }.into()
    }

    /// Returns the error of kernels that were compiled for another operator of this name, which can have other types.
    pub(crate) fn foreign_kernels(&self, operator: &Operator) -> Option<Error> {
        let kernels = self.cells.iter().flat_map(|(_, cell)| &cell.kernels);
        let is_foreign = |kernel: &&Registered| kernel.compiled_for.is_some_and(|of| !std::ptr::eq(of, operator));
        let foreign: Vec<&Registered> = kernels.filter(is_foreign).collect();
        (!foreign.is_empty()).then(|| {
            let (location, kernels) = (operator.location(), sites(&foreign));
            ErrorKind::ForeignKernel { operator: self.name, location, kernels }.into()
        })
    }

    /// Returns the removed definition with this signature and location, if there is one.
    pub(crate) fn former(&self, signature: &str, location: Location) -> Option<&'static Operator> {
        let mut former = self.former.iter().copied();
        former.find(|operator| operator.signature() == signature && operator.location() == location)
    }

    /// Returns the error of a call of an operator whose name has another definition now.
    pub(crate) fn redefined(&self, operator: &Operator) -> Option<Error> {
        let by = self.definition()?.location();
        Some(ErrorKind::Redefined { operator: self.name, location: operator.location(), by }.into())
    }

    pub(crate) fn not_defined(&self) -> Error {
        let mut kernels: Vec<_> =
            self.cells.iter().flat_map(|(_, cell)| &cell.kernels).map(|kernel| kernel.location).collect();
        kernels.sort();
        ErrorKind::NotDefined { operator: self.name, kernels }.into()
    }
}
