//! Tests against recordings of PyTorch: the tables of recorded registrations are the same, and calls reach the kernels in the tables.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use dispatch_runtime::{
    Error, ErrorKind, Key, KeySet, Operator, Provenance, Registrar, Registration, Stack, TableCell, Value, fallback,
    fallback_fallthrough, guard,
};
use random::Random;
use serde_json::Value as Json;

mod random;

/// The number of orders of registration that are tried for each recording.
const ORDERS_PER_RECORDING: usize = 4;

/// The recordings: sets of registrations with their tables, made with certain fallbacks present.
struct Recordings {
    columns: Vec<Key>,
    /// The table of an operator without kernels.
    without_kernels: BTreeMap<String, String>,
    sets: Vec<RegistrationSet>,
}

/// One set of registrations, and the cells in which its table differs from that of an operator without kernels.
struct RegistrationSet {
    keys: Vec<Key>,
    table: BTreeMap<String, String>,
}

/// The recordings, read once. All tests of this file share the process, and so the fallbacks.
static RECORDINGS: LazyLock<Option<Recordings>> = LazyLock::new(|| {
    let recordings = load_recordings()?;
    recordings.register_fallbacks();
    Some(recordings)
});

#[test]
fn tables_match_the_golden_ones_in_every_order_of_registration() {
    let Some(recordings) = &*RECORDINGS else { return };
    let mut random = Random(1);
    let mut cells = 0;
    for (number, set) in recordings.sets.iter().enumerate() {
        for order in 0..ORDERS_PER_RECORDING {
            let mut test = TestOperator::new(&format!("set{number}.order{order}"));
            let mut steps: Vec<Option<Key>> = set.keys.iter().copied().map(Some).chain([None]).collect();
            random.shuffle(&mut steps);
            for &step in &steps {
                test.register(step);
            }
            cells += recordings.compare_table(set, &test, &steps);

            let again = steps[random.below(steps.len())];
            test.remove(again);
            test.register(again);
            cells += recordings.compare_table(set, &test, &steps);

            random.shuffle(&mut steps);
            for &step in &steps {
                test.remove(step);
            }
        }
    }
    println!("{} recorded sets, {cells} cells compared", recordings.sets.len());
}

#[test]
fn calls_reach_the_kernels_of_the_golden_tables() {
    let Some(recordings) = &*RECORDINGS else { return };
    let mut random = Random(2);
    let mut calls = 0;
    for (number, set) in recordings.sets.iter().enumerate() {
        let mut test = TestOperator::new(&format!("called{number}"));
        test.register(None);
        set.keys.iter().for_each(|&key| test.register(Some(key)));
        let operator = test.operator();
        let table = operator.table();
        for &column in &recordings.columns {
            let keys = KeySet::from(column);
            check_call(operator, &table, keys, |stack| operator.redispatch_boxed(keys, stack));
            // This call also has the thread's included layers below the column.
            let keys = if column == Key::UNDEFINED { KeySet::EMPTY } else { guard::included().below(column) | keys };
            check_call(operator, &table, keys, |stack| operator.call_boxed_for_key(column, stack));
        }
        for _ in 0..20 {
            // The set has few layers, so that low ones are often the highest.
            let layers = random.next_u64() & random.next_u64() & random.next_u64();
            let keys = KeySet::from_bits(layers & !0xffff | 1 << random.below(16) | 1 << random.below(16));
            check_call(operator, &table, keys, |stack| operator.redispatch_boxed(keys, stack));
        }
        calls += recordings.columns.len() * 2 + 20;
        // The operator was called already when the next registration changes.
        let last = set.keys.last().copied();
        test.remove(last);
        let table = operator.table();
        for &column in &recordings.columns {
            let keys = KeySet::from(column);
            check_call(operator, &table, keys, |stack| operator.redispatch_boxed(keys, stack));
        }
        calls += recordings.columns.len();
    }
    println!("{} recorded sets, {calls} calls", recordings.sets.len());
}

/// Makes a call, and compares the kernel that it reached with the table's cells for its keys.
fn check_call(
    operator: &Operator,
    table: &[TableCell],
    keys: KeySet,
    call: impl FnOnce(&mut Stack) -> Result<(), Error>,
) {
    let mut stack = Stack::new();
    let outcome = match call(&mut stack) {
        Ok(()) => stack.values().iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" "),
        Err(error) => match error.kind() {
            ErrorKind::NoKernel(explanation) => format!("missing for {:?}", explanation.key),
            ErrorKind::AmbiguousAutogradOther(explanation) => format!("ambiguous for {:?}", explanation.key),
            _ => panic!("{operator} with {keys}: {error}"),
        },
    };
    assert_eq!(outcome, expected_outcome(table, keys), "{operator} with {keys}\n{}", operator.dump_table());
}

/// Returns the outcome of a call: the highest key that does not fall through decides.
fn expected_outcome(table: &[TableCell], mut keys: KeySet) -> String {
    loop {
        let top = keys.highest();
        let cell = table.iter().find(|cell| cell.key == top.unwrap_or(Key::UNDEFINED)).expect("a cell for every key");
        let named = |key: Key| format!("{:?}", Value::from(key.to_string().as_str()));
        return match (cell.provenance, cell.registered_for, top) {
            (Provenance::AmbiguousAutogradOther, ..) => format!("ambiguous for {top:?}"),
            (Provenance::Missing, _, Some(key)) if !is_last_key_of_calls(key) => {
                keys = keys.below(key);
                continue;
            }
            (Provenance::Missing, ..) => format!("missing for {top:?}"),
            _ if cell.falls_through => {
                keys = top.map_or(KeySet::EMPTY, |key| keys.below(key));
                continue;
            }
            (_, Some(key), _) => named(key),
            (_, None, key) => named(key.expect("calls without tensors have no fallback")),
        };
    }
}

