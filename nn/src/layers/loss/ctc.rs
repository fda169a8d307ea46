//! The loss of sequences whose alignment is unknown.

use aten::Reduction;
use dispatch_runtime::{Result, Tensor};

use super::super::define_layers::define_layers;

define_layers! {
    /// Connectionist temporal classification: the negative log likelihood of a sequence of classes, over all its alignments to the input.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::CTCLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let log_probs = Tensor::zeros((2, 1, 2), ())?.log_softmax(-1)?;
    /// let (targets, lengths) = (Tensor::from([[1_i64]]), (Tensor::from([2_i64]), Tensor::from([1_i64])));
    /// let loss = CTCLoss::new().forward(&log_probs, &targets, &lengths.0, &lengths.1)?;
    /// // Three of the four paths of two steps give the class 1: `1 1`, `1 blank` and `blank 1`.
    /// assert!((loss.item::<f32>()? - (4_f32 / 3.0).ln()).abs() < 1e-6);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CTCLoss {
        /// The class that stands for no class. The default is 0.
        blank: i64 = 0,
        /// The reduction. The default is the mean over the items, each divided by the length of its target.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
        /// Whether infinite losses, of targets that are longer than the input, become 0. The default is no.
        zero_infinity: bool = false,
    }
}

impl CTCLoss {
    /// Computes the loss of logarithms of probabilities `[length, items, classes]`. The targets are `[items, length]`, or all in a row.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not fit together, or if a length is out of range.
    pub fn forward(
        &self,
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &Tensor,
        target_lengths: &Tensor,
    ) -> Result<Tensor> {
        let Self { blank, reduction, zero_infinity } = *self;
        aten::ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction.code(), zero_infinity)
    }
}
