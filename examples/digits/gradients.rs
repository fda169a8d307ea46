//! The gradients of the loss, derived by hand.

use opdispatch::prelude::*;

use crate::data::Digits;
use crate::network::Network;

/// The loss, and the gradient of each parameter.
pub(crate) fn loss_and_gradients(network: &Network, batch: &Digits) -> Result<(Tensor, Vec<Tensor>)> {
    let [(_, hidden_weight), (_, hidden_bias), (_, output_weight), _] = network.parameters();
    let hidden = aten::linear(&batch.pictures, &hidden_weight, Some(&hidden_bias))?.relu()?;
    let scores = network.forward(&batch.pictures)?;
    let loss = aten::cross_entropy_loss!(&scores, &batch.labels)?;
    let truth = batch.labels.one_hot(10)?;
    #[expect(clippy::cast_precision_loss)]
    let by_scores = ((scores.softmax_int(1, None)? - &truth)? / batch.count() as f64)?;
    let by_hidden = (by_scores.mm(&output_weight)? * &hidden.gt_scalar(0.0)?)?;
    let sum = |x: &Tensor| x.sum_dim_intlist(Some(&[0]), false);
    let gradients =
        vec![by_hidden.t()?.mm(&batch.pictures)?, sum(&by_hidden)?, by_scores.t()?.mm(&hidden)?, sum(&by_scores)?];
    Ok((loss, gradients))
}
