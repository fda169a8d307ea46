//! Tests of autocast over autograd: casts are recorded, and weights keep their dtype.

#![cfg(all(feature = "autocast", feature = "autograd", feature = "cpu", feature = "families"))]

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use opdispatch::backend::{Key, KeySet, Operator, Stack, dispatch_key, guard, op_fallback};
use opdispatch::prelude::*;
use opdispatch::{autocast, autograd};

/// Locks the tests of this file against each other: cached casts are dropped when any thread's outermost autocast region ends.
fn lock_tests_of_this_file() -> MutexGuard<'static, ()> {
    static TEST_LOCK: Mutex<()> = Mutex::new(());
    TEST_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key of a layer that counts casts. It is below autocast, which makes them, and above autograd, which records them.
#[dispatch_key(layer, above = Autograd)]
static CastCounter: Key;

thread_local! {
    static CAST_COUNT: Cell<usize> = const { Cell::new(0) };
}

#[op_fallback(CastCounter)]
fn count_casts(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    if *op == *aten::_to_copy::operator() {
        CAST_COUNT.set(CAST_COUNT.get() + 1);
    }
    op.redispatch_boxed(keys.below(CastCounter), stack)
}

/// Runs `f`, and returns the number of casts and the result of `f`.
fn with_cast_count<R>(f: impl FnOnce() -> Result<R>) -> Result<(usize, R)> {
    let _counting = guard::include(CastCounter.into());
    let before = CAST_COUNT.get();
    let result = f()?;
    Ok((CAST_COUNT.get() - before, result))
}

/// Returns a tensor of values such as `1/3`, which `bfloat16` rounds.
fn input_that_bf16_rounds() -> Result<Tensor> {
    Tensor::arange(1..7, DType::F32)?.reshape([2, 3])? / 3.0
}

fn weight_that_requires_grad() -> Result<Tensor> {
    (Tensor::arange(1..7, DType::F32)?.reshape([3, 2])? / 7.0)?.requires_grad_(true)
}

/// Returns the gradient of `sum(x @ w)` with respect to `w`, computed in `bfloat16`, as `f32`.
fn expected_weight_gradient(x: &Tensor) -> Result<Vec<f32>> {
    let ones = Tensor::ones([2, 2], DType::BF16)?;
    x.to(DType::BF16)?.t()?.mm(&ones)?.to(DType::F32)?.to_vec()
}

#[test]
fn gradient_has_the_dtype_of_its_weight() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let y = {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)?
    };
    assert_eq!(y.dtype(), DType::BF16);
    y.sum()?.backward()?;
    let grad = w.grad().unwrap();
    assert_eq!((grad.dtype(), grad.to_vec::<f32>()?), (DType::F32, expected_weight_gradient(&x)?));
    Ok(())
}

#[test]
fn backward_inside_the_region_gives_the_same_gradient() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let _on = autocast::enable(Device::CPU, None)?;
    x.mm(&w)?.sum()?.backward()?;
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, expected_weight_gradient(&x)?);
    Ok(())
}

#[test]
fn inputs_that_require_gradients_get_them_in_their_own_dtype() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?.detach()?);
    let x = x.requires_grad_(true)?;
    let _on = autocast::enable(Device::CPU, DType::F16)?;
    x.mm(&w)?.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().dtype(), DType::F32);
    assert!(w.grad().is_none());
    Ok(())
}

#[test]
fn weight_is_cast_once_per_region() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let (count, loss) = with_cast_count(|| {
        let _on = autocast::enable(Device::CPU, None)?;
        let (first, second) = (x.mm(&w)?, x.mm(&w)?);
        (first + second)?.sum()
    })?;
    assert_eq!(count, 3, "the input twice, the weight once");
    let (count, ()) = with_cast_count(|| loss.backward())?;
    assert_eq!(count, 1, "the gradient passes one cast");
    let twice: Vec<f32> = expected_weight_gradient(&x)?.into_iter().map(|x| 2.0 * x).collect();
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, twice);
    Ok(())
}

#[test]
fn next_region_casts_the_weight_again() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let forward = || {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)
    };
    forward()?;
    assert_eq!(with_cast_count(forward)?.0, 2);
    Ok(())
}

