//! Losses of classes.

use aten::prelude::*;
use aten::{CrossEntropyOptions, NllOptions, Reduction};

use super::super::define_layers::define_layers;
use super::impl_loss;
use crate::param::Buffer;

define_layers! {
    /// The cross entropy of logits `[items, classes, ..]`. The target has classes `[items, ..]`, or probabilities of all classes.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::CrossEntropyLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let (logits, target) = (Tensor::from([[0.0, 0.0], [0.0, 0.0]]), Tensor::from([0_i64, 1]));
    /// assert!((CrossEntropyLoss::new().forward(&logits, &target)?.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
    /// let smooth = CrossEntropyLoss { label_smoothing: 0.1, ..CrossEntropyLoss::new() };
    /// assert!((smooth.forward(&logits, &target)?.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CrossEntropyLoss {
        /// The weights of the classes. The default is 1 for each.
        weight: Option<Buffer> = None,
        /// The class whose items are left out. The default is -100.
        ignore_index: i64 = -100,
        /// The reduction. The default is the mean, by the weights.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
        /// The part of the target that is spread over all classes. The default is 0.
        label_smoothing: f64 = 0.0,
    }

    /// The negative logarithm of the target's probability. The input has logarithms of probabilities `[items, classes, ..]`, as
    /// [`LogSoftmax`](crate::LogSoftmax) returns them, and the target classes `[items, ..]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::NLLLoss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(NLLLoss::new().forward(&Tensor::from([[-1.0, -2.0]]), &Tensor::from([1_i64]))?.item::<f64>()?, 2.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    NLLLoss {
        /// The weights of the classes. The default is 1 for each.
        weight: Option<Buffer> = None,
        /// The class whose items are left out. The default is -100.
        ignore_index: i64 = -100,
        /// The reduction. The default is the mean, by the weights.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The cross entropy of probabilities of two classes. The target is from 0 to 1.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::BCELoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let loss = BCELoss::new().forward(&Tensor::from([0.5]), &Tensor::from([1.0]))?;
    /// assert!((loss.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    BCELoss {
        /// A factor for each loss, in sizes that broadcast. The default is 1.
        weight: Option<Buffer> = None,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The cross entropy of logits of two classes: [`BCELoss`] after [`Sigmoid`](crate::Sigmoid), but precise for large logits.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::BCEWithLogitsLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let loss = BCEWithLogitsLoss::new().forward(&Tensor::from([0.0]), &Tensor::from([1.0]))?;
    /// assert!((loss.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    BCEWithLogitsLoss {
        /// A factor for each loss, in sizes that broadcast. The default is 1.
        weight: Option<Buffer> = None,
        /// A factor for the losses of the target 1, in sizes that broadcast. The default is 1.
        pos_weight: Option<Buffer> = None,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The mean of [`BCEWithLogitsLoss`] over the classes of an item, which are the last dimension.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::MultiLabelSoftMarginLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let loss = MultiLabelSoftMarginLoss::new().forward(&Tensor::from([[0.0, 0.0]]), &Tensor::from([[1.0, 0.0]]))?;
    /// assert!((loss.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MultiLabelSoftMarginLoss {
        /// The weights of the classes. The default is 1 for each.
        weight: Option<Buffer> = None,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }
}

impl_loss! {
    CrossEntropyLoss(loss, input, target) => {
        let weight = loss.weight.as_deref();
        let Self { ignore_index, reduction, label_smoothing, .. } = *loss;
        input.cross_entropy_with(target, CrossEntropyOptions { weight, reduction, ignore_index, label_smoothing })
    };
    NLLLoss(loss, input, target) => {
        let options = NllOptions {
            weight: loss.weight.as_deref(),
            reduction: loss.reduction,
            ignore_index: loss.ignore_index,
        };
        input.nll_loss(target, options)
    };
    BCELoss(loss, input, target) => {
        aten::binary_cross_entropy(input, target, loss.weight.as_deref(), loss.reduction.code())
    };
    BCEWithLogitsLoss(loss, input, target) => {
        let (weight, pos_weight) = (loss.weight.as_deref(), loss.pos_weight.as_deref());
        aten::binary_cross_entropy_with_logits(input, target, weight, pos_weight, loss.reduction.code())
    };
    MultiLabelSoftMarginLoss(loss, input, target) => {
        aten::functional::multilabel_soft_margin_loss(input, target, loss.weight.as_deref(), loss.reduction)
    };
}
