//! Losses of numbers.

use aten::Reduction;
use aten::prelude::*;

use super::super::define_layers::define_layers;
use super::impl_loss;

define_layers! {
    /// The absolute difference of input and target.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::L1Loss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(L1Loss::new().forward(&Tensor::from([1.0, 3.0]), &Tensor::from([1.0, 1.0]))?.item::<f64>()?, 1.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    L1Loss {
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The squared difference of input and target.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{MSELoss, Reduction};
    /// use dispatch_runtime::Tensor;
    ///
    /// let (input, target) = (Tensor::from([1.0, 3.0]), Tensor::from([1.0, 1.0]));
    /// assert_eq!(MSELoss::new().forward(&input, &target)?.item::<f64>()?, 2.0);
    /// assert_eq!(MSELoss { reduction: Reduction::Sum }.forward(&input, &target)?.item::<f64>()?, 4.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MSELoss {
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// Half the squared difference divided by `beta`, if the difference is below `beta`, and else the difference minus `beta / 2`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::SmoothL1Loss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(SmoothL1Loss::new().forward(&Tensor::from([3.0]), &Tensor::from([1.0]))?.item::<f64>()?, 1.5);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    SmoothL1Loss {
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
        /// The difference at which squares end. The default is 1.
        beta: f64 = 1.0,
    }

    /// Half the squared difference, if the difference is below `delta`, and else `delta` times the difference minus `delta / 2`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::HuberLoss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(HuberLoss::new().forward(&Tensor::from([3.0]), &Tensor::from([1.0]))?.item::<f64>()?, 1.5);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    HuberLoss {
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
        /// The difference at which squares end. The default is 1.
        delta: f64 = 1.0,
    }
}

impl_loss! {
    L1Loss(loss, input, target) => input.l1_loss(target, loss.reduction);
    MSELoss(loss, input, target) => input.mse_loss(target, loss.reduction);
    SmoothL1Loss(loss, input, target) => input.smooth_l1_loss(target, loss.beta, loss.reduction);
    HuberLoss(loss, input, target) => input.huber_loss(target, loss.delta, loss.reduction);
}
