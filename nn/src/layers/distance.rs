//! Distances and similarities of vectors.

use dispatch_runtime::{Result, Tensor};

use super::define_layers::define_layers;

define_layers! {
    /// The cosine of the angle between vectors along a dimension.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::CosineSimilarity;
    /// use dispatch_runtime::Tensor;
    ///
    /// let (x1, x2) = (Tensor::from([[1.0, 0.0]]), Tensor::from([[0.0, 2.0]]));
    /// assert_eq!(CosineSimilarity::new().forward(&x1, &x2)?.to_vec::<f64>()?, [0.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CosineSimilarity {
        /// The dimension of the vectors. The default is 1.
        dim: i64 = 1,
        /// The smallest divisor. The default is 1e-8.
        eps: f64 = 1e-8,
    }

    /// The norm of the difference of vectors in the last dimension.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::PairwiseDistance;
    /// use dispatch_runtime::Tensor;
    ///
    /// let (x1, x2) = (Tensor::from([[3.0, 0.0]]), Tensor::from([[0.0, 4.0]]));
    /// assert!(PairwiseDistance::new().forward(&x1, &x2)?.allclose(&Tensor::from([5.0]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    PairwiseDistance {
        /// The order of the norm. The default is 2.
        p: f64 = 2.0,
        /// The number that is added to differences, for gradients of equal vectors. The default is 1e-6.
        eps: f64 = 1e-6,
        /// Whether the result keeps the dimension of the vectors, with size 1. The default is no.
        keepdim: bool = false,
    }
}

impl CosineSimilarity {
    /// Computes the similarities.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not broadcast.
    pub fn forward(&self, x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
        aten::cosine_similarity(x1, x2, self.dim, self.eps)
    }
}

impl PairwiseDistance {
    /// Computes the distances.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not broadcast.
    pub fn forward(&self, x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
        aten::pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)
    }
}
