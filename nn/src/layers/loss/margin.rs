//! Losses with a margin: they are 0 if the answer is right by more than the margin.

use aten::Reduction;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, Expected, Result, Tensor};

use super::super::define_layers::define_layers;
use super::impl_loss;
use crate::param::Buffer;

define_layers! {
    /// `log(1 + exp(-target * input))`. The target is 1 or -1.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::SoftMarginLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let loss = SoftMarginLoss::new().forward(&Tensor::from([0.0]), &Tensor::from([1.0]))?;
    /// assert!((loss.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    SoftMarginLoss {
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The distance `input` for the target 1, and `max(0, margin - input)` for the target -1.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::HingeEmbeddingLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let loss = HingeEmbeddingLoss::new().forward(&Tensor::from([0.25, 0.25]), &Tensor::from([1.0, -1.0]))?;
    /// assert_eq!(loss.item::<f64>()?, 0.5);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    HingeEmbeddingLoss {
        /// The margin. The default is 1.
        margin: f64 = 1.0,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The mean of `max(0, margin - input[target] + input[other])^p` over all other classes. The target is the class of each item.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::MultiMarginLoss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(MultiMarginLoss::new().forward(&Tensor::from([[0.0, 0.0]]), &Tensor::from([1_i64]))?.item::<f64>()?, 0.5);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MultiMarginLoss {
        /// The exponent, 1 or 2. The default is 1.
        p: i64 = 1,
        /// The margin. The default is 1.
        margin: f64 = 1.0,
        /// The weights of the classes. The default is 1 for each.
        weight: Option<Buffer> = None,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The mean of `max(0, 1 - input[target] + input[other])` over all classes of an item and all others. The target is a list of classes
    /// for each item, which ends at -1.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::MultiLabelMarginLoss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(MultiLabelMarginLoss::new().forward(&Tensor::from([[1.0, 1.0]]), &Tensor::from([[0_i64, -1]]))?.item::<f64>()?, 0.5);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MultiLabelMarginLoss {
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// `max(0, margin - target * (x1 - x2))`. The target is 1 if `x1` must be larger, and else -1.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::MarginRankingLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let (x1, x2, target) = (Tensor::from([1.0]), Tensor::from([3.0]), Tensor::from([1.0]));
    /// assert_eq!(MarginRankingLoss::new().forward(&x1, &x2, &target)?.item::<f64>()?, 2.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MarginRankingLoss {
        /// The margin. The default is 0.
        margin: f64 = 0.0,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// `1 - cos(x1, x2)` for the target 1, and `max(0, cos(x1, x2) - margin)` for the target -1.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::CosineEmbeddingLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let (x1, x2, target) = (Tensor::from([[1.0, 0.0]]), Tensor::from([[0.0, 1.0]]), Tensor::from([1.0]));
    /// assert_eq!(CosineEmbeddingLoss::new().forward(&x1, &x2, &target)?.item::<f64>()?, 1.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CosineEmbeddingLoss {
        /// The margin. The default is 0.
        margin: f64 = 0.0,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// `max(0, d(anchor, positive) - d(anchor, negative) + margin)`, for the distance `d` of [`PairwiseDistance`](crate::PairwiseDistance).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::TripletMarginLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let [anchor, positive, negative] = [0.0, 1.0, 1.5].map(|x| Tensor::from([[x]]));
    /// let loss = TripletMarginLoss::new().forward(&anchor, &positive, &negative)?;
    /// assert!((loss.item::<f64>()? - 0.5).abs() < 1e-6);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    TripletMarginLoss {
        /// The margin. The default is 1.
        margin: f64 = 1.0,
        /// The order of the norm. The default is 2.
        p: f64 = 2.0,
        /// The number that is added to differences. The default is 1e-6.
        eps: f64 = 1e-6,
        /// Whether the smaller of the negative's distances to anchor and positive counts. The default is no.
        swap: bool = false,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }
}

impl_loss! {
    SoftMarginLoss(loss, input, target) => input.soft_margin_loss(target, loss.reduction);
    HingeEmbeddingLoss(loss, input, target) => input.hinge_embedding_loss(target, loss.margin, loss.reduction);
    MultiMarginLoss(loss, input, target) => {
        let (p, margin, weight) = (loss.p.into(), loss.margin.into(), loss.weight.as_deref());
        aten::multi_margin_loss(input, target, p, margin, weight, loss.reduction.code())
    };
    MultiLabelMarginLoss(loss, input, target) => input.multilabel_margin_loss(target, loss.reduction);
}

impl MarginRankingLoss {
    /// Computes the loss.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not fit together.
    pub fn forward(&self, x1: &Tensor, x2: &Tensor, target: &Tensor) -> Result<Tensor> {
        aten::margin_ranking_loss(x1, x2, target, self.margin, self.reduction.code())
    }
}

impl CosineEmbeddingLoss {
    /// Computes the loss.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not fit together.
    pub fn forward(&self, x1: &Tensor, x2: &Tensor, target: &Tensor) -> Result<Tensor> {
        aten::cosine_embedding_loss(x1, x2, target, self.margin, self.reduction.code())
    }
}

impl TripletMarginLoss {
    /// Computes the loss.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not fit together, or if the margin is not positive.
    pub fn forward(&self, anchor: &Tensor, positive: &Tensor, negative: &Tensor) -> Result<Tensor> {
        let Self { margin, p, eps, swap, reduction } = *self;
        if margin.is_nan() || margin <= 0.0 {
            return Err(BadArgument::number("margin", margin, Expected::Above(0.0.into())).into());
        }
        aten::triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction.code())
    }
}
