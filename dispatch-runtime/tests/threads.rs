//! Tests with eight threads that call while registrations are added and removed. No call is lost or runs a kernel twice. The error of a
//! failed call was true at that moment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;

use dispatch_runtime::keys::*;
use dispatch_runtime::{
    Error, ErrorKind, KeySet, Operator, OperatorEvent, Registrar, Registration, Stack, Value, fallback, guard,
    on_operator_event, verify,
};

const THREAD_COUNT: usize = 8;
const CALL_COUNT: usize = 400;

/// The state of a kernel, which counts its calls and records when it is dropped.
struct CallCounter {
    calls: Arc<AtomicUsize>,
    alive: bool,
}

/// A lock that is held by tests with listeners or fallbacks, which affect all operators.
static ALL_OPERATORS_LOCK: Mutex<()> = Mutex::new(());

fn lock_all_operators() -> MutexGuard<'static, ()> {
    ALL_OPERATORS_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallCounter {
    fn new(calls: &Arc<AtomicUsize>) -> Self {
        Self { calls: calls.clone(), alive: true }
    }

    fn count_call(&self) {
        assert!(self.alive, "a kernel's state was dropped during a call");
        self.calls.fetch_add(1, SeqCst);
    }
}

impl Drop for CallCounter {
    fn drop(&mut self) {
        assert!(self.alive, "a kernel's state was dropped twice");
        self.alive = false;
    }
}

