//! The registry: all operators, kernels, fallbacks and keys that were registered.
//!
//! Tables are made from the registry. It is filled with the collected records when it is first needed. Later it changes through
//! [`register`](crate::register) and [`Registrar`](crate::Registrar), and when it is first used after a library with records was loaded. A
//! repeated call of an operator does not use the registry: every change unbinds the operators that it concerns, and their next call binds
//! them again.
//!
//! No user code runs while the registry is locked: closures are dropped, and listeners run, afterwards.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::annotation::AnnotationRecord;
use super::claim::{self, Claim};
use super::disabled_feature::DisabledFeatureRecord;
use super::listener::{self, Change};
use super::record::Record;
use super::{collect, fuser};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Provenance, SLOTS, Slot, Target, UserKey, assign_places};
use crate::memory::backend;
use crate::name::Name;
use crate::operator::{BoxedClosure, BoxedKernel, FallbackRecord, KernelRecord, Operator, Retirable};
use crate::table::{Active, Cell, Direct, Registered, Row, Source, TableLayout, resolve};

/// Every operator, kernel, fallback and key of the program.
pub(crate) struct Registry {
    pub(crate) rows: Vec<Row>,
    by_name: FxHashMap<Name<'static>, usize>,
    by_operator: FxHashMap<usize, usize>,
    /// The fallbacks of each slot, for operators without a kernel for its key.
    pub(crate) fallbacks: Vec<Cell>,
    /// The layouts of tables, by the keys for which an operator has kernels and whether it is aliasing. They are cleared when a fallback
    /// changes.
    layouts: FxHashMap<(Direct, bool), Arc<TableLayout>>,
    pub(crate) keys: Vec<&'static UserKey>,
    pub(crate) claims: Vec<&'static Claim>,
    pub(crate) annotations: Vec<&'static AnnotationRecord>,
    pub(super) disabled_features: Vec<&'static DisabledFeatureRecord>,
    /// The keys of records that were not registered because the key has no cell.
    pub(crate) misplaced: Vec<Key>,
    seen: FxHashSet<usize>,
    /// Every allocation of a closure so far.
    closures: FxHashMap<Place, Vec<Arc<Retirable<BoxedClosure>>>>,
    next_source: u64,
}

/// The cell of a closure: the operator, or `None` for a fallback, and the key.
pub(crate) type Place = (Option<Name<'static>>, Target);

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(|| Mutex::new(Registry::empty()));

/// The value of [`collect::newest`] when the collected records were last added. It is 1 before, which is no address.
static ADDED: AtomicUsize = AtomicUsize::new(1);

/// Locks the registry, after adding all collected records.
pub(crate) fn lock() -> MutexGuard<'static, Registry> {
    loop {
        let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = collect::newest();
        if ADDED.load(Ordering::Relaxed) == newest {
            return registry;
        }
        let defined = registry.add(collect::records());
        ADDED.store(newest, Ordering::Release);
        drop(registry);
        tell_defined(defined);
    }
}

/// Adds the collected records, if some were not added yet.
pub(crate) fn load() {
    if ADDED.load(Ordering::Acquire) != collect::newest() {
        drop(lock());
    }
}

/// Adds records, and reports the new operators among them to listeners.
pub(crate) fn add(records: impl IntoIterator<Item = Record>) {
    let defined = lock().add(records);
    tell_defined(defined);
}

fn tell_defined(operators: Vec<&'static Operator>) {
    for operator in operators {
        listener::tell(Change::Defined, operator);
    }
}

impl Registry {
    fn empty() -> Self {
        Self {
            rows: Vec::new(),
            by_name: FxHashMap::default(),
            by_operator: FxHashMap::default(),
            fallbacks: (0..SLOTS).map(|_| Cell::default()).collect(),
            layouts: FxHashMap::default(),
            keys: Vec::new(),
            claims: Vec::new(),
            annotations: Vec::new(),
            disabled_features: Vec::new(),
            misplaced: Vec::new(),
            seen: FxHashSet::default(),
            closures: FxHashMap::default(),
            next_source: 0,
        }
    }

