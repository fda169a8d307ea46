//! Losses. Their options are public fields.

mod classification;
mod ctc;
mod margin;
mod probability;
mod regression;

pub use classification::{BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, MultiLabelSoftMarginLoss, NLLLoss};
pub use ctc::CTCLoss;
pub use margin::{
    CosineEmbeddingLoss, HingeEmbeddingLoss, MarginRankingLoss, MultiLabelMarginLoss, MultiMarginLoss, SoftMarginLoss,
    TripletMarginLoss,
};
pub use probability::{GaussianNLLLoss, KLDivLoss, KLDivReduction, PoissonNLLLoss};
pub use regression::{HuberLoss, L1Loss, MSELoss, SmoothL1Loss};

/// Implements `forward` of losses of an input and a target.
macro_rules! impl_loss {
    ($($name:ident($loss:ident, $input:ident, $target:ident) => $result:expr;)*) => {$(
        impl $name {
            /// Computes the loss.
            ///
            /// # Errors
            ///
            /// Returns the error of the operator, for an input and a target that do not fit together.
            pub fn forward(
                &self,
                $input: &dispatch_runtime::Tensor,
                $target: &dispatch_runtime::Tensor,
            ) -> dispatch_runtime::Result<dispatch_runtime::Tensor> {
                let $loss = self;
                $result
            }
        }
    )*};
}

use impl_loss;
