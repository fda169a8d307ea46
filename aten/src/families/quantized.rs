//! Operators of quantised models: products of integers, of scaled float8 matrices and of packed weights, fake quantisation, observers, and
//! the operators of exported quantised programs.

mod affine;
mod decomposed;
mod decomposed_groups;
mod decomposed_parameters;
mod dynamic;
mod fake_quantize;
mod grouped_product;
mod learnable;
mod moving_average;
mod parameters;
mod saturation;
mod scaled_product;
mod weight_only;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        decomposed::*, decomposed_groups::*, decomposed_parameters::*, dynamic::*, fake_quantize::*,
        grouped_product::*, learnable::*, moving_average::*, parameters::*, saturation::*, scaled_product::*,
        weight_only::*,
    };
}
