//! Tests of modules: names, state dicts, ties, conversion, and modes.

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{Buffer, Dropout, Forward, Layer, Linear, Module, Param, ReLU, Sequential, Stateful, Training};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

#[derive(Clone, Module)]
struct Net {
    layers: Vec<Linear>,
    #[module(name = "wte")]
    embedding: Param,
    head: Option<Param>,
    mask: Buffer,
    running: Buffer,
    parts: BTreeMap<String, Box<dyn Layer>>,
    heads: i64,
    training: Training,
    #[module(skip)]
    skipped: Tensor,
}

fn net() -> Result<Net> {
    let embedding = Param::new(Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]))?;
    Ok(Net {
        layers: vec![Linear::new(2, 2)?, Linear::without_bias(2, 2)?],
        head: Some(embedding.clone()),
        embedding,
        mask: Buffer::not_persistent(Tensor::from([true, false])),
        running: Buffer::new(Tensor::from([0.5_f32])),
        parts: [("act".to_owned(), Box::new(ReLU) as Box<dyn Layer>)].into(),
        heads: 4,
        training: Training::default(),
        skipped: Tensor::from(1.0),
    })
}

const NAMES: [&str; 6] = ["head", "layers.0.bias", "layers.0.weight", "layers.1.weight", "running", "wte"];

fn names(net: &impl Module) -> Vec<String> {
    net.parameters().into_iter().map(|parameter| parameter.name).collect()
}

#[test]
fn parameters_come_in_the_order_of_the_fields_and_tied_ones_once() -> Result<()> {
    let net = net()?;
    assert_eq!(names(&net), ["layers.0.weight", "layers.0.bias", "layers.1.weight", "wte"]);
    assert_eq!(net.num_parameters(), 4 + 2 + 4 + 4);
    assert_eq!(net.buffers().len(), 2);
    assert_eq!((net.heads, net.skipped.sizes().len()), (4, 0));
    Ok(())
}

#[test]
fn a_state_dict_has_every_name_and_shares_the_elements() -> Result<()> {
    let net = net()?;
    let state = net.state_dict()?;
    assert_eq!(state.keys().collect::<Vec<_>>(), NAMES);
    assert!(!state["wte"].requires_grad());
    state["head"].fill_(7.0)?;
    assert_eq!(net.embedding.to_vec::<f32>()?, [7.0; 4]);
    Ok(())
}

#[test]
fn a_loaded_state_dict_gives_the_same_numbers_and_keeps_the_tensors() -> Result<()> {
    let (from, to) = (net()?, net()?);
    from.embedding.detach()?.fill_(9.0)?;
    let before = to.embedding.clone();
    to.load_state_dict(&from.state_dict()?)?;
    assert!(to.embedding.same(&before));
    for (name, tensor) in to.state_dict()? {
        assert!(tensor.equal(&from.state_dict()?[&name])?, "{name}");
    }
    Ok(())
}

