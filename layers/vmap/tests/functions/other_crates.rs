//! Tests of operators, layers and kernels of other crates.

use std::cell::Cell;
use std::process::Command;

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Registrar, guard};
use dispatch_vmap::{Batch, Mapped, VmapError, op_vmap, vmap};

use crate::{assert_close, check_against_loop, varied_tensor, vmap_error};

thread_local! {
    static KERNEL_CALL_COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Returns how often the kernel runs during a function.
fn count_kernel_calls(f: impl FnOnce()) -> usize {
    let before = KERNEL_CALL_COUNT.get();
    f();
    KERNEL_CALL_COUNT.get() - before
}

/// Subtracts the last element from the first, along the last dimension.
#[op_def("difference(Tensor self) -> Tensor")]
pub fn difference(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference, CPU)]
fn difference_cpu(this: &Tensor) -> Result<Tensor> {
    KERNEL_CALL_COUNT.set(KERNEL_CALL_COUNT.get() + 1);
    this.select(-1, 0)? - this.select(-1, -1)?
}

/// Computes `difference`, with a batch rule.
#[op_def("difference_with_rule(Tensor self) -> Tensor")]
pub fn difference_with_rule(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference_with_rule, CPU)]
fn difference_with_rule_cpu(this: &Tensor) -> Result<Tensor> {
    difference_cpu(this)
}

#[op_vmap(difference_with_rule)]
fn difference_with_rule_vmap(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::from_batch_first(difference_with_rule(&this.batch_first()?)?))
}

/// Computes `difference`, with a batch rule that covers only matrices.
#[op_def("difference_with_matrix_rule(Tensor self) -> Tensor")]
pub fn difference_with_matrix_rule(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference_with_matrix_rule, CPU)]
fn difference_with_matrix_rule_cpu(this: &Tensor) -> Result<Tensor> {
    difference_cpu(this)
}

#[op_vmap(difference_with_matrix_rule)]
fn difference_with_matrix_rule_vmap(_: &Batch, this: Mapped) -> Result<Option<Mapped>> {
    if this.slice_rank() != 2 {
        return Ok(None);
    }
    Ok(Some(Mapped::from_batch_first(difference_with_matrix_rule(&this.batch_first()?)?)))
}

/// Doubles each element. It has a shape word and no batch rule.
#[op_def("doubled(Tensor self) -> Tensor", shape = pointwise, inplace)]
pub fn doubled(this: &Tensor) -> Result<Tensor>;

#[op_impl(doubled, CPU)]
fn doubled_cpu(this: &Tensor) -> Result<Tensor> {
    KERNEL_CALL_COUNT.set(KERNEL_CALL_COUNT.get() + 1);
    this + this
}

/// Computes `difference` for each row, with a kernel that calls `vmap`.
#[op_def("difference_by_vmap(Tensor self) -> Tensor")]
pub fn difference_by_vmap(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference_by_vmap, CPU)]
fn difference_by_vmap_cpu(this: &Tensor) -> Result<Tensor> {
    vmap(difference, this)
}

/// Computes `difference` of the doubled tensor, as a composite.
#[op_def("difference_of_doubled(Tensor self) -> Tensor")]
pub fn difference_of_doubled(this: &Tensor) -> Result<Tensor> {
    difference_with_rule(&doubled(this)?)
}

/// Computes `difference` of the doubled tensor, as a composite with a batch rule, which takes precedence over the decomposition.
#[op_def("difference_of_doubled_with_rule(Tensor self) -> Tensor")]
pub fn difference_of_doubled_with_rule(this: &Tensor) -> Result<Tensor> {
    difference_with_rule(&doubled(this)?)
}

#[op_vmap(difference_of_doubled_with_rule)]
fn difference_of_doubled_with_rule_vmap(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::from_batch_first((difference_with_rule_cpu(&this.batch_first()?)? * 2.0)?))
}

/// Returns the first element of a tensor, and a list of the last elements of others.
#[op_def("first_and_last_elements(Tensor self, Tensor[] others) -> (Tensor first, Tensor[] lasts)")]
pub fn first_and_last_elements(this: &Tensor, others: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)>;

