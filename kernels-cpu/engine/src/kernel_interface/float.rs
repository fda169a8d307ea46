//! The type in which a floating-point dtype is computed.

use dispatch_runtime::{Floating, bf16, f16};

use crate::compute::RealFloat;

/// A floating-point element type, with the type that kernels compute it in: the bound of kernels with `dtypes(floating)`.
///
/// ```
/// use kernels_cpu::engine::{Float, Real};
///
/// fn softplus<T: Float>(x: T::Compute) -> T::Compute {
///     x.exp().log1p()
/// }
/// // A 16-bit float is computed in `f32`.
/// let y: f32 = softplus::<dispatch_runtime::f16>(0.0);
/// assert!((y - std::f32::consts::LN_2).abs() < 1e-6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point number, so a kernel over `T: Float` cannot serve it",
    label = "name only floating dtypes in `dtypes(..)`"
)]
pub trait Float: Floating {
    /// The type of computations: `f32` for the 16-bit floats, and otherwise the type itself.
    type Compute: RealFloat + Into<f64>;
}

impl Float for f16 {
    type Compute = f32;
}

impl Float for bf16 {
    type Compute = f32;
}

impl Float for f32 {
    type Compute = Self;
}

impl Float for f64 {
    type Compute = Self;
}
