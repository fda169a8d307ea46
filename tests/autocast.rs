//! Tests of autocast over autograd: casts are recorded, and weights keep their dtype.

#![cfg(all(feature = "autocast", feature = "autograd", feature = "cpu", feature = "families"))]

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use opdispatch::guard;
use opdispatch::prelude::*;
use opdispatch::{autocast, autograd, bf16};

/// Locks out the other tests of this file: cached casts are dropped when any thread's outermost autocast region ends.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key of a layer that counts casts. It is below autocast, which makes them, and above autograd, which records them.
#[dispatch_key(layer, above = Autograd)]
static Casts: Key;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

#[op_fallback(Casts)]
fn count(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    if *op == *aten::_to_copy::operator() {
        COUNT.set(COUNT.get() + 1);
    }
    op.redispatch_boxed(keys.below(Casts), stack)
}

/// Runs `f`, and returns its result and the number of casts.
fn casts<R>(f: impl FnOnce() -> Result<R>) -> Result<(usize, R)> {
    let _counting = guard::include(Casts.into());
    let before = COUNT.get();
    let result = f()?;
    Ok((COUNT.get() - before, result))
}

/// Returns a tensor of values such as `1/3`, which `bfloat16` rounds.
fn input() -> Result<Tensor> {
    Tensor::arange(1..7, DType::F32)?.reshape(&[2, 3])? / 3.0
}

fn weight() -> Result<Tensor> {
    (Tensor::arange(1..7, DType::F32)?.reshape(&[3, 2])? / 7.0)?.requires_grad_(true)
}

/// Returns the gradient of `sum(x @ w)` with respect to `w`, computed in `bfloat16`, as `f32`.
fn expected(x: &Tensor) -> Result<Vec<f32>> {
    let ones = Tensor::ones(&[2, 2], DType::BF16)?;
    x.to(DType::BF16)?.t()?.mm(&ones)?.to(DType::F32)?.to_vec()
}

#[test]
fn a_gradient_has_the_precision_of_its_weight() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let y = {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)?
    };
    assert_eq!(y.dtype(), DType::BF16);
    y.sum()?.backward()?;
    let grad = w.grad().unwrap();
    assert_eq!((grad.dtype(), grad.to_vec::<f32>()?), (DType::F32, expected(&x)?));
    Ok(())
}

#[test]
fn going_back_inside_of_the_region_gives_the_same() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let _on = autocast::enable(Device::CPU, None)?;
    x.mm(&w)?.sum()?.backward()?;
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, expected(&x)?);
    Ok(())
}

#[test]
fn an_input_that_requires_no_gradient_gets_none_and_one_that_does_gets_its_own_precision() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?.detach()?);
    let x = x.requires_grad_(true)?;
    let _on = autocast::enable(Device::CPU, DType::F16)?;
    x.mm(&w)?.sum()?.backward()?;
    assert_eq!(x.grad().unwrap().dtype(), DType::F32);
    assert!(w.grad().is_none());
    Ok(())
}

#[test]
fn a_weight_is_cast_once_in_a_region_and_its_gradient_comes_through_that_cast() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let (count, loss) = casts(|| {
        let _on = autocast::enable(Device::CPU, None)?;
        let (first, second) = (x.mm(&w)?, x.mm(&w)?);
        (first + second)?.sum()
    })?;
    assert_eq!(count, 3, "the input twice, the weight once");
    let (count, ()) = casts(|| loss.backward())?;
    assert_eq!(count, 1, "back through one cast");
    let twice: Vec<f32> = expected(&x)?.into_iter().map(|x| 2.0 * x).collect();
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, twice);
    Ok(())
}

#[test]
fn the_next_region_casts_a_weight_anew() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let forward = || {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)
    };
    forward()?;
    assert_eq!(casts(forward)?.0, 2);
    Ok(())
}

#[test]
fn what_is_computed_from_a_weight_is_cast_at_every_use() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, (weight()? * 2.0)?);
    let (count, _) = casts(|| {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)?;
        x.mm(&w)
    })?;
    assert_eq!(count, 4);
    Ok(())
}

#[test]
fn a_view_of_a_weight_is_cast_at_every_use_and_the_gradient_reaches_the_weight() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let view = w.t()?.t()?;
    let (count, loss) = casts(|| {
        let _on = autocast::enable(Device::CPU, None)?;
        (x.mm(&view)? + x.mm(&view)?)?.sum()
    })?;
    assert_eq!(count, 4);
    loss.backward()?;
    assert!(w.grad().is_some());
    Ok(())
}

#[test]
fn what_was_cast_without_recording_does_not_cost_a_gradient_later() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let _on = autocast::enable(Device::CPU, None)?;
    {
        let _no_grad = guard::no_grad();
        assert!(!x.mm(&w)?.requires_grad());
    }
    x.mm(&w)?.sum()?.backward()?;
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, expected(&x)?);
    Ok(())
}

#[test]
fn a_cast_from_inference_mode_does_not_cost_a_gradient_later() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
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
fn a_weight_that_was_stepped_inside_of_a_region_is_used_as_it_is_now() -> Result<()> {
    let _alone = alone();
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
fn gradients_may_be_asked_for_without_a_backward() -> Result<()> {
    let _alone = alone();
    let (x, w) = (input()?, weight()?);
    let y = {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&w)?.sum()?
    };
    let grads = autograd::grad(&[&y], &[&w])?;
    assert_eq!(grads[0].as_ref().unwrap().to_vec::<f32>()?, expected(&x)?);
    assert!(w.grad().is_none());
    Ok(())
}

/// Mixed-precision training as users write it: layers in low precision; loss, weights and updates in single precision.
#[test]
fn training_under_autocast_learns() -> Result<()> {
    let _alone = alone();
    opdispatch::manual_seed(1);
    let x = Tensor::randn(&[64, 8], DType::F32)?;
    let target = x.mm(&Tensor::randn(&[8, 1], DType::F32)?)?;
    let mut weights = [
        (Tensor::randn(&[8, 16], DType::F32)? * 0.3)?.requires_grad_(true)?,
        (Tensor::randn(&[16, 1], DType::F32)? * 0.3)?.requires_grad_(true)?,
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
