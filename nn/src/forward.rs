//! The computation of a module.

use dispatch_runtime::{Result, Tensor};

use crate::module::Module;

/// The computation of a module: `forward` maps an input to an output. The input is a tensor if nothing else is written.
///
/// Modules with several inputs have a function `forward` of their own, or implement the trait for a tuple or a struct.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Module, Param};
/// use dispatch_runtime::{Result, Tensor};
///
/// #[derive(Clone, Module)]
/// struct Scale {
///     scale: Param,
/// }
///
/// impl Forward for Scale {
///     type Output = Tensor;
///
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         x * &self.scale
///     }
/// }
///
/// let double = Scale { scale: Param::new(Tensor::from(2.0))? };
/// assert_eq!(double.forward(&Tensor::from([1.0, 2.0]))?.to_vec::<f64>()?, [2.0, 4.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `forward` for an input of type `{Input}`",
    note = "write `impl Forward for {Self}` with `type Output = Tensor;` and `fn forward(&self, x: &Tensor) -> Result<Tensor>`"
)]
pub trait Forward<Input: ?Sized = Tensor> {
    /// The type of the result.
    type Output;

    /// Computes the output.
    ///
    /// # Errors
    ///
    /// Returns the error of the operators, for an input of wrong sizes or dtype for example.
    fn forward(&self, input: &Input) -> Result<Self::Output>;
}

/// A module that maps a tensor to a tensor, as [`Sequential`](crate::Sequential) holds it. Every such module with `Clone` is one.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Layer, Linear, ReLU};
/// use dispatch_runtime::Tensor;
///
/// let layers: Vec<Box<dyn Layer>> = vec![Box::new(Linear::new(2, 3)?), Box::new(ReLU)];
/// assert_eq!(layers[1].forward(&layers[0].forward(&Tensor::from([[1.0_f32, 2.0]]))?)?.sizes(), [1, 3]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no layer that maps a tensor to a tensor",
    note = "a layer has `impl Forward for {Self}` with `type Output = Tensor;`, and `#[derive(Clone, Module)]` before the struct"
)]
pub trait Layer: Forward<Tensor, Output = Tensor> + Module + Send + Sync {
    /// Clones the handles of the layer.
    fn clone_layer(&self) -> Box<dyn Layer>;
}

impl<T: Forward<Tensor, Output = Tensor> + Module + Clone + Send + Sync + 'static> Layer for T {
    fn clone_layer(&self) -> Box<dyn Layer> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Layer> {
    fn clone(&self) -> Self {
        (**self).clone_layer()
    }
}
