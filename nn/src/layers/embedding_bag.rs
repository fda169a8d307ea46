//! Sums, means and maxima of rows of a table.

use aten::BagMode;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, IntoInt, Result, Tensor};

use super::embedding::{initial_table, limit_norms, padding_row, table_rows};
use crate::forward::Forward;
use crate::param::Param;
use crate::summary::observe;

/// A table of vectors, of which each bag of indices gets the sum, the mean or the maximum.
///
/// A bag is a row of a matrix of indices. [`forward_offsets`](Self::forward_offsets) has bags of different lengths, one after the other.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{EmbeddingBag, Forward};
/// use dispatch_runtime::Tensor;
///
/// let layer = EmbeddingBag::new(10, 3)?;
/// let indices = Tensor::from([1_i64, 2, 4, 5, 4, 3]);
/// assert_eq!(layer.forward(&Tensor::from([[1_i64, 2], [4, 5], [4, 3]]))?.sizes(), [3, 3]);
/// assert_eq!(layer.forward_offsets(&indices, &Tensor::from([0_i64, 4]), None)?.sizes(), [2, 3]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct EmbeddingBag {
    /// The table, of sizes `[num_embeddings, embedding_dim]`.
    pub weight: Param,
    max_norm: Option<f64>,
    norm_type: f64,
    scale_grad_by_freq: bool,
    #[module(skip)]
    mode: BagMode,
    include_last_offset: bool,
    padding_idx: Option<i64>,
}

/// The options of [`EmbeddingBag`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{BagMode, EmbeddingBag, EmbeddingBagOptions};
/// EmbeddingBag::with(10, 3, EmbeddingBagOptions { mode: BagMode::Max, ..EmbeddingBagOptions::default() })?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EmbeddingBagOptions {
    /// The largest norm of a row. Rows that are read and have a larger norm are scaled down in the table.
    pub max_norm: Option<f64>,
    /// The order of the norm for `max_norm`.
    pub norm_type: f64,
    /// Whether the gradient of a row is divided by the number of times that the row was read. Not for `BagMode::Max`.
    pub scale_grad_by_freq: bool,
    /// The reduction of a bag.
    pub mode: BagMode,
    /// Whether the last offset is the end of the last bag, so that there is one more offset than bags.
    pub include_last_offset: bool,
    /// The index of a row that bags leave out, and that is zero at first. A negative index counts from the end.
    pub padding_idx: Option<i64>,
}

impl Default for EmbeddingBagOptions {
    fn default() -> Self {
        Self {
            max_norm: None,
            norm_type: 2.0,
            scale_grad_by_freq: false,
            mode: BagMode::Mean,
            include_last_offset: false,
            padding_idx: None,
        }
    }
}

impl EmbeddingBag {
    /// Creates a table for means. Its elements have a normal distribution with mean 0 and deviation 1.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn new(num_embeddings: impl IntoInt, embedding_dim: impl IntoInt) -> Result<Self> {
        Self::with(num_embeddings, embedding_dim, EmbeddingBagOptions::default())
    }

    /// Creates a table with options.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative, or [`BadArgument`] if `padding_idx` is not an index of the table.
    pub fn with(
        num_embeddings: impl IntoInt,
        embedding_dim: impl IntoInt,
        options: EmbeddingBagOptions,
    ) -> Result<Self> {
        let (rows, columns) = (num_embeddings.into_int(), embedding_dim.into_int());
        let padding_idx = padding_row(options.padding_idx, rows)?;
        let weight = initial_table(rows, columns, padding_idx)?;
        Self::of_table(weight, EmbeddingBagOptions { padding_idx, ..options })
    }

    /// Makes a tensor a table with options. It is not trained, until `requires_grad_(true)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the tensor is no matrix, or if `padding_idx` is not an index of the table.
    pub fn from_pretrained_with(embeddings: Tensor, options: EmbeddingBagOptions) -> Result<Self> {
        let padding_idx = padding_row(options.padding_idx, table_rows(&embeddings)?)?;
        let weight = Param::new(embeddings)?;
        weight.requires_grad_(false)?;
        Self::of_table(weight, EmbeddingBagOptions { padding_idx, ..options })
    }

    fn of_table(weight: Param, options: EmbeddingBagOptions) -> Result<Self> {
        let EmbeddingBagOptions { max_norm, norm_type, scale_grad_by_freq, mode, include_last_offset, padding_idx } =
            options;
        if scale_grad_by_freq && mode == BagMode::Max {
            return Err(BadArgument::number("scale_grad_by_freq", true, false).because("the mode is max").into());
        }
        Ok(Self { weight, max_norm, norm_type, scale_grad_by_freq, mode, include_last_offset, padding_idx })
    }

    /// Reduces bags of different lengths. `offsets` has the start of each bag in `indices`. Each row is multiplied by its weight, if there
    /// are weights.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit, or if there are weights and the mode is not the sum.
    pub fn forward_offsets(
        &self,
        indices: &Tensor,
        offsets: &Tensor,
        per_sample_weights: Option<&Tensor>,
    ) -> Result<Tensor> {
        if indices.sizes().len() != 1 {
            return Err(BadArgument::rank("indices", indices.sizes().len(), 1).into());
        }
        observe(self, self.reduce(indices, offsets, per_sample_weights, self.include_last_offset))
    }

    /// Reduces the rows of a matrix of indices, with a weight for each index. The mode must be the sum.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit, or if the mode is not the sum.
    pub fn forward_weighted(&self, indices: &Tensor, per_sample_weights: &Tensor) -> Result<Tensor> {
        if per_sample_weights.sizes() != indices.sizes() {
            let (found, expected) = (per_sample_weights.sizes(), indices.sizes());
            return Err(BadArgument::sizes("per_sample_weights", found, expected).like("indices").into());
        }
        self.reduce_rows(indices, Some(&per_sample_weights.reshape(-1)?))
    }

    fn reduce_rows(&self, indices: &Tensor, per_sample_weights: Option<&Tensor>) -> Result<Tensor> {
        let &[bags, length] = indices.sizes() else {
            return Err(BadArgument::rank("indices", indices.sizes().len(), 2)
                .because("each row is a bag; `forward_offsets` has bags of different lengths")
                .into());
        };
        // A bag of length zero has no step between offsets.
        let starts = Tensor::arange(0..bags, indices)?;
        let offsets = (starts * length)?;
        observe(self, self.reduce(&indices.reshape(-1)?, &offsets, per_sample_weights, false))
    }

    fn reduce(
        &self,
        indices: &Tensor,
        offsets: &Tensor,
        per_sample_weights: Option<&Tensor>,
        include_last_offset: bool,
    ) -> Result<Tensor> {
        limit_norms(&self.weight, indices, self.max_norm, self.norm_type)?;
        let (mode, scale) = (self.mode.code(), self.scale_grad_by_freq);
        let results = aten::embedding_bag_padding_idx(
            &self.weight,
            indices,
            offsets,
            scale,
            mode,
            false,
            per_sample_weights,
            include_last_offset,
            self.padding_idx,
        );
        Ok(results?.0)
    }
}

impl Forward for EmbeddingBag {
    type Output = Tensor;

    fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        self.reduce_rows(indices, None)
    }
}
