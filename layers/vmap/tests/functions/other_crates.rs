//! Tests of operators, layers and kernels of other crates.

use std::cell::Cell;
use std::process::Command;

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Registrar, guard};
use dispatch_vmap::{Batch, Mapped, VmapError, op_vmap, vmap};

use crate::{assert_close, cause, check, numbers};

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Returns how often the kernel runs during a function.
fn calls(f: impl FnOnce()) -> usize {
    let before = CALLS.get();
    f();
    CALLS.get() - before
}

/// Subtracts the last element from the first, along the last dimension.
#[op_def("fall(Tensor self) -> Tensor")]
pub fn fall(this: &Tensor) -> Result<Tensor>;

#[op_impl(fall, CPU)]
fn fall_cpu(this: &Tensor) -> Result<Tensor> {
    CALLS.set(CALLS.get() + 1);
    this.select_int(-1, 0)? - this.select_int(-1, -1)?
}

/// Computes `fall`. It has a batch rule.
#[op_def("ruled_fall(Tensor self) -> Tensor")]
pub fn ruled_fall(this: &Tensor) -> Result<Tensor>;

#[op_impl(ruled_fall, CPU)]
fn ruled_fall_cpu(this: &Tensor) -> Result<Tensor> {
    fall_cpu(this)
}

#[op_vmap(ruled_fall)]
fn ruled_fall_of_all(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::in_front(ruled_fall(&this.front()?)?))
}

/// Computes `fall`. Its batch rule covers only matrices.
#[op_def("choosy_fall(Tensor self) -> Tensor")]
pub fn choosy_fall(this: &Tensor) -> Result<Tensor>;

#[op_impl(choosy_fall, CPU)]
fn choosy_fall_cpu(this: &Tensor) -> Result<Tensor> {
    fall_cpu(this)
}

#[op_vmap(choosy_fall)]
fn choosy_fall_of_matrices(_: &Batch, this: Mapped) -> Result<Option<Mapped>> {
    if this.rank() != 2 {
        return Ok(None);
    }
    Ok(Some(Mapped::in_front(choosy_fall(&this.front()?)?)))
}

/// Doubles each element. It has a shape word and no batch rule.
#[op_def("twice(Tensor self) -> Tensor", shape = pointwise, inplace)]
pub fn twice(this: &Tensor) -> Result<Tensor>;

#[op_impl(twice, CPU)]
fn twice_cpu(this: &Tensor) -> Result<Tensor> {
    CALLS.set(CALLS.get() + 1);
    this + this
}

/// Computes `fall` for each row. Its kernel calls `vmap`.
#[op_def("mapped_fall(Tensor self) -> Tensor")]
pub fn mapped_fall(this: &Tensor) -> Result<Tensor>;

#[op_impl(mapped_fall, CPU)]
fn mapped_fall_cpu(this: &Tensor) -> Result<Tensor> {
    vmap(fall, this)
}

/// Computes `fall` of the doubled tensor. It is a composite.
#[op_def("twice_fall(Tensor self) -> Tensor")]
pub fn twice_fall(this: &Tensor) -> Result<Tensor> {
    ruled_fall(&twice(this)?)
}

/// Computes `fall` of the doubled tensor. It is a composite with a batch rule, which takes precedence over the decomposition.
#[op_def("ruled_twice_fall(Tensor self) -> Tensor")]
pub fn ruled_twice_fall(this: &Tensor) -> Result<Tensor> {
    ruled_fall(&twice(this)?)
}

#[op_vmap(ruled_twice_fall)]
fn ruled_twice_fall_of_all(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::in_front((ruled_fall_cpu(&this.front()?)? * 2.0)?))
}

/// Returns the first element of a tensor, and a list of the last elements of others.
#[op_def("ends(Tensor self, Tensor[] others) -> (Tensor first, Tensor[] lasts)")]
pub fn ends(this: &Tensor, others: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)>;

#[op_impl(ends, CPU)]
fn ends_cpu(this: &Tensor, others: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
    let lasts = others.iter().map(|other| aten::clone(&other.select_int(0, -1)?, None));
    Ok((aten::clone(&this.select_int(0, 0)?, None)?, lasts.collect::<Result<_>>()?))
}

/// Computes `fall` of two tensors. The result of a missing argument is missing too.
#[op_def("both_fall(Tensor self, Tensor? other=None) -> (Tensor, Tensor?)")]
pub fn both_fall(this: &Tensor, other: Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)>;

#[op_impl(both_fall, CPU)]
fn both_fall_cpu(this: &Tensor, other: Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)> {
    Ok((fall_cpu(this)?, other.map(fall_cpu).transpose()?))
}

/// Computes `fall`. Its batch rule returns a tensor without the batch dimension, which is an error.
#[op_def("lost_fall(Tensor self) -> Tensor")]
pub fn lost_fall(this: &Tensor) -> Result<Tensor>;

