//! Tests that registrations form a set: the tables depend on the present registrations, not on their order.
//!
//! Every test adds and removes registrations in many orders. After each step, the dumps are compared with those of the first history that
//! led to the same set.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::keys::*;
use dispatch_runtime::{
    ErrorKind, Key, Operator, Registrar, Registration, Stack, dump_by_name, fallback, fallback_fallthrough,
};
use random::Random;

mod random;

/// A registration that a history adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RegistrationStep {
    Define,
    Kernel(Key),
    Fallthrough(Key),
    /// A fallback kernel for all operators.
    Fallback(Key),
    FallbackFallthrough(Key),
}

use RegistrationStep::{Define, Fallback, FallbackFallthrough, Fallthrough, Kernel};

/// A lock for tests that register fallbacks, which affect all operators, so that they run one at a time.
static FALLBACK_LOCK: Mutex<()> = Mutex::new(());

/// The visible state of a set of registrations: both dumps, and the results of calls.
type VisibleState = (String, String, Vec<String>);

/// An operator name, and the states of its histories so far. All histories use the same name.
struct HistoryChecker {
    name: String,
    steps: Vec<RegistrationStep>,
    /// For each set of present registrations: its state, and the first history that led to it.
    states: HashMap<BTreeSet<usize>, (VisibleState, String)>,
}

/// A history of registrations of one operator, with those that are present now.
struct History {
    registrar: Registrar,
    full_name: String,
    name: String,
    registered: Vec<(usize, Registration)>,
    log: String,
}

#[test]
fn every_order_of_a_few_registrations_gives_the_same_dumps() {
    let _lock = lock_fallbacks();
    let mut random = Random(10);
    for round in 0..30 {
        let mut harness = HistoryChecker::new(&format!("few{round}"), random_steps(&mut random, 1 + round % 4));
        for order in permutations(harness.steps.len()) {
            for removal in permutations(order.len()) {
                harness.register_and_remove(&order, &removal);
            }
        }
    }
}

/// Combines every order of registration with the reverse order of removal, and with one other order. Every order of removal occurs.
#[test]
fn every_order_of_many_registrations_gives_the_same_dumps() {
    let _lock = lock_fallbacks();
    let mut random = Random(11);
    for round in 0..4 {
        let mut harness = HistoryChecker::new(&format!("many{round}"), random_steps(&mut random, 5 + round % 2));
        let orders = permutations(harness.steps.len());
        let shift = random.below(orders.len());
        for (at, order) in orders.iter().enumerate() {
            let reverse: Vec<usize> = order.iter().copied().rev().collect();
            harness.register_and_remove(order, &reverse);
            harness.register_and_remove(order, &orders[(at + shift) % orders.len()]);
        }
    }
}

#[test]
fn adding_and_removing_in_random_order_gives_the_same_dumps() {
    let _lock = lock_fallbacks();
    let mut random = Random(12);
    for round in 0..20 {
        let steps = random_steps(&mut random, 6);
        let count = steps.len();
        let mut harness = HistoryChecker::new(&format!("mixed{round}"), steps);
        let mut history = harness.start_history();
        for _ in 0..60 {
            let step = random.below(count);
            match history.registered.iter().position(|(other, _)| *other == step) {
                Some(at) => harness.remove_step(&mut history, at),
                None => harness.add_step(&mut history, step),
            }
        }
        (0..history.registered.len()).for_each(|_| harness.remove_step(&mut history, 0));
    }
}

#[test]
fn stacked_overrides_can_be_removed_in_any_order() {
    for (round, removal) in permutations(3).into_iter().enumerate() {
        let registrar = Registrar::new("pile");
        let name = format!("up{round}");
        let operator = registrar.define(&format!("{name}() -> int")).unwrap().operator().unwrap();
        let mut overrides: Vec<Option<Registration>> = (0..3)
            .map(|i| {
                registrar.override_kernel(&name, CompositeImplicitAutograd, move |_, _, stack| {
                    stack.push(i);
                    Ok(())
                })
            })
            .map(|kernel| Some(kernel.unwrap()))
            .collect();
        for at in removal {
            let newest = (0..3).rev().find(|&i| overrides[i].is_some()).unwrap();
            assert_eq!(call_result_text(operator), newest.to_string());
            assert_eq!(operator.dump().matches("(inactive)").count(), overrides.iter().flatten().count() - 1);
            overrides[at].take().unwrap().remove();
        }
        assert!(matches!(operator.call([]).unwrap_err().kind(), ErrorKind::NoKernel(_)));
        assert!(!operator.dump().contains("Composite"));
    }
}

