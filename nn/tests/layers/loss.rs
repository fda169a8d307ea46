//! Losses and distances.

use aten::Reduction;
use aten::prelude::*;
use dispatch_nn::{
    BCELoss, BCEWithLogitsLoss, Buffer, CTCLoss, CosineEmbeddingLoss, CosineSimilarity, CrossEntropyLoss,
    GaussianNLLLoss, HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, MSELoss, MarginRankingLoss,
    MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss, PairwiseDistance, PoissonNLLLoss,
    SmoothL1Loss, SoftMarginLoss, TripletMarginLoss,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

/// A place for the recorded weights.
fn weights(count: i64) -> Result<Option<Buffer>> {
    Ok(Some(Buffer::new(Tensor::ones(count, DType::F32)?)))
}

/// Compares a loss with each reduction. The expression has the reduction and the inputs.
macro_rules! compare_losses {
    ($group:ident: $($name:literal $words:ident $loss:ident { $($field:ident: $value:expr),* } ($($input:literal)*);)*) => {$(
        for word in $words {
            let mut loss = $loss { $($field: $value,)* ..$loss::new() };
            loss.reduction = word.parse()?;
            $group.function(&format!("{} {word}", $name), Ok(loss), |loss, x| Ok(vec![loss.forward($(&x[$input]),*)?]))?;
        }
    )*};
}

#[test]
fn losses_are_as_recorded() -> Result<()> {
    let mut group = Group::load("loss")?;
    let words = ["none", "mean", "sum"];
    let divergence = ["none", "mean", "batchmean", "sum"];
    compare_losses! { group:
        "L1Loss" words L1Loss {} (0 1);
        "MSELoss" words MSELoss {} (0 1);
        "SmoothL1Loss" words SmoothL1Loss {} (0 1);
        "SmoothL1Loss beta" words SmoothL1Loss { beta: 0.5 } (0 1);
        "HuberLoss" words HuberLoss {} (0 1);
        "HuberLoss delta" words HuberLoss { delta: 0.5 } (0 1);
        "CrossEntropyLoss" words CrossEntropyLoss {} (0 1);
        "CrossEntropyLoss weight" words CrossEntropyLoss { weight: weights(4)?, ignore_index: 2 } (0 1);
        "CrossEntropyLoss smooth" words CrossEntropyLoss { weight: weights(4)?, label_smoothing: 0.25 } (0 1);
        "CrossEntropyLoss images" words CrossEntropyLoss { label_smoothing: 0.25 } (0 1);
        "CrossEntropyLoss probabilities" words CrossEntropyLoss { weight: weights(4)?, label_smoothing: 0.25 } (0 1);
        "CrossEntropyLoss one" words CrossEntropyLoss {} (0 1);
        "NLLLoss" words NLLLoss {} (0 1);
        "NLLLoss weight" words NLLLoss { weight: weights(4)?, ignore_index: 2 } (0 1);
        "BCELoss" words BCELoss {} (0 1);
        "BCELoss weight" words BCELoss { weight: weights(3)? } (0 1);
        "BCEWithLogitsLoss" words BCEWithLogitsLoss {} (0 1);
        "BCEWithLogitsLoss weights" words BCEWithLogitsLoss { weight: weights(3)?, pos_weight: weights(3)? } (0 1);
        "MultiLabelSoftMarginLoss" words MultiLabelSoftMarginLoss {} (0 1);
        "MultiLabelSoftMarginLoss weight" words MultiLabelSoftMarginLoss { weight: weights(3)? } (0 1);
        "KLDivLoss" divergence KLDivLoss {} (0 1);
        "KLDivLoss log" divergence KLDivLoss { log_target: true } (0 1);
        "PoissonNLLLoss" words PoissonNLLLoss {} (0 1);
        "PoissonNLLLoss options" words PoissonNLLLoss { log_input: false, full: true, eps: 0.125 } (0 1);
        "GaussianNLLLoss" words GaussianNLLLoss {} (0 1 2);
        "GaussianNLLLoss options" words GaussianNLLLoss { full: true, eps: 0.5 } (0 1 2);
        "SoftMarginLoss" words SoftMarginLoss {} (0 1);
        "HingeEmbeddingLoss" words HingeEmbeddingLoss {} (0 1);
        "HingeEmbeddingLoss margin" words HingeEmbeddingLoss { margin: 0.5 } (0 1);
        "MultiMarginLoss" words MultiMarginLoss {} (0 1);
        "MultiMarginLoss options" words MultiMarginLoss { p: 2, margin: 0.5, weight: weights(4)? } (0 1);
        "MultiLabelMarginLoss" words MultiLabelMarginLoss {} (0 1);
        "MarginRankingLoss" words MarginRankingLoss {} (0 1 2);
        "MarginRankingLoss margin" words MarginRankingLoss { margin: 0.5 } (0 1 2);
        "CosineEmbeddingLoss" words CosineEmbeddingLoss {} (0 1 2);
        "CosineEmbeddingLoss margin" words CosineEmbeddingLoss { margin: -0.5 } (0 1 2);
        "TripletMarginLoss" words TripletMarginLoss {} (0 1 2);
        "TripletMarginLoss options" words TripletMarginLoss { margin: 2.0, p: 3.0, eps: 0.125, swap: true } (0 1 2);
        "CTCLoss" words CTCLoss {} (0 1 2 3);
        "CTCLoss options" words CTCLoss { blank: 2, zero_infinity: true } (0 1 2 3);
    }
    let zero = SmoothL1Loss { beta: 0.0, reduction: Reduction::Mean };
    group.function("SmoothL1Loss zero", Ok(zero), |loss, x| Ok(vec![loss.forward(&x[0], &x[1])?]))?;
    let cosine = |layer: &CosineSimilarity, x: &[Tensor]| Ok(vec![layer.forward(&x[0], &x[1])?]);
    group.function("CosineSimilarity", Ok(CosineSimilarity::new()), cosine)?;
    group.function("CosineSimilarity options", Ok(CosineSimilarity { dim: 0, eps: 0.5 }), cosine)?;
    let distance = |layer: &PairwiseDistance, x: &[Tensor]| Ok(vec![layer.forward(&x[0], &x[1])?]);
    group.function("PairwiseDistance", Ok(PairwiseDistance::new()), distance)?;
    let options = PairwiseDistance { p: 1.0, eps: 0.125, keepdim: true };
    group.function("PairwiseDistance options", Ok(options), distance)?;
    group.finish();
    Ok(())
}