#[op_impl(first_and_last_elements, CPU)]
fn first_and_last_elements_cpu(this: &Tensor, others: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
    let lasts = others.iter().map(|other| aten::clone(&other.select(0, -1)?, None));
    Ok((aten::clone(&this.select(0, 0)?, None)?, lasts.collect::<Result<_>>()?))
}

/// Computes `difference` of two tensors. The result of a missing argument is missing too.
#[op_def("two_differences(Tensor self, Tensor? other=None) -> (Tensor, Tensor?)")]
pub fn two_differences(this: &Tensor, other: Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)>;

#[op_impl(two_differences, CPU)]
fn two_differences_cpu(this: &Tensor, other: Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)> {
    Ok((difference_cpu(this)?, other.map(difference_cpu).transpose()?))
}

/// Computes `difference`, with a batch rule that returns a tensor without the batch dimension, which is an error.
#[op_def("difference_with_wrong_rule(Tensor self) -> Tensor")]
pub fn difference_with_wrong_rule(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference_with_wrong_rule, CPU)]
fn difference_with_wrong_rule_cpu(this: &Tensor) -> Result<Tensor> {
    difference_cpu(this)
}

#[op_vmap(difference_with_wrong_rule)]
fn difference_with_wrong_rule_vmap(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::from_batch_first(this.batch_first()?.sum()?))
}

/// Returns the first size of a tensor. It returns no tensor, so it cannot be batched.
#[op_def("size_of_first_dim(Tensor self) -> int")]
pub fn size_of_first_dim(this: &Tensor) -> Result<i64>;

#[op_impl(size_of_first_dim, CPU)]
fn size_of_first_dim_cpu(this: &Tensor) -> i64 {
    this.sizes()[0]
}

/// Returns a view of all elements but the first along dimension 0. Only the schema declares it as a view.
#[op_def("skip_first_element(Tensor(a) self) -> Tensor(a)")]
pub fn skip_first_element(this: &Tensor) -> Result<Tensor>;

#[op_impl(skip_first_element, CompositeExplicitAutograd)]
fn skip_first_element_composite_explicit(this: &Tensor) -> Result<Tensor> {
    this.narrow(0, 1, this.sizes()[0] - 1)
}

/// Computes `difference`, with a boxed kernel.
#[op_def("boxed_difference(Tensor self) -> Tensor")]
pub fn boxed_difference(this: &Tensor) -> Result<Tensor>;

#[op_impl(boxed_difference, CPU, boxed)]
fn boxed_difference_cpu(_: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    let this = stack.pop().unwrap().as_tensor().unwrap().clone();
    stack.push(difference_cpu(&this)?);
    Ok(())
}

#[test]
fn a_user_operator_without_a_rule_is_called_for_each_slice() {
    let x = varied_tensor(&[4, 3]);
    assert_eq!(count_kernel_calls(|| drop(vmap(difference, &x).unwrap())), 4);
    check_against_loop([(&x, Some(0))], |x| difference(&x[0]));
}

#[test]
fn a_batch_rule_is_called_once_for_all_slices() {
    let x = varied_tensor(&[4, 3]);
    assert_eq!(count_kernel_calls(|| drop(vmap(difference_with_rule, &x).unwrap())), 1);
    check_against_loop([(&x, Some(0))], |x| difference_with_rule(&x[0]));
    check_against_loop([(&x, Some(1))], |x| difference_with_rule(&x[0]));
}

#[test]
fn a_batch_rule_is_called_once_for_nested_levels() {
    let x = varied_tensor(&[4, 3, 2]);
    assert_eq!(count_kernel_calls(|| drop(vmap(|x| vmap(difference_with_rule, x), &x).unwrap())), 1);
}

