//! The parameters of stacked recurrent layers, and their calls with a batch or one sequence, padded or packed.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, Result, Tensor};

use crate::layers::checks::{check_positive, check_probability};
use crate::layers::linear::uniform_for_inputs;
use crate::param::{NamedParam, Training};
use crate::utils::rnn::PackedSequence;
use crate::visit::{ModulePath, Part, PartMut, Visit};

/// The options that all recurrent layers have, and their sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackOptions {
    pub(super) input_size: i64,
    pub(super) hidden_size: i64,
    /// The size of the output of each layer, if a projection changes it.
    pub(super) proj_size: Option<i64>,
    pub(super) gate_count: i64,
    pub(super) num_layers: i64,
    pub(super) bias: bool,
    pub(super) batch_first: bool,
    pub(super) dropout: f64,
    pub(super) bidirectional: bool,
}

/// Stacked recurrent layers of any kind of cell.
#[derive(Clone, Debug)]
pub(super) struct RecurrentStack {
    options: StackOptions,
    params: Vec<NamedParam>,
    training: Training,
}

/// The arguments of a recurrent operator after its input.
pub(super) struct StackCall<const STATES: usize> {
    pub(super) state: [Tensor; STATES],
    pub(super) params: Vec<Tensor>,
    pub(super) options: StackOptions,
    pub(super) training: bool,
}

impl StackOptions {
    const fn directions(&self) -> i64 {
        if self.bidirectional { 2 } else { 1 }
    }

    const fn output_size(&self) -> i64 {
        match self.proj_size {
            Some(size) => size,
            None => self.hidden_size,
        }
    }

    fn check(&self) -> Result<(), BadArgument> {
        check_positive("input_size", self.input_size)?;
        check_positive("hidden_size", self.hidden_size)?;
        check_positive("num_layers", self.num_layers)?;
        check_probability("dropout", self.dropout)?;
        match self.proj_size {
            Some(size) if size < 1 || size >= self.hidden_size => {
                let expected =
                    format!("0 for no projection, or positive and less than `hidden_size`, {}", self.hidden_size);
                Err(BadArgument::value("proj_size", size, expected))
            }
            _ => Ok(()),
        }
    }

    /// Creates the parameters of one direction of a layer.
    fn direction_params(&self, layer: i64, suffix: &str) -> Result<Vec<NamedParam>> {
        let Self { hidden_size, gate_count, .. } = *self;
        let gates = gate_count.saturating_mul(hidden_size);
        let inputs = if layer == 0 { self.input_size } else { self.output_size().saturating_mul(self.directions()) };
        let mut sizes = vec![("weight_ih", vec![gates, inputs]), ("weight_hh", vec![gates, self.output_size()])];
        if self.bias {
            sizes.extend([("bias_ih", vec![gates]), ("bias_hh", vec![gates])]);
        }
        if let Some(size) = self.proj_size {
            sizes.push(("weight_hr", vec![size, hidden_size]));
        }
        let param = |(name, sizes): (&str, Vec<i64>)| {
            Ok(NamedParam { name: format!("{name}_l{layer}{suffix}"), param: uniform_for_inputs(sizes, hidden_size)? })
        };
        sizes.into_iter().map(param).collect()
    }
}

impl RecurrentStack {
    pub(super) fn new(options: StackOptions) -> Result<Self> {
        options.check()?;
        let mut params = Vec::new();
        for layer in 0..options.num_layers {
            params.extend(options.direction_params(layer, "")?);
            if options.bidirectional {
                params.extend(options.direction_params(layer, "_reverse")?);
            }
        }
        Ok(Self { options, params, training: Training::ON })
    }

    /// Runs an operator on padded sequences. A sequence without batch becomes a batch of one. Without a state, it starts with zeros.
    pub(super) fn run_padded<const STATES: usize>(
        &self,
        input: &Tensor,
        state: Option<[&Tensor; STATES]>,
        operator: impl FnOnce(&Tensor, StackCall<STATES>) -> Result<(Tensor, [Tensor; STATES])>,
    ) -> Result<(Tensor, [Tensor; STATES])> {
        let sizes = input.sizes();
        if !matches!(sizes.len(), 2 | 3) {
            return Err(BadArgument::rank("input", sizes.len(), &[2, 3]).because("the batch is optional").into());
        }
        self.check_features(input)?;
        let batch_dim = usize::from(!self.options.batch_first);
        if sizes.len() == 3 {
            let batch = sizes.get(batch_dim).copied().unwrap_or(0);
            return operator(input, self.call(self.initial_state(state, input, batch)?));
        }
        let input = input.unsqueeze(batch_dim)?;
        let state = match state {
            Some(state) => {
                for part in state {
                    if part.sizes().len() != 2 {
                        let error = BadArgument::rank("state", part.sizes().len(), 2);
                        return Err(error.because("the input has no batch").into());
                    }
                }
                try_map(state, |part| part.unsqueeze(1))?
            }
            None => self.initial_state(None, &input, 1)?,
        };
        let (output, state) = operator(&input, self.call(state))?;
        Ok((output.squeeze_dims(batch_dim)?, try_map(state.each_ref(), |part| part.squeeze_dims(1))?))
    }

