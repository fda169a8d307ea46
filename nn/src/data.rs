//! Data loading: datasets, and the loader that makes batches of their items.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_nn::data::{DataLoader, DataLoaderOptions, TensorDataset};
//! use dispatch_runtime::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let (images, labels) = (Tensor::randn((10, 1, 8, 8), ())?, Tensor::arange(0..10, DType::I64)?);
//! let dataset = TensorDataset::new((images, labels))?;
//! let loader = DataLoader::with(dataset, 4, DataLoaderOptions { shuffle: true, num_workers: 2, ..Default::default() })?;
//! for _epoch in 0..2 {
//!     for batch in &loader {
//!         let (images, labels) = batch?;
//!         assert_eq!(images.sizes()[0], labels.sizes()[0]);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod collate;
mod dataset;
mod error;
mod loader;
mod position;
mod random_numbers;
mod sampler;
mod tensor_dataset;
mod workers;

pub use collate::Collate;
pub use dataset::{Concat, Dataset, Items, Map, Subset, random_split};
pub use error::DataError;
pub use loader::{Batches, DataLoader, DataLoaderOptions};
pub use sampler::{RandomSampler, Sampler, SequentialSampler, WeightedRandomSampler};
pub use tensor_dataset::{TensorColumns, TensorDataset};
