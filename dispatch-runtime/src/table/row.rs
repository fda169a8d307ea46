//! One operator's registrations: a row of cells, each with the kernels that were registered for it.

use super::resolve::Direct;
use crate::call::BoxedKernel;
use crate::error::{Error, ErrorKind};
use crate::key::{Alias, Key, Target};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{Code, Condition, FallbackRecord, KernelRecord, Operator, Table};
use crate::tensor::Marks;

/// An operator's definition and kernels. A row without definition has kernels that nobody can call.
pub(crate) struct Row {
    pub(crate) name: Name<'static>,
    pub(crate) definitions: Vec<&'static Operator>,
    /// Definitions that were removed. A program may still have them, so they are kept.
    pub(crate) former: Vec<&'static Operator>,
    /// Sorted by target.
    pub(crate) cells: Vec<(Target, Cell)>,
    /// Every table that its definitions had. A call may still use one, so they are kept.
    tables: Vec<&'static Table>,
}

/// The kernels that were registered for one key.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    pub(crate) kernels: Vec<Registered>,
}

/// One kernel that was registered.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) kernel: Kernel,
    /// The operator for whose types the kernel was compiled.
    pub(crate) compiled_for: Option<&'static Operator>,
    pub(crate) name: &'static str,
    pub(crate) location: Location,
    pub(crate) source: Source,
    pub(crate) overrides: bool,
    derived: bool,
    pub(crate) condition: Option<Condition>,
    priority: i32,
    /// Of a fallback: whether it serves only operators whose schema has alias annotations.
    pub(crate) aliasing: bool,
    /// Of a fallback: a typed call in which no tensor carries one of these passes over it.
    pub(crate) marks: Option<Marks>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    Typed(Code),
    Boxed(BoxedKernel),
    Fallthrough,
}

/// Who registered something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The program, by an attribute.
    Program,
    /// A registrar, while the program runs.
    Running(u64),
}