#[test]
fn an_implicit_composite_fills_the_backends_without_kernels() {
    let (op, _registered) =
        define_with_table_letters("beside", &[CompositeImplicitAutograd, CPU, XLA, Autograd, AutogradCPU]);
    assert_eq!(op.letters(), "M K M K M K M A");
}

#[test]
fn a_kernel_of_a_backend_without_autograd_key_makes_autograd_other_ambiguous() {
    let (op, _registered) = define_with_table_letters("ambiguous", &[CompositeImplicitAutograd, FPGA]);
    assert_eq!(op.letters(), "M M M M ! M M M");
    assert_eq!(op.letter(FPGA), "K");
}

#[test]
fn an_explicit_composite_does_not_fill_autograd_keys() {
    let (op, _registered) = define_with_table_letters("explicit", &[CPU, CompositeExplicitAutograd, Autograd]);
    assert_eq!(op.letters(), "D K D D A A A A");
    assert_eq!(op.letter(FPGA), "D");
}

#[test]
fn a_second_definition_is_an_error_and_changes_nothing() {
    let registrar = Registrar::new("twice");
    let (first, second) = (registrar.define("op(Tensor x) -> Tensor").unwrap(), line!());
    let before = dump_by_name("twice::op");
    let (error, third) = (registrar.define("op(Tensor x, Tensor y) -> Tensor").unwrap_err(), line!());
    let ErrorKind::DuplicateOperator { locations, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(locations.iter().map(|location| location.line()).collect::<Vec<_>>(), [second, third]);
    assert_eq!(dump_by_name("twice::op"), before);
    first.remove();
    assert_eq!(dump_by_name("twice::op"), "");
    drop(registrar.define("op(Tensor x, Tensor y) -> Tensor").expect("the name is free again"));
}

#[test]
fn a_second_kernel_for_a_key_is_an_error_and_changes_nothing() {
    let _lock = lock_fallbacks();
    let registrar = Registrar::new("again");
    let operator = registrar.define("op() -> int").unwrap().operator().unwrap();
    let first = registrar.kernel("op", CompositeImplicitAutograd, |_, _, stack| {
        stack.push(1);
        Ok(())
    });
    let (before, result) = ((operator.dump(), operator.dump_table()), call_result_text(operator));
    // `Undefined` stands for the same cell.
    for key in [CompositeImplicitAutograd, Undefined] {
        let error = registrar.kernel("op", key, |_, _, _| Ok(())).unwrap_err();
        let ErrorKind::DuplicateKernel { kernels, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(kernels.len(), 2);
        assert!(error.to_string().contains(&format!("registration_order.rs:{}", kernels[0].1.line())));
    }
    assert_eq!(((operator.dump(), operator.dump_table()), call_result_text(operator)), (before, result));
    first.unwrap().remove();
    drop(registrar.kernel("op", CompositeImplicitAutograd, |_, _, _| Ok(())).expect("the key is free again"));
}

#[test]
fn the_error_for_a_second_fallback_of_a_key_names_both() {
    let _lock = lock_fallbacks();
    let (first, first_line) = (fallback_fallthrough(Metal).unwrap(), line!());
    let (error, second_line) = (fallback_fallthrough(Metal).unwrap_err(), line!());
    let ErrorKind::DuplicateFallback { fallbacks, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(fallbacks.iter().map(|(_, location)| location.line()).collect::<Vec<_>>(), [first_line, second_line]);
    first.remove();
    fallback(Metal, |_, _, _| Ok(())).expect("the key is free again").remove();
}

#[test]
fn registrations_with_a_wrong_name_or_key_change_nothing() {
    let registrar = Registrar::new("nothing");
    assert!(matches!(registrar.define("other::op() -> int").unwrap_err().kind(), ErrorKind::WrongNamespace { .. }));
    assert!(matches!(registrar.define("op(Tensor x -> int").unwrap_err().kind(), ErrorKind::SchemaSyntax { .. }));
    assert!(matches!(
        registrar.define("op(Tensor x, ...) -> int").unwrap_err().kind(),
        ErrorKind::UnsupportedSchema { .. }
    ));
    assert!(matches!(registrar.fallthrough("other::op", CPU).unwrap_err().kind(), ErrorKind::WrongNamespace { .. }));
    for key in [Quantized, Sparse, SparseCsr, NestedTensor] {
        assert!(
            matches!(registrar.fallthrough("op", key).unwrap_err().kind(), ErrorKind::NotARuntimeKey { .. }),
            "{key}"
        );
        assert!(matches!(fallback_fallthrough(key).unwrap_err().kind(), ErrorKind::NotARuntimeKey { .. }), "{key}");
    }
    for key in [Autograd, Autocast, Undefined] {
        assert!(matches!(fallback_fallthrough(key).unwrap_err().kind(), ErrorKind::NotARuntimeKey { .. }), "{key}");
    }
    assert_eq!(dump_by_name("nothing::op"), "");
    assert!(Operator::find("nothing::op").is_err());
}

/// Returns random registrations for one operator, at most one for each key. Keys with rare rules for tables occur often.
fn random_steps(random: &mut Random, count: usize) -> Vec<RegistrationStep> {
    let mut fallbacks = vec![Functionalize, AutogradMPS, Tracer, AutogradPrivateUse3];
    let mut keys = vec![
        CompositeImplicitAutograd,
        CompositeExplicitAutograd,
        CompositeExplicitAutogradNonFunctional,
        CompositeImplicitAutogradNestedTensor,
        FuncTorchBatchedDecomposition,
        Autograd,
        Autocast,
        CPU,
        CUDA,
        FPGA,
        QuantizedCPU,
        SparseXLA,
        NestedTensorCPU,
        AutogradOther,
        AutogradCPU,
        AutogradNestedTensor,
        FuncTorchBatched,
        BackendSelect,
        Functionalize,
    ];
    random.shuffle(&mut keys);
    random.shuffle(&mut fallbacks);
    let mut steps = vec![Define];
    while steps.len() < count {
        steps.push(match random.below(8) {
            0 => Fallthrough(keys.pop().unwrap()),
            1 if !fallbacks.is_empty() => Fallback(fallbacks.pop().unwrap()),
            2 if !fallbacks.is_empty() => FallbackFallthrough(fallbacks.pop().unwrap()),
            _ => Kernel(keys.pop().unwrap()),
        });
    }
    steps
}

fn lock_fallbacks() -> MutexGuard<'static, ()> {
    FALLBACK_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = permutations(last);
    shorter.iter().flat_map(|order| (0..count).map(move |at| [&order[..at], &[last], &order[at..]].concat())).collect()
}

fn call_result_text(operator: &Operator) -> String {
    let mut stack = Stack::new();
    operator.call_boxed(&mut stack).unwrap();
    stack.values().iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().concat()
}

impl HistoryChecker {
    fn new(name: &str, steps: Vec<RegistrationStep>) -> Self {
        Self { name: name.to_owned(), steps, states: HashMap::new() }
    }

    /// Starts a history without registrations.
    fn start_history(&self) -> History {
        let registrar = Registrar::new("commute");
        let full_name = format!("commute::{}", self.name);
        History { registrar, full_name, name: self.name.clone(), registered: Vec::new(), log: String::new() }
    }

    /// Registers all steps in one order, and removes them in another.
    fn register_and_remove(&mut self, order: &[usize], removal: &[usize]) {
        let mut history = self.start_history();
        for &step in order {
            self.add_step(&mut history, step);
        }
        for &step in removal {
            let at = history.registered.iter().position(|(other, _)| *other == step).expect("it was registered");
            self.remove_step(&mut history, at);
        }
    }

    fn add_step(&mut self, history: &mut History, step: usize) {
        let registration = history.register_step(self.steps[step]);
        history.registered.push((step, registration));
        _ = write!(history.log, " +{:?}", self.steps[step]);
        self.compare_state(history);
    }

    fn remove_step(&mut self, history: &mut History, at: usize) {
        let (step, registration) = history.registered.remove(at);
        registration.remove();
        _ = write!(history.log, " -{:?}", self.steps[step]);
        self.compare_state(history);
    }

    fn compare_state(&mut self, history: &History) {
        let set: BTreeSet<usize> = history.registered.iter().map(|(step, _)| *step).collect();
        let state = history.visible_state();
        if set.is_empty() {
            assert_eq!(state, VisibleState::default(), "after{}", history.log);
        }
        let (expected, first) = self.states.entry(set).or_insert_with(|| (state.clone(), history.log.clone()));
        assert!(
            state == *expected,
            "two histories of one set:\n {first}\n{}\n{}\n {}\n{}\n{}",
            expected.0,
            expected.1,
            history.log,
            state.0,
            state.1
        );
    }
}

impl History {
    /// Makes the registration of a step. All kernels are registered on one source line and differ by their keys.
    fn register_step(&self, step: RegistrationStep) -> Registration {
        match step {
            Define => self.registrar.define(&format!("{}(Tensor x) -> str", self.name)),
            Kernel(key) => self.registrar.kernel(&self.name, key, move |_, _, stack| {
                stack.drop_top(1);
                stack.push(key.to_string().as_str());
                Ok(())
            }),
            Fallthrough(key) => self.registrar.fallthrough(&self.name, key),
            Fallback(key) => fallback(key, move |_, _, stack| {
                stack.drop_top(1);
                stack.push(format!("all {key}").as_str());
                Ok(())
            }),
            FallbackFallthrough(key) => fallback_fallthrough(key),
        }
        .unwrap_or_else(|error| panic!("{step:?} after{}: {error}", self.log))
    }

    /// Returns both dumps, and the kernels that calls reach. All are empty if nothing is registered.
    fn visible_state(&self) -> VisibleState {
        let normal = |text: String| text.replace(&self.full_name, "commute::op");
        let operator = Operator::find(&self.full_name).ok();
        let table = operator.map_or_else(String::new, Operator::dump_table);
        let calls = operator.map_or_else(Vec::new, |operator| {
            [
                CPU,
                QuantizedCPU,
                AutogradCPU,
                AutogradOther,
                AutogradMPS,
                Functionalize,
                Tracer,
                AutocastCUDA,
                FuncTorchBatched,
            ]
            .map(|key| self.call_with_key(operator, key))
            .to_vec()
        });
        (normal(dump_by_name(&self.full_name)), normal(table), calls)
    }

    fn call_with_key(&self, operator: &Operator, key: Key) -> String {
        let mut stack: Stack = [dispatch_runtime::Tensor::from_slice(&[1.0_f32])].into_iter().collect();
        match operator.redispatch_boxed(key | CUDA, &mut stack) {
            Ok(()) => format!("{:?}", stack.values()),
            Err(error) => match error.kind() {
                ErrorKind::NoKernel(explanation) => format!("no kernel for {:?}", explanation.key),
                ErrorKind::AmbiguousAutogradOther(_) => "ambiguous".to_owned(),
                _ => panic!("after{}: {error}", self.log),
            },
        }
    }
}

/// An operator whose table cells are shown as letters, as in PyTorch's tests.
struct TableLetters(&'static Operator);

impl TableLetters {
    fn letter(&self, key: Key) -> &'static str {
        let table = self.0.table();
        match table.iter().find(|cell| cell.key == key).unwrap().provenance.name() {
            "kernel" => "K",
            "default backend kernel" => "D",
            "math kernel" => "M",
            "autograd kernel" => "A",
            "ambiguous autogradother" => "!",
            "missing" => "-",
            other => other,
        }
    }

    fn letters(&self) -> String {
        let columns = [Undefined, CPU, CUDA, XLA, AutogradOther, AutogradCPU, AutogradCUDA, AutogradXLA];
        columns.map(|key| self.letter(key)).join(" ")
    }
}

fn define_with_table_letters(name: &str, keys: &[Key]) -> (TableLetters, Vec<Registration>) {
    let registrar = Registrar::new("lettered");
    let definition = registrar.define(&format!("{name}(Tensor x) -> Tensor")).unwrap();
    let operator = definition.operator().unwrap();
    let kernels = keys.iter().map(|&key| registrar.kernel(name, key, |_, _, _| Ok(())).unwrap());
    (TableLetters(operator), std::iter::once(definition).chain(kernels).collect())
}
