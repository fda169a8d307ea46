//! Tests that words for guards and arguments add and remove the same keys as real guards and tensors.

use dispatch_inspect::{CallExplanation, Guards, find_operator};
use opdispatch::backend::Value;
use opdispatch::modes::{self, Flops};
use opdispatch::prelude::*;
use opdispatch::{autocast, autograd};

/// Returns tensors, each with the words that describe it.
fn described_tensors() -> Result<Vec<(&'static str, Tensor)>> {
    let ones = |sizes: &[i64], options: DType| Tensor::ones(sizes, options);
    let inference = {
        let _inference = autograd::inference_mode();
        ones(&[2, 2], DType::F32)?
    };
    Ok(vec![
        ("cpu", ones(&[2, 2], DType::F32)?),
        ("cpu,requires_grad", ones(&[2, 2], DType::F32)?.requires_grad_(true)?),
        ("cpu,view", ones(&[4, 2], DType::F32)?.narrow(0, 0, 2)?),
        ("cpu,requires_grad,view", ones(&[4, 2], DType::F32)?.requires_grad_(true)?.narrow(0, 0, 2)?),
        ("cpu,inference", inference),
        ("meta", Tensor::ones([2, 2], (DType::F32, Device::META))?),
    ])
}

const OPERATOR_NAMES: [&str; 11] =
    ["add.Tensor", "relu", "mm", "add_.Tensor", "linear", "t", "exp_", "exp.out", "detach", "nonzero", "copy_"];

/// Compares explanations of real calls on this thread with explanations of described ones. `guards` are the words for the thread's guards.
fn assert_same_keys(guards: &[&str], tensors: &[(&str, Tensor)]) {
    let guards: Vec<String> = guards.iter().map(|&guard| guard.to_owned()).collect();
    let named = Guards::parse(&guards).unwrap();
    for operator in OPERATOR_NAMES.map(|name| find_operator(name).unwrap()) {
        for (words, tensor) in tensors {
            let value = |ty: String| match ty.as_str() {
                "Tensor" | "Tensor(a)" | "Tensor(a!)" => Value::from(tensor.clone()),
                "Scalar" => 1_i64.into(),
                "bool" => false.into(),
                _ => Value::None,
            };
            let arguments: Vec<Value> =
                operator.schema().arguments.iter().map(|argument| value(argument.ty.to_string())).collect();
            let real = operator.explain(&arguments);
            let explained = CallExplanation::for_call_with_guards(&named, operator, &[(*words).to_owned()]).unwrap();
            let winner = real.winner.map(|site| site.kernel);
            let keys: Vec<String> = real.keys.iter().map(|key| key.to_string()).collect();
            assert_eq!(
                (explained.keys, explained.key, explained.winner.map(|kernel| kernel.name)),
                (keys, real.key.map(|key| key.to_string()), winner),
                "{operator} {words} {guards:?}"
            );
        }
    }
}

#[test]
fn explanations_agree_with_real_calls_under_each_guard() -> Result<()> {
    let tensors = described_tensors()?;
    assert_same_keys(&[], &tensors);
    {
        let _guard = autograd::no_grad();
        assert_same_keys(&["no-grad"], &tensors);
    }
    {
        let _guard = autograd::inference_mode();
        assert_same_keys(&["inference"], &tensors);
    }
    {
        let _mode = modes::enter(Flops::new());
        assert_same_keys(&["modes"], &tensors);
    }
    {
        let _region = autocast::enable(Device::CPU, DType::BF16)?;
        assert_same_keys(&["autocast"], &tensors);
    }
    let x = Tensor::from([1.0, 2.0]);
    opdispatch::vmap::vmap(
        |x: &Tensor| {
            assert_same_keys(&["vmap"], &tensors);
            x.exp()
        },
        &x,
    )?;
    let traced = |inputs: &[Tensor]| {
        assert_same_keys(&["trace"], &tensors);
        Ok([inputs[0].exp()?])
    };
    opdispatch::trace::trace(traced, &[x])?;
    Ok(())
}
