//! Tests of backward passes in several threads at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aten::prelude::*;
use dispatch_autograd::{Differentiable, checkpoint, grad};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Generator, guard};
use kernels_cpu as _;
use rayon::prelude::*;

fn leaf_weights() -> [Tensor; 2] {
    [[0.5, -0.25], [2.0, 1.0]].map(|row| Tensor::from(row).requires_grad_(true).unwrap())
}

fn loss(weights: &[Tensor; 2], input: f64) -> Tensor {
    let hidden = (&weights[0] * input).unwrap().relu().unwrap();
    (&hidden * &weights[1]).unwrap().sum().unwrap()
}

fn accumulated_gradients(weights: &[Tensor; 2]) -> Vec<f64> {
    weights.iter().flat_map(|weight| weight.grad().unwrap().to_vec::<f64>().unwrap()).collect()
}

/// Returns small integers, whose sums are exact in any order.
fn integer_inputs() -> Vec<f64> {
    (0..400).map(|i| f64::from(i % 7 - 3)).collect()
}

fn gradients_in_one_thread(inputs: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let weights = leaf_weights();
    for input in inputs {
        loss(&weights, input).backward().unwrap();
    }
    accumulated_gradients(&weights)
}

#[test]
fn eight_threads_accumulate_the_same_gradients_as_one() {
    let (weights, inputs) = (leaf_weights(), integer_inputs());
    std::thread::scope(|scope| {
        for part in inputs.chunks(50) {
            let weights = &weights;
            scope.spawn(move || part.iter().for_each(|&input| loss(weights, input).backward().unwrap()));
        }
    });
    assert_eq!(accumulated_gradients(&weights), gradients_in_one_thread(inputs));
}

#[test]
fn recording_on_one_thread_does_not_affect_other_threads() {
    let weights = leaf_weights();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| {
        integer_inputs().into_par_iter().enumerate().for_each(|(i, input)| {
            if i % 3 == 0 {
                let _off = guard::no_grad();
                assert!(!loss(&weights, input).requires_grad());
                return;
            }
            loss(&weights, input).backward().unwrap();
        });
    });
    let recorded = integer_inputs().into_iter().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, input)| input);
    assert_eq!(accumulated_gradients(&weights), gradients_in_one_thread(recorded));
}

#[test]
fn many_threads_run_a_backward_through_one_graph() {
    let weights = leaf_weights();
    let shared = (&weights[0] * &weights[1]).unwrap();
    let gradients: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|i| {
                let (weights, shared) = (&weights, &shared);
                scope.spawn(move || {
                    let y = (shared * f64::from(i)).unwrap().sum().unwrap();
                    dispatch_autograd::Differentiation::of_outputs(&[&y]).retain_graph().grad(&[&weights[0]]).unwrap()
                        [0]
                    .as_ref()
                    .unwrap()
                    .to_vec()
                    .unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (i, gradient) in (0..8).zip(gradients) {
        assert_eq!(gradient, [2.0 * f64::from(i), f64::from(i)]);
    }
    assert!(grad(&[&shared.sum().unwrap()], &[&weights[1]]).is_ok());
}

#[test]
fn a_retained_gradient_accumulates_from_all_threads() {
    for _ in 0..20 {
        let weights = leaf_weights();
        let shared = (&weights[0] * &weights[1]).unwrap();
        shared.retain_grad().unwrap();
        std::thread::scope(|scope| {
            for i in 1..=8 {
                let shared = &shared;
                scope.spawn(move || {
                    let y = (shared * f64::from(i)).unwrap().sum().unwrap();
                    dispatch_autograd::Differentiation::of_outputs(&[&y]).retain_graph().backward().unwrap();
                });
            }
        });
        assert_eq!(shared.grad().unwrap().to_vec::<f64>().unwrap(), [36.0, 36.0]);
    }
}

/// A value that reads a gradient when it is dropped.
struct ReadsGradientOnDrop(Tensor);

impl Drop for ReadsGradientOnDrop {
    fn drop(&mut self) {
        assert!(self.0.grad().is_none());
    }
}

#[test]
fn removing_a_hook_can_drop_values_that_read_gradients() {
    let (removed, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let x = Tensor::from(1.0).requires_grad_(true).unwrap();
        let asks = ReadsGradientOnDrop(x.clone());
        x.register_hook(move |_| Ok(Some(asks.0.clone()))).unwrap().remove();
        removed.send(()).unwrap();
    });
    assert!(done.recv_timeout(std::time::Duration::from_mins(1)).is_ok(), "the removal of the hook deadlocks");
}

fn dropout_half(x: &Tensor) -> Result<Tensor> {
    Ok(aten::native_dropout(x, 0.5, Some(true))?.0)
}

/// Returns the random stream range that another thread reserves.
fn draw_on_another_thread() -> (u64, u64) {
    std::thread::spawn(|| Generator::default_for(Device::CPU).reserve(64)).join().unwrap()
}

#[test]
fn a_checkpoint_ignores_random_numbers_of_other_threads() {
    let x = Tensor::ones(64, DType::F64).unwrap().requires_grad_(true).unwrap();
    let runs = AtomicUsize::new(0);
    let block = move |inputs: &[Tensor]| {
        let half = dropout_half(&inputs[0])?;
        if runs.fetch_add(1, Ordering::Relaxed) == 0 {
            draw_on_another_thread();
        }
        Ok(vec![dropout_half(&half)?])
    };
    let y = checkpoint(block, &[&x]).unwrap().remove(0);
    y.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), y.to_vec::<f64>().unwrap());
}

#[test]
fn a_checkpoint_without_inputs_replays_its_random_numbers() {
    let x = Tensor::ones(64, DType::F64).unwrap().requires_grad_(true).unwrap();
    let captured = x.clone();
    let y = checkpoint(move |_| Ok(vec![dropout_half(&captured)?]), &[]).unwrap().remove(0);
    y.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), y.to_vec::<f64>().unwrap());
}

#[test]
fn other_threads_draw_new_random_numbers_during_a_replay() {
    let x = Tensor::ones(64, DType::F64).unwrap().requires_grad_(true).unwrap();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = seen.clone();
    let block = move |inputs: &[Tensor]| {
        log.lock().unwrap().push(draw_on_another_thread().1);
        Ok(vec![dropout_half(&inputs[0])?])
    };
    checkpoint(block, &[&x]).unwrap()[0].sum().unwrap().backward().unwrap();
    let after = draw_on_another_thread().1;
    let seen = seen.lock().unwrap();
    assert!(seen.len() == 2 && seen[0] + 64 <= seen[1] && seen[1] + 64 <= after, "{seen:?}, {after}");
}

#[test]
fn a_panic_during_a_replay_ends_the_replay() {
    let x = Tensor::ones(64, DType::F64).unwrap().requires_grad_(true).unwrap();
    let runs = AtomicUsize::new(0);
    let block = move |inputs: &[Tensor]| {
        assert_eq!(runs.fetch_add(1, Ordering::Relaxed), 0, "panic in the recomputation");
        Ok(vec![dropout_half(&inputs[0])?])
    };
    let sum = checkpoint(block, &[&x]).unwrap()[0].sum().unwrap();
    let before = draw_on_another_thread().1;
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sum.backward()));
    assert!(caught.is_err() && before + 64 <= draw_on_another_thread().1);
}
