//! Tables of vectors, read by index.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, IntoInt, Result, Tensor, guard};

use crate::forward::Forward;
use crate::init;
use crate::param::Param;
use crate::summary::observe;

/// A table of vectors: the output has the row of the table at each index of the input.
///
/// The gradient of the table is dense.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Embedding, Forward};
/// use dispatch_runtime::Tensor;
///
/// let embedding = Embedding::new(10, 3)?;
/// assert_eq!(embedding.forward(&Tensor::from([[1_i64, 2, 4, 5], [4, 3, 2, 9]]))?.sizes(), [2, 4, 3]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Embedding {
    /// The table, of sizes `[num_embeddings, embedding_dim]`.
    pub weight: Param,
    padding_idx: Option<i64>,
    max_norm: Option<f64>,
    norm_type: f64,
    scale_grad_by_freq: bool,
}

/// The options of [`Embedding`].
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// use dispatch_nn::{Embedding, EmbeddingOptions};
/// let options = EmbeddingOptions { padding_idx: Some(0), ..EmbeddingOptions::default() };
/// let embedding = Embedding::with(2, 3, options)?;
/// assert_eq!(embedding.weight.i(0)?.to_vec::<f32>()?, [0.0; 3]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EmbeddingOptions {
    /// The index of a row that is not trained, and is zero at first. A negative index counts from the end.
    pub padding_idx: Option<i64>,
    /// The largest norm of a row. Rows that are read and have a larger norm are scaled down in the table.
    pub max_norm: Option<f64>,
    /// The order of the norm for `max_norm`.
    pub norm_type: f64,
    /// Whether the gradient of a row is divided by the number of times that the row was read.
    pub scale_grad_by_freq: bool,
}

impl Default for EmbeddingOptions {
    fn default() -> Self {
        Self { padding_idx: None, max_norm: None, norm_type: 2.0, scale_grad_by_freq: false }
    }
}

impl Embedding {
    /// Creates a table. Its elements have a normal distribution with mean 0 and deviation 1.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn new(num_embeddings: impl IntoInt, embedding_dim: impl IntoInt) -> Result<Self> {
        Self::with(num_embeddings, embedding_dim, EmbeddingOptions::default())
    }

    /// Creates a table with options.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative, or [`BadArgument`] if `padding_idx` is not an index of the table.
    pub fn with(num_embeddings: impl IntoInt, embedding_dim: impl IntoInt, options: EmbeddingOptions) -> Result<Self> {
        let (rows, columns) = (num_embeddings.into_int(), embedding_dim.into_int());
        let padding_idx = padding_row(options.padding_idx, rows)?;
        let weight = initial_table(rows, columns, padding_idx)?;
        Ok(Self { padding_idx, ..Self::of_table(weight, options) })
    }

    /// Makes a tensor a table that is not trained, until `requires_grad_(true)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the tensor is no matrix, or an error if its dtype has no gradients.
    pub fn from_pretrained(embeddings: Tensor) -> Result<Self> {
        Self::from_pretrained_with(embeddings, EmbeddingOptions::default())
    }

    /// Makes a tensor a table with options. It is not trained, until `requires_grad_(true)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the tensor is no matrix, or if `padding_idx` is not an index of the table.
    pub fn from_pretrained_with(embeddings: Tensor, options: EmbeddingOptions) -> Result<Self> {
        let padding_idx = padding_row(options.padding_idx, table_rows(&embeddings)?)?;
        let weight = Param::new(embeddings)?;
        weight.requires_grad_(false)?;
        Ok(Self { padding_idx, ..Self::of_table(weight, options) })
    }

    const fn of_table(weight: Param, options: EmbeddingOptions) -> Self {
        let EmbeddingOptions { padding_idx, max_norm, norm_type, scale_grad_by_freq } = options;
        Self { weight, padding_idx, max_norm, norm_type, scale_grad_by_freq }
    }
}

impl Forward for Embedding {
    type Output = Tensor;

    fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        limit_norms(&self.weight, indices, self.max_norm, self.norm_type)?;
        let padding = self.padding_idx.unwrap_or(-1);
        observe(self, aten::embedding(&self.weight, indices, padding, self.scale_grad_by_freq, false))
    }
}

/// Returns the number of rows of a table.
pub(super) fn table_rows(table: &Tensor) -> Result<i64, BadArgument> {
    match *table.sizes() {
        [rows, _] => Ok(rows),
        _ => Err(BadArgument::rank("embeddings", table.sizes().len(), 2)),
    }
}

/// Returns the index of the padding as a row of the table.
pub(super) fn padding_row(padding_idx: Option<i64>, rows: i64) -> Result<Option<i64>, BadArgument> {
    match padding_idx {
        Some(index) if index >= rows || index < rows.saturating_neg() => {
            Err(BadArgument::value("padding_idx", index, format!("an index of one of {rows} rows")))
        }
        Some(index) if index < 0 => Ok(Some(index.saturating_add(rows))),
        index => Ok(index),
    }
}

/// Returns a table with a normal distribution and a row of zeros.
pub(super) fn initial_table(rows: i64, columns: i64, padding_idx: Option<i64>) -> Result<Param> {
    let table = Tensor::empty((rows, columns), ())?;
    init::normal_(&table, 0.0, 1.0)?;
    if let Some(row) = padding_idx {
        table.i(row)?.zero_()?;
    }
    Param::new(table)
}

/// Scales the rows at the indices down to the largest norm, in the table itself.
pub(super) fn limit_norms(table: &Tensor, indices: &Tensor, max_norm: Option<f64>, norm_type: f64) -> Result<()> {
    let Some(max_norm) = max_norm else { return Ok(()) };
    let _unrecorded = guard::no_grad();
    aten::embedding_renorm_(&mut table.clone(), indices, max_norm, norm_type)
}
