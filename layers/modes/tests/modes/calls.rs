//! Tests of modes: the calls that they see, in which order, and the results that they can set.

use std::sync::{Arc, Mutex};

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_autograd::functional::grad;
use dispatch_autograd::{Differentiable, checkpoint};
use dispatch_modes::{Call, Mode, ModeError, Print, enter, with_mode};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{guard, keys};
use kernels_cpu as _;

/// A shared log, in which modes note the calls that they see.
#[derive(Clone, Default)]
struct CallLog(Arc<Mutex<Vec<String>>>);

impl CallLog {
    fn add_note(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    /// Returns all notes so far, and clears the list.
    fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Returns the notes of calls that are inside of no other call, and clears the list.
    fn take_outermost_notes(&self) -> Vec<String> {
        self.take_notes().into_iter().filter(|note| !note.starts_with(' ')).collect()
    }
}

/// A mode that writes its own name and the operator of each call to a log, and passes the call on.
struct LoggingMode(&'static str, CallLog);

impl Mode for LoggingMode {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let indent = 2 * call.nesting_depth();
        self.1.add_note(format!("{:indent$}{}{}", "", self.0, call.operator().name().base));
        call.pass_on()
    }
}

/// A mode whose handler is a closure.
struct ClosureMode<F>(F);

impl<F: Fn(&mut Call<'_>) -> Result<()> + Send + Sync> Mode for ClosureMode<F> {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        self.0(call)
    }
}

fn is_call_of(call: &Call<'_>, base: &str) -> bool {
    call.operator().name().base == base
}

fn input_matrix() -> Tensor {
    Tensor::from([[1.0, 2.0], [3.0, 4.0]])
}

#[op_def("part_operator(Tensor self) -> Tensor")]
fn part_operator(this: &Tensor) -> Result<Tensor>;

#[op_impl(part_operator, CPU)]
fn part_operator_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("composite_operator(Tensor self) -> Tensor")]
fn composite_operator(this: &Tensor) -> Result<Tensor> {
    part_operator(&part_operator(this)?)
}

#[op_def("operator_without_tensors() -> int")]
fn operator_without_tensors() -> Result<i64> {
    Ok(0)
}

#[test]
fn a_mode_sees_operators_of_any_crate_and_the_parts_of_composites() {
    let notes = CallLog::default();
    {
        let _on = enter(LoggingMode("", notes.clone()));
        composite_operator(&input_matrix()).unwrap();
        assert_eq!(operator_without_tensors().unwrap(), 0);
        part_operator::operator().call([input_matrix().into()]).unwrap();
    }
    part_operator(&input_matrix()).unwrap();
    assert_eq!(
        notes.take_notes(),
        ["composite_operator", "  part_operator", "  part_operator", "operator_without_tensors", "part_operator"]
    );
}

#[test]
fn pass_on_hiding_inner_calls_hides_them_from_that_mode_only() {
    let notes = CallLog::default();
    let hiding = notes.clone();
    let _outer = enter(LoggingMode("outer ", notes.clone()));
    with_mode(
        ClosureMode(move |call: &mut Call<'_>| {
            hiding.add_note(format!("inner {}", call.operator().name().base));
            call.pass_on_hiding_inner_calls()
        }),
        || composite_operator(&input_matrix()).unwrap(),
    );
    assert_eq!(
        notes.take_notes(),
        ["inner composite_operator", "outer composite_operator", "  outer part_operator", "  outer part_operator"]
    );
}

#[test]
fn the_innermost_mode_gets_a_call_first() {
    let notes = CallLog::default();
    let [a, b, c] = ["a ", "b ", "c "].map(|name| enter(LoggingMode(name, notes.clone())));
    part_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["c part_operator", "b part_operator", "a part_operator"]);
    drop(a);
    part_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["c part_operator", "b part_operator"]);
    drop(c);
    part_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["b part_operator"]);
    let d = enter(LoggingMode("d ", notes.clone()));
    drop(b);
    part_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["d part_operator"]);
    drop(d);
    assert!(!guard::included().has(keys::PreDispatch));
    part_operator(&input_matrix()).unwrap();
    assert!(notes.take_notes().is_empty());
}