    /// Adds records, and returns the new operators among them.
    fn add(&mut self, records: impl IntoIterator<Item = Record>) -> Vec<&'static Operator> {
        let fresh: Vec<Record> = records.into_iter().filter(|record| self.seen.insert(record.address())).collect();
        let keys = fresh.iter().filter_map(|record| if let Record::Key(key) = record { Some(*key) } else { None });
        let keys: Vec<&'static UserKey> = keys.collect();
        assign_places(keys.clone());
        self.keys.extend(keys);
        let (mut claims, mut backends, mut defined) = (Vec::new(), Vec::new(), Vec::new());
        for record in fresh {
            match record {
                Record::Claim(claim) => claims.push(claim),
                Record::Backend(backend) => backends.push(backend),
                Record::Fuser(record) => fuser::found(record),
                Record::Operator(operator) => {
                    self.define(operator);
                    operator.kernels_of_definition().iter().for_each(|kernel| self.add_kernel(kernel));
                    defined.push(operator);
                }
                Record::Kernel(kernel) => self.add_kernel(kernel),
                Record::Kernels(kernels) => kernels.iter().for_each(|kernel| self.add_kernel(kernel)),
                Record::Fallback(fallback) => self.add_fallback(fallback),
                Record::Rule(rule) => (rule.operator)().rules().add(rule),
                Record::Annotation(record) => self.annotations.push(record),
                Record::DisabledFeature(record) => self.disabled_features.push(record),
                Record::Key(_) => {}
            }
        }
        claim::grant(&mut claims);
        backend::register_backends(backends);
        self.claims.extend(claims);
        defined
    }

    /// Returns the row with this name.
    pub(crate) fn row(&self, name: Name<'_>) -> Option<&Row> {
        self.by_name.get(&name).map(|&at| &self.rows[at])
    }

    /// Returns the row of an operator, if the operator is its only definition.
    pub(crate) fn row_of(&self, operator: &Operator) -> Result<&Row> {
        let at = self.by_operator.get(&address(operator)).copied();
        let row = at.map(|at| &self.rows[at]).filter(|row| row.definitions.contains(&operator));
        match row {
            Some(row) if row.definitions.len() > 1 => Err(row.duplicate_definitions()),
            Some(row) => row.foreign_kernels(operator).map_or(Ok(row), Err),
            None => Err(self.row(operator.name()).map_or_else(
                || not_defined(operator.name()),
                |row| row.redefined(operator).unwrap_or_else(|| row.not_defined()),
            )),
        }
    }

    pub(super) fn layout_of(&mut self, operator: &Operator) -> Result<Arc<TableLayout>> {
        let row = self.row_of(operator)?;
        let (direct, is_aliasing) = (row.direct(), row.is_aliasing());
        if let Some(layout) = self.layouts.get(&(direct, is_aliasing)) {
            return Ok(layout.clone());
        }
        let layout = Arc::new(TableLayout::new(row, &direct, &self.fallbacks));
        self.layouts.insert((direct, is_aliasing), layout.clone());
        Ok(layout)
    }

    pub(super) fn row_mut(&mut self, name: Name<'static>) -> &mut Row {
        let at = if let Some(&at) = self.by_name.get(&name) {
            at
        } else {
            self.by_name.insert(name, self.rows.len());
            self.rows.push(Row::new(name));
            self.rows.len() - 1
        };
        &mut self.rows[at]
    }

    /// Adds a definition to a row. If the row has one already, calls of both return an error.
    pub(crate) fn define(&mut self, operator: &'static Operator) {
        let row = self.row_mut(operator.name());
        row.definitions.push(operator);
        row.former.retain(|&former| former != operator);
        row.unbind();
        let at = self.by_name[&operator.name()];
        self.by_operator.insert(address(operator), at);
    }

    pub(crate) fn undefine(&mut self, operator: &'static Operator) {
        let row = self.row_mut(operator.name());
        row.unbind();
        row.definitions.retain(|&other| other != operator);
        row.former.push(operator);
        self.by_operator.remove(&address(operator));
    }

    fn add_kernel(&mut self, record: &'static KernelRecord) {
        for key in record.keys {
            match key.target() {
                Ok(target) if !target.is_on_no_backend() => {
                    self.row_mut((record.operator)().name()).add(target, Registered::from_record(record));
                }
                _ => self.misplaced.push(**key),
            }
        }
    }

    fn add_fallback(&mut self, record: &'static FallbackRecord) {
        match record.key.slot() {
            Ok(slot) => self.set_fallback(slot, Registered::from_fallback(record)),
            Err(_) => self.misplaced.push(*record.key),
        }
    }

    /// Returns the name with a static lifetime. Each name is stored once.
    pub(crate) fn intern(&mut self, name: Name<'_>) -> Name<'static> {
        let known = self.row(name).map(|row| row.name);
        let name = known.unwrap_or_else(|| name.leak());
        self.row_mut(name).name
    }

    /// Adds a kernel while the program runs.
    pub(crate) fn push_kernel(&mut self, name: Name<'static>, target: Target, kernel: Registered) {
        self.row_mut(name).add(target, kernel);
    }

    /// Makes a kernel from a closure. It reuses the allocation of a removed closure for the same cell, if there is one.
    pub(crate) fn keep_closure(&mut self, place: Place, mut closure: BoxedClosure) -> BoxedKernel {
        let places = self.closures.entry(place).or_default();
        for place in &*places {
            match place.refill(closure) {
                Ok(()) => return BoxedKernel::Closure(place.clone()),
                Err(back) => closure = back,
            }
        }
        let place = Arc::new(Retirable::new(closure));
        places.push(place.clone());
        BoxedKernel::Closure(place)
    }

    pub(crate) fn set_fallback(&mut self, slot: Slot, kernel: Registered) {
        self.fallbacks[slot.position()].kernels.push(kernel);
        self.unbind_all();
    }

    /// Removes the kernel of one registration from a row, and returns it, to be dropped outside the lock.
    pub(crate) fn remove_kernel(&mut self, name: Name<'static>, target: Target, source: Source) -> Option<BoxedKernel> {
        self.row_mut(name).remove(target, source)
    }

    pub(crate) fn remove_fallback(&mut self, slot: Slot, source: Source) -> Option<BoxedKernel> {
        let removed = self.fallbacks[slot.position()].remove(source);
        self.unbind_all();
        removed
    }

    pub(crate) fn next_source(&mut self) -> Source {
        self.next_source += 1;
        Source::Running(self.next_source)
    }

    fn unbind_all(&mut self) {
        self.layouts.clear();
        self.rows.iter().for_each(Row::unbind);
    }
}

