//! Optimisers: parameters in groups, with options and states.

use std::collections::{HashMap, HashSet};

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{NamedParam, State, StateError, StateProblem, StateReader, Stateful};
use dispatch_runtime::{Device, Result, Tensor, guard};

use crate::error::OptimError;
use crate::options::OptionMut;
use crate::update_rule::{StepBatch, UpdateRule};

/// An optimiser: it changes parameters by their gradients.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_nn::{Forward, Linear, Module};
/// use dispatch_optim::{Optimizer, SGD, SGDOptions};
/// use dispatch_runtime::Tensor;
///
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = SGD::new(model.parameters(), SGDOptions { lr: 0.1, ..SGDOptions::default() })?;
/// let (x, y) = (Tensor::ones((8, 2), ())?, Tensor::ones((8, 1), ())?);
/// for _ in 0..50 {
///     optimizer.zero_grad();
///     let loss = (model.forward(&x)? - &y)?.square()?.mean()?;
///     loss.backward()?;
///     optimizer.step()?;
/// }
/// assert!((model.forward(&x)?.i((0, 0))?.item::<f32>()? - 1.0).abs() < 1e-3);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait Optimizer: Stateful {
    /// Makes a step. Parameters without a gradient stay as they are.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError::ParameterReplaced`] if the model has another tensor in place of a parameter, and the error of a called operator.
    fn step(&mut self) -> Result<()>;

    /// Returns the groups of parameters.
    fn groups(&mut self) -> Vec<GroupMut<'_>>;

    /// Removes the gradients of the parameters.
    fn zero_grad(&mut self) {
        for param in self.groups().iter().flat_map(|group| group.params) {
            Differentiable::zero_grad(&***param);
        }
    }
}

/// Parameters with their own options.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{AdamW, AdamWOptions, ParamGroup};
///
/// let model = Linear::new(2, 1)?;
/// let (matrices, vectors): (Vec<_>, Vec<_>) = model.parameters().into_iter().partition(|param| param.sizes().len() > 1);
/// let options = AdamWOptions::default();
/// let optimizer = AdamW::with_groups([
///     ParamGroup { params: matrices, options },
///     ParamGroup { params: vectors, options: AdamWOptions { weight_decay: 0.0, ..options } },
/// ])?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParamGroup<O> {
    /// The parameters.
    pub params: Vec<NamedParam>,
    /// The options of the optimiser for them.
    pub options: O,
}

/// A group of an optimiser, with the options that schedules change.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Adam, AdamOptions, Optimizer};
///
/// let mut optimizer = Adam::new(Linear::new(2, 1)?.parameters(), AdamOptions::default())?;
/// for group in optimizer.groups() {
///     *group.lr *= 0.5;
///     assert_eq!(group.momentum, Some(&mut 0.9));
/// }
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct GroupMut<'a> {
    /// The parameters.
    pub params: &'a [NamedParam],
    /// The learning rate.
    pub lr: &'a mut f64,
    /// The momentum, or the first of `betas`.
    pub momentum: Option<&'a mut f64>,
    /// The learning rate at which schedules start. The first schedule sets it.
    pub initial_lr: &'a mut Option<f64>,
}

/// An optimiser that changes all parameters by one rule, as [`SGD`](crate::SGD) and [`AdamW`](crate::AdamW) do.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{RuleOptimizer, SGD, SGDOptions};
///
/// let optimizer: SGD = RuleOptimizer::new(Linear::new(2, 1)?.parameters(), SGDOptions::default())?;
/// assert!(SGD::new(Vec::new(), SGDOptions::default()).is_err());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct RuleOptimizer<R> {
    groups: Vec<Group<R>>,
}

#[derive(Debug)]
struct Group<R> {
    params: Vec<NamedParam>,
    /// The state of each parameter, from its first step on.
    states: Vec<Option<ParamState>>,
    rule: R,
    /// A learning rate if the rule has none.
    no_lr: f64,
    initial_lr: Option<f64>,
}

#[derive(Debug)]
struct ParamState {
    /// The number of steps.
    step: u32,
    tensors: Vec<(&'static str, Tensor)>,
}

impl<R: UpdateRule> RuleOptimizer<R> {
    /// Creates an optimiser of parameters that have the same options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if an option is wrong, and [`OptimError`] if there are no parameters, or if
    /// two have the same name.
    pub fn new(params: Vec<NamedParam>, options: R) -> Result<Self> {
        Self::with_groups([ParamGroup { params, options }])
    }