#[test]
fn calls_of_a_mode_go_to_the_modes_below_it() {
    let notes = CallLog::default();
    let _below = enter(LoggingMode("below ", notes.clone()));
    let inside = notes.clone();
    let _calling = enter(ClosureMode(move |call: &mut Call<'_>| {
        inside.add_note("has it");
        composite_operator(&input_matrix())?;
        call.pass_on()
    }));
    part_operator(&input_matrix()).unwrap();
    let own = ["below composite_operator", "  below part_operator", "  below part_operator"];
    assert_eq!(notes.take_notes(), [&["has it"], &own[..], &["below part_operator"]].concat());
}

#[test]
fn a_mode_can_replace_the_results() {
    let negated = ClosureMode(|call: &mut Call<'_>| {
        call.pass_on()?;
        match call.results() {
            [Value::Tensor(result)] => {
                let result = aten::neg(result)?;
                call.set_results([result.into()])
            }
            _ => Ok(()),
        }
    });
    with_mode(negated, || {
        let y = (&input_matrix() + &input_matrix()).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [-2.0, -4.0, -6.0, -8.0]);
        let mut z = input_matrix();
        aten::add_(&mut z, &input_matrix(), 1.into()).unwrap();
    });
    let never = ClosureMode(|call: &mut Call<'_>| {
        if is_call_of(call, "part_operator") { call.set_results([Value::from(input_matrix())]) } else { call.pass_on() }
    });
    with_mode(never, || {
        let meta = dispatch_runtime::Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
        assert_eq!(part_operator(&meta).unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    });
}

#[test]
fn a_mode_can_change_arguments_and_their_backend() {
    let notes = CallLog::default();
    let inside = notes.clone();
    let _on = enter(ClosureMode(move |call: &mut Call<'_>| {
        if is_call_of(call, "part_operator") {
            call.arguments_mut()[0] = input_matrix().into();
            inside.add_note(call.keys().device().unwrap().to_string());
        }
        call.pass_on()
    }));
    let meta = dispatch_runtime::Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
    assert_eq!(part_operator(&meta).unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(notes.take_notes(), ["meta"]);
}

#[test]
fn an_in_place_call_returns_the_written_tensor() {
    let notes = CallLog::default();
    let _on = enter(LoggingMode("", notes.clone()));
    let y = input_matrix();
    let same = y.clone();
    y.mul_(input_matrix()).unwrap();
    assert!(y.same(&same));
    assert_eq!(same.to_vec::<f64>().unwrap(), [1.0, 4.0, 9.0, 16.0]);
    assert_eq!(notes.take_outermost_notes()[0], "mul_");
}

#[test]
fn an_error_of_a_mode_is_the_error_of_the_call() {
    let notes = CallLog::default();
    let _below = enter(LoggingMode("", notes.clone()));
    let refusing = enter(ClosureMode(|call: &mut Call<'_>| {
        if is_call_of(call, "part_operator") { Err(Error::kernel("not today")) } else { call.pass_on() }
    }));
    assert!(composite_operator(&input_matrix()).unwrap_err().to_string().contains("not today"));
    operator_without_tensors().unwrap();
    assert_eq!(notes.take_notes(), ["composite_operator", "operator_without_tensors"]);
    drop(refusing);
    composite_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["composite_operator", "  part_operator", "  part_operator"]);
}

#[test]
fn a_mode_can_recover_from_an_error_of_the_call() {
    let _on = enter(ClosureMode(|call: &mut Call<'_>| match call.pass_on() {
        Err(_) => call.set_results([input_matrix().into()]),
        fine => fine,
    }));
    let meta = dispatch_runtime::Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
    assert_eq!(part_operator(&meta).unwrap().sizes(), [2, 2]);
    assert_eq!(part_operator(&input_matrix()).unwrap().sizes(), [2, 2]);
}

#[test]
fn a_mode_that_breaks_the_rules_is_an_error() {
    let cause = |error: Error| {
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<ModeError>());
        source.unwrap_or_else(|| panic!("{error}")).clone()
    };
    let operator = || part_operator::operator().name().to_string();
    let fails = |mode: fn(&mut Call<'_>) -> Result<()>| {
        cause(with_mode(ClosureMode(mode), || part_operator(&input_matrix())).unwrap_err())
    };
    assert_eq!(fails(|_| Ok(())), ModeError::NoResults { operator: operator() });
    assert_eq!(
        fails(|call| call.pass_on().and_then(|()| call.pass_on())),
        ModeError::PassedOnTwice { operator: operator() }
    );
    assert_eq!(
        fails(|call| call.set_results([])),
        ModeError::WrongResultCount { operator: operator(), expected: 1, found: 0 }
    );
}

