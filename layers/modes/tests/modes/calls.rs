//! Tests of modes: the calls that they see, in which order, and the results that they can set.

use std::sync::{Arc, Mutex};

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_autograd::functional::grad;
use dispatch_autograd::{Differentiable, checkpoint};
use dispatch_modes::{Call, Mode, ModeError, Print, enter, with};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{guard, keys};
use kernels_cpu as _;

/// A shared list of notes.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    /// Returns all notes so far, and clears the list.
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Returns the notes of calls that are inside of no other call, and clears the list.
    fn outer(&self) -> Vec<String> {
        self.taken().into_iter().filter(|note| !note.starts_with(' ')).collect()
    }
}

/// A mode that notes each call under a name, and passes it on.
struct Noting(&'static str, Notes);

impl Mode for Noting {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let indent = 2 * call.nesting();
        self.1.note(format!("{:indent$}{}{}", "", self.0, call.operator().name().base));
        call.pass_on()
    }
}

/// A mode made of a closure.
struct Doing<F>(F);

impl<F: Fn(&mut Call<'_>) -> Result<()> + Send + Sync> Mode for Doing<F> {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        self.0(call)
    }
}

fn is(call: &Call<'_>, base: &str) -> bool {
    call.operator().name().base == base
}

fn x() -> Tensor {
    Tensor::from([[1.0, 2.0], [3.0, 4.0]])
}

#[op_def("part(Tensor self) -> Tensor")]
fn part(this: &Tensor) -> Result<Tensor>;

#[op_impl(part, CPU)]
fn part_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("whole(Tensor self) -> Tensor")]
fn whole(this: &Tensor) -> Result<Tensor> {
    part(&part(this)?)
}

#[op_def("nothing() -> int")]
fn nothing() -> Result<i64> {
    Ok(0)
}

#[test]
fn a_mode_sees_operators_of_any_crate_and_the_parts_of_composites_inside_of_them() {
    let notes = Notes::default();
    {
        let _on = enter(Noting("", notes.clone()));
        whole(&x()).unwrap();
        assert_eq!(nothing().unwrap(), 0);
        part::operator().call([x().into()]).unwrap();
    }
    part(&x()).unwrap();
    assert_eq!(notes.taken(), ["whole", "  part", "  part", "nothing", "part"]);
}

#[test]
fn what_is_passed_on_as_a_whole_hides_its_parts_from_that_mode_alone() {
    let notes = Notes::default();
    let hiding = notes.clone();
    let _outer = enter(Noting("outer ", notes.clone()));
    with(
        Doing(move |call: &mut Call<'_>| {
            hiding.note(format!("inner {}", call.operator().name().base));
            call.pass_on_whole()
        }),
        || whole(&x()).unwrap(),
    );
    assert_eq!(notes.taken(), ["inner whole", "outer whole", "  outer part", "  outer part"]);
}

#[test]
fn the_innermost_mode_has_a_call_first_and_they_can_be_left_in_any_order() {
    let notes = Notes::default();
    let [a, b, c] = ["a ", "b ", "c "].map(|name| enter(Noting(name, notes.clone())));
    part(&x()).unwrap();
    assert_eq!(notes.taken(), ["c part", "b part", "a part"]);
    drop(a);
    part(&x()).unwrap();
    assert_eq!(notes.taken(), ["c part", "b part"]);
    drop(c);
    part(&x()).unwrap();
    assert_eq!(notes.taken(), ["b part"]);
    let d = enter(Noting("d ", notes.clone()));
    drop(b);
    part(&x()).unwrap();
    assert_eq!(notes.taken(), ["d part"]);
    drop(d);
    assert!(!guard::included().has(keys::PreDispatch));
    part(&x()).unwrap();
    assert!(notes.taken().is_empty());
}

