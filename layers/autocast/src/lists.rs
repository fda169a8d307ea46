//! Which operators gain from fewer bits, and which lose too much: PyTorch's lists.
//!
//! The first lists are CUDA's, and every backend's that brings none of its own. The CPU has its own, below: it leaves to promotion what
//! it computes in `float32` inside anyway.

use crate::autocast;

autocast!(lower:
    aten::addbmm, aten::addmm, aten::addmv, aten::addr, aten::baddbmm, aten::bmm, aten::conv1d, aten::conv2d,
    aten::conv3d, aten::conv_transpose1d, aten::conv_transpose2d_input, aten::conv_transpose3d_input, aten::convolution,
    aten::gru_cell, aten::linear, aten::lstm_cell, aten::matmul, aten::mm, aten::mv, aten::prelu, aten::rnn_relu_cell,
    aten::rnn_tanh_cell, aten::scaled_dot_product_attention,
);

autocast!(fp32:
    aten::_upsample_bicubic2d_aa, aten::_upsample_bilinear2d_aa, aten::_upsample_nearest_exact1d,
    aten::_upsample_nearest_exact2d, aten::_upsample_nearest_exact3d, aten::acos, aten::asin,
    aten::binary_cross_entropy_with_logits, aten::cdist, aten::cosh, aten::cosine_embedding_loss,
    aten::cosine_similarity, aten::dist, aten::erfinv, aten::exp, aten::expm1, aten::group_norm,
    aten::hinge_embedding_loss, aten::huber_loss, aten::kl_div, aten::l1_loss, aten::layer_norm, aten::log, aten::log10,
    aten::log1p, aten::log2, aten::logsumexp, aten::margin_ranking_loss, aten::mse_loss, aten::multi_margin_loss,
    aten::multilabel_margin_loss, aten::native_layer_norm, aten::nll_loss, aten::nll_loss2d, aten::pdist,
    aten::poisson_nll_loss, aten::pow_scalar, aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::reciprocal,
    aten::renorm, aten::rms_norm, aten::rsqrt, aten::sinh, aten::smooth_l1_loss, aten::soft_margin_loss, aten::softplus,
    aten::tan, aten::triplet_margin_loss, aten::upsample_bicubic2d, aten::upsample_bilinear2d, aten::upsample_linear1d,
    aten::upsample_nearest1d, aten::upsample_nearest2d, aten::upsample_nearest3d, aten::upsample_trilinear3d,
);

autocast!(set_dtype:
    aten::cumprod, aten::cumsum, aten::linalg_vector_norm, aten::log_softmax_int, aten::prod, aten::prod_dim_int,
    aten::softmax_int, aten::sum, aten::sum_dim_intlist,
);

autocast!(append_dtype:
    aten::norm_scalar => aten::norm_scalaropt_dtype,
    aten::norm_scalaropt_dim => aten::norm_scalaropt_dim_dtype,
);

autocast!(promote:
    aten::addcdiv, aten::addcmul, aten::atan2, aten::bilinear, aten::dot, aten::grid_sampler, aten::index_put,
    aten::scatter_add, aten::tensordot, aten::vdot,
);

autocast!(banned:
    aten::binary_cross_entropy =>
        "leave the sigmoid before it out and call `binary_cross_entropy_with_logits`, which is safe",
);

autocast!(lower on CPU: aten::conv1d_padding, aten::conv2d_padding, aten::conv3d_padding);

autocast!(fp32 on CPU:
    aten::adaptive_avg_pool3d, aten::adaptive_max_pool3d, aten::avg_pool3d, aten::binary_cross_entropy,
    aten::cross_entropy_loss, aten::ctc_loss_intlist, aten::ctc_loss, aten::fractional_max_pool2d,
    aten::fractional_max_pool3d, aten::grid_sampler, aten::grid_sampler_2d, aten::grid_sampler_3d, aten::max_pool3d,
    aten::max_unpool2d, aten::max_unpool3d, aten::multilabel_margin_loss_forward, aten::prod, aten::prod_dim_int,
    aten::reflection_pad1d, aten::reflection_pad2d, aten::replication_pad1d, aten::replication_pad2d,
    aten::replication_pad3d, aten::trace,
);

autocast!(promote on CPU: aten::cat, aten::index_copy, aten::stack);

autocast!(untouched on CPU:
    aten::_upsample_bicubic2d_aa, aten::_upsample_bilinear2d_aa, aten::_upsample_nearest_exact1d,
    aten::_upsample_nearest_exact2d, aten::_upsample_nearest_exact3d, aten::acos, aten::addcdiv, aten::addcmul,
    aten::addmv, aten::addr, aten::asin, aten::atan2, aten::bilinear, aten::convolution, aten::cosh,
    aten::cosine_similarity, aten::cumprod, aten::cumsum, aten::dist, aten::dot, aten::erfinv, aten::exp, aten::expm1,
    aten::group_norm, aten::gru_cell, aten::index_put, aten::layer_norm, aten::linalg_vector_norm, aten::log,
    aten::log10, aten::log1p, aten::log2, aten::log_softmax_int, aten::logsumexp, aten::lstm_cell, aten::mv,
    aten::native_layer_norm, aten::norm_scalar, aten::norm_scalaropt_dim, aten::pdist, aten::pow_scalar,
    aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::reciprocal, aten::renorm, aten::rms_norm,
    aten::rnn_relu_cell, aten::rnn_tanh_cell, aten::rsqrt, aten::scatter_add, aten::sinh, aten::softmax_int,
    aten::softplus, aten::sum, aten::sum_dim_intlist, aten::tan, aten::tensordot, aten::upsample_bicubic2d,
    aten::upsample_bilinear2d, aten::upsample_linear1d, aten::upsample_nearest1d, aten::upsample_nearest2d,
    aten::upsample_nearest3d, aten::upsample_trilinear3d, aten::vdot,
);
