//! Trajectories of PyTorch, which tests/record.py records: optimisers with each option, and schedules.
#![allow(clippy::float_cmp, reason = "a loaded state has the same numbers")]
#![allow(clippy::needless_pass_by_value, reason = "callers write the options in the call")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_files::load_npz;
use dispatch_nn::{NamedParam, Param, State, Stateful};
use dispatch_optim::{
    AdadeltaOptions, AdagradOptions, AdamOptions, AdamW, AdamWOptions, AdamaxOptions, AnnealStrategy,
    CosineAnnealingLR, CosineAnnealingWarmRestarts, CosineAnnealingWarmRestartsOptions, ExponentialLR, LBFGS,
    LBFGSOptions, LambdaLR, LineSearch, LinearLR, LinearLROptions, LionOptions, LrLambda, MultiStepLR, NAdamOptions,
    OneCycleLR, OneCycleLROptions, Optimizer, ParamGroup, PlateauMode, PolynomialLR, PolynomialLROptions, RAdamOptions,
    RMSpropOptions, ReduceLROnPlateau, ReduceLROnPlateauOptions, RpropOptions, RuleOptimizer, SGDOptions, Schedule,
    SequentialLR, StepLR, ThresholdMode, UpdateRule,
};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

static RECORDED: LazyLock<BTreeMap<String, Tensor>> = LazyLock::new(|| {
    load_npz(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded.npz")).expect("the recording is readable")
});

/// The model of the recording.
struct Model {
    params: Vec<NamedParam>,
    x: Tensor,
    y: Tensor,
}

impl Model {
    fn new(dtype: DType) -> Result<Self> {
        let tensor = |name: &str| RECORDED[name].to(dtype)?.deep_clone();
        let param = |name: &str| -> Result<NamedParam> {
            Ok(NamedParam { name: name.to_owned(), param: Param::new(tensor(name)?)? })
        };
        Ok(Self { params: vec![param("weight")?, param("bias")?], x: tensor("x")?, y: tensor("y")? })
    }

    fn loss(&self) -> Result<Tensor> {
        let [weight, bias] = self.params.as_slice() else { unreachable!() };
        (aten::linear(&self.x, weight, Some(bias))?.tanh()? - &self.y)?.square()?.mean()
    }

    fn zero_grad(&self) {
        self.params.iter().for_each(|param| Differentiable::zero_grad(&***param));
    }

    fn backward(&self) -> Result<()> {
        self.zero_grad();
        self.loss()?.backward()
    }

    /// The closure of L-BFGS: the loss with a penalty, or its negative.
    fn penalized_loss(&self, sign: f64) -> Result<Tensor> {
        self.zero_grad();
        let [weight, bias] = self.params.as_slice() else { unreachable!() };
        let penalty = (weight.square()?.sum()? + bias.square()?.sum()?)?;
        let loss = ((self.loss()? + (penalty * 0.1)?)? * sign)?;
        loss.backward()?;
        Ok(loss)
    }

    fn position(&self) -> Result<Vec<f64>> {
        let mut position = Vec::new();
        for param in &self.params {
            position.extend(param.detach()?.to(DType::F64)?.to_vec::<f64>()?);
        }
        Ok(position)
    }
}

fn rows(name: &str) -> Vec<Vec<f64>> {
    let tensor = RECORDED.get(name).unwrap_or_else(|| panic!("{name} is recorded")).to(DType::F64).unwrap();
    let columns = tensor.geometry().count() / tensor.sizes()[0];
    let flat = tensor.to_vec::<f64>().unwrap();
    flat.chunks(usize::try_from(columns).unwrap()).map(<[f64]>::to_vec).collect()
}

/// A relative and an absolute tolerance.
type Tolerance = (f64, f64);

const TIGHT: Tolerance = (1e-12, 1e-12);
/// The tolerance of `torch.testing` for `float32`.
const F32: Tolerance = (1.3e-6, 1e-5);

fn assert_close(found: &[f64], expected: &[f64], (relative, absolute): Tolerance, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() <= relative * b.abs() + absolute,
            "{what}: {a} instead of {b}, off by {:e}",
            (a - b).abs()
        );
    }
}

