//! Checks of an operator, for its author: no recording, no other backend and no PyTorch is needed.
//!
//! | function | checks |
//! |---|---|
//! | [`gradcheck`] | the derivative of a function, with finite differences |
//! | [`gradgradcheck`] | the derivative of the derivative |
//! | [`opcheck`] | an operator: its results in every memory layout, its in-place and `out=` forms, shared and written memory, wrong calls, Meta, derivatives, batches, graphs |
//!
//! The reference of [`opcheck`] is the operator's own call. A [`Case`] can also have the expected results.
//!
//! ```
//! use dispatch_checks::{Case, gradcheck, opcheck};
//! use dispatch_runtime::Tensor;
//! # use kernels_cpu as _;
//!
//! let x = Tensor::from([[0.5, -1.5], [2.0, 0.25]]);
//! gradcheck(|x| aten::tanh(x), &x)?;
//! opcheck(aten::tanh::operator(), &x)?;
//! opcheck(aten::mul::operator(), Case::new().input(&x).input(&x).expect(aten::square(&x)?))?;
//! # Ok::<(), dispatch_runtime::Error>(())
//! ```
#![forbid(unsafe_code)]

mod aliasing;
mod arguments;
mod array;
mod batches;
mod case;
mod check;
mod compare;
mod datum;
mod derived_calls;
mod error;
mod gradcheck;
mod gradients;
mod known_operators;
mod meta;
mod opcheck;
mod reconstruction;
mod reference_call;
mod report;
mod tensors;
mod ties;
mod trace;
mod verdict;

pub use case::Case;
pub use check::{Check, UnknownCheck};
pub use compare::Difference;
pub use error::{Error, Result};
pub use gradcheck::{gradcheck, gradgradcheck};
pub use opcheck::opcheck;
pub use report::Report;
pub use verdict::{Failure, Verdict};

/// The parts of the checks, for the conformance suite. Not public API.
#[doc(hidden)]
pub mod plumbing {
    pub use crate::arguments::{arguments_by_name, omitted_argument};
    pub use crate::array::{Array, storage_indices};
    pub use crate::batches::{call_mapped, check_randomness, replace_tensors};
    pub use crate::check::run_check;
    pub use crate::compare::{ComparedProperties, Tolerance, compare, compare_properties};
    pub use crate::datum::{Datum, create_values};
    pub use crate::derived_calls::OperatorForms;
    pub use crate::gradients::pseudorandom_numbers;
    pub use crate::reference_call::{ReferenceCall, call_and_check_aliasing, copy_outcome_to_host};
    pub use crate::tensors::{HOST_DEVICE, round_to_dtype, to_array, to_complex, to_integer, to_real, to_tensor};
    pub use crate::verdict::{CallError, call_catching_panics, panic_message};
}
