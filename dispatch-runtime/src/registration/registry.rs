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
use super::disabled_feature::DisabledFeatureRecord;
use super::listener::{self, OperatorEvent};
use super::record::Record;
use super::rust_operator_impl::{self, RustOperatorImpl};
use super::{collect, fuser, task_runner};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Provenance, SLOT_COUNT, Slot, SlotOrAlias, UserKey, assign_indices};
use crate::memory::backend;
use crate::name::Name;
use crate::operator::{BoxedClosure, BoxedKernel, FallbackRecord, KernelRecord, Operator, Retirable};
use crate::table::{
    ActiveKernels, Cell, KernelRegistration, OperatorRow, RegisteredKeys, RegistrationSource, TableLayout, resolve_slot,
};

/// Every operator, kernel, fallback and key of the program.
pub(crate) struct Registry {
    pub(crate) rows: Vec<OperatorRow>,
    by_name: FxHashMap<Name<'static>, usize>,
    by_operator: FxHashMap<usize, usize>,
    /// The fallbacks of each slot, for operators without a kernel for its key.
    pub(crate) fallbacks: Vec<Cell>,
    /// The layouts of tables, by the keys for which an operator has kernels and whether it is aliasing. They are cleared when a fallback
    /// changes.
    layouts: FxHashMap<(RegisteredKeys, bool), Arc<TableLayout>>,
    pub(crate) keys: Vec<&'static UserKey>,
    pub(crate) rust_operator_impls: Vec<&'static RustOperatorImpl>,
    pub(crate) annotations: Vec<&'static AnnotationRecord>,
    pub(super) disabled_features: Vec<&'static DisabledFeatureRecord>,
    /// The keys of records that were not registered because the key has no cell.
    pub(crate) unregistrable_keys: Vec<Key>,
    seen_records: FxHashSet<usize>,
    /// The allocations of all closures so far, including those of removed closures, which are reused.
    closures: FxHashMap<ClosureCellId, Vec<Arc<Retirable<BoxedClosure>>>>,
    next_source: u64,
}

/// The cell of a closure: the operator, or `None` for a fallback, and the key.
pub(crate) type ClosureCellId = (Option<Name<'static>>, SlotOrAlias);

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(|| Mutex::new(Registry::empty()));

/// The value of [`collect::collection_version`] when the collected records were last added. It is 1 before, which is no address.
static ADDED_COLLECTION_VERSION: AtomicUsize = AtomicUsize::new(1);

/// Locks the registry, after adding all collected records.
pub(crate) fn lock() -> MutexGuard<'static, Registry> {
    loop {
        let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        let version = collect::collection_version();
        if ADDED_COLLECTION_VERSION.load(Ordering::Relaxed) == version {
            return registry;
        }
        let defined = registry.add_records(collect::collect_records());
        ADDED_COLLECTION_VERSION.store(version, Ordering::Release);
        drop(registry);
        notify_operators_defined(defined);
    }
}

/// Adds the collected records, if some were not added yet.
pub(crate) fn load_records() {
    if ADDED_COLLECTION_VERSION.load(Ordering::Acquire) != collect::collection_version() {
        drop(lock());
    }
}

/// Adds records, and reports the new operators among them to listeners.
pub(crate) fn add_records(records: impl IntoIterator<Item = Record>) {
    let defined = lock().add_records(records);
    notify_operators_defined(defined);
}

fn notify_operators_defined(operators: Vec<&'static Operator>) {
    for operator in operators {
        listener::notify_listeners(OperatorEvent::Defined, operator);
    }
}

impl Registry {
    fn empty() -> Self {
        Self {
            rows: Vec::new(),
            by_name: FxHashMap::default(),
            by_operator: FxHashMap::default(),
            fallbacks: (0..SLOT_COUNT).map(|_| Cell::default()).collect(),
            layouts: FxHashMap::default(),
            keys: Vec::new(),
            rust_operator_impls: Vec::new(),
            annotations: Vec::new(),
            disabled_features: Vec::new(),
            unregistrable_keys: Vec::new(),
            seen_records: FxHashSet::default(),
            closures: FxHashMap::default(),
            next_source: 0,
        }
    }