fn check<R: UpdateRule>(name: &str, options: R) -> Result<()> {
    // PyTorch has some numbers of `NAdam` in single precision.
    let f64_tolerance = if name.starts_with("nadam") { (1e-6, 1e-9) } else { TIGHT };
    for (dtype, tolerance) in [(DType::F64, f64_tolerance), (DType::F32, F32)] {
        let recorded = format!("{name}.{dtype}");
        if !RECORDED.contains_key(&recorded) {
            continue;
        }
        let model = Model::new(dtype)?;
        let mut optimizer = RuleOptimizer::new(model.params.clone(), options.clone())?;
        for (step, expected) in rows(&recorded).iter().enumerate() {
            model.backward()?;
            optimizer.step()?;
            assert_close(&model.position()?, expected, tolerance, &format!("{recorded}, step {step}"));
        }
    }
    Ok(())
}

#[test]
fn sgd() -> Result<()> {
    let options = SGDOptions { lr: 0.1, ..SGDOptions::default() };
    check("sgd", options)?;
    check("sgd_momentum", SGDOptions { momentum: 0.9, ..options })?;
    check("sgd_dampening", SGDOptions { momentum: 0.9, dampening: 0.3, weight_decay: 0.01, ..options })?;
    check("sgd_nesterov", SGDOptions { momentum: 0.8, nesterov: true, ..options })?;
    check("sgd_maximize", SGDOptions { momentum: 0.5, maximize: true, ..options })
}

#[test]
fn adam() -> Result<()> {
    let options = AdamOptions { lr: 0.05, ..AdamOptions::default() };
    check("adam", options)?;
    check("adam_betas", AdamOptions { betas: (0.8, 0.95), eps: 1e-4, ..options })?;
    check("adam_amsgrad", AdamOptions { amsgrad: true, weight_decay: 0.1, ..options })?;
    let decoupled = AdamOptions { weight_decay: 0.1, decoupled_weight_decay: true, maximize: true, ..options };
    check("adam_decoupled", decoupled)?;
    let options = AdamWOptions { lr: 0.05, ..AdamWOptions::default() };
    check("adamw", options)?;
    let (betas, eps) = ((0.7, 0.9), 1e-3);
    check("adamw_amsgrad", AdamWOptions { betas, eps, weight_decay: 0.2, amsgrad: true, maximize: true, ..options })
}

#[test]
fn variants_of_adam() -> Result<()> {
    let (lr, betas, eps, weight_decay, maximize) = (0.05, (0.8, 0.9), 1e-3, 0.1, true);
    check("adamax", AdamaxOptions { lr, ..AdamaxOptions::default() })?;
    check("adamax_options", AdamaxOptions { lr, betas, eps, weight_decay, maximize })?;
    let options = NAdamOptions { lr, ..NAdamOptions::default() };
    check("nadam", options)?;
    check("nadam_options", NAdamOptions { betas, eps, weight_decay, momentum_decay: 0.01, maximize, ..options })?;
    check("nadam_decoupled", NAdamOptions { weight_decay, decoupled_weight_decay: true, ..options })?;
    let options = RAdamOptions { lr, ..RAdamOptions::default() };
    check("radam", options)?;
    check("radam_options", RAdamOptions { betas, eps, weight_decay, maximize, ..options })?;
    check("radam_decoupled", RAdamOptions { weight_decay, decoupled_weight_decay: true, ..options })
}

#[test]
fn adagrad_adadelta_rmsprop_and_rprop() -> Result<()> {
    let (eps, weight_decay, maximize) = (1e-3, 0.1, true);
    let options = AdagradOptions { lr: 0.1, ..AdagradOptions::default() };
    check("adagrad", options)?;
    let all = AdagradOptions { lr_decay: 0.1, weight_decay, initial_accumulator_value: 0.2, eps, maximize, ..options };
    check("adagrad_options", all)?;
    check("adadelta", AdadeltaOptions::default())?;
    check("adadelta_options", AdadeltaOptions { lr: 0.5, rho: 0.8, eps, weight_decay, maximize })?;
    let options = RMSpropOptions { lr: 0.02, ..RMSpropOptions::default() };
    check("rmsprop", RMSpropOptions { lr: 0.05, ..options })?;
    check("rmsprop_momentum", RMSpropOptions { alpha: 0.9, eps, weight_decay, momentum: 0.8, ..options })?;
    check("rmsprop_centered", RMSpropOptions { centered: true, maximize, ..options })?;
    check("rmsprop_both", RMSpropOptions { centered: true, momentum: 0.7, ..options })?;
    let options = RpropOptions { lr: 0.05, ..RpropOptions::default() };
    check("rprop", options)?;
    check("rprop_options", RpropOptions { etas: (0.4, 1.3), step_sizes: (1e-2, 0.2), maximize, ..options })
}

#[test]
fn lion() -> Result<()> {
    check("lion", LionOptions { lr: 0.01, ..LionOptions::default() })?;
    check("lion_options", LionOptions { lr: 0.02, betas: (0.8, 0.9), weight_decay: 0.1, maximize: false })
}

