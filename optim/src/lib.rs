//! Optimisers and learning rate schedules, under PyTorch's names.
//!
//! In an application, this crate is `opdispatch::optim`. `use opdispatch::prelude::*` has the traits that the examples import from other crates.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_autograd::Differentiable;
//! use dispatch_nn::{Forward, Linear, Module};
//! use dispatch_optim::{self as optim, CosineAnnealingLR, Optimizer, Schedule};
//! use dispatch_runtime::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let model = Linear::new(3, 1)?;
//! let options = optim::AdamWOptions { lr: 0.1, ..Default::default() };
//! let mut optimizer = optim::AdamW::new(model.parameters(), options)?;
//! let mut schedule = CosineAnnealingLR::new(&mut optimizer, 100, 0.0)?;
//!
//! let (x, y) = (Tensor::randn((32, 3), ())?, Tensor::ones((32, 1), ())?);
//! for _ in 0..100 {
//!     optimizer.zero_grad();
//!     (model.forward(&x)? - &y)?.square()?.mean()?.backward()?;
//!     optim::clip_grad_norm_(&model.parameters(), 1.0)?;
//!     optimizer.step()?;
//!     schedule.step(&mut optimizer)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! An optimiser is an [`UpdateRule`], its options by name and a step on lists of tensors. [`RuleOptimizer`] adds parameter groups, states and
//! checkpoints. A schedule is a [`LrFormula`], and [`FormulaSchedule`] adds the position and the groups. Both traits are open to other crates.
#![forbid(unsafe_code)]

mod clip_grad;
mod error;
mod grad_scaler;
mod lbfgs;
mod optimizer;
mod options;
mod rules;
mod schedules;
mod update_rule;

pub use clip_grad::{ClipGradNormOptions, clip_grad_norm_, clip_grad_norm_with, clip_grad_value_};
pub use error::OptimError;
pub use grad_scaler::{GradScaler, GradScalerOptions};
pub use lbfgs::{LBFGS, LBFGSOptions, LineSearch};
pub use optimizer::{GroupMut, Optimizer, ParamGroup, RuleOptimizer};
pub use options::OptionMut;
pub use rules::*;
pub use schedules::*;
pub use update_rule::{StepBatch, UpdateRule};