/// Returns whether calls end at this key.
fn is_last_key_of_calls(key: Key) -> bool {
    use dispatch_runtime::keys::BackendSelect;
    KeySet::from(key).bits() >> 16 < KeySet::from(BackendSelect).bits() >> 16 && !key.to_string().starts_with("Above")
}

impl RegistrationSet {
    /// Returns whether the column differs from PyTorch on purpose. PyTorch does not connect these autograd keys with their backends, so a
    /// composite fills their cells although the backend has its own kernel. Here, every backend has an autograd key.
    fn is_intended_difference(&self, column: Key) -> bool {
        use dispatch_runtime::keys::{AutogradHIP, AutogradMTIA, AutogradVE, CompositeImplicitAutograd, HIP, MTIA, VE};
        let forgotten = [(AutogradHIP, HIP), (AutogradVE, VE), (AutogradMTIA, MTIA)];
        forgotten.iter().any(|&(autograd, backend)| {
            column == autograd && self.keys.contains(&backend) && self.keys.contains(&CompositeImplicitAutograd)
        })
    }
}

impl Recordings {
    fn expected_cell<'a>(&'a self, set: &'a RegistrationSet, column: Key) -> &'a str {
        let name = column.to_string();
        set.table.get(&name).or_else(|| self.without_kernels.get(&name)).map_or("missing", String::as_str)
    }

    /// Compares every column of the operator's table with the recording, and returns the number of columns.
    fn compare_table(&self, set: &RegistrationSet, test: &TestOperator, steps: &[Option<Key>]) -> usize {
        let operator = test.operator();
        let table = operator.table();
        for &column in self.columns.iter().filter(|&&column| !set.is_intended_difference(column)) {
            let cell = table.iter().find(|cell| cell.key == column).expect("a cell for every key");
            let found = match cell.registered_for {
                Some(key) if cell.provenance != Provenance::AmbiguousAutogradOther => {
                    format!("{}: {key}", cell.provenance.name())
                }
                _ => cell.provenance.name().to_owned(),
            };
            assert_eq!(
                found,
                self.expected_cell(set, column),
                "{column} of {operator}, registered {steps:?}\n{}",
                operator.dump_table()
            );
        }
        self.columns.len()
    }

    /// Registers the recorded fallbacks, some of them as fallthroughs. The table is the same for both, but calls are not.
    fn register_fallbacks(&self) {
        for (name, _) in self.without_kernels.iter().filter(|(_, cell)| cell.as_str() == "backend fallback") {
            let key = parse_key(name);
            let registered = match name.as_str() {
                "BackendSelect" | "ADInplaceOrView" => fallback_fallthrough(key),
                name if name.starts_with("Autocast") => fallback_fallthrough(key),
                _ => fallback(key, move |_, _, stack| {
                    stack.push(key.to_string().as_str());
                    Ok(())
                }),
            };
            drop(registered.expect("no fallback is recorded twice"));
        }
    }
}

/// An operator and its registrations by key. `None` stands for the definition.
struct TestOperator {
    registrar: Registrar,
    name: String,
    registered: Vec<(Option<Key>, Registration)>,
}

impl TestOperator {
    fn new(name: &str) -> Self {
        Self { registrar: Registrar::new("golden"), name: name.to_owned(), registered: Vec::new() }
    }

    fn operator(&self) -> &'static Operator {
        Operator::find(&format!("golden::{}", self.name)).expect("it is defined")
    }

    fn register(&mut self, key: Option<Key>) {
        let registration = match key {
            None => self.registrar.define(&format!("{}() -> str", self.name)),
            Some(key) => self.registrar.kernel(&self.name, key, move |_, _, stack| {
                stack.push(key.to_string().as_str());
                Ok(())
            }),
        };
        self.registered.push((key, registration.expect("it is registered once")));
    }

    fn remove(&mut self, key: Option<Key>) {
        let at = self.registered.iter().position(|(registered, _)| *registered == key).expect("it is registered");
        self.registered.swap_remove(at).1.remove();
    }
}

/// Returns the recordings in the folder that `DISPATCH_GOLDEN` names, or else the copy in this repository. Returns `None` if that folder
/// has no recordings.
fn load_recordings() -> Option<Recordings> {
    let text = match env::var_os("DISPATCH_GOLDEN") {
        Some(folder) => {
            let path = Path::new(&folder).join("tables.jsonl");
            if !path.exists() {
                println!("skipped: there is no {}", path.display());
                return None;
            }
            fs::read_to_string(path).expect("the recording can be read")
        }
        None => read_bundled_recordings(),
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let head = lines.next().expect("the first line lists the columns");
    Some(Recordings {
        columns: parse_keys(&head["columns"]),
        without_kernels: parse_cells(&head["unregistered"]),
        sets: lines
            .map(|line| RegistrationSet { keys: parse_keys(&line["register"]), table: parse_cells(&line["table"]) })
            .collect(),
    })
}

fn read_bundled_recordings() -> String {
    let packed = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tables.jsonl.gz"))
        .expect("the copy is in the repository");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).expect("the copy can be unpacked");
    text
}

/// Returns the keys of a list, each once.
fn parse_keys(list: &Json) -> Vec<Key> {
    let mut keys = Vec::new();
    for name in list.as_array().expect("a list of keys") {
        let key = parse_key(name.as_str().expect("the name of a key"));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn parse_key(name: &str) -> Key {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the cells by the canonical name of the column, because PyTorch has several names for some keys.
fn parse_cells(table: &Json) -> BTreeMap<String, String> {
    let cells = table.as_object().expect("a table").iter();
    cells.map(|(column, cell)| (parse_key(column).to_string(), cell.as_str().expect("a cell").to_owned())).collect()
}
