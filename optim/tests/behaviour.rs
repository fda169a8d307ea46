//! Tests of what optimisers, clipping and the scaler do beside the numbers of a step.
#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{Forward, Linear, Module, NamedParam, Param, State, Stateful};
use dispatch_optim::{
    Adagrad, AdagradOptions, Adam, AdamOptions, AdamW, AdamWOptions, ClipGradNormOptions, CosineAnnealingLR,
    CosineAnnealingWarmRestarts, GradScaler, GradScalerOptions, LBFGS, LBFGSOptions, LambdaLR, LinearLR,
    LinearLROptions, OneCycleLR, OneCycleLROptions, Optimizer, ParamGroup, RMSprop, RMSpropOptions, ReduceLROnPlateau,
    ReduceLROnPlateauOptions, Rprop, RpropOptions, SGD, SGDOptions, Schedule, SequentialLR, StepLR, clip_grad_norm_,
    clip_grad_norm_with, clip_grad_value_,
};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn message<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn a_model_that_was_moved_is_an_error_and_no_parameter_changes() -> Result<()> {
    let model = Linear::new(2, 3)?;
    let mut optimizer = SGD::new(model.parameters(), SGDOptions::default())?;
    optimizer.step()?;
    let model = model.to(DType::F64)?;
    model.forward(&Tensor::ones((1, 2), DType::F64)?)?.sum()?.backward()?;
    let error = message(optimizer.step());
    assert!(error.contains("`weight` belongs to the optimiser alone") && error.contains("model.to(..)"), "{error}");
    SGD::new(model.parameters(), SGDOptions::default())?.step()
}

#[test]
fn wrong_parameters_and_options_are_errors() -> Result<()> {
    let (model, options) = (Linear::new(2, 3)?, SGDOptions::default());
    let group = |params| ParamGroup { params, options };
    let error = message(SGD::with_groups([group(model.parameters()), group(model.parameters())]));
    assert!(error.contains("`weight` is in the optimiser twice"), "{error}");
    let error = message(SGD::with_groups([group(model.parameters()), group(Linear::new(2, 3)?.parameters())]));
    assert!(error.contains("two parameters have the name `weight`"), "{error}");
    assert!(message(SGD::new(Vec::new(), options)).contains("there are no parameters"));
    for options in [
        SGDOptions { lr: -0.1, ..options },
        SGDOptions { lr: f64::NAN, ..options },
        SGDOptions { momentum: -0.1, ..options },
        SGDOptions { weight_decay: -0.1, ..options },
        SGDOptions { nesterov: true, ..options },
        SGDOptions { nesterov: true, momentum: 0.9, dampening: 0.1, ..options },
    ] {
        assert!(message(SGD::new(model.parameters(), options)).contains("argument"), "{options:?}");
    }
    for betas in [(1.0, 0.9), (0.9, -0.1)] {
        assert!(Adam::new(model.parameters(), AdamOptions { betas, ..AdamOptions::default() }).is_err());
    }
    assert!(RMSprop::new(model.parameters(), RMSpropOptions { eps: -1.0, ..RMSpropOptions::default() }).is_err());
    assert!(Rprop::new(model.parameters(), RpropOptions { etas: (1.5, 2.0), ..RpropOptions::default() }).is_err());
    assert!(LBFGS::new(model.parameters(), LBFGSOptions { history_size: 0, ..LBFGSOptions::default() }).is_err());
    Ok(())
}

#[test]
fn parameters_without_a_gradient_stay_and_make_no_step() -> Result<()> {
    let model = Linear::new(2, 3)?;
    let mut optimizer = AdamW::new(model.parameters(), AdamWOptions::default())?;
    let bias = model.bias.as_ref().unwrap();
    let before = bias.to_vec::<f32>()?;
    model.weight.sum()?.backward()?;
    optimizer.step()?;
    assert_eq!(bias.to_vec::<f32>()?, before);
    let state = optimizer.state()?;
    assert_eq!(state.tensors.keys().collect::<Vec<_>>(), ["weight.exp_avg", "weight.exp_avg_sq"]);
    assert_eq!(state.value::<u32>("weight.step")?, 1);
    assert!(!state.values.contains_key("bias.step"));
    optimizer.zero_grad();
    assert!(model.weight.grad().is_none());
    Ok(())
}

