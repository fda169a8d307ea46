//! Linear layers.

use aten::prelude::*;
use dispatch_runtime::{IntoInt, IntoSizes, Result, Tensor};

use crate::forward::Forward;
use crate::param::Param;
use crate::summary::observe;

/// A linear layer: `x weight^T + bias`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Linear};
/// use dispatch_runtime::Tensor;
///
/// let layer = Linear::new(4, 2)?;
/// assert_eq!(layer.forward(&Tensor::zeros((3, 4), ())?)?.sizes(), [3, 2]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Linear {
    /// The matrix, of sizes `[out_features, in_features]`.
    pub weight: Param,
    /// The numbers that are added, of sizes `[out_features]`.
    pub bias: Option<Param>,
}

impl Linear {
    /// Creates a layer with a bias. Weight and bias are uniform in `±1/sqrt(in_features)`.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn new(in_features: impl IntoInt, out_features: impl IntoInt) -> Result<Self> {
        let (in_features, out_features) = (in_features.into_int(), out_features.into_int());
        let bias = Some(uniform_for_inputs([out_features], in_features)?);
        Ok(Self { bias, ..Self::without_bias(in_features, out_features)? })
    }

    /// Creates a layer without a bias. PyTorch: `Linear(.., bias=False)`.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn without_bias(in_features: impl IntoInt, out_features: impl IntoInt) -> Result<Self> {
        let (in_features, out_features) = (in_features.into_int(), out_features.into_int());
        Ok(Self { weight: uniform_for_inputs([out_features, in_features], in_features)?, bias: None })
    }
}

/// A product of two inputs with a tensor: `x1 weight[i] x2 + bias[i]` for each output `i`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::Bilinear;
/// use dispatch_runtime::Tensor;
///
/// let layer = Bilinear::new(4, 5, 2)?;
/// assert_eq!(layer.forward(&Tensor::zeros((3, 4), ())?, &Tensor::zeros((3, 5), ())?)?.sizes(), [3, 2]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Bilinear {
    /// The tensor, of sizes `[out_features, in1_features, in2_features]`.
    pub weight: Param,
    /// The numbers that are added, of sizes `[out_features]`.
    pub bias: Option<Param>,
}

impl Bilinear {
    /// Creates a layer with a bias. Weight and bias are uniform in `±1/sqrt(in1_features)`.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn new(in1_features: impl IntoInt, in2_features: impl IntoInt, out_features: impl IntoInt) -> Result<Self> {
        let (in1_features, out_features) = (in1_features.into_int(), out_features.into_int());
        let bias = Some(uniform_for_inputs(out_features, in1_features)?);
        Ok(Self { bias, ..Self::without_bias(in1_features, in2_features, out_features)? })
    }

    /// Creates a layer without a bias. PyTorch: `Bilinear(.., bias=False)`.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn without_bias(
        in1_features: impl IntoInt,
        in2_features: impl IntoInt,
        out_features: impl IntoInt,
    ) -> Result<Self> {
        let in1_features = in1_features.into_int();
        let sizes = [out_features.into_int(), in1_features, in2_features.into_int()];
        Ok(Self { weight: uniform_for_inputs(sizes, in1_features)?, bias: None })
    }

    /// Computes the output.
    ///
    /// # Errors
    ///
    /// Returns the error of the operator, for inputs of wrong sizes.
    pub fn forward(&self, x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
        observe(self, aten::bilinear(x1, x2, &self.weight, self.bias.as_deref()))
    }
}

impl Forward for Linear {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        observe(self, aten::linear(x, &self.weight, self.bias.as_deref()))
    }
}

/// Returns a parameter that is uniform in `±1/sqrt(inputs)`.
pub(super) fn uniform_for_inputs(sizes: impl IntoSizes, inputs: i64) -> Result<Param> {
    let tensor = Tensor::empty(sizes, ())?;
    #[expect(clippy::cast_precision_loss, reason = "sizes of layers are small")]
    let bound = if inputs > 0 { (inputs as f64).sqrt().recip() } else { 0.0 };
    tensor.uniform_(-bound..bound)?;
    Param::new(tensor)
}
