//! Special functions in `f64`, for operators that compute one element at a time.
//!
//! ```
//! use kernels_cpu::math::special::{airy, polynomials::ChebyshevKind};
//!
//! assert!((airy::ai(0.0) - 0.355_028_053_887_817).abs() < 1e-15);
//! assert_eq!(ChebyshevKind::First.evaluate(0.5, 2.0), -0.5);
//! ```

pub mod airy;
pub mod bessel;
pub mod beta_distribution;
pub mod gamma_distribution;
pub mod normal_distribution;
pub mod polynomials;