#[op_impl(lost_fall, CPU)]
fn lost_fall_cpu(this: &Tensor) -> Result<Tensor> {
    fall_cpu(this)
}

#[op_vmap(lost_fall)]
fn lost_fall_of_all(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::in_front(this.front()?.sum()?))
}

/// Returns the first size. It returns no tensor, so it cannot be batched.
#[op_def("size_of_first(Tensor self) -> int")]
pub fn size_of_first(this: &Tensor) -> Result<i64>;

#[op_impl(size_of_first, CPU)]
fn size_of_first_cpu(this: &Tensor) -> i64 {
    this.sizes()[0]
}

/// Returns a view of all elements but the first along dimension 0. Only the schema declares it as a view.
#[op_def("from_second(Tensor(a) self) -> Tensor(a)")]
pub fn from_second(this: &Tensor) -> Result<Tensor>;

#[op_impl(from_second, CompositeExplicitAutograd)]
fn from_second_any(this: &Tensor) -> Result<Tensor> {
    this.narrow(0, 1, this.sizes()[0] - 1)
}

/// Computes `fall`. Its kernel is boxed.
#[op_def("boxed_fall(Tensor self) -> Tensor")]
pub fn boxed_fall(this: &Tensor) -> Result<Tensor>;

#[op_impl(boxed_fall, CPU, boxed)]
fn boxed_fall_cpu(_: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    let this = stack.pop().unwrap().as_tensor().unwrap().clone();
    stack.push(fall_cpu(&this)?);
    Ok(())
}

#[test]
fn an_operator_of_somebodys_own_is_called_for_each_slice() {
    let x = numbers(&[4, 3]);
    assert_eq!(calls(|| drop(vmap(fall, &x).unwrap())), 4);
    check([(&x, Some(0))], |x| fall(&x[0]));
}

#[test]
fn its_rule_is_called_once_for_all_slices() {
    let x = numbers(&[4, 3]);
    assert_eq!(calls(|| drop(vmap(ruled_fall, &x).unwrap())), 1);
    check([(&x, Some(0))], |x| ruled_fall(&x[0]));
    check([(&x, Some(1))], |x| ruled_fall(&x[0]));
}

#[test]
fn its_rule_is_called_for_all_levels_at_once() {
    let x = numbers(&[4, 3, 2]);
    assert_eq!(calls(|| drop(vmap(|x| vmap(ruled_fall, x), &x).unwrap())), 1);
}

#[test]
fn a_rule_that_gives_nothing_leaves_the_call_to_the_loop() {
    assert_eq!(calls(|| drop(vmap(choosy_fall, &numbers(&[4, 3])).unwrap())), 4);
    assert_eq!(calls(|| drop(vmap(choosy_fall, &numbers(&[4, 3, 2])).unwrap())), 1);
    check([(&numbers(&[4, 3]), Some(0))], |x| choosy_fall(&x[0]));
}

#[test]
fn a_call_without_batched_tensors_is_made_once() {
    let (x, y) = (numbers(&[4, 3]), numbers(&[3]));
    assert_eq!(calls(|| drop(vmap(|x| x + &fall(&y)?, &x).unwrap())), 1);
}

#[test]
fn a_shape_word_is_rule_enough() {
    let x = numbers(&[4, 3]);
    assert_eq!(calls(|| drop(vmap(twice, &x).unwrap())), 1);
    check([(&x, Some(1))], |x| twice(&x[0]));
    let written = numbers(&[4, 3]);
    vmap(|x| twice_(&mut x.clone()).map(|()| x.clone()), &written).unwrap();
    assert_close(&written, &twice(&x).unwrap());
}

#[test]
fn a_composite_comes_apart() {
    assert_eq!(calls(|| drop(vmap(twice_fall, &numbers(&[4, 3])).unwrap())), 2);
    check([(&numbers(&[4, 3]), Some(0))], |x| twice_fall(&x[0]));
}

#[test]
fn a_composite_with_a_rule_does_not_come_apart() {
    assert_eq!(calls(|| drop(vmap(ruled_twice_fall, &numbers(&[4, 3])).unwrap())), 1);
    check([(&numbers(&[4, 3]), Some(0))], |x| ruled_twice_fall(&x[0]));
}

#[test]
fn several_results_and_lists_are_stacked() {
    let (x, y) = (numbers(&[4, 3]), numbers(&[4, 2]));
    let (first, lasts) = vmap(|(x, y)| ends(x, &[y.clone(), x.clone()]), (&x, &y)).unwrap();
    assert_close(&first, &x.select_int(1, 0).unwrap());
    assert_close(&lasts[0], &y.select_int(1, -1).unwrap());
    assert_close(&lasts[1], &x.select_int(1, -1).unwrap());
}

#[test]
fn what_is_no_tensor_cannot_differ_from_slice_to_slice() {
    let error = vmap(|x| x * size_of_first(x)?, &numbers(&[4, 3])).unwrap_err();
    assert!(matches!(cause(&error), VmapError::NotATensor { .. }), "{error}");
    assert!(error.to_string().contains("size_of_first"), "{error}");
}