#[test]
fn a_rule_that_returns_none_falls_back_to_the_loop() {
    assert_eq!(count_kernel_calls(|| drop(vmap(difference_with_matrix_rule, varied_tensor(&[4, 3])).unwrap())), 4);
    assert_eq!(count_kernel_calls(|| drop(vmap(difference_with_matrix_rule, varied_tensor(&[4, 3, 2])).unwrap())), 1);
    check_against_loop([(&varied_tensor(&[4, 3]), Some(0))], |x| difference_with_matrix_rule(&x[0]));
}

#[test]
fn a_call_without_batched_tensors_is_made_once() {
    let (x, y) = (varied_tensor(&[4, 3]), varied_tensor(&[3]));
    assert_eq!(count_kernel_calls(|| drop(vmap(|x| x + &difference(&y)?, &x).unwrap())), 1);
}

#[test]
fn an_operator_with_a_shape_word_needs_no_rule() {
    let x = varied_tensor(&[4, 3]);
    assert_eq!(count_kernel_calls(|| drop(vmap(doubled, &x).unwrap())), 1);
    check_against_loop([(&x, Some(1))], |x| doubled(&x[0]));
    let written = varied_tensor(&[4, 3]);
    vmap(|x| doubled_(&mut x.clone()).map(|()| x.clone()), &written).unwrap();
    assert_close(&written, &doubled(&x).unwrap());
}

#[test]
fn a_composite_is_decomposed() {
    assert_eq!(count_kernel_calls(|| drop(vmap(difference_of_doubled, varied_tensor(&[4, 3])).unwrap())), 2);
    check_against_loop([(&varied_tensor(&[4, 3]), Some(0))], |x| difference_of_doubled(&x[0]));
}

#[test]
fn a_composite_with_a_rule_is_not_decomposed() {
    assert_eq!(count_kernel_calls(|| drop(vmap(difference_of_doubled_with_rule, varied_tensor(&[4, 3])).unwrap())), 1);
    check_against_loop([(&varied_tensor(&[4, 3]), Some(0))], |x| difference_of_doubled_with_rule(&x[0]));
}

#[test]
fn several_results_and_lists_are_stacked() {
    let (x, y) = (varied_tensor(&[4, 3]), varied_tensor(&[4, 2]));
    let (first, lasts) = vmap(|(x, y)| first_and_last_elements(x, &[y.clone(), x.clone()]), (&x, &y)).unwrap();
    assert_close(&first, &x.select(1, 0).unwrap());
    assert_close(&lasts[0], &y.select(1, -1).unwrap());
    assert_close(&lasts[1], &x.select(1, -1).unwrap());
}

#[test]
fn a_result_that_is_not_a_tensor_is_an_error() {
    let error = vmap(|x| x * size_of_first_dim(x)?, varied_tensor(&[4, 3])).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::NonTensorResult { .. }), "{error}");
    assert!(error.to_string().contains("size_of_first_dim"), "{error}");
}

#[test]
fn a_user_view_operator_makes_views_of_the_batch() {
    let x = varied_tensor(&[4, 3]);
    let found = vmap(skip_first_element, &x).unwrap();
    assert!(found.storage().same(x.storage()));
    assert_close(&found, &x.narrow(1, 1, 2).unwrap());
}

#[test]
fn a_boxed_kernel_gets_slices() {
    assert_eq!(count_kernel_calls(|| drop(vmap(boxed_difference, varied_tensor(&[4, 3])).unwrap())), 4);
    check_against_loop([(&varied_tensor(&[4, 3]), Some(0))], |x| boxed_difference(&x[0]));
}

#[test]
fn a_kernel_that_calls_vmap_is_called_for_each_slice() {
    assert_eq!(count_kernel_calls(|| drop(vmap(difference_by_vmap, varied_tensor(&[4, 2, 3])).unwrap())), 8);
    check_against_loop([(&varied_tensor(&[4, 2, 3]), Some(0))], |x| difference_by_vmap(&x[0]));
}