#[test]
fn lbfgs() -> Result<()> {
    let options = LBFGSOptions::default();
    let wolfe = Some(LineSearch::StrongWolfe);
    for (name, options) in [
        ("lbfgs", LBFGSOptions { lr: 0.3, max_iter: 4, history_size: 3, ..options }),
        ("lbfgs_wolfe", LBFGSOptions { line_search_fn: wolfe, max_iter: 3, ..options }),
        ("lbfgs_zoom", LBFGSOptions { line_search_fn: wolfe, lr: 8.0, max_iter: 3, ..options }),
        ("lbfgs_maximize", LBFGSOptions { lr: 0.1, max_iter: 3, maximize: true, max_eval: Some(3), ..options }),
    ] {
        check_lbfgs(name, options, DType::F64, (1e-10, 1e-10))?;
        // Near the minimum, rounding decides the step that is the last.
        check_lbfgs(name, options, DType::F32, (1e-3, 1e-3))?;
    }
    assert!(Optimizer::step(&mut LBFGS::new(Model::new(DType::F64)?.params, options)?).is_err());
    Ok(())
}

/// Compares L-BFGS with a recording. Each step is made by a new optimiser that loads the state.
fn check_lbfgs(name: &str, options: LBFGSOptions, dtype: DType, tolerance: Tolerance) -> Result<()> {
    let model = Model::new(dtype)?;
    let mut optimizer = LBFGS::new(model.params.clone(), options)?;
    for (step, expected) in rows(&format!("{name}.{dtype}")).iter().enumerate() {
        optimizer.step(|| model.penalized_loss(if options.maximize { -1.0 } else { 1.0 }))?;
        assert_close(&model.position()?, expected, tolerance, &format!("{name}, step {step}"));
        let state = optimizer.state()?;
        optimizer = LBFGS::new(model.params.clone(), options)?;
        optimizer.load_state(&state)?;
    }
    Ok(())
}

#[test]
fn groups_have_their_own_options() -> Result<()> {
    let model = Model::new(DType::F64)?;
    let options = AdamWOptions { lr: 0.05, ..AdamWOptions::default() };
    let [weight, bias] = [0, 1].map(|i| vec![model.params[i].clone()]);
    let mut optimizer = AdamW::with_groups([
        ParamGroup { params: weight, options: AdamWOptions { weight_decay: 0.3, ..options } },
        ParamGroup { params: bias, options: AdamWOptions { lr: 0.2, betas: (0.5, 0.6), ..options } },
    ])?;
    for expected in rows("groups.float64") {
        model.backward()?;
        optimizer.step()?;
        assert_close(&model.position()?, &expected, TIGHT, "groups");
    }
    Ok(())
}

fn check_complex<R: UpdateRule>(name: &str, options: R) -> Result<()> {
    let complex = |name: &str| RECORDED[name].deep_clone()?.view_as_complex();
    let (param, target) = (Param::new(complex("complex_start")?)?, complex("complex_target")?);
    let mut optimizer = RuleOptimizer::new(vec![NamedParam { name: "z".to_owned(), param: param.clone() }], options)?;
    for expected in rows(&format!("{name}.float64")) {
        optimizer.zero_grad();
        (&param - &target)?.abs()?.square()?.sum()?.backward()?;
        optimizer.step()?;
        assert_close(&param.detach()?.view_as_real()?.to_vec::<f64>()?, &expected, (1e-10, 1e-10), name);
    }
    Ok(())
}

#[test]
fn complex_parameters_are_pairs_of_numbers() -> Result<()> {
    check_complex("complex_adam", AdamOptions { lr: 0.1, ..AdamOptions::default() })?;
    check_complex("complex_sgd", SGDOptions { lr: 0.1, momentum: 0.9, ..SGDOptions::default() })?;
    check_complex("complex_rprop", RpropOptions { lr: 0.1, ..RpropOptions::default() })
}

fn float(count: usize) -> f64 {
    u32::try_from(count).unwrap().into()
}

fn param(name: &str) -> Result<Vec<NamedParam>> {
    Ok(vec![NamedParam { name: name.to_owned(), param: Param::new(Tensor::zeros(1, ())?)? }])
}

fn two_groups<R: UpdateRule>(options: R) -> Result<RuleOptimizer<R>> {
    let group = |name| -> Result<_> { Ok(ParamGroup { params: param(name)?, options: options.clone() }) };
    let mut optimizer = RuleOptimizer::with_groups([group("a")?, group("b")?])?;
    for (group, lr) in optimizer.groups().into_iter().zip([0.5, 0.03]) {
        *group.lr = lr;
    }
    Ok(optimizer)
}