fn address(operator: &Operator) -> usize {
    std::ptr::from_ref(operator).addr()
}

fn not_defined(operator: Name<'static>) -> Error {
    ErrorKind::NotDefined { operator, kernels: Vec::new() }.into()
}

/// Returns the kernel of a cell, the reason why it fills the cell, and the key for which it was registered (`None` for the fallback).
pub(crate) fn active<'a>(registry: &'a Registry, row: &'a Row, slot: Slot) -> (Provenance, Active<'a>, Option<Target>) {
    let fallback = &registry.fallbacks[slot.position()];
    let (provenance, target) = resolve(&row.direct(), fallback.serves(row.is_aliasing()), slot);
    let active = match (provenance, target) {
        (Provenance::AmbiguousAutogradOther | Provenance::Missing, _) => Active::None,
        (Provenance::BackendFallback, _) => fallback.active(),
        (_, Some(target)) => row.active(target),
        (_, None) => Active::None,
    };
    (provenance, active, target)
}

impl Registry {
    /// Whether any operator or fallback of the program has a kernel for exactly this key.
    pub(crate) fn serves(&self, slot: Slot) -> bool {
        let direct = self.rows.iter().any(|row| row.cell(Target::Slot(slot)).is_some());
        direct || !self.fallbacks[slot.position()].kernels.is_empty()
    }
}
