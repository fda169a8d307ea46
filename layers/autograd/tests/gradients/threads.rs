//! Backward in many threads at once.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, grad};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;
use rayon::prelude::*;

fn weights() -> [Tensor; 2] {
    [[0.5, -0.25], [2.0, 1.0]].map(|row| Tensor::from(row).requires_grad_(true).unwrap())
}

fn loss(weights: &[Tensor; 2], input: f64) -> Tensor {
    let hidden = (&weights[0] * input).unwrap().relu().unwrap();
    (&hidden * &weights[1]).unwrap().sum().unwrap()
}

fn gathered(weights: &[Tensor; 2]) -> Vec<f64> {
    weights.iter().flat_map(|weight| weight.grad().unwrap().to_vec::<f64>().unwrap()).collect()
}

/// Small integers, whose sums are exact in any order.
fn inputs() -> Vec<f64> {
    (0..400).map(|i| f64::from(i % 7 - 3)).collect()
}

fn in_one_thread(inputs: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let weights = weights();
    for input in inputs {
        loss(&weights, input).backward().unwrap();
    }
    gathered(&weights)
}

#[test]
fn eight_threads_on_shared_leaves_agree_with_one() {
    let (weights, inputs) = (weights(), inputs());
    std::thread::scope(|scope| {
        for part in inputs.chunks(50) {
            let weights = &weights;
            scope.spawn(move || part.iter().for_each(|&input| loss(weights, input).backward().unwrap()));
        }
    });
    assert_eq!(gathered(&weights), in_one_thread(inputs));
}

#[test]
fn jobs_that_record_and_jobs_that_do_not_keep_out_of_each_others_way() {
    let weights = weights();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| {
        inputs().into_par_iter().enumerate().for_each(|(i, input)| {
            if i % 3 == 0 {
                let _off = guard::no_grad();
                assert!(!loss(&weights, input).requires_grad());
                return;
            }
            loss(&weights, input).backward().unwrap();
        });
    });
    let recorded = inputs().into_iter().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, input)| input);
    assert_eq!(gathered(&weights), in_one_thread(recorded));
}

#[test]
fn one_graph_is_gone_through_by_many_threads_at_once() {
    let weights = weights();
    let shared = (&weights[0] * &weights[1]).unwrap();
    let gradients: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|i| {
                let (weights, shared) = (&weights, &shared);
                scope.spawn(move || {
                    let y = (shared * f64::from(i)).unwrap().sum().unwrap();
                    dispatch_autograd::Differentiation::of(&[&y]).retain_graph().grad(&[&weights[0]]).unwrap()[0]
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