#[test]
fn a_panic_restores_the_modes() {
    let notes = CallLog::default();
    let _below = enter(LoggingMode("below ", notes.clone()));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _on = enter(ClosureMode(
            |call: &mut Call<'_>| {
                if is_call_of(call, "part_operator") { panic!("inside") } else { call.pass_on() }
            },
        ));
        composite_operator(&input_matrix())
    }));
    assert!(caught.is_err());
    notes.take_notes();
    composite_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["below composite_operator", "  below part_operator", "  below part_operator"]);
}

#[test]
fn a_mode_entered_by_a_handler_ends_with_the_handler() {
    let notes = CallLog::default();
    let inside = notes.clone();
    let _on = enter(ClosureMode(move |call: &mut Call<'_>| {
        if is_call_of(call, "part_operator") {
            with_mode(LoggingMode("own ", inside.clone()), || composite_operator(&input_matrix()))?;
        }
        call.pass_on()
    }));
    part_operator(&input_matrix()).unwrap();
    assert_eq!(notes.take_notes(), ["own composite_operator", "  own part_operator", "  own part_operator"]);
    operator_without_tensors().unwrap();
    assert!(notes.take_notes().is_empty());
}

#[test]
fn spawned_threads_inherit_the_modes() {
    let notes = CallLog::default();
    let outer = enter(LoggingMode("outer ", notes.clone()));
    let inner = enter(LoggingMode("inner ", notes.clone()));
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let (done, waiting) = std::sync::mpsc::channel();
    let thread = guard::spawn(move || {
        part_operator(&input_matrix()).unwrap();
        done.send(()).unwrap();
        gone.recv().unwrap();
        part_operator(&input_matrix()).unwrap();
    });
    waiting.recv().unwrap();
    assert_eq!(notes.take_notes(), ["inner part_operator", "outer part_operator"]);
    drop(inner);
    go.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!(notes.take_notes(), ["outer part_operator"]);
    std::thread::spawn(|| part_operator(&input_matrix()).unwrap()).join().unwrap();
    assert!(notes.take_notes().is_empty(), "a plain thread inherits no mode");
    drop(outer);
}

#[test]
fn a_backward_uses_the_modes_of_its_caller() {
    let (forward, backward) = (CallLog::default(), CallLog::default());
    let w = input_matrix().requires_grad_(true).unwrap();
    let loss = with_mode(LoggingMode("", forward.clone()), || w.mm(&w).unwrap().sum().unwrap());
    assert_eq!(forward.take_outermost_notes(), ["mm", "sum"]);
    with_mode(LoggingMode("", backward.clone()), || loss.backward().unwrap());
    assert!(forward.take_notes().is_empty());
    assert_eq!(backward.take_outermost_notes().iter().filter(|name| *name == "mm").count(), 2);
    assert_eq!(w.grad().unwrap().to_vec::<f64>().unwrap(), [7.0, 11.0, 9.0, 13.0]);
}

#[test]
fn the_modes_of_a_backward_see_the_recomputation_of_a_checkpoint() {
    let notes = CallLog::default();
    let w = input_matrix().requires_grad_(true).unwrap();
    let out = checkpoint(|inputs| Ok(vec![inputs[0].exp()?]), &[&w]).unwrap();
    let loss = out[0].sum().unwrap();
    with_mode(LoggingMode("", notes.clone()), || loss.backward().unwrap());
    assert_eq!(notes.take_outermost_notes().iter().filter(|name| *name == "exp").count(), 1);
}

#[test]
fn a_mode_outside_of_a_transform_sees_the_transformed_calls() {
    let notes = CallLog::default();
    let x = Tensor::from(3.0);
    let gradient = with_mode(LoggingMode("", notes.clone()), || grad(|x| x.exp()?.sin(), &x).unwrap());
    let expected = 3.0_f64.exp() * 3.0_f64.exp().cos();
    assert!((gradient.item::<f64>().unwrap() - expected).abs() < 1e-9);
    let outer = notes.take_outermost_notes();
    let count = |name: &str| outer.iter().filter(|note| *note == name).count();
    assert_eq!((count("exp"), count("sin"), count("cos")), (1, 1, 1), "{outer:?}");
    assert!(count("mul") >= 2, "{outer:?}");
}