#[test]
fn parameters_of_sixteen_bits_are_trained() -> Result<()> {
    for dtype in [DType::F16, DType::BF16] {
        let model = Linear::new(2, 3)?.to(dtype)?;
        let before = model.weight.deep_clone()?;
        let mut adam = Adam::new(model.parameters(), AdamOptions { lr: 0.5, ..AdamOptions::default() })?;
        let mut rmsprop = RMSprop::new(model.parameters(), RMSpropOptions::default())?;
        model.weight.sum()?.backward()?;
        adam.step()?;
        rmsprop.step()?;
        let change = (&model.weight.detach()?.to(DType::F32)? - &before.detach()?.to(DType::F32)?)?;
        assert!(change.to_vec::<f32>()?.iter().all(|change| (-0.7..-0.5).contains(change)), "{change:?}");
    }
    let integers = Tensor::from([1, 2]);
    assert!(Param::new(integers).is_err());
    Ok(())
}

#[test]
fn a_state_of_another_optimiser_is_an_error_that_lists_everything() -> Result<()> {
    let model = Linear::new(2, 3)?;
    let mut adam = Adam::new(model.parameters(), AdamOptions::default())?;
    model.forward(&Tensor::ones((1, 2), ())?)?.sum()?.backward()?;
    adam.step()?;
    let mut state = adam.state()?;
    let mut sgd = SGD::new(model.parameters(), SGDOptions::default())?;
    let error = message(sgd.load_state(&state));
    for part in ["`group.0.momentum` is missing", "`group.0.eps` is unexpected", "`weight.exp_avg` is unexpected"] {
        assert!(error.contains(part), "{error}");
    }
    state.tensors.insert("weight.exp_avg".to_owned(), Tensor::from(1.0));
    state.tensors.remove("bias.exp_avg_sq");
    state.set_value("groups", 2);
    state.set_value("group.0.lr", "fast");
    let error = message(adam.load_state(&state));
    for part in [
        "tensor `weight.exp_avg` has the shape [], and [3, 2] in the object",
        "tensor `bias.exp_avg_sq` is missing",
        "value `groups` is `2`",
        "value `group.0.lr` is `fast`",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(message(adam.load_state(&State::default())).contains("`groups` is missing"));
    Ok(())
}

#[test]
fn clipping_by_norm_and_by_value() -> Result<()> {
    let params = [[3.0, 0.0], [0.0, 4.0]].map(|values| {
        let param = Param::new(Tensor::from(values)).unwrap();
        param.set_grad(Some(Tensor::from(values))).unwrap();
        NamedParam { name: "p".to_owned(), param }
    });
    assert_eq!(clip_grad_norm_(&params, 10.0)?.item::<f64>()?, 5.0);
    assert_eq!(params[1].grad().unwrap().to_vec::<f64>()?, [0.0, 4.0]);
    let infinity = ClipGradNormOptions { norm_type: f64::INFINITY, ..ClipGradNormOptions::default() };
    assert_eq!(clip_grad_norm_with(&params, 10.0, infinity)?.item::<f64>()?, 4.0);
    let one = ClipGradNormOptions { norm_type: 1.0, error_if_nonfinite: true };
    assert_eq!(clip_grad_norm_with(&params, 3.5, one)?.item::<f64>()?, 7.0);
    assert!((params[1].grad().unwrap().to_vec::<f64>()?[1] - 2.0).abs() < 1e-6);
    clip_grad_value_(&params, 1.75)?;
    assert!((params[0].grad().unwrap().to_vec::<f64>()?[0] - 1.5).abs() < 1e-6);
    assert!((params[1].grad().unwrap().to_vec::<f64>()?[1] - 1.75).abs() < 1e-6);

    params[0].set_grad(Some(Tensor::from([f64::NAN, 1.0])))?;
    assert!(message(clip_grad_norm_with(&params, 1.0, one)).contains("infinite or NaN"));
    assert_eq!(params[1].grad().unwrap().to_vec::<f64>()?[1], 1.75);
    assert_eq!(clip_grad_norm_(&[] as &[Tensor], 1.0)?.item::<f64>()?, 0.0);
    Ok(())
}

#[test]
fn the_scaler_leaves_out_steps_with_infinite_gradients() -> Result<()> {
    let param = Param::new(Tensor::from([1.0_f32, 2.0]))?;
    let named = || vec![NamedParam { name: "p".to_owned(), param: param.clone() }];
    let mut optimizer = SGD::new(named(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
    let options = GradScalerOptions { init_scale: 8.0, growth_interval: 2, ..GradScalerOptions::default() };
    let mut scaler = GradScaler::with(options)?;
    assert!(message(scaler.update()).contains("scaler.step"));

    scaler.scale(&(&param * 0.25)?.sum()?)?.backward()?;
    assert_eq!(param.grad().unwrap().to_vec::<f32>()?, [2.0; 2]);
    scaler.unscale_(&mut optimizer)?;
    assert_eq!(param.grad().unwrap().to_vec::<f32>()?, [0.25; 2]);
    assert!(message(scaler.unscale_(&mut optimizer)).contains("after `unscale_`"));
    assert!(scaler.step(&mut optimizer)?);
    assert!(message(scaler.step(&mut optimizer)).contains("after `step`"));
    scaler.update()?;
    assert_eq!((param.to_vec::<f32>()?, scaler.get_scale()?), (vec![0.75, 1.75], 8.0));

    // An overflow leaves out the step, and the interval starts again.
    optimizer.zero_grad();
    scaler.scale(&(&param * f64::INFINITY)?.sum()?)?.backward()?;
    assert!(!scaler.step(&mut optimizer)?);
    scaler.update()?;
    assert_eq!((param.to_vec::<f32>()?, scaler.get_scale()?), (vec![0.75, 1.75], 4.0));
    for expected in [4.0, 8.0] {
        optimizer.zero_grad();
        scaler.scale(&(&param * 0.0)?.sum()?)?.backward()?;
        assert!(scaler.step(&mut optimizer)?);
        scaler.update()?;
        assert_eq!(scaler.get_scale()?, expected);
        let state = scaler.state()?;
        scaler = GradScaler::with(options)?;
        scaler.load_state(&state)?;
    }

    let half = Param::new(Tensor::ones(2, DType::F16)?)?;
    let mut optimizer =
        SGD::new(vec![NamedParam { name: "h".to_owned(), param: half.clone() }], SGDOptions::default())?;
    half.sum()?.backward()?;
    assert!(message(scaler.step(&mut optimizer)).contains("the gradient of `h` is float16"));
    assert!(GradScaler::with(GradScalerOptions { growth_factor: 1.0, ..options }).is_err());
    Ok(())
}

#[test]
fn wrong_arguments_of_schedules_are_errors() -> Result<()> {
    let mut optimizer = SGD::new(Linear::new(2, 3)?.parameters(), SGDOptions::default())?;
    assert!(StepLR::new(&mut optimizer, 0, 0.1).is_err());
    assert!(CosineAnnealingLR::new(&mut optimizer, 0, 0.0).is_err());
    assert!(CosineAnnealingWarmRestarts::new(&mut optimizer, 0).is_err());
    assert!(
        LinearLR::with(&mut optimizer, LinearLROptions { start_factor: 0.0, ..LinearLROptions::default() }).is_err()
    );
    assert!(LambdaLR::for_groups(&mut optimizer, Vec::new()).is_err());
    assert!(OneCycleLR::with(&mut optimizer, &[0.1, 0.2], 10, OneCycleLROptions::default()).is_err());
    let mut adagrad = Adagrad::new(Linear::new(2, 3)?.parameters(), AdagradOptions::default())?;
    assert!(message(OneCycleLR::new(&mut adagrad, 0.1, 10)).contains("cycle_momentum: false"));
    assert!(SequentialLR::new(&mut optimizer, Vec::new(), []).is_err());
    let schedule = StepLR::new(&mut optimizer, 1, 0.1)?;
    assert!(SequentialLR::new(&mut optimizer, vec![Box::new(schedule)], [3]).is_err());
    let options = ReduceLROnPlateauOptions { factor: 1.0, ..ReduceLROnPlateauOptions::default() };
    assert!(ReduceLROnPlateau::with(&mut optimizer, options).is_err());

    let mut schedule = StepLR::new(&mut optimizer, 1, 0.1)?;
    let params = Linear::new(2, 3)?.parameters();
    let groups = params.into_iter().map(|param| ParamGroup { params: vec![param], options: SGDOptions::default() });
    assert!(message(schedule.step(&mut SGD::with_groups(groups)?)).contains("2 groups"));
    Ok(())
}

#[test]
fn a_schedule_refuses_the_state_of_another_kind() -> Result<()> {
    let mut optimizer = SGD::new(Linear::new(2, 3)?.parameters(), SGDOptions { lr: 0.5, ..SGDOptions::default() })?;
    let mut steps = StepLR::new(&mut optimizer, 2, 0.1)?;
    let error = message(steps.load_state(&CosineAnnealingLR::new(&mut optimizer, 10, 0.0)?.state()?));
    assert!(error.contains("CosineAnnealingLR"), "{error}");
    Ok(())
}

#[test]
fn a_step_of_the_scaler_without_gradients_is_an_error() -> Result<()> {
    let model = Linear::new(2, 3)?;
    let mut optimizer = SGD::new(model.parameters(), SGDOptions::default())?;
    let error = message(GradScaler::new()?.step(&mut optimizer));
    assert!(error.contains("no parameter of the optimiser has a gradient"), "{error}");
    Ok(())
}