#[test]
fn a_view_of_somebodys_own_is_a_view_of_all() {
    let x = numbers(&[4, 3]);
    let found = vmap(from_second, &x).unwrap();
    assert!(found.storage().same(x.storage()));
    assert_close(&found, &x.narrow(1, 1, 2).unwrap());
}

#[test]
fn a_boxed_kernel_gets_slices() {
    assert_eq!(calls(|| drop(vmap(boxed_fall, &numbers(&[4, 3])).unwrap())), 4);
    check([(&numbers(&[4, 3]), Some(0))], |x| boxed_fall(&x[0]));
}

#[test]
fn a_kernel_that_maps_is_called_for_each_slice() {
    assert_eq!(calls(|| drop(vmap(mapped_fall, &numbers(&[4, 2, 3])).unwrap())), 8);
    check([(&numbers(&[4, 2, 3]), Some(0))], |x| mapped_fall(&x[0]));
}

#[test]
fn a_kernel_that_takes_the_place_of_a_composite_is_called_for_each_slice() {
    let lab = Registrar::new("others");
    let operator = lab.define("late_fall(Tensor self) -> Tensor").unwrap().operator().unwrap();
    let late_fall = |x: &Tensor| Ok(operator.call([x.into()])?.remove(0).as_tensor().unwrap().clone());
    let fallen = |key, fall: fn(&Tensor) -> Result<Tensor>| {
        lab.kernel("late_fall", key, move |_, _, stack| {
            let Some(Value::Tensor(this)) = stack.pop() else { return Err("no tensor".into()) };
            stack.push(fall(&this)?);
            Ok(())
        })
    };
    let x = numbers(&[4, 3]);
    for _ in 0..2 {
        let composite = fallen(keys::CompositeImplicitAutograd, ruled_fall).unwrap();
        assert_eq!(calls(|| drop(vmap(late_fall, &x).unwrap())), 1);
        composite.remove();
        let kernel = fallen(keys::CPU, fall_cpu).unwrap();
        assert_eq!(calls(|| drop(vmap(late_fall, &x).unwrap())), 4);
        kernel.remove();
    }
}

#[test]
fn a_boxed_call_is_a_call() {
    check([(&numbers(&[4, 3]), Some(0))], |x| {
        Ok(ruled_fall::operator().call(vec![x[0].clone().into()])?.remove(0).as_tensor().unwrap().clone())
    });
}

/// A layer above all others, which sees the calls of the function.
#[dispatch_key(layer, above = Everything)]
static Watch: Key;

thread_local! {
    static SEEN: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[op_fallback(Watch)]
fn watch(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    SEEN.with_borrow_mut(|seen| seen.push(operator.name().base.to_string()));
    operator.redispatch_boxed(keys.below(Watch), stack)
}

#[test]
fn a_boxed_fallback_above_sees_the_call_of_the_function_first() {
    let x = numbers(&[4, 3]);
    let _watching = guard::include(Watch.into());
    vmap(ruled_fall, &x).unwrap();
    assert_eq!(SEEN.with_borrow(|seen| seen.iter().find(|name| name.contains("fall")).cloned()).unwrap(), "ruled_fall");
}

#[test]
fn a_loop_is_told_of_once_for_each_operator() {
    if std::env::var_os("LOOPS").is_some() {
        for _ in 0..3 {
            vmap(fall, &numbers(&[4, 3])).unwrap();
            vmap(boxed_fall, &numbers(&[4, 3])).unwrap();
            vmap(ruled_fall, &numbers(&[4, 3])).unwrap();
        }
        return;
    }
    let this = std::env::current_exe().unwrap();
    let test = "other_crates::a_loop_is_told_of_once_for_each_operator";
    let output = Command::new(this).args([test, "--exact", "--nocapture"]).env("LOOPS", "1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let told: Vec<&str> = told.lines().filter(|line| line.contains("once for each slice")).collect();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].contains("::fall`") && told[1].contains("::boxed_fall`"), "{told:#?}");
}

#[test]
fn an_optional_result_is_there_for_all_slices_or_for_none() {
    let (x, y) = (numbers(&[4, 3]), numbers(&[4, 2]));
    check([(&x, Some(0)), (&y, Some(0))], |x| Ok(both_fall(&x[0], Some(&x[1]))?.1.unwrap()));
    let alone = |x: &Tensor| both_fall(x, None).map(|(fall, other)| (fall, Vec::from_iter(other)));
    assert!(vmap(alone, &x).unwrap().1.is_empty());
}

#[test]
fn a_rule_that_loses_the_batch_is_told_so() {
    let error = vmap(lost_fall, &numbers(&[4, 3])).unwrap_err();
    assert!(matches!(cause(&error), VmapError::Rule { dim: 0, expected: 4, sizes, .. } if sizes.is_empty()), "{error}");
    assert!(error.to_string().contains("lost_fall"), "{error}");
}