#[test]
fn a_mode_that_calls_operators_is_set_aside_for_them_and_those_below_see_them() {
    let notes = Notes::default();
    let _below = enter(Noting("below ", notes.clone()));
    let inside = notes.clone();
    let _calling = enter(Doing(move |call: &mut Call<'_>| {
        inside.note("has it");
        whole(&x())?;
        call.pass_on()
    }));
    part(&x()).unwrap();
    let own = ["below whole", "  below part", "  below part"];
    assert_eq!(notes.taken(), [&["has it"], &own[..], &["below part"]].concat());
}

#[test]
fn a_mode_may_give_something_else_with_and_without_the_call() {
    let negated = Doing(|call: &mut Call<'_>| {
        call.pass_on()?;
        match call.results() {
            [Value::Tensor(result)] => {
                let result = aten::neg(result)?;
                call.give([result.into()])
            }
            _ => Ok(()),
        }
    });
    with(negated, || {
        let y = (&x() + &x()).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [-2.0, -4.0, -6.0, -8.0]);
        let mut z = x();
        z.add_(&x()).unwrap();
    });
    let never =
        Doing(|call: &mut Call<'_>| if is(call, "part") { call.give([Value::from(x())]) } else { call.pass_on() });
    with(never, || {
        let meta = dispatch_runtime::Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
        assert_eq!(part(&meta).unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    });
}

#[test]
fn a_mode_may_change_arguments_and_the_call_goes_where_the_new_ones_belong() {
    let notes = Notes::default();
    let inside = notes.clone();
    let _on = enter(Doing(move |call: &mut Call<'_>| {
        if is(call, "part") {
            call.arguments_mut()[0] = x().into();
            inside.note(call.keys().device().unwrap().to_string());
        }
        call.pass_on()
    }));
    let meta = dispatch_runtime::Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
    assert_eq!(part(&meta).unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(notes.taken(), ["meta"]);
}

#[test]
fn what_is_written_in_place_stays_the_same_tensor() {
    let notes = Notes::default();
    let _on = enter(Noting("", notes.clone()));
    let mut y = x();
    let same = y.clone();
    y.mul_(&x()).unwrap();
    assert!(y.same(&same));
    assert_eq!(same.to_vec::<f64>().unwrap(), [1.0, 4.0, 9.0, 16.0]);
    assert_eq!(notes.outer()[0], "mul_");
}

#[test]
fn an_error_of_a_mode_is_that_of_the_call_and_all_goes_on_after_it() {
    let notes = Notes::default();
    let _below = enter(Noting("", notes.clone()));
    let refusing = enter(Doing(
        |call: &mut Call<'_>| {
            if is(call, "part") { Err(Error::kernel("not today")) } else { call.pass_on() }
        },
    ));
    assert!(whole(&x()).unwrap_err().to_string().contains("not today"));
    nothing().unwrap();
    assert_eq!(notes.taken(), ["whole", "nothing"]);
    drop(refusing);
    whole(&x()).unwrap();
    assert_eq!(notes.taken(), ["whole", "  part", "  part"]);
}

#[test]
fn a_mode_may_recover_from_an_error_of_the_call() {
    let _on = enter(Doing(|call: &mut Call<'_>| match call.pass_on() {
        Err(_) => call.give([x().into()]),
        fine => fine,
    }));
    let meta = dispatch_runtime::Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
    assert_eq!(part(&meta).unwrap().sizes(), [2, 2]);
    assert_eq!(part(&x()).unwrap().sizes(), [2, 2]);
}

#[test]
fn a_mode_that_does_it_wrong_is_told_so() {
    let cause = |error: Error| {
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<ModeError>());
        source.unwrap_or_else(|| panic!("{error}")).clone()
    };
    let operator = || part::operator().name().to_string();
    let fails = |mode: fn(&mut Call<'_>) -> Result<()>| cause(with(Doing(mode), || part(&x())).unwrap_err());
    assert_eq!(fails(|_| Ok(())), ModeError::NoResults { operator: operator() });
    assert_eq!(
        fails(|call| call.pass_on().and_then(|()| call.pass_on())),
        ModeError::PassedOnAgain { operator: operator() }
    );
    assert_eq!(fails(|call| call.give([])), ModeError::WrongCount { operator: operator(), expected: 1, found: 0 });
}