/// Compares a schedule with the recorded learning rates. A new schedule continues it in the middle.
fn check_schedule(name: &str, make: impl Fn(&mut dyn Optimizer) -> Result<Box<dyn Schedule>>) -> Result<()> {
    let mut optimizer = two_groups(SGDOptions::default())?;
    let mut schedule = make(&mut optimizer)?;
    for (step, expected) in rows(&format!("schedule.{name}")).iter().enumerate() {
        if step > 0 {
            schedule.step(&mut optimizer)?;
        }
        let lrs: Vec<f64> = optimizer.groups().iter().map(|group| *group.lr).collect();
        assert_eq!(lrs, schedule.last_lr(), "{name}");
        assert_close(&lrs, expected, TIGHT, &format!("{name}, step {step}"));
        if step == 11 {
            let (of_schedule, of_optimizer) = (schedule.state()?, optimizer.state()?);
            optimizer = two_groups(SGDOptions::default())?;
            schedule = make(&mut optimizer)?;
            schedule.load_state(&of_schedule)?;
            optimizer.load_state(&of_optimizer)?;
        }
    }
    Ok(())
}

#[test]
fn schedules() -> Result<()> {
    check_schedule("step", |o| Ok(Box::new(StepLR::new(o, 4, 0.3)?)))?;
    check_schedule("multi_step", |o| Ok(Box::new(MultiStepLR::new(o, [3, 7, 7, 15], 0.5)?)))?;
    check_schedule("exponential", |o| Ok(Box::new(ExponentialLR::new(o, 0.9)?)))?;
    check_schedule("cosine", |o| Ok(Box::new(CosineAnnealingLR::new(o, 6, 0.01)?)))?;
    let options = CosineAnnealingWarmRestartsOptions { t_mult: 2, eta_min: 0.001 };
    check_schedule("warm_restarts", |o| Ok(Box::new(CosineAnnealingWarmRestarts::with(o, 4, options)?)))?;
    check_schedule("warm_restarts_equal", |o| Ok(Box::new(CosineAnnealingWarmRestarts::new(o, 5)?)))?;
    let options = LinearLROptions { start_factor: 0.25, end_factor: 0.8, total_iters: 9 };
    check_schedule("linear", |o| Ok(Box::new(LinearLR::with(o, options)?)))?;
    check_schedule("linear_default", |o| Ok(Box::new(LinearLR::new(o)?)))?;
    let options = PolynomialLROptions { total_iters: 12, power: 2.5 };
    check_schedule("polynomial", |o| Ok(Box::new(PolynomialLR::with(o, options)?)))?;
    check_schedule("lambda", |o| Ok(Box::new(LambdaLR::new(o, |epoch| 0.95_f64.powf(float(epoch)))?)))?;
    check_schedule("lambda_groups", |o| {
        let functions: Vec<LrLambda> =
            vec![Box::new(|epoch| 1.0 / float(epoch + 1)), Box::new(|epoch| 0.5_f64.powf(float(epoch)))];
        Ok(Box::new(LambdaLR::for_groups(o, functions)?))
    })?;
    check_schedule("sequential", |o| {
        let linear = LinearLR::with(o, LinearLROptions { start_factor: 0.1, ..LinearLROptions::default() })?;
        let (step, cosine) = (StepLR::new(o, 3, 0.5)?, CosineAnnealingLR::new(o, 8, 0.0)?);
        let schedules: Vec<Box<dyn Schedule>> = vec![Box::new(linear), Box::new(step), Box::new(cosine)];
        Ok(Box::new(SequentialLR::new(o, schedules, [5, 14])?))
    })
}

fn check_one_cycle<R: UpdateRule>(name: &str, rule: R, options: OneCycleLROptions) -> Result<()> {
    let mut optimizer = two_groups(rule)?;
    let mut schedule = OneCycleLR::with(&mut optimizer, &[0.5, 0.2], 26, options)?;
    for (step, expected) in rows(&format!("schedule.{name}")).iter().enumerate() {
        if step > 0 {
            schedule.step(&mut optimizer)?;
        }
        let groups = optimizer.groups();
        let found: Vec<f64> = groups.iter().flat_map(|group| [*group.lr, **group.momentum.as_ref().unwrap()]).collect();
        assert_close(&found, expected, TIGHT, &format!("{name}, step {step}"));
    }
    schedule.step(&mut optimizer)?;
    let error = schedule.step(&mut optimizer).unwrap_err().to_string();
    assert!(error.contains("the schedule has 26 steps"), "{error}");
    Ok(())
}