#[test]
fn computed_tensor_is_cast_at_every_use() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, (weight_that_requires_grad()? * 2.0)?);
    let (count, _) = with_cast_count(|| {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)?;
        x.mm(&w)
    })?;
    assert_eq!(count, 4);
    Ok(())
}

#[test]
fn view_of_a_weight_is_cast_at_every_use() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let view = w.t()?.t()?;
    let (count, loss) = with_cast_count(|| {
        let _on = autocast::enable(Device::CPU, None)?;
        (x.mm(&view)? + x.mm(&view)?)?.sum()
    })?;
    assert_eq!(count, 4);
    loss.backward()?;
    assert!(w.grad().is_some());
    Ok(())
}

#[test]
fn cast_under_no_grad_does_not_prevent_later_gradients() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let _on = autocast::enable(Device::CPU, None)?;
    {
        let _no_grad = guard::no_grad();
        assert!(!x.mm(&w)?.requires_grad());
    }
    x.mm(&w)?.sum()?.backward()?;
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, expected_weight_gradient(&x)?);
    Ok(())
}

#[test]
fn cast_in_inference_mode_does_not_prevent_later_gradients() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let _on = autocast::enable(Device::CPU, None)?;
    {
        let _inference = guard::inference_mode();
        x.mm(&w)?;
    }
    x.mm(&w)?.sum()?.backward()?;
    assert!(w.grad().is_some());
    Ok(())
}

#[test]
fn weight_updated_in_a_region_is_cast_again() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let mut w = Tensor::from([[1.0_f32]]).requires_grad_(true)?;
    let x = Tensor::from([[1.0_f32]]);
    let _on = autocast::enable(Device::CPU, None)?;
    assert_eq!(x.mm(&w)?.to_vec::<bf16>()?, [bf16::from_f32(1.0)]);
    {
        let _no_grad = guard::no_grad();
        aten::add_(&mut w, &x, 1.into())?;
    }
    assert_eq!(x.mm(&w)?.to_vec::<bf16>()?, [bf16::from_f32(2.0)]);
    Ok(())
}

#[test]
fn autograd_grad_returns_gradients_under_autocast() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    let (x, w) = (input_that_bf16_rounds()?, weight_that_requires_grad()?);
    let y = {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)?.sum()?
    };
    let grads = autograd::grad(&[&y], &[&w])?;
    assert_eq!(grads[0].as_ref().unwrap().to_vec::<f32>()?, expected_weight_gradient(&x)?);
    assert!(w.grad().is_none());
    Ok(())
}

/// Mixed-precision training as users write it: layers in low precision; loss, weights and updates in single precision.
#[test]
fn training_under_autocast_reduces_the_loss() -> Result<()> {
    let _alone = lock_tests_of_this_file();
    opdispatch::manual_seed(1);
    let x = Tensor::randn([64, 8], DType::F32)?;
    let target = x.mm(&Tensor::randn([8, 1], DType::F32)?)?;
    let mut weights = [
        (Tensor::randn([8, 16], DType::F32)? * 0.3)?.requires_grad_(true)?,
        (Tensor::randn([16, 1], DType::F32)? * 0.3)?.requires_grad_(true)?,
    ];
    let mut losses = Vec::new();
    for _ in 0..60 {
        let loss = {
            let _on = autocast::enable(Device::CPU, None)?;
            let y = x.mm(&weights[0])?.tanh()?.mm(&weights[1])?;
            assert_eq!(y.dtype(), DType::BF16);
            aten::mse_loss(&y, &target, 1)?
        };
        assert_eq!(loss.dtype(), DType::F32);
        losses.push(loss.item::<f32>()?);
        loss.backward()?;
        let _no_grad = guard::no_grad();
        for weight in &mut weights {
            let grad = weight.grad().unwrap();
            assert_eq!((weight.dtype(), grad.dtype()), (DType::F32, DType::F32));
            aten::add_(weight, &grad, (-0.1).into())?;
            weight.zero_grad();
        }
    }
    let (first, last) = (losses[0], losses[59]);
    assert!(last < first / 4.0, "{first} became {last}");
    Ok(())
}