#[test]
fn a_panic_leaves_the_modes_as_they_were() {
    let notes = Notes::default();
    let _below = enter(Noting("below ", notes.clone()));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _on = enter(Doing(|call: &mut Call<'_>| if is(call, "part") { panic!("inside") } else { call.pass_on() }));
        whole(&x())
    }));
    assert!(caught.is_err());
    notes.taken();
    whole(&x()).unwrap();
    assert_eq!(notes.taken(), ["below whole", "  below part", "  below part"]);
}

#[test]
fn a_mode_that_a_mode_enters_for_its_own_calls_is_over_with_them() {
    let notes = Notes::default();
    let inside = notes.clone();
    let _on = enter(Doing(move |call: &mut Call<'_>| {
        if is(call, "part") {
            with(Noting("own ", inside.clone()), || whole(&x()))?;
        }
        call.pass_on()
    }));
    part(&x()).unwrap();
    assert_eq!(notes.taken(), ["own whole", "  own part", "  own part"]);
    nothing().unwrap();
    assert!(notes.taken().is_empty());
}

#[test]
fn modes_travel_with_spawned_threads_and_end_for_them_too() {
    let notes = Notes::default();
    let outer = enter(Noting("outer ", notes.clone()));
    let inner = enter(Noting("inner ", notes.clone()));
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let (done, waiting) = std::sync::mpsc::channel();
    let thread = guard::spawn(move || {
        part(&x()).unwrap();
        done.send(()).unwrap();
        gone.recv().unwrap();
        part(&x()).unwrap();
    });
    waiting.recv().unwrap();
    assert_eq!(notes.taken(), ["inner part", "outer part"]);
    drop(inner);
    go.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!(notes.taken(), ["outer part"]);
    std::thread::spawn(|| part(&x()).unwrap()).join().unwrap();
    assert!(notes.taken().is_empty(), "a plain thread takes nothing along");
    drop(outer);
}

#[test]
fn the_modes_of_a_backward_are_those_where_it_is_called() {
    let (forward, backward) = (Notes::default(), Notes::default());
    let w = x().requires_grad_(true).unwrap();
    let loss = with(Noting("", forward.clone()), || w.mm(&w).unwrap().sum().unwrap());
    assert_eq!(forward.outer(), ["mm", "sum"]);
    with(Noting("", backward.clone()), || loss.backward().unwrap());
    assert!(forward.taken().is_empty());
    assert_eq!(backward.outer().iter().filter(|name| *name == "mm").count(), 2);
    assert_eq!(w.grad().unwrap().to_vec::<f64>().unwrap(), [7.0, 11.0, 9.0, 13.0]);
}

#[test]
fn a_checkpointed_forward_is_seen_again_by_the_modes_of_the_backward() {
    let notes = Notes::default();
    let w = x().requires_grad_(true).unwrap();
    let out = checkpoint(|inputs| Ok(vec![inputs[0].exp()?]), &[&w]).unwrap();
    let loss = out[0].sum().unwrap();
    with(Noting("", notes.clone()), || loss.backward().unwrap());
    assert_eq!(notes.outer().iter().filter(|name| *name == "exp").count(), 1);
}

#[test]
fn outside_of_a_transform_a_mode_sees_what_it_makes_of_the_calls_and_the_way_back() {
    let notes = Notes::default();
    let x = Tensor::from(3.0);
    let gradient = with(Noting("", notes.clone()), || grad(|x| x.exp()?.sin(), &x).unwrap());
    let expected = 3.0_f64.exp() * 3.0_f64.exp().cos();
    assert!((gradient.item::<f64>().unwrap() - expected).abs() < 1e-9);
    let outer = notes.outer();
    let count = |name: &str| outer.iter().filter(|note| *note == name).count();
    assert_eq!((count("exp"), count("sin"), count("cos")), (1, 1, 1), "{outer:?}");
    assert!(count("mul") >= 2, "{outer:?}");
}