/// Which of a cell's kernels runs.
pub(crate) enum Active<'a> {
    None,
    One(&'a Registered),
    /// The first that is fit.
    Choice(Vec<&'a Registered>),
    Conflict(Vec<&'a Registered>),
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

    /// The place of a target's cell.
    pub(crate) fn position(&self, target: Target) -> Option<usize> {
        self.cells.binary_search_by_key(&target, |(target, _)| *target).ok()
    }

    /// The kernels that run for a target. If all have conditions, the operator's composite kernel is the default.
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

    /// The key for which a kernel is registered.
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

    /// The keys that have kernels.
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

    /// The row as it would be without any kernel for some keys, and then with this one for others. It displaces what is there.
    pub(crate) fn changed(&self, added: &[Target], removed: &[Target], kernel: &Registered) -> Self {
        let kept = self.cells.iter().filter(|(target, _)| !removed.contains(target) && !added.contains(target));
        let mut cells: Vec<(Target, Cell)> = kept.cloned().collect();
        cells.extend(added.iter().map(|&target| (target, Cell { kernels: vec![kernel.clone()] })));
        cells.sort_by_key(|(target, _)| *target);
        cells.dedup_by_key(|(target, _)| *target);
        Self { definitions: self.definitions.clone(), cells, ..Self::new(self.name) }
    }

    /// The table, for as long as the program lives; it is stored once.
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

    /// The error of a row with kernels that were compiled for another operator of this name, perhaps of other types.
    pub(crate) fn foreign_kernels(&self, operator: &Operator) -> Option<Error> {
        let kernels = self.cells.iter().flat_map(|(_, cell)| &cell.kernels);
        let is_foreign = |kernel: &&Registered| kernel.compiled_for.is_some_and(|of| !std::ptr::eq(of, operator));
        let foreign: Vec<&Registered> = kernels.filter(is_foreign).collect();
        (!foreign.is_empty()).then(|| {
            let (location, kernels) = (operator.location(), sites(&foreign));
            ErrorKind::ForeignKernel { operator: self.name, location, kernels }.into()
        })
    }

    /// The definition that was removed and is like this one, if there is one.
    pub(crate) fn former(&self, signature: &str, location: Location) -> Option<&'static Operator> {
        let mut former = self.former.iter().copied();
        former.find(|operator| operator.signature() == signature && operator.location() == location)
    }

    /// The error of a call of an operator whose name has another definition.
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

impl Cell {
    /// Whether these fallbacks have something to do for an operator.
    pub(crate) fn serves(&self, is_aliasing: bool) -> bool {
        self.kernels.iter().any(|fallback| is_aliasing || !fallback.aliasing)
    }

    /// The newest kernel that was put on top while the program runs; or else the only one; or else, if all are the program's own, the
    /// one that overrides the others, or one of several with conditions. Whatever came first, anything else is a conflict.
    pub(crate) fn active(&self) -> Active<'_> {
        let own = self.own();
        if let [one] = own[..]
            && one.condition.is_none()
        {
            return Active::One(one);
        }
        let (program, running): (Vec<&Registered>, Vec<&Registered>) =
            own.iter().partition(|kernel| kernel.source == Source::Program);
        if let Some(newest) = running.iter().rev().find(|kernel| kernel.overrides) {
            return Active::One(newest);
        }
        if !running.is_empty() {
            return Active::Conflict(own);
        }
        let overriding: Vec<&Registered> = program.iter().copied().filter(|kernel| kernel.overrides).collect();
        let mut candidates = if overriding.is_empty() { program } else { overriding };
        match candidates[..] {
            [] => Active::None,
            [one] if one.condition.is_none() => Active::One(one),
            _ => {
                candidates.sort_by_key(|kernel| (std::cmp::Reverse(kernel.priority), kernel.location));
                let tie = candidates.windows(2).any(|pair| pair[0].priority == pair[1].priority);
                let unreachable = candidates.iter().rev().skip(1).any(|kernel| kernel.condition.is_none());
                if tie || unreachable { Active::Conflict(candidates) } else { Active::Choice(candidates) }
            }
        }
    }

    /// The kernels without those that follow from a kernel of the functional operator, if there are others.
    fn own(&self) -> Vec<&Registered> {
        let has_own = self.has_own();
        self.kernels.iter().filter(|kernel| !(has_own && kernel.derived)).collect()
    }

    /// Whether there are kernels that do not follow from a kernel of the functional operator.
    pub(crate) fn has_own(&self) -> bool {
        self.kernels.iter().any(|kernel| !kernel.derived)
    }

    /// Everything in the order in which one displaces the next.
    pub(crate) fn newest_first(&self) -> Vec<&Registered> {
        let rank = |kernel: &Registered| match kernel.source {
            Source::Running(order) if kernel.overrides => (0, u64::MAX - order),
            Source::Running(_) => (1, 0),
            Source::Program => (if kernel.overrides { 2 } else { 3 }, 0),
        };
        let mut kernels: Vec<&Registered> = self.kernels.iter().collect();
        kernels.sort_by_key(|kernel| (rank(kernel), std::cmp::Reverse(kernel.priority), kernel.location));
        kernels
    }

    pub(crate) fn remove(&mut self, source: Source) -> Option<BoxedKernel> {
        let at = self.kernels.iter().position(|kernel| kernel.source == source)?;
        match self.kernels.remove(at).kernel {
            Kernel::Boxed(kernel) => Some(kernel),
            Kernel::Typed(_) | Kernel::Fallthrough => None,
        }
    }
}

impl Registered {
    pub(crate) fn from_record(record: &'static KernelRecord) -> Self {
        Self {
            kernel: record.kernel.into(),
            compiled_for: Some((record.operator)()),
            name: record.name,
            location: record.location,
            source: Source::Program,
            overrides: record.overrides,
            derived: record.derived,
            condition: record.condition,
            priority: record.priority,
            aliasing: false,
            marks: None,
        }
    }

    pub(crate) fn from_fallback(record: &'static FallbackRecord) -> Self {
        let FallbackRecord { kernel, name, location, aliasing, marks, .. } = *record;
        let fallback = Self::running(kernel.into(), name, location, Source::Program);
        Self { aliasing, marks: marks.iter().copied().reduce(|all, mark| all | mark), ..fallback }
    }

    /// A kernel that was made while the program runs, or is like one.
    pub(crate) const fn running(kernel: Kernel, name: &'static str, location: Location, source: Source) -> Self {
        Self {
            kernel,
            compiled_for: None,
            name,
            location,
            source,
            overrides: false,
            derived: false,
            condition: None,
            priority: 0,
            aliasing: false,
            marks: None,
        }
    }
}

/// The sites of kernels, for errors.
pub(crate) fn sites(kernels: &[&Registered]) -> Vec<(&'static str, Location)> {
    let mut sites: Vec<_> = kernels.iter().map(|kernel| (kernel.name, kernel.location)).collect();
    sites.sort_by_key(|&(name, location)| (location, name));
    sites
}

/// The error for a cell with several kernels and nothing to choose by.
pub(crate) fn duplicate_kernels(operator: Name<'static>, target: Target, kernels: &[&Registered]) -> Error {
    ErrorKind::DuplicateKernel { operator, key: Key::of_target(target), kernels: sites(kernels) }.into()
}
