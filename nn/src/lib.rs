//! Neural networks: modules with PyTorch's names, data loading, and checkpoints.
//!
//! A model is a struct with `#[derive(Module)]`. Its fields are layers, [`Param`]s and [`Buffer`]s, and [`Forward`] computes its output.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_nn::{self as nn, Forward, Module};
//! use dispatch_runtime::prelude::*;
//!
//! #[derive(Clone, Module)]
//! struct Net {
//!     fc1: nn::Linear,
//!     fc2: nn::Linear,
//! }
//!
//! impl Net {
//!     fn new() -> Result<Self> {
//!         Ok(Self { fc1: nn::Linear::new(4, 8)?, fc2: nn::Linear::new(8, 2)? })
//!     }
//! }
//!
//! impl Forward for Net {
//!     type Output = Tensor;
//!
//!     fn forward(&self, x: &Tensor) -> Result<Tensor> {
//!         self.fc2.forward(&self.fc1.forward(x)?.relu()?)
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let net = Net::new()?;
//! assert_eq!(net.forward(&Tensor::zeros((3, 4), ())?)?.sizes(), [3, 2]);
//! assert_eq!(net.num_parameters(), 4 * 8 + 8 + 8 * 2 + 2);
//! assert!(net.state_dict()?.contains_key("fc1.weight"));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

extern crate self as dispatch_nn;

mod forward;
mod layers;
mod module;
mod param;
mod state;
mod state_dict;
mod visit;

pub use dispatch_macros::Module;
pub use forward::{Forward, Layer};
pub use layers::*;
pub use module::Module;
pub use param::{Buffer, NamedParam, Param, Training};
pub use state::{State, StateError, Stateful};
pub use state_dict::{IncompatibleKeys, StateDictError, WrongShape};
pub use visit::{ModulePath, Part, PartMut, Visit};

/// Items that generated code names. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::{Module, ModulePath, Part, PartMut, Visit};
}