#[test]
fn inside_of_a_transform_a_mode_sees_the_calls_of_the_function_and_its_tensors_once() {
    let (outside, inside) = (Notes::default(), Notes::default());
    let _out = enter(Noting("", outside.clone()));
    let x = Tensor::from(3.0);
    let f = |x: &Tensor| {
        let _in = enter(Noting("", inside.clone()));
        whole(&x.exp()?)
    };
    let before = x.exp().unwrap().item::<f64>().unwrap();
    outside.taken();
    // `part` has no gradient formula, so the test compares the value and not the gradient.
    let value = dispatch_autograd::functional::vjp(|inputs| Ok(vec![f(&inputs[0])?]), &[&x]).unwrap().0;
    assert_eq!(inside.taken(), ["exp", "whole", "  part", "  part"]);
    let seen = outside.outer();
    assert_eq!(seen.iter().filter(|name| ["exp", "part"].contains(&&***name)).count(), 3, "{seen:?}");
    assert!(!seen.contains(&"whole".to_owned()), "the transform takes composites apart: {seen:?}");
    assert!((value[0].item::<f64>().unwrap() - before).abs() < 1e-12);
}

#[test]
fn nested_transforms_show_each_mode_the_calls_of_its_own_level() {
    let [outer, middle, inner] = [(); 3].map(|()| Notes::default());
    let x = Tensor::from(2.0);
    let _outer = enter(Noting("", outer.clone()));
    let second = grad(
        |x| {
            let _middle = enter(Noting("", middle.clone()));
            grad(
                |x| {
                    let _inner = enter(Noting("", inner.clone()));
                    (x * &(x * x)?)?.sum()
                },
                x,
            )
        },
        &x,
    );
    assert_eq!(second.unwrap().to_vec::<f64>().unwrap(), [12.0]);
    assert_eq!(inner.outer(), ["mul", "mul", "sum"]);
    let muls = |notes: &Notes| notes.outer().iter().filter(|name| *name == "mul").count();
    let (middle, outer) = (muls(&middle), muls(&outer));
    assert!(2 < middle && middle < outer, "each level adds its way back: {middle}, {outer}");
}

#[test]
fn a_transform_that_a_mode_uses_for_a_call_does_not_come_back_to_it() {
    let notes = Notes::default();
    let inside = notes.clone();
    let slope = Doing(move |call: &mut Call<'_>| {
        inside.note(call.operator().name().base);
        match call.arguments() {
            [Value::Tensor(x)] if is(call, "sin") => {
                let slope = grad(Tensor::sin, x)?;
                call.give([slope.into()])
            }
            _ => call.pass_on(),
        }
    });
    let y = with(slope, || Tensor::from(0.0).sin().unwrap());
    assert_eq!((y.item::<f64>().unwrap(), notes.taken()[0].as_str()), (1.0, "sin"));
}

#[test]
fn casts_of_autocast_are_inside_of_the_call_that_was_made() {
    let notes = Notes::default();
    let x = Tensor::from([[1.0_f32]]);
    let _low = autocast::enable(Device::CPU, DType::BF16).unwrap();
    with(Noting("", notes.clone()), || x.mm(&x).unwrap());
    let taken = notes.taken();
    assert_eq!((taken[0].as_str(), taken.last().unwrap().as_str()), ("mm", "  mm"), "{taken:?}");
    assert!(taken.len() > 2, "{taken:?}");
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn calls_are_printed_with_arguments_keys_and_kernel() {
    let text = Shared::default();
    with(Print::to(text.clone()), || whole(&Tensor::from([1.0_f32])).unwrap());
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let tensor = "(Tensor(float32 [1] on cpu))  {CPU, BackendSelect, ADInplaceOrView, AutogradCPU}  ";
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with(&format!("modes::whole{tensor}CompositeImplicitAutograd `whole` (")), "{text}");
    assert!(lines[1].starts_with(&format!("  modes::part{tensor}CPU `part_cpu` (")), "{text}");
    assert!(lines[1].contains("tests/modes/calls.rs:"), "{text}");
}

#[test]
fn a_trace_that_cannot_be_written_fails_the_call() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = with(Print::to(Full), || part(&x())).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
}