#[test]
fn one_error_lists_all_names_and_shapes_and_nothing_is_copied() -> Result<()> {
    let net = net()?;
    let mut state: BTreeMap<_, _> =
        net.state_dict()?.into_iter().map(|(name, tensor)| Ok((name, (tensor + 1.0)?))).collect::<Result<_>>()?;
    state.remove("running");
    state.remove("layers.1.weight");
    state.insert("extra".to_owned(), Tensor::from(1.0));
    state.insert("wte".to_owned(), Tensor::from([1.0]));
    let before = net.layers[0].weight.to_vec::<f32>()?;
    let error = net.load_state_dict(&state).unwrap_err();
    let text = error.to_string();
    for part in ["missing: `layers.1.weight`, `running`", "unexpected: `extra`", "`wte` has the shape [2, 2]"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(before, net.layers[0].weight.to_vec::<f32>()?);

    assert!(net.load_state_dict_not_strict(&state).is_err());
    state.remove("wte");
    let keys = net.load_state_dict_not_strict(&state)?;
    assert_eq!(keys.missing, ["layers.1.weight", "wte", "running"]);
    assert_eq!(keys.unexpected, ["extra"]);
    assert_ne!(before, net.layers[0].weight.to_vec::<f32>()?);
    Ok(())
}

#[test]
fn conversion_makes_new_tensors_and_keeps_ties_gradients_and_integers() -> Result<()> {
    let net = net()?;
    net.layers[1].weight.requires_grad_(false)?;
    net.embedding.sum()?.backward()?;
    let old = net.embedding.clone();
    let net = Module::to(net, DType::F64)?;
    assert!(!net.embedding.same(&old));
    assert_eq!(old.dtype(), DType::F32);
    assert!(net.embedding.same(net.head.as_ref().unwrap()));
    assert_eq!(net.embedding.grad().unwrap().dtype(), DType::F64);
    assert_eq!((net.running.dtype(), net.mask.dtype()), (DType::F64, DType::Bool));
    assert!(net.layers[0].weight.requires_grad() && !net.layers[1].weight.requires_grad());
    Ok(())
}

#[test]
fn clones_share_tensors_and_deep_clones_do_not() -> Result<()> {
    let net = net()?;
    assert!(net.clone().embedding.same(&net.embedding));
    let copy = net.deep_clone()?;
    net.embedding.detach()?.fill_(0.0)?;
    assert_eq!(copy.embedding.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    assert!(copy.embedding.same(copy.head.as_ref().unwrap()));
    assert!(copy.embedding.is_leaf() && copy.embedding.requires_grad());
    Ok(())
}

#[test]
fn train_and_eval_reach_every_layer() -> Result<()> {
    let mut net = Sequential::new().add(Sequential::new().add(Dropout::new(0.9)?));
    let x = Tensor::ones(1000, ())?;
    let is_identity = |net: &Sequential| net.forward(&x)?.equal(&x);
    assert!(!is_identity(&net)?);
    net.eval();
    assert!(is_identity(&net)?);
    net.train();
    assert!(!is_identity(&net)?);
    Ok(())
}

#[test]
fn requires_grad_and_zero_grad_reach_every_parameter() -> Result<()> {
    let net = net()?;
    net.layers[0].weight.sum()?.backward()?;
    net.zero_grad();
    assert!(net.layers[0].weight.grad().is_none());
    net.requires_grad_(false)?;
    assert!(net.parameters().iter().all(|parameter| !parameter.requires_grad()));
    Ok(())
}

#[test]
fn numbers_and_texts_of_a_program_have_states() -> Result<()> {
    let (mut step, mut best, mut name) = (0_usize, 0.0_f64, String::new());
    step.load_state(&7_usize.state()?)?;
    best.load_state(&f64::NEG_INFINITY.state()?)?;
    name.load_state(&"a run, with \"quotes\"".to_owned().state()?)?;
    assert_eq!((step, best.to_bits(), &*name), (7, f64::NEG_INFINITY.to_bits(), "a run, with \"quotes\""));
    let error = step.load_state(&1.5_f64.state()?).unwrap_err().to_string();
    assert!(error.contains("1.5"), "{error}");
    assert_eq!(step, 7);
    Ok(())
}

#[test]
fn conversion_without_a_change_keeps_the_tensors() -> Result<()> {
    let net = net()?;
    let (weight, running) = (net.layers[0].weight.clone(), Tensor::clone(&net.running));
    let net = Module::to(Module::to(net, Device::CPU)?, DType::F32)?;
    assert!(net.layers[0].weight.same(&weight) && net.running.same(&running));
    Ok(())
}

#[test]
fn a_layer_without_a_name_replaces_no_other_one() -> Result<()> {
    let net = Sequential::new().add_named("1", Linear::new(2, 3)?).add(Linear::new(3, 4)?).add(ReLU);
    assert_eq!(net.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["1", "2", "3"]);
    Ok(())
}