    /// Creates an optimiser of groups of parameters.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`new`](Self::new), and [`OptimError::RepeatedParameter`] if a parameter is in two groups.
    pub fn with_groups(groups: impl IntoIterator<Item = ParamGroup<R>>) -> Result<Self> {
        let groups: Vec<_> = groups.into_iter().map(Group::new).collect::<Result<_>>()?;
        check_params(groups.iter().flat_map(|group| &group.params))?;
        Ok(Self { groups })
    }

    fn load(&self, state: &State, write: bool) -> Result<(Vec<StateProblem>, Vec<Loaded<R>>)> {
        let mut reader = StateReader::new(state);
        if reader.value::<usize>("groups").is_some_and(|count| count != self.groups.len()) {
            reader.refuse("groups");
        }
        let mut loaded = Vec::with_capacity(self.groups.len());
        for (i, group) in self.groups.iter().enumerate() {
            loaded.push(group.load(&format!("group.{i}"), &mut reader, write)?);
        }
        Ok((reader.problems(), loaded))
    }
}

/// The rule, the initial learning rate, and the states of a group in a state.
type Loaded<R> = (R, Option<f64>, Vec<Option<ParamState>>);

/// Checks that there are parameters, that each occurs once, and that optimisers can train them.
pub(crate) fn check_params<'a>(params: impl Iterator<Item = &'a NamedParam>) -> Result<()> {
    let (mut tensors, mut names) = (HashSet::new(), HashSet::new());
    for param in params {
        let name = || param.name.clone();
        if !tensors.insert(param.identity()) {
            return Err(OptimError::RepeatedParameter { name: name() }.into());
        }
        if !names.insert(&param.name) {
            return Err(OptimError::RepeatedName { name: name() }.into());
        }
        let dtype = param.dtype();
        if !(dtype.is_floating() || dtype.is_complex()) || dtype.size() < 2 {
            return Err(OptimError::UnsupportedDType { name: name(), dtype }.into());
        }
    }
    if tensors.is_empty() { Err(OptimError::NoParameters.into()) } else { Ok(()) }
}

/// Checks that the model still has these parameters.
pub(crate) fn check_not_replaced(params: &mut [NamedParam]) -> Result<()> {
    match params.iter_mut().find_map(|param| param.param.is_only_handle().then(|| param.name.clone())) {
        Some(name) => Err(OptimError::ParameterReplaced { name }.into()),
        None => Ok(()),
    }
}

/// Returns a tensor as real numbers: a view of pairs if it is complex.
pub(crate) fn as_real(tensor: Tensor) -> Result<Tensor> {
    if tensor.is_complex() { aten::view_as_real(&aten::resolve_conj(&tensor)?) } else { Ok(tensor) }
}

impl<R: UpdateRule> Optimizer for RuleOptimizer<R> {
    fn step(&mut self) -> Result<()> {
        let _unrecorded = guard::no_grad();
        // No parameter changes if one of them was replaced.
        self.groups.iter_mut().try_for_each(|group| check_not_replaced(&mut group.params))?;
        self.groups.iter_mut().try_for_each(Group::step)
    }

    fn groups(&mut self) -> Vec<GroupMut<'_>> {
        self.groups.iter_mut().map(Group::as_mut).collect()
    }
}

impl<R: UpdateRule> Stateful for RuleOptimizer<R> {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        state.set_value("groups", self.groups.len());
        for (i, group) in self.groups.iter().enumerate() {
            group.save(&format!("group.{i}"), &mut state);
        }
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        Ok(self.load(state, false)?.0)
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        let _unrecorded = guard::no_grad();
        StateError::check(self.check_state(state)?)?;
        let (_, loaded) = self.load(state, true)?;
        for (group, (rule, initial_lr, states)) in self.groups.iter_mut().zip(loaded) {
            (group.rule, group.initial_lr, group.states) = (rule, initial_lr, states);
        }
        Ok(())
    }
}

