//! Comparison of a model with a recorded one.

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::Module;
use dispatch_runtime::prelude::*;

/// Loads the recorded state dict, and compares a step in training mode and an output in evaluation mode, in f64 and in f32.
pub(crate) fn check<M: Module + Clone>(
    name: &str,
    model: &M,
    forward: impl Fn(&M, &Tensor) -> Result<Tensor>,
    loss: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<()> {
    let path = format!("{}/tests/models/{name}.npz", env!("CARGO_MANIFEST_DIR"));
    let recorded = dispatch_files::load_npz(path)?;
    let state = below(&recorded, "state/");
    let names = model.state_dict()?.into_keys().collect::<Vec<_>>();
    assert_eq!(names, state.keys().cloned().collect::<Vec<_>>(), "{name}: the names of the state dict");
    let order: Vec<String> = model.parameters().into_iter().map(|parameter| parameter.name).collect();
    assert_eq!(order.join("\n").into_bytes(), recorded["order"].to_vec::<u8>()?, "{name}: the order of parameters");
    for (dtype, tolerances) in [(DType::F64, (1e-9, 1e-11)), (DType::F32, (1e-4, 2e-6))] {
        let mut model = Module::to(model.deep_clone()?, dtype)?;
        model.load_state_dict(&state)?;
        let close = |what: &str, found: &Tensor, expected: &Tensor| -> Result<()> {
            assert_eq!(found.sizes(), expected.sizes(), "{name}: {what}");
            let (found, expected) = (found.detach()?.to(DType::F64)?, expected.to(DType::F64)?);
            let limit = ((expected.abs()? * tolerances.0)? + tolerances.1)?;
            let worst = ((&found - &expected)?.abs()? - limit)?.max()?.item::<f64>()?;
            assert!(worst <= 0.0, "{name} in {dtype}: {what} is {found}, and {expected} in PyTorch");
            Ok(())
        };
        let converted = |name: &str| {
            let tensor = &recorded[name];
            if tensor.is_floating_point() { tensor.to(dtype) } else { Ok(tensor.clone()) }
        };
        let (input, target) = (converted("input")?, converted("target")?);
        let output = forward(&model, &input)?;
        close("the output", &output, &recorded["output"])?;
        let loss = loss(&output, &target)?;
        close("the loss", &loss, &recorded["loss"])?;
        loss.backward()?;
        let gradients = below(&recorded, "grad/");
        assert_eq!(gradients.len(), order.len());
        for parameter in model.parameters() {
            let gradient = parameter.grad().unwrap_or_else(|| panic!("{name}: no gradient of {}", parameter.name));
            close(&parameter.name, &gradient, &gradients[&parameter.name])?;
        }
        let buffers = below(&recorded, "after/");
        assert_eq!(model.buffers().len(), buffers.len());
        for (name, buffer) in model.buffers() {
            close(&name, &buffer, &buffers[&name])?;
        }
        model.eval();
        close("the output in evaluation mode", &forward(&model, &input)?, &recorded["evaluated"])?;
    }
    Ok(())
}

/// Returns the tensors whose names begin with a prefix, without the prefix.
fn below(tensors: &BTreeMap<String, Tensor>, prefix: &str) -> BTreeMap<String, Tensor> {
    let strip = |(name, tensor): (&String, &Tensor)| Some((name.strip_prefix(prefix)?.to_owned(), tensor.clone()));
    tensors.iter().filter_map(strip).collect()
}