#[test]
fn a_kernel_that_replaces_a_composite_is_called_for_each_slice() {
    let lab = Registrar::new("others");
    let operator = lab.define("late_difference(Tensor self) -> Tensor").unwrap().operator().unwrap();
    let late_difference = |x: &Tensor| Ok(operator.call([x.into()])?.remove(0).as_tensor().unwrap().clone());
    let register_kernel = |key, difference: fn(&Tensor) -> Result<Tensor>| {
        lab.kernel("late_difference", key, move |_, _, stack| {
            let Some(Value::Tensor(this)) = stack.pop() else { return Err("no tensor".into()) };
            stack.push(difference(&this)?);
            Ok(())
        })
    };
    let x = varied_tensor(&[4, 3]);
    for _ in 0..2 {
        let composite = register_kernel(keys::CompositeImplicitAutograd, difference_with_rule).unwrap();
        assert_eq!(count_kernel_calls(|| drop(vmap(late_difference, &x).unwrap())), 1);
        composite.remove();
        let kernel = register_kernel(keys::CPU, difference_cpu).unwrap();
        assert_eq!(count_kernel_calls(|| drop(vmap(late_difference, &x).unwrap())), 4);
        kernel.remove();
    }
}

#[test]
fn a_boxed_call_is_mapped() {
    check_against_loop([(&varied_tensor(&[4, 3]), Some(0))], |x| {
        Ok(difference_with_rule::operator().call(vec![x[0].clone().into()])?.remove(0).as_tensor().unwrap().clone())
    });
}

/// A layer above all others, which sees the calls of the function.
#[dispatch_key(layer, above = Everything)]
static CallWatch: Key;

thread_local! {
    static SEEN_OPERATORS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[op_fallback(CallWatch)]
fn watch_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    SEEN_OPERATORS.with_borrow_mut(|seen| seen.push(operator.name().base.to_string()));
    operator.redispatch_boxed(keys.below(CallWatch), stack)
}

#[test]
fn a_layer_above_vmap_sees_the_call_of_the_function_first() {
    let x = varied_tensor(&[4, 3]);
    let _watching = guard::include(CallWatch.into());
    vmap(difference_with_rule, &x).unwrap();
    assert_eq!(
        SEEN_OPERATORS.with_borrow(|seen| seen.iter().find(|name| name.contains("difference")).cloned()).unwrap(),
        "difference_with_rule"
    );
}

#[test]
fn the_loop_warning_is_printed_once_for_each_operator() {
    if std::env::var_os("LOOPS").is_some() {
        for _ in 0..3 {
            vmap(difference, varied_tensor(&[4, 3])).unwrap();
            vmap(boxed_difference, varied_tensor(&[4, 3])).unwrap();
            vmap(difference_with_rule, varied_tensor(&[4, 3])).unwrap();
        }
        return;
    }
    let this = std::env::current_exe().unwrap();
    let test = "other_crates::the_loop_warning_is_printed_once_for_each_operator";
    let output = Command::new(this).args([test, "--exact", "--nocapture"]).env("LOOPS", "1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let told: Vec<&str> = told.lines().filter(|line| line.contains("once for each slice")).collect();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].contains("::difference`") && told[1].contains("::boxed_difference`"), "{told:#?}");
}

#[test]
fn an_optional_result_is_present_for_all_slices_or_for_none() {
    let (x, y) = (varied_tensor(&[4, 3]), varied_tensor(&[4, 2]));
    check_against_loop([(&x, Some(0)), (&y, Some(0))], |x| Ok(two_differences(&x[0], Some(&x[1]))?.1.unwrap()));
    let alone = |x: &Tensor| two_differences(x, None).map(|(difference, other)| (difference, Vec::from_iter(other)));
    assert!(vmap(alone, &x).unwrap().1.is_empty());
}

#[test]
fn a_rule_that_returns_a_wrong_batch_dimension_is_an_error() {
    let error = vmap(difference_with_wrong_rule, varied_tensor(&[4, 3])).unwrap_err();
    assert!(
        matches!(vmap_error(&error), VmapError::WrongRuleBatchDim { dim: 0, expected: 4, sizes, .. } if sizes.is_empty()),
        "{error}"
    );
    assert!(error.to_string().contains("difference_with_wrong_rule"), "{error}");
}