    /// Runs an operator on packed sequences. States have the order of the sequences before packing.
    pub(super) fn run_packed<const STATES: usize>(
        &self,
        input: &PackedSequence,
        state: Option<[&Tensor; STATES]>,
        operator: impl FnOnce(&PackedSequence, StackCall<STATES>) -> Result<(Tensor, [Tensor; STATES])>,
    ) -> Result<(PackedSequence, [Tensor; STATES])> {
        self.check_features(&input.data)?;
        let batch = if input.batch_sizes.geometry().count() > 0 { input.batch_sizes.i(0)?.item::<i64>()? } else { 0 };
        let state = self.initial_state(state, &input.data, batch)?;
        let state = match &input.sorted_indices {
            Some(indices) => try_map(state.each_ref(), |part| part.index_select(1, indices))?,
            None => state,
        };
        let (data, state) = operator(input, self.call(state))?;
        let state = match &input.unsorted_indices {
            Some(indices) => try_map(state.each_ref(), |part| part.index_select(1, indices))?,
            None => state,
        };
        Ok((PackedSequence { data, ..input.clone() }, state))
    }

    fn check_features(&self, input: &Tensor) -> Result<(), BadArgument> {
        match input.sizes().split_last() {
            Some((&features, dims)) if features != self.options.input_size => {
                Err(BadArgument::size("input", input.sizes(), dims.len(), self.options.input_size)
                    .because("the layer has this `input_size`"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the given state, or zeros. The first part of a state is the output, and others have the hidden size.
    fn initial_state<const STATES: usize>(
        &self,
        state: Option<[&Tensor; STATES]>,
        input: &Tensor,
        batch: i64,
    ) -> Result<[Tensor; STATES]> {
        let options = &self.options;
        let count = options.num_layers.saturating_mul(options.directions());
        let size = |at| if at == 0 { options.output_size() } else { options.hidden_size };
        match state {
            None => try_map(std::array::from_fn(size), |size| Tensor::zeros((count, batch, size), input)),
            Some(state) => {
                for (at, part) in state.into_iter().enumerate() {
                    let expected = [count, batch, size(at)];
                    if part.sizes() != expected {
                        return Err(BadArgument::sizes("state", part.sizes(), &expected[..])
                            .because("there is a state for each direction of each layer")
                            .into());
                    }
                }
                Ok(state.map(Tensor::clone))
            }
        }
    }

    fn call<const STATES: usize>(&self, state: [Tensor; STATES]) -> StackCall<STATES> {
        let params = self.params.iter().map(|parameter| parameter.tensor()).collect();
        StackCall { state, params, options: self.options, training: self.training.is_on() }
    }

    pub(super) fn visit_params(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        self.params.iter().for_each(|NamedParam { name, param }| param.visit(&at.field(name), f));
        self.training.visit(&at.field("training"), f);
    }

    pub(super) fn visit_params_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        self.params.iter_mut().for_each(|NamedParam { name, param }| param.visit_mut(&at.field(name), f));
        self.training.visit_mut(&at.field("training"), f);
    }
}

/// Implements the traits of modules for a layer with a field `stack`.
macro_rules! impl_module_for_stack {
    ($layer:ident) => {
        impl crate::Visit for $layer {
            fn visit(&self, at: &crate::ModulePath<'_>, f: &mut dyn FnMut(&crate::ModulePath<'_>, crate::Part<'_>)) {
                f(at, crate::Part::Module(crate::ModuleRef::new(self, stringify!($layer))));
                self.stack.visit_params(at, f);
            }

            fn visit_mut(
                &mut self,
                at: &crate::ModulePath<'_>,
                f: &mut dyn FnMut(&crate::ModulePath<'_>, crate::PartMut<'_>),
            ) {
                self.stack.visit_params_mut(at, f);
            }
        }

        impl crate::Module for $layer {}
    };
}

pub(super) use impl_module_for_stack;

/// Maps an array by a function that may fail.
pub(super) fn try_map<T, const N: usize>(parts: [T; N], f: impl FnMut(T) -> Result<Tensor>) -> Result<[Tensor; N]> {
    let mapped = parts.into_iter().map(f).collect::<Result<Vec<_>>>()?;
    mapped.try_into().map_err(|_| "an array has one tensor for each element".into())
}