#[test]
fn a_mode_inside_of_a_transform_sees_the_calls_of_the_function_once() {
    let (outside, inside) = (CallLog::default(), CallLog::default());
    let _out = enter(LoggingMode("", outside.clone()));
    let x = Tensor::from(3.0);
    let f = |x: &Tensor| {
        let _in = enter(LoggingMode("", inside.clone()));
        composite_operator(&x.exp()?)
    };
    let before = x.exp().unwrap().item::<f64>().unwrap();
    outside.take_notes();
    // `part_operator` has no gradient formula, so the test compares the value and not the gradient.
    let value = dispatch_autograd::functional::vjp(f, &x).unwrap().0;
    assert_eq!(inside.take_notes(), ["exp", "composite_operator", "  part_operator", "  part_operator"]);
    let seen = outside.take_outermost_notes();
    assert_eq!(seen.iter().filter(|name| ["exp", "part_operator"].contains(&&***name)).count(), 3, "{seen:?}");
    assert!(!seen.contains(&"composite_operator".to_owned()), "the transform decomposes composites: {seen:?}");
    assert!((value.item::<f64>().unwrap() - before).abs() < 1e-12);
}

#[test]
fn a_mode_sees_the_calls_of_the_transform_level_where_it_was_entered() {
    let [outer, middle, inner] = [(); 3].map(|()| CallLog::default());
    let x = Tensor::from(2.0);
    let _outer = enter(LoggingMode("", outer.clone()));
    let second = grad(
        |x| {
            let _middle = enter(LoggingMode("", middle.clone()));
            grad(
                |x| {
                    let _inner = enter(LoggingMode("", inner.clone()));
                    (x * &(x * x)?)?.sum()
                },
                x,
            )
        },
        &x,
    );
    assert_eq!(second.unwrap().to_vec::<f64>().unwrap(), [12.0]);
    assert_eq!(inner.take_outermost_notes(), ["mul", "mul", "sum"]);
    let muls = |notes: &CallLog| notes.take_outermost_notes().iter().filter(|name| *name == "mul").count();
    let (middle, outer) = (muls(&middle), muls(&outer));
    assert!(2 < middle && middle < outer, "each level adds the calls of its backward pass: {middle}, {outer}");
}

#[test]
fn a_transform_inside_of_a_handler_does_not_call_its_mode() {
    let notes = CallLog::default();
    let inside = notes.clone();
    let slope = ClosureMode(move |call: &mut Call<'_>| {
        inside.add_note(call.operator().name().base);
        match call.arguments() {
            [Value::Tensor(x)] if is_call_of(call, "sin") => {
                let slope = grad(Tensor::sin, x)?;
                call.set_results([slope.into()])
            }
            _ => call.pass_on(),
        }
    });
    let y = with_mode(slope, || Tensor::from(0.0).sin().unwrap());
    assert_eq!((y.item::<f64>().unwrap(), notes.take_notes()[0].as_str()), (1.0, "sin"));
}

#[test]
fn a_mode_sees_casts_of_autocast_inside_of_the_call() {
    let notes = CallLog::default();
    let x = Tensor::from([[1.0_f32]]);
    let _low = autocast::enable(Device::CPU, DType::BF16).unwrap();
    with_mode(LoggingMode("", notes.clone()), || x.mm(&x).unwrap());
    let taken = notes.take_notes();
    assert_eq!((taken[0].as_str(), taken.last().unwrap().as_str()), ("mm", "  mm"), "{taken:?}");
    assert!(taken.len() > 2, "{taken:?}");
}

#[derive(Clone, Default)]
struct SharedWriter(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn calls_are_printed_with_arguments_keys_and_kernel() {
    let text = SharedWriter::default();
    with_mode(Print::with_writer(text.clone()), || composite_operator(&Tensor::from([1.0_f32])).unwrap());
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let tensor = "(Tensor(float32 [1] on cpu))  {CPU, BackendSelect, ADInplaceOrView, AutogradCPU}  ";
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0]
            .starts_with(&format!("modes::composite_operator{tensor}CompositeImplicitAutograd `composite_operator` (")),
        "{text}"
    );
    assert!(lines[1].starts_with(&format!("  modes::part_operator{tensor}CPU `part_operator_cpu` (")), "{text}");
    assert!(lines[1].contains("tests/modes/calls.rs:"), "{text}");
}

#[test]
fn a_print_mode_that_cannot_write_fails_the_call() {
    struct FailingWriter;
    impl std::io::Write for FailingWriter {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = with_mode(Print::with_writer(FailingWriter), || part_operator(&input_matrix())).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
}