impl<R: UpdateRule> Group<R> {
    fn new(ParamGroup { params, options }: ParamGroup<R>) -> Result<Self> {
        options.check()?;
        let states = params.iter().map(|_| None).collect();
        Ok(Self { params, states, rule: options, no_lr: 0.0, initial_lr: None })
    }

    fn as_mut(&mut self) -> GroupMut<'_> {
        let (mut lr, mut momentum) = (&mut self.no_lr, None);
        for (name, option) in self.rule.options() {
            match (name, option) {
                ("lr", OptionMut::Number(number)) => lr = number,
                ("momentum", OptionMut::Number(number)) | ("betas", OptionMut::Pair((number, _))) => {
                    momentum = Some(number);
                }
                _ => {}
            }
        }
        GroupMut { params: &self.params, lr, momentum, initial_lr: &mut self.initial_lr }
    }

    fn step(&mut self) -> Result<()> {
        let names = self.rule.state_names();
        let mut batches: HashMap<(u32, bool, Device), StepBatch> = HashMap::new();
        for (param, state) in self.params.iter().zip(&mut self.states) {
            let Some(grad) = param.grad() else { continue };
            let param = as_real(param.tensor())?;
            let state = state.get_or_insert_with(|| ParamState { step: 0, tensors: Vec::new() });
            let is_new = state.add_missing(names, &self.rule, &param)?;
            state.step = state.step.saturating_add(1);
            let batch = batches.entry((state.step, is_new, param.device())).or_insert_with(|| StepBatch {
                step: state.step,
                is_new,
                states: vec![Vec::new(); names.len()],
                ..StepBatch::default()
            });
            for (list, name) in batch.states.iter_mut().zip(names) {
                list.extend(state.tensors.iter().find(|(other, _)| other == name).map(|(_, tensor)| tensor.clone()));
            }
            batch.params.push(param);
            batch.grads.push(as_real(grad)?);
        }
        batches.values_mut().try_for_each(|batch| self.rule.update(batch))
    }

    fn save(&self, prefix: &str, state: &mut State) {
        for (name, option) in self.rule.clone().options() {
            option.save(&format!("{prefix}.{name}"), state);
        }
        if let Some(lr) = self.initial_lr {
            state.set_value(format!("{prefix}.initial_lr"), lr);
        }
        for (NamedParam { name: param, .. }, saved) in self.params.iter().zip(&self.states) {
            let Some(saved) = saved else { continue };
            state.set_value(format!("{param}.step"), saved.step);
            for (name, tensor) in &saved.tensors {
                state.tensors.insert(format!("{param}.{name}"), tensor.clone());
            }
        }
    }

    /// Reads the group from a state. Tensors are copied if `write` is true, and only checked otherwise.
    fn load(&self, prefix: &str, reader: &mut StateReader<'_>, write: bool) -> Result<Loaded<R>> {
        let mut rule = self.rule.clone();
        for (name, option) in rule.options() {
            option.load(&format!("{prefix}.{name}"), reader);
        }
        let initial_lr = format!("{prefix}.initial_lr");
        let initial_lr = reader.has_value(&initial_lr).then(|| reader.value(&initial_lr)).flatten();
        let mut states = Vec::with_capacity(self.params.len());
        for param in &self.params {
            let step = format!("{}.step", param.name);
            if !reader.has_value(&step) {
                states.push(None);
                continue;
            }
            let mut state = ParamState { step: reader.value(&step).unwrap_or_default(), tensors: Vec::new() };
            for &name in rule.state_names() {
                let new = rule.initial_state(name, &as_real(param.tensor())?)?;
                let saved = reader.tensor(&format!("{}.{name}", param.name), new.sizes());
                if let Some(saved) = saved.filter(|_| write) {
                    new.copy_(saved)?;
                    state.tensors.push((name, new));
                }
            }
            states.push(Some(state));
        }
        Ok((rule, initial_lr, states))
    }
}

impl ParamState {
    /// Creates the tensors that are missing. Returns whether there are new ones.
    fn add_missing(&mut self, names: &[&'static str], rule: &impl UpdateRule, param: &Tensor) -> Result<bool> {
        let mut is_new = false;
        for &name in names {
            if !self.tensors.iter().any(|(other, _)| *other == name) {
                self.tensors.push((name, rule.initial_state(name, param)?));
                is_new = true;
            }
        }
        Ok(is_new)
    }
}
