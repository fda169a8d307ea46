//! Layers in a row.

use std::sync::Arc;

use dispatch_runtime::{Result, Tensor};

use crate::forward::{Forward, Layer};
use crate::module::Module;
use crate::summary::observe;
use crate::visit::{ModulePath, ModuleRef, Part, PartMut, Visit};

/// Layers, each with the output of the one before as its input. Their names are their numbers, or the names that they were added with.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Linear, Module, ReLU, Sequential};
/// use dispatch_runtime::Tensor;
///
/// let net = Sequential::new()
///     .add(Linear::new(4, 8)?)
///     .add(ReLU)
///     .add_fn(|x| x * 0.5)
///     .add_named("head", Linear::new(8, 2)?);
/// assert_eq!(net.forward(&Tensor::zeros((3, 4), ())?)?.sizes(), [3, 2]);
/// let names: Vec<String> = net.parameters().into_iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["0.weight", "0.bias", "head.weight", "head.bias"]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Sequential {
    layers: Vec<(String, Box<dyn Layer>)>,
}

impl Sequential {
    /// Creates a row without layers, which returns its input.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a layer. Its name is its number, or the next one that no other layer has as its name.
    #[expect(clippy::should_implement_trait, reason = "candle's users know this name")]
    #[must_use]
    pub fn add(self, layer: impl Layer + 'static) -> Self {
        let mut number = self.layers.len();
        while self.layers.iter().any(|(name, _)| *name == number.to_string()) {
            number += 1;
        }
        self.add_named(number.to_string(), layer)
    }

    /// Adds a layer with a name. It replaces a layer of this name.
    #[must_use]
    pub fn add_named(mut self, name: impl Into<String>, layer: impl Layer + 'static) -> Self {
        let (name, layer) = (name.into(), Box::new(layer));
        match self.layers.iter_mut().find(|(other, _)| *other == name) {
            Some((_, other)) => *other = layer,
            None => self.layers.push((name, layer)),
        }
        self
    }

    /// Adds a function of a tensor. It counts as a layer, without parameters.
    #[must_use]
    pub fn add_fn(self, function: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static) -> Self {
        self.add(Function(Arc::new(function)))
    }

    /// Returns a layer.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&dyn Layer> {
        self.layers.get(index).map(|(_, layer)| &**layer)
    }

    /// Returns the layers with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &dyn Layer)> {
        self.layers.iter().map(|(name, layer)| (&**name, &**layer))
    }

    /// Returns the number of layers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layers.len()
    }

    /// Returns whether there are no layers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }
}

impl Forward for Sequential {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        observe(self, self.layers.iter().try_fold(x.clone(), |x, (_, layer)| layer.forward(&x)))
    }
}

impl Visit for Sequential {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        f(at, Part::Module(ModuleRef::new(self, "Sequential")));
        self.layers.iter().for_each(|(name, layer)| layer.visit(&at.field(name), f));
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        self.layers.iter_mut().for_each(|(name, layer)| layer.visit_mut(&at.field(name), f));
    }
}

impl Module for Sequential {}

type TensorFn = dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync;

/// A function as a layer.
#[derive(Clone, crate::Module)]
struct Function(#[module(skip)] Arc<TensorFn>);

impl Forward for Function {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        observe(self, (self.0)(x))
    }
}