    /// Adds records, and returns the new operators among them.
    fn add_records(&mut self, records: impl IntoIterator<Item = Record>) -> Vec<&'static Operator> {
        let new_records: Vec<Record> =
            records.into_iter().filter(|record| self.seen_records.insert(record.address())).collect();
        let keys =
            new_records.iter().filter_map(|record| if let Record::Key(key) = record { Some(*key) } else { None });
        let keys: Vec<&'static UserKey> = keys.collect();
        assign_indices(keys.clone());
        self.keys.extend(keys);
        let (mut rust_operator_impls, mut backends, mut defined) = (Vec::new(), Vec::new(), Vec::new());
        for record in new_records {
            match record {
                Record::RustOperator(implementation) => rust_operator_impls.push(implementation),
                Record::Backend(backend) => backends.push(backend),
                Record::Fuser(record) => fuser::register_fuser(record),
                Record::TaskRunner(record) => task_runner::register_task_runner(record),
                Record::Operator(operator) => {
                    self.add_definition(operator);
                    operator.kernels_of_definition().iter().for_each(|kernel| self.add_kernel_record(kernel));
                    defined.push(operator);
                }
                Record::Kernel(kernel) => self.add_kernel_record(kernel),
                Record::KernelAndForms(kernels) => kernels.iter().for_each(|kernel| self.add_kernel_record(kernel)),
                Record::Fallback(fallback) => self.add_fallback_record(fallback),
                Record::Rule(rule) => (rule.operator)().rules().add(rule),
                Record::Annotation(record) => self.annotations.push(record),
                Record::DisabledFeature(record) => self.disabled_features.push(record),
                Record::Key(_) => {}
            }
        }
        rust_operator_impl::select_rust_operator_impls(&mut rust_operator_impls);
        backend::register_backends(backends);
        self.rust_operator_impls.extend(rust_operator_impls);
        defined
    }

    /// Returns the row with this name.
    pub(crate) fn row(&self, name: Name<'_>) -> Option<&OperatorRow> {
        self.by_name.get(&name).map(|&at| &self.rows[at])
    }

    /// Returns the row of an operator, if the operator is its only definition.
    pub(crate) fn row_of_operator(&self, operator: &Operator) -> Result<&OperatorRow> {
        let at = self.by_operator.get(&operator_address(operator)).copied();
        let row = at.map(|at| &self.rows[at]).filter(|row| row.definitions.contains(&operator));
        match row {
            Some(row) if row.definitions.len() > 1 => Err(row.duplicate_definitions_error()),
            Some(row) => row.kernels_of_other_definition_error(operator).map_or(Ok(row), Err),
            None => Err(self.row(operator.name()).map_or_else(
                || missing_definition_error(operator.name()),
                |row| row.operator_redefined_error(operator).unwrap_or_else(|| row.missing_definition_error()),
            )),
        }
    }

    pub(super) fn table_layout_of(&mut self, operator: &Operator) -> Result<Arc<TableLayout>> {
        let row = self.row_of_operator(operator)?;
        let (registered_keys, is_aliasing) = (row.registered_keys(), row.is_aliasing());
        if let Some(layout) = self.layouts.get(&(registered_keys, is_aliasing)) {
            return Ok(layout.clone());
        }
        let layout = Arc::new(TableLayout::new(row, &registered_keys, &self.fallbacks));
        self.layouts.insert((registered_keys, is_aliasing), layout.clone());
        Ok(layout)
    }

    pub(super) fn row_or_insert(&mut self, name: Name<'static>) -> &mut OperatorRow {
        let at = if let Some(&at) = self.by_name.get(&name) {
            at
        } else {
            self.by_name.insert(name, self.rows.len());
            self.rows.push(OperatorRow::new(name));
            self.rows.len() - 1
        };
        &mut self.rows[at]
    }

    /// Adds a definition to a row. If the row has one already, calls of both return an error.
    pub(crate) fn add_definition(&mut self, operator: &'static Operator) {
        let row = self.row_or_insert(operator.name());
        row.definitions.push(operator);
        row.removed_definitions.retain(|&former| former != operator);
        row.unbind_definitions();
        let at = self.by_name[&operator.name()];
        self.by_operator.insert(operator_address(operator), at);
    }

    pub(crate) fn remove_definition(&mut self, operator: &'static Operator) {
        let row = self.row_or_insert(operator.name());
        row.unbind_definitions();
        row.definitions.retain(|&other| other != operator);
        row.removed_definitions.push(operator);
        self.by_operator.remove(&operator_address(operator));
    }

    fn add_kernel_record(&mut self, record: &'static KernelRecord) {
        for key in record.keys {
            match key.slot_or_alias() {
                Ok(target) if !target.lacks_backend() => {
                    self.row_or_insert((record.operator)().name())
                        .add_kernel(target, KernelRegistration::from_record(record));
                }
                _ => self.unregistrable_keys.push(**key),
            }
        }
    }

    fn add_fallback_record(&mut self, record: &'static FallbackRecord) {
        match record.key.slot() {
            Ok(slot) => self.push_fallback(slot, KernelRegistration::from_fallback(record)),
            Err(_) => self.unregistrable_keys.push(*record.key),
        }
    }

    /// Returns the name with a static lifetime. Each name is stored once.
    pub(crate) fn intern_name(&mut self, name: Name<'_>) -> Name<'static> {
        let known = self.row(name).map(|row| row.name);
        let name = known.unwrap_or_else(|| name.leak());
        self.row_or_insert(name).name
    }

    /// Adds a kernel at run time.
    pub(crate) fn push_kernel(&mut self, name: Name<'static>, target: SlotOrAlias, kernel: KernelRegistration) {
        self.row_or_insert(name).add_kernel(target, kernel);
    }

    /// Stores a closure, and returns the boxed kernel that calls it. It reuses the allocation of a removed closure for the same cell, if
    /// there is one.
    pub(crate) fn store_closure(&mut self, place: ClosureCellId, mut closure: BoxedClosure) -> BoxedKernel {
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

    pub(crate) fn push_fallback(&mut self, slot: Slot, kernel: KernelRegistration) {
        self.fallbacks[slot.index()].kernels.push(kernel);
        self.unbind_all();
    }

    /// Removes the kernel of one registration from a row, and returns it, to be dropped outside the lock.
    pub(crate) fn remove_kernel(
        &mut self,
        name: Name<'static>,
        target: SlotOrAlias,
        source: RegistrationSource,
    ) -> Option<BoxedKernel> {
        self.row_or_insert(name).remove_kernel(target, source)
    }

    pub(crate) fn remove_fallback(&mut self, slot: Slot, source: RegistrationSource) -> Option<BoxedKernel> {
        let removed = self.fallbacks[slot.index()].remove_by_source(source);
        self.unbind_all();
        removed
    }

    pub(crate) fn next_registrar_source(&mut self) -> RegistrationSource {
        self.next_source += 1;
        RegistrationSource::Registrar(self.next_source)
    }

    fn unbind_all(&mut self) {
        self.layouts.clear();
        self.rows.iter().for_each(OperatorRow::unbind_definitions);
    }
}

fn operator_address(operator: &Operator) -> usize {
    std::ptr::from_ref(operator).addr()
}

fn missing_definition_error(operator: Name<'static>) -> Error {
    ErrorKind::MissingDefinition { operator, kernels: Vec::new() }.into()
}

/// Returns the kernel of a cell, the reason why it fills the cell, and the key for which it was registered (`None` for the fallback).
pub(crate) fn kernels_with_provenance<'a>(
    registry: &'a Registry,
    row: &'a OperatorRow,
    slot: Slot,
) -> (Provenance, ActiveKernels<'a>, Option<SlotOrAlias>) {
    let fallback = &registry.fallbacks[slot.index()];
    let (provenance, target) = resolve_slot(&row.registered_keys(), fallback.has_fallback_for(row.is_aliasing()), slot);
    let active = match (provenance, target) {
        (Provenance::AmbiguousAutogradOther | Provenance::Missing, _) => ActiveKernels::None,
        (Provenance::BackendFallback, _) => fallback.active_kernels(),
        (_, Some(target)) => row.active_kernels(target),
        (_, None) => ActiveKernels::None,
    };
    (provenance, active, target)
}

impl Registry {
    /// Whether any operator or fallback of the program has a kernel for exactly this key.
    pub(crate) fn has_any_kernel_for(&self, slot: Slot) -> bool {
        let registered_keys = self.rows.iter().any(|row| row.cell(SlotOrAlias::Slot(slot)).is_some());
        registered_keys || !self.fallbacks[slot.index()].kernels.is_empty()
    }
}
