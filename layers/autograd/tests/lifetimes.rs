//! Tests that graphs of any length are dropped, and that no tensor leaks.

#![expect(clippy::float_cmp, reason = "sums of ones are exact")]

use std::cell::RefCell;
use std::sync::Arc;

use aten::prelude::*;
use dispatch_autograd::{Backward, BackwardContext, Differentiable, Differentiation, call_custom_function};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn leaf_tensor(values: &[f64]) -> Tensor {
    Tensor::from_slice(values).requires_grad_(true).unwrap()
}

fn run_in_a_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(f).unwrap().join().unwrap();
}

fn sum_chain(x: &Tensor, length: usize) -> Tensor {
    (0..length).fold(x.clone(), |y, _| aten::add(&y, x, 1.into()).unwrap())
}

#[test]
fn a_million_nodes_run_forward_and_backward_in_a_small_stack() {
    run_in_a_small_stack(|| {
        let x = leaf_tensor(&[1.0]);
        sum_chain(&x, 1_000_000).backward().unwrap();
        assert_eq!(x.grad().unwrap().item::<f64>().unwrap(), 1_000_001.0);
    });
}

#[test]
fn a_long_chain_is_dropped_without_a_backward_in_a_small_stack() {
    run_in_a_small_stack(|| drop(sum_chain(&leaf_tensor(&[1.0]), 300_000)));
}

#[test]
fn a_chain_through_saved_tensors_is_dropped_in_a_small_stack() {
    run_in_a_small_stack(|| {
        let (x, one) = (leaf_tensor(&[1.0]), leaf_tensor(&[1.0]));
        let product = (0..100_000).fold(x.clone(), |y, _| (&y * &one).unwrap());
        drop(product);
    });
}

#[test]
fn a_chain_through_writes_to_views_is_dropped_in_a_small_stack() {
    run_in_a_small_stack(|| {
        let (x, one) = (leaf_tensor(&[1.0, 1.0]), leaf_tensor(&[1.0]));
        let base = aten::clone(&x, None).unwrap();
        for _ in 0..20_000 {
            aten::mul_(&mut aten::slice(&base, 0, Some(1), None, 1).unwrap(), &one).unwrap();
        }
        base.sum().unwrap().backward().unwrap();
        drop(base);
    });
}

#[test]
fn chains_through_custom_functions_and_hooks_are_dropped_in_a_small_stack() {
    struct TensorHolder(#[expect(dead_code, reason = "it is only held")] Option<Tensor>);
    impl Backward for TensorHolder {
        fn name(&self) -> String {
            "holds".to_owned()
        }
        fn backward(&self, _: &BackwardContext<'_>, _: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
            Ok(vec![None])
        }
    }
    run_in_a_small_stack(|| {
        let x = leaf_tensor(&[1.0]);
        let held = (0..50_000).fold(x.clone(), |y, _| {
            call_custom_function(&[&x], TensorHolder(Some(y)), |_| Ok(vec![Tensor::from([1.0])])).unwrap().remove(0)
        });
        drop(held);
        let saved = (0..50_000).fold(x.clone(), |y, _| {
            let forward = call_custom_function(&[&x], TensorHolder(None), |ctx| {
                ctx.save(&y);
                Ok(vec![Tensor::from([1.0])])
            });
            forward.unwrap().remove(0)
        });
        drop(saved);
        let hooked = (0..50_000).fold(x.clone(), |y, _| {
            let next = aten::add(&x, &x, 1.into()).unwrap();
            let _stays = next.register_hook(move |_| Ok(Some(y.clone()))).unwrap();
            next
        });
        drop(hooked);
    });
}

#[test]
fn a_long_chain_in_a_thread_local_is_dropped_in_a_small_stack() {
    thread_local! {
        static LAST_TENSOR: RefCell<Option<Tensor>> = const { RefCell::new(None) };
    }
    run_in_a_small_stack(|| {
        let x = leaf_tensor(&[1.0]);
        LAST_TENSOR.set(Some(x.clone()));
        drop(sum_chain(&x, 100));
        LAST_TENSOR.set(Some(sum_chain(&x, 100_000)));
    });
}

/// An extension whose reference count tells when a tensor's body is dropped.
struct CountedExtension(#[expect(dead_code, reason = "it is only counted")] Arc<()>);

fn attach_counter(tensor: &Tensor, counter: &Arc<()>) {
    tensor.extension_or_init(|| CountedExtension(counter.clone()));
}

#[test]
fn a_graph_without_a_backward_is_freed_with_its_results() {
    let counter = Arc::new(());
    {
        let x = leaf_tensor(&[1.0, 2.0]);
        attach_counter(&x, &counter);
        let mut y = x.exp().unwrap();
        attach_counter(&y, &counter);
        let z = (&y * &y).unwrap();
        attach_counter(&z, &counter);
        let view = z.view([1, 2]).unwrap();
        attach_counter(&view, &counter);
        aten::add_(&mut y, &x, 1.into()).unwrap();
        let mut end = aten::slice(&y, 0, Some(1), None, 1).unwrap();
        attach_counter(&end, &counter);
        let other = end.clone();
        aten::mul_(&mut end, &other).unwrap();
        y.retain_grad().unwrap();
    }
    assert_eq!(Arc::strong_count(&counter), 1);
}

#[test]
fn only_gradients_remain_after_a_second_order_backward() {
    let counter = Arc::new(());
    {
        let x = leaf_tensor(&[2.0]);
        attach_counter(&x, &counter);
        let y = (&x.exp().unwrap() * &x).unwrap();
        attach_counter(&y, &counter);
        let first = Differentiation::of_outputs(&[&y]).create_graph().grad(&[&x]).unwrap().remove(0).unwrap();
        attach_counter(&first, &counter);
    }
    assert_eq!(Arc::strong_count(&counter), 1);
}

#[test]
fn a_backward_frees_saved_tensors_before_the_result_is_dropped() {
    let counter = Arc::new(());
    let x = leaf_tensor(&[2.0]);
    let y = {
        let saved = (&x * 3.0).unwrap();
        attach_counter(&saved, &counter);
        (&saved * &saved).unwrap()
    };
    assert_eq!(Arc::strong_count(&counter), 2);
    y.backward().unwrap();
    assert_eq!(Arc::strong_count(&counter), 1);
}

#[test]
fn a_factor_is_saved_only_for_the_gradient_of_the_other() {
    let (x, constant) = (leaf_tensor(&[2.0]), Tensor::from([3.0]));
    let counter = Arc::new(());
    let y = (&x * 1.0).unwrap();
    attach_counter(&y, &counter);
    let z = (&y * &constant).unwrap();
    y.add_(1).unwrap();
    drop(y);
    assert_eq!(Arc::strong_count(&counter), 1, "the gradient of the constant is not requested");
    z.backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [3.0]);

    let z = (&x * &constant).unwrap();
    constant.clone().add_(1).unwrap();
    let error = z.backward().unwrap_err();
    assert!(error.to_string().contains("other"), "{error}");
}
