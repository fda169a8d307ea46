//! Tests of operators over lists: the calls for the elements give the results of a loop, on any threads and in any order.

use std::cell::Cell;
use std::thread;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, Plan, Spec, TaskRunner, task_runner};
use proptest::collection::vec;
use proptest::prelude::*;

/// Copies the results of kernels that do not write in place.
#[op_def("assign_(Tensor(a!) self, Tensor src) -> Tensor(a!)", operator = Assign)]
fn assign_(this: &mut Tensor, src: &Tensor) -> Result<()>;

#[op_impl(assign_, CPU)]
fn assign_cpu(this: &mut Tensor, src: &Tensor) -> Result<()> {
    this.write::<i64>()?.copy_from_slice(&src.to_vec::<i64>()?);
    Ok(())
}

/// Adds `factor * sum(other)` to each element.
#[op_def("add_sum(Tensor self, Tensor other, int factor) -> Tensor", plan, inplace, out = "out")]
fn add_sum(this: &Tensor, other: &Tensor, factor: i64) -> Result<Tensor>;

#[op_plan(add_sum)]
fn add_sum_plan(this: &Tensor, _other: &Tensor, factor: i64) -> Result<Plan<i64>> {
    Ok(Plan::new(factor, [Spec::contiguous(this.dtype(), this.sizes())]))
}

#[op_impl(add_sum, CPU)]
fn add_sum_cpu(plan: &i64, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    let sum = other.to_vec::<i64>()?.into_iter().fold(0, i64::wrapping_add).wrapping_mul(*plan);
    let sums = this.to_vec::<i64>()?.into_iter().map(|element| element.wrapping_add(sum));
    out.write::<i64>()?.iter_mut().zip(sums).for_each(|(place, sum)| *place = sum);
    Ok(())
}

#[op_def("add_sums(Tensor[] self, Tensor[] others, int[] factors) -> Tensor[]", each = add_sum(this, others, factors), inplace, out = "out")]
fn add_sums(this: &[Tensor], others: &[Tensor], factors: &[i64]) -> Result<Vec<Tensor>>;

#[op_def("add_same_sum(Tensor[] self, Tensor other, int factor) -> Tensor[]", each = add_sum(this, other, factor), inplace)]
fn add_same_sum(this: &[Tensor], other: &Tensor, factor: i64) -> Result<Vec<Tensor>>;

thread_local! {
    static TASK_COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Runs the last task first, each on a thread of its own, so that a call which depends on another one gives another result.
struct LastTaskFirst;

impl TaskRunner for LastTaskFirst {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        TASK_COUNT.set(TASK_COUNT.get() + count);
        for index in (0..count).rev() {
            thread::scope(|scope| scope.spawn(|| task(index)).join()).expect("the task does not panic");
        }
    }
}

task_runner!(keys::CPU, LastTaskFirst);

const STORAGE_COUNT: usize = 10;
const STORAGE_LENGTH: usize = 2 * PART_LENGTH;
/// Two parts have enough elements for two tasks.
const PART_LENGTH: usize = 40_000;
const MAX_LIST_LENGTH: usize = 5;

/// A part of one of the storages: the index of the storage, and the part's first element.
type Part = (usize, usize);

fn new_storages() -> Vec<Tensor> {
    let numbers = |storage| (0..).step_by(storage + 3).take(STORAGE_LENGTH).collect::<Vec<i64>>();
    (0..STORAGE_COUNT).map(|storage| Tensor::from(numbers(storage))).collect()
}

fn views(storages: &[Tensor], parts: &[Part]) -> Vec<Tensor> {
    let view = |&(storage, start): &Part| {
        let [length, start] = [PART_LENGTH, start].map(|number| i64::try_from(number).unwrap());
        storages[storage].restride(Geometry::contiguous(&[length]).with_offset(start)).unwrap()
    };
    parts.iter().map(view).collect()
}

fn contents(tensors: &[Tensor]) -> Vec<Vec<i64>> {
    tensors.iter().map(|tensor| tensor.to_vec().unwrap()).collect()
}

/// Three lists of parts, and a factor for each element.
fn lists() -> impl Strategy<Value = ([Vec<Part>; 3], Vec<i64>)> {
    (2..=MAX_LIST_LENGTH).prop_flat_map(|count| {
        let start = prop_oneof![8 => Just(0), 8 => Just(PART_LENGTH), 1 => Just(PART_LENGTH / 2)];
        let parts = vec((0..STORAGE_COUNT, start), count);
        ([parts.clone(), parts.clone(), parts], vec(any::<i64>(), count))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calls_for_elements_that_share_memory_give_the_results_of_a_loop((parts, factors) in lists(), form in 0..4) {
        let (storages, of_loop) = (new_storages(), new_storages());
        let [mut this, others, mut outs] = parts.map(|list| [views(&storages, &list), views(&of_loop, &list)]);
        let mut each = |call: &mut dyn FnMut(&mut Tensor, &Tensor, i64, &mut Tensor) -> Result<()>| {
            let mut elements = this[1].iter_mut().zip(&others[1]).zip(&factors).zip(&mut outs[1]);
            elements.try_for_each(|(((this, other), factor), out)| call(this, other, *factor, out))
        };
        let (result, loop_result) = match form {
            0 => {
                let mut results = Vec::new();
                let loop_result = each(&mut |this, other, factor, _| {
                    results.push(add_sum(this, other, factor)?);
                    Ok(())
                });
                let result = add_sums(&this[0], &others[0], &factors);
                (result.map(|tensors| assert_eq!(contents(&tensors), contents(&results))), loop_result)
            }
            1 => {
                let loop_result = each(&mut |this, other, factor, _| add_sum_(this, other, factor));
                (add_sums_(&mut this[0], &others[0], &factors), loop_result)
            }
            2 => {
                let loop_result = each(&mut |this, other, factor, out| add_sum_out(this, other, factor, out));
                (add_sums_out(&this[0], &others[0], &factors, &mut outs[0]), loop_result)
            }
            _ => {
                let loop_result = each(&mut |this, _, _, _| add_sum_(this, &others[1][0], 3));
                (add_same_sum_(&mut this[0], &others[0][0], 3), loop_result)
            }
        };
        // Outputs that share a part of an input are refused.
        prop_assert_eq!(result.is_ok(), loop_result.is_ok());
        prop_assert!(result.is_err() || contents(&storages) == contents(&of_loop));
    }
}

#[test]
fn calls_for_large_independent_elements_are_tasks() {
    let mut storages = new_storages();
    let others = vec![storages[0].clone(); STORAGE_COUNT - 1];
    let factors = vec![2; STORAGE_COUNT - 1];
    add_sums_(&mut storages[1..], &others, &factors).unwrap();
    assert_eq!(TASK_COUNT.take(), STORAGE_COUNT - 1);
    add_sums_(&mut storages[..STORAGE_COUNT - 1], &others, &factors).unwrap();
    assert_eq!(TASK_COUNT.take(), 0, "the first call writes what the others read");
}