/// Runs `f` on eight threads that start together, and `meanwhile` on this one. The flag tells the threads when `meanwhile` is done.
fn run_concurrently<R: Send>(f: impl Fn(usize, &AtomicBool) -> R + Sync, meanwhile: impl FnOnce()) -> Vec<R> {
    let (start, done) = (Barrier::new(THREAD_COUNT + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let thread = |number| {
            let (start, done, f) = (&start, &done, &f);
            scope.spawn(move || {
                start.wait();
                f(number, done)
            })
        };
        let threads: Vec<_> = (0..THREAD_COUNT).map(thread).collect();
        start.wait();
        let finished = StopFlag(&done);
        meanwhile();
        drop(finished);
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

/// Sets the flag that stops the threads when it is dropped, also after a panic.
struct StopFlag<'a>(&'a AtomicBool);

impl Drop for StopFlag<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

fn define_operator(name: &str) -> (Registrar, &'static Operator) {
    let lab = Registrar::new("threads");
    let operator = lab.define(&format!("{name}(int x) -> int")).unwrap().operator().unwrap();
    (lab, operator)
}

/// Registers a kernel that adds `plus` to its argument.
fn register_adder(lab: &Registrar, name: &str, plus: i64, counter: CallCounter) -> Result<Registration, Error> {
    lab.override_kernel(name, CPU, move |_, _, stack| {
        counter.count_call();
        add_to_top(stack, plus)
    })
}

fn add_to_top(stack: &mut Stack, plus: i64) -> Result<(), Error> {
    let Some(Value::Int(x)) = stack.pop() else { return Err("no argument".into()) };
    stack.push(x + plus);
    Ok(())
}

/// Calls the operator and returns the number that was added to the argument. Checks that the rest of the stack is unchanged.
fn call_operator(operator: &Operator, x: i64) -> Result<i64, Error> {
    call_with_keys(operator, Tracer | CPU, x)
}

fn call_with_keys(operator: &Operator, keys: KeySet, x: i64) -> Result<i64, Error> {
    let mut stack: Stack = [-1, x].into_iter().collect();
    let result = operator.redispatch_boxed(keys, &mut stack);
    assert!(matches!(stack.values()[0], Value::Int(-1)), "values below the arguments stay unchanged");
    result?;
    let [_, Value::Int(sum)] = stack.values() else { panic!("{:?}", stack.values()) };
    Ok(sum - x)
}

#[test]
fn concurrent_first_calls_all_run_the_kernel() {
    for round in 0..50 {
        let name = format!("first{round}");
        let (lab, operator) = define_operator(&name);
        let calls = Arc::new(AtomicUsize::new(0));
        drop(register_adder(&lab, &name, 3, CallCounter::new(&calls)).unwrap());
        let sums =
            run_concurrently(|number, _| call_operator(operator, i64::try_from(number).unwrap()).unwrap(), || ());
        assert_eq!((sums, calls.load(SeqCst)), (vec![3; THREAD_COUNT], THREAD_COUNT));
    }
}

#[test]
fn every_call_after_a_late_registration_finds_the_kernel() {
    for round in 0..10 {
        let name = format!("late{round}");
        let (lab, operator) = define_operator(&name);
        let calls = Arc::new(AtomicUsize::new(0));
        let arrived = run_concurrently(
            |_, registered| {
                let mut arrived = 0;
                for x in 0..100 {
                    let must_arrive = registered.load(SeqCst) || arrived > 0;
                    match call_operator(operator, x) {
                        Ok(plus) => arrived += usize::try_from(plus).unwrap(),
                        Err(error) => assert!(is_missing_kernel_error(&error) && !must_arrive, "{error}"),
                    }
                }
                arrived
            },
            || drop(register_adder(&lab, &name, 1, CallCounter::new(&calls)).unwrap()),
        );
        assert_eq!(arrived.iter().sum::<usize>(), calls.load(SeqCst));
        assert_eq!(call_operator(operator, 0).unwrap(), 1);
    }
}

#[test]
fn calls_during_registration_and_removal_run_the_kernel_or_find_none() {
    let (lab, operator) = define_operator("flicker");
    let calls = Arc::new(AtomicUsize::new(0));
    let arrived = run_concurrently(
        |_, done| {
            let mut arrived = 0;
            while !done.load(SeqCst) {
                match call_operator(operator, 5) {
                    Ok(plus) => arrived += usize::try_from(plus).unwrap(),
                    Err(error) => assert!(is_missing_kernel_error(&error), "{error}"),
                }
            }
            arrived
        },
        || {
            for _ in 0..CALL_COUNT {
                let kernel = register_adder(&lab, "flicker", 1, CallCounter::new(&calls)).unwrap();
                assert_eq!(call_operator(operator, 0).unwrap(), 1);
                kernel.remove();
                assert!(is_missing_kernel_error(&call_operator(operator, 0).unwrap_err()));
            }
        },
    );
    assert_eq!(arrived.iter().sum::<usize>() + CALL_COUNT, calls.load(SeqCst));
    assert_eq!(Arc::strong_count(&calls), 1, "the last call to end drops the state");
}

#[test]
fn a_call_always_finds_the_kernel_below_an_override() {
    let (lab, operator) = define_operator("pile");
    let (below, above) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    drop(register_adder(&lab, "pile", 1, CallCounter::new(&below)).unwrap());
    let sums = run_concurrently(
        |_, done| {
            let mut sums = [0, 0];
            while !done.load(SeqCst) {
                match call_operator(operator, 0).expect("one kernel is always registered") {
                    1 => sums[0] += 1,
                    2 => sums[1] += 1,
                    other => panic!("{other}"),
                }
            }
            sums
        },
        || (0..CALL_COUNT).for_each(|_| register_adder(&lab, "pile", 2, CallCounter::new(&above)).unwrap().remove()),
    );
    assert_eq!(sums.iter().map(|sums| sums[0]).sum::<usize>(), below.load(SeqCst));
    assert_eq!(sums.iter().map(|sums| sums[1]).sum::<usize>(), above.load(SeqCst));
    assert_eq!(Arc::strong_count(&above), 1);
}

#[test]
fn calls_run_or_skip_a_fallback_that_is_added_and_removed() {
    let _alone = lock_all_operators();
    let (lab, operator) = define_operator("layered");
    let (computed, layered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    drop(register_adder(&lab, "layered", 1, CallCounter::new(&computed)).unwrap());
    let calls = run_concurrently(
        |_, done| {
            let mut calls = [0, 0];
            while !done.load(SeqCst) {
                let sum = call_with_keys(operator, PreDispatch | CPU, 0).expect("with the fallback or without");
                calls[0] += 1;
                calls[1] += usize::from(sum == 11);
                assert!([1, 11].contains(&sum));
            }
            calls
        },
        || {
            for _ in 0..CALL_COUNT {
                let counter = CallCounter::new(&layered);
                let layer = fallback(PreDispatch, move |operator, keys, stack| {
                    counter.count_call();
                    operator.redispatch_boxed(keys.below(PreDispatch), stack)?;
                    add_to_top(stack, 10)
                });
                layer.unwrap().remove();
            }
        },
    );
    assert_eq!(calls.iter().map(|calls| calls[0]).sum::<usize>(), computed.load(SeqCst));
    assert_eq!(calls.iter().map(|calls| calls[1]).sum::<usize>(), layered.load(SeqCst));
    assert_eq!(Arc::strong_count(&layered), 1);
}

#[test]
fn calls_find_a_changing_definition_or_report_not_defined() {
    let lab = Registrar::new("threads");
    let calls = Arc::new(AtomicUsize::new(0));
    drop(register_adder(&lab, "fleeting", 1, CallCounter::new(&calls)).unwrap());
    let found = run_concurrently(
        |_, done| {
            let mut found = 0;
            while !done.load(SeqCst) {
                let result = Operator::find("threads::fleeting").and_then(|operator| call_operator(operator, 7));
                match result {
                    Ok(plus) => found += usize::try_from(plus).unwrap(),
                    Err(error) => assert!(matches!(error.kind(), ErrorKind::MissingDefinition { .. }), "{error}"),
                }
            }
            found
        },
        || (0..CALL_COUNT).for_each(|_| lab.define("fleeting(int x) -> int").unwrap().remove()),
    );
    assert_eq!(found.iter().sum::<usize>(), calls.load(SeqCst));
}

#[test]
fn readers_see_a_registration_completely_or_not_at_all() {
    let _alone = lock_all_operators();
    let (lab, operator) = define_operator("watched");
    run_concurrently(
        |_, done| {
            while !done.load(SeqCst) {
                let cells = operator.table().into_iter().filter(|cell| cell.registered_for.is_some()).count();
                // All autograd keys are served, or none.
                assert!([0, 18].contains(&cells), "{cells}");
                assert!([0, 18].contains(&operator.dump_table().lines().count()));
                _ = (operator.explain(&[Value::Int(1)]).to_string(), operator.kernels_for_key(Autograd), verify());
            }
        },
        || (0..50).for_each(|_| lab.kernel("watched", Autograd, |_, _, _| Ok(())).unwrap().remove()),
    );
}

#[test]
fn a_kernel_can_register_and_remove_kernels() {
    let (lab, operator) = define_operator("restless");
    let inner = lab.clone();
    let itself: Arc<Mutex<Option<Registration>>> = Arc::default();
    let taken = itself.clone();
    let first = lab.kernel("restless", CPU, move |operator, keys, stack| {
        drop(inner.override_kernel("restless", CPU, |_, _, stack| add_to_top(stack, 2)).unwrap());
        if let Some(itself) = taken.lock().unwrap().take() {
            itself.remove();
        }
        operator.redispatch_boxed(keys, stack)
    });
    *itself.lock().unwrap() = Some(first.unwrap());
    assert_eq!(call_operator(operator, 0).unwrap(), 2);
    assert_eq!(Arc::strong_count(&itself), 1, "a kernel that removes itself is dropped when it returns");
    assert_eq!(operator.kernels_for_key(CPU).len(), 1);
}

#[test]
fn a_panicking_kernel_leaves_guards_and_tables_unchanged() {
    let _alone = lock_all_operators();
    let (lab, operator) = define_operator("fragile");
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = CallCounter::new(&calls);
    let kernel = lab.kernel("fragile", CPU, move |_, _, stack| {
        let _inside = (guard::inference_mode(), guard::include(KeySet::from(Meta)));
        counter.count_call();
        if matches!(stack.values(), [Value::Int(0)]) {
            panic!("inside");
        }
        add_to_top(stack, 1)
    });
    run_concurrently(
        |_, _| {
            let before = (guard::included(), guard::excluded(), operator.dump_table());
            for x in 0..20 {
                let result = catch_unwind(AssertUnwindSafe(|| call_operator(operator, x % 2)));
                assert_eq!(result.map(Result::unwrap).ok(), (x % 2 == 1).then_some(1));
                assert_eq!((guard::included(), guard::excluded(), operator.dump_table()), before);
            }
        },
        || (),
    );
    assert_eq!(calls.load(SeqCst), THREAD_COUNT * 20);
    kernel.unwrap().remove();
    assert_eq!(Arc::strong_count(&calls), 1, "a panicked call has ended");
}

#[test]
fn a_listener_that_panics_leaves_the_registry_usable() {
    let _alone = lock_all_operators();
    let listening = on_operator_event(|change, operator| {
        assert!(change == OperatorEvent::Removed || operator.name().base != "unheard", "inside");
    });
    let lab = Registrar::new("threads");
    assert!(catch_unwind(|| lab.define("unheard() -> int")).is_err());
    listening.remove();
    assert!(Operator::find("threads::unheard").is_ok());
}

#[test]
fn guards_belong_to_their_thread() {
    run_concurrently(
        |number, _| {
            let before = (guard::included(), guard::excluded());
            let key = [Tracer, Negative, Conjugate, Functionalize][number % 4];
            for _ in 0..CALL_COUNT {
                let _in = guard::include(KeySet::from(key));
                assert_eq!(guard::included(), before.0 | key);
                let _out = guard::exclude(KeySet::from(key));
                assert_eq!(guard::excluded(), before.1 | key);
            }
            assert_eq!((guard::included(), guard::excluded()), before);
        },
        || (),
    );
}

fn is_missing_kernel_error(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoKernel(_))
}