#[test]
fn one_cycle_changes_the_learning_rate_and_the_momentum() -> Result<()> {
    let options = OneCycleLROptions::default();
    check_one_cycle("one_cycle", SGDOptions { momentum: 0.9, ..SGDOptions::default() }, options)?;
    let linear = OneCycleLROptions {
        pct_start: 0.4,
        anneal_strategy: AnnealStrategy::Linear,
        base_momentum: 0.7,
        max_momentum: 0.9,
        div_factor: 10.0,
        final_div_factor: 100.0,
        ..options
    };
    check_one_cycle("one_cycle_linear", AdamOptions::default(), linear)?;
    check_one_cycle("one_cycle_three", AdamWOptions::default(), OneCycleLROptions { three_phase: true, ..options })
}

#[test]
fn plateau() -> Result<()> {
    let options = ReduceLROnPlateauOptions::default();
    let (max, abs) = (PlateauMode::Max, ThresholdMode::Abs);
    for (name, options) in [
        ("plateau", ReduceLROnPlateauOptions { patience: 2, ..options }),
        (
            "plateau_abs",
            ReduceLROnPlateauOptions {
                patience: 1,
                factor: 0.5,
                threshold: 0.05,
                threshold_mode: abs,
                cooldown: 2,
                min_lr: 0.02,
                ..options
            },
        ),
        ("plateau_max", ReduceLROnPlateauOptions { mode: max, patience: 3, factor: 0.3, ..options }),
        (
            "plateau_max_abs",
            ReduceLROnPlateauOptions { mode: max, patience: 0, factor: 0.7, threshold_mode: abs, ..options },
        ),
    ] {
        let mut optimizer = two_groups(SGDOptions::default())?;
        let mut schedule = ReduceLROnPlateau::with(&mut optimizer, options)?;
        for (metric, expected) in
            RECORDED["metrics"].to_vec::<f64>()?.into_iter().zip(rows(&format!("schedule.{name}")))
        {
            schedule.step(metric, &mut optimizer)?;
            assert_close(schedule.last_lr(), &expected, TIGHT, name);
            let state = schedule.state()?;
            schedule = ReduceLROnPlateau::with(&mut optimizer, options)?;
            schedule.load_state(&state)?;
        }
    }
    Ok(())
}

/// The state that a checkpoint would read: all tensors are copies.
fn saved(object: &impl Stateful) -> Result<State> {
    let State { tensors, values } = object.state()?;
    let tensors = tensors.into_iter().map(|(name, tensor)| Ok((name, tensor.deep_clone()?))).collect::<Result<_>>()?;
    Ok(State { tensors, values })
}

fn check_continuation<R: UpdateRule>(options: R) -> Result<()> {
    let (model, copy) = (Model::new(DType::F32)?, Model::new(DType::F32)?);
    let mut optimizer = RuleOptimizer::new(model.params.clone(), options.clone())?;
    for _ in 0..5 {
        model.backward()?;
        optimizer.step()?;
    }
    let mut resumed = RuleOptimizer::new(copy.params.clone(), options)?;
    for group in optimizer.groups() {
        *group.lr *= 0.5;
    }
    resumed.load_state(&saved(&optimizer)?)?;
    for (from, to) in model.params.iter().zip(&copy.params) {
        to.detach()?.copy_(&from.detach()?)?;
    }
    for _ in 0..5 {
        for (model, optimizer) in [(&model, &mut optimizer), (&copy, &mut resumed)] {
            model.backward()?;
            optimizer.step()?;
        }
        assert_eq!(model.position()?, copy.position()?);
    }
    Ok(())
}

#[test]
fn a_loaded_state_gives_the_same_continuation() -> Result<()> {
    check_continuation(SGDOptions { lr: 0.1, momentum: 0.9, ..SGDOptions::default() })?;
    check_continuation(AdamOptions { amsgrad: true, ..AdamOptions::default() })?;
    check_continuation(AdamWOptions::default())?;
    check_continuation(AdamaxOptions::default())?;
    check_continuation(NAdamOptions::default())?;
    check_continuation(RAdamOptions::default())?;
    check_continuation(AdagradOptions { lr_decay: 0.1, ..AdagradOptions::default() })?;
    check_continuation(AdadeltaOptions::default())?;
    check_continuation(RMSpropOptions { momentum: 0.5, centered: true, ..RMSpropOptions::default() })?;
    check_continuation(RpropOptions::default())?;
    check_continuation(LionOptions::default())
}
