//! PyTorch's autocast lists: the policies of the operators of `aten`.
//!
//! The first lists are those of CUDA, and of every backend without lists. The lists `on CPU`, below, are those of the CPU. They leave
//! operators to type promotion (`untouched`) that the CPU computes in `float32` internally.

use crate::autocast;

autocast!(lower: aten::prelu);
#[cfg(feature = "attention")]
autocast!(lower: aten::scaled_dot_product_attention);
#[cfg(feature = "conv")]
autocast!(lower:
    aten::conv1d, aten::conv2d, aten::conv3d, aten::conv_transpose1d, aten::conv_transpose2d_input,
    aten::conv_transpose3d_input, aten::convolution, aten::_convolution, aten::_convolution_deprecated, aten::conv_tbc,
);
#[cfg(feature = "linalg")]
autocast!(lower: aten::linalg_vecdot);
#[cfg(feature = "products")]
autocast!(lower:
    aten::addbmm, aten::addmm, aten::addmv, aten::addr, aten::baddbmm, aten::bmm, aten::linear, aten::matmul, aten::mm,
    aten::mv,
);
#[cfg(feature = "recurrent")]
autocast!(lower: aten::gru_cell, aten::lstm_cell, aten::rnn_relu_cell, aten::rnn_tanh_cell);

autocast!(fp32:
    aten::acos, aten::asin, aten::cosh, aten::erfinv, aten::exp, aten::expm1, aten::log, aten::log10, aten::log1p,
    aten::log2, aten::logsumexp, aten::pow_scalar, aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::reciprocal,
    aten::renorm, aten::rsqrt, aten::sinh, aten::softplus, aten::tan,
);
#[cfg(feature = "linalg")]
autocast!(fp32:
    aten::linalg_matrix_norm, aten::linalg_matrix_norm_str_ord, aten::linalg_matrix_sqrth, aten::nuclear_norm,
    aten::nuclear_norm_dim,
);
#[cfg(feature = "products")]
autocast!(fp32: aten::cdist, aten::cosine_similarity, aten::dist, aten::pdist);
#[cfg(feature = "loss")]
autocast!(fp32:
    aten::binary_cross_entropy_with_logits, aten::cosine_embedding_loss, aten::hinge_embedding_loss, aten::huber_loss,
    aten::kl_div, aten::l1_loss, aten::margin_ranking_loss, aten::mse_loss, aten::multi_margin_loss,
    aten::multilabel_margin_loss, aten::nll_loss, aten::nll_loss2d, aten::poisson_nll_loss, aten::smooth_l1_loss,
    aten::soft_margin_loss, aten::triplet_margin_loss,
);
#[cfg(feature = "norm")]
autocast!(fp32: aten::group_norm, aten::layer_norm, aten::native_layer_norm, aten::rms_norm);
#[cfg(feature = "resize")]
autocast!(fp32:
    aten::_upsample_bicubic2d_aa, aten::_upsample_bilinear2d_aa, aten::_upsample_nearest_exact1d,
    aten::_upsample_nearest_exact2d, aten::_upsample_nearest_exact3d, aten::upsample_bicubic2d,
    aten::upsample_bilinear2d, aten::upsample_linear1d, aten::upsample_nearest1d, aten::upsample_nearest2d,
    aten::upsample_nearest3d, aten::upsample_trilinear3d,
);

autocast!(set_dtype:
    aten::cumprod, aten::cumsum, aten::linalg_vector_norm, aten::prod, aten::prod_dim_int, aten::sum,
    aten::sum_dim_intlist,
);
#[cfg(feature = "norm")]
autocast!(set_dtype: aten::log_softmax_int, aten::softmax_int);

autocast!(append_dtype:
    aten::norm_scalar => aten::norm_scalaropt_dtype, aten::norm_scalaropt_dim => aten::norm_scalaropt_dim_dtype,
);

autocast!(promote: aten::addcdiv, aten::addcmul, aten::atan2, aten::index_put, aten::scatter_add);
#[cfg(feature = "products")]
autocast!(promote: aten::bilinear, aten::dot, aten::tensordot, aten::vdot);
#[cfg(feature = "resize")]
autocast!(promote: aten::grid_sampler);

#[cfg(feature = "loss")]
autocast!(banned:

    aten::binary_cross_entropy => "remove the sigmoid before the call, and call `binary_cross_entropy_with_logits`, which is safe",
);

#[cfg(feature = "conv")]
autocast!(lower on CPU: aten::conv1d_padding, aten::conv2d_padding, aten::conv3d_padding);
#[cfg(feature = "attention")]
autocast!(lower on CPU: aten::_native_multi_head_attention);
#[cfg(feature = "products")]
autocast!(lower on CPU: aten::_addmm_activation);

autocast!(fp32 on CPU:
    aten::prod, aten::prod_dim_int, aten::reflection_pad1d, aten::reflection_pad2d, aten::replication_pad1d,
    aten::replication_pad2d, aten::replication_pad3d, aten::trace,
);
#[cfg(feature = "fft")]
autocast!(fp32 on CPU:
    aten::fft_fft, aten::fft_fft2, aten::fft_fftn, aten::fft_hfft, aten::fft_ifft, aten::fft_ifft2, aten::fft_ifftn,
    aten::fft_ihfft, aten::fft_irfft, aten::fft_irfft2, aten::fft_irfftn, aten::fft_rfft, aten::fft_rfft2,
    aten::fft_rfftn, aten::stft, aten::stft_center,
);
#[cfg(feature = "linalg")]
autocast!(fp32 on CPU:
    aten::_lu_with_info, aten::cholesky_inverse, aten::cholesky_solve, aten::geqrf, aten::inverse,
    aten::linalg_cholesky, aten::linalg_cholesky_ex, aten::linalg_cond, aten::linalg_cond_p_str, aten::linalg_eig,
    aten::linalg_eigh, aten::linalg_eigvals, aten::linalg_eigvalsh, aten::linalg_householder_product, aten::linalg_inv,
    aten::linalg_inv_ex, aten::linalg_lstsq, aten::linalg_matrix_rank, aten::linalg_matrix_rank_atol_rtol_float,
    aten::linalg_matrix_rank_atol_rtol_tensor, aten::linalg_matrix_rank_tol_tensor, aten::linalg_qr, aten::linalg_solve,
    aten::linalg_svd, aten::linalg_svdvals, aten::linalg_tensorinv, aten::linalg_tensorsolve, aten::lu_solve,
    aten::orgqr, aten::ormqr, aten::pinverse, aten::svd, aten::triangular_solve,
);
#[cfg(feature = "loss")]
autocast!(fp32 on CPU:
    aten::binary_cross_entropy, aten::cross_entropy_loss, aten::ctc_loss_intlist, aten::ctc_loss,
    aten::multilabel_margin_loss_forward,
);
#[cfg(feature = "pooling")]
autocast!(fp32 on CPU:
    aten::adaptive_avg_pool3d, aten::adaptive_max_pool3d, aten::avg_pool3d, aten::fractional_max_pool2d,
    aten::fractional_max_pool3d, aten::max_pool3d, aten::max_unpool2d, aten::max_unpool3d,
);
#[cfg(feature = "resize")]
autocast!(fp32 on CPU:
    aten::grid_sampler, aten::grid_sampler_2d, aten::grid_sampler_3d, aten::_grid_sampler_2d_cpu_fallback,
);

autocast!(promote on CPU: aten::cat, aten::index_copy, aten::stack);

autocast!(untouched on CPU:
    aten::acos, aten::addcdiv, aten::addcmul, aten::asin, aten::atan2, aten::cosh, aten::cumprod, aten::cumsum,
    aten::erfinv, aten::exp, aten::expm1, aten::index_put, aten::linalg_vector_norm, aten::log, aten::log10,
    aten::log1p, aten::log2, aten::logsumexp, aten::norm_scalar, aten::norm_scalaropt_dim, aten::pow_scalar,
    aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::reciprocal, aten::renorm, aten::rsqrt, aten::scatter_add,
    aten::sinh, aten::softplus, aten::sum, aten::sum_dim_intlist, aten::tan,
);
#[cfg(feature = "conv")]
autocast!(untouched on CPU: aten::convolution, aten::_convolution);
#[cfg(feature = "linalg")]
autocast!(untouched on CPU:
    aten::linalg_matrix_norm, aten::linalg_matrix_norm_str_ord, aten::nuclear_norm, aten::nuclear_norm_dim,
);
#[cfg(feature = "products")]
autocast!(untouched on CPU:
    aten::addmv, aten::addr, aten::bilinear, aten::cosine_similarity, aten::dist, aten::dot, aten::mv, aten::pdist,
    aten::tensordot, aten::vdot,
);
#[cfg(feature = "norm")]
autocast!(untouched on CPU:
    aten::group_norm, aten::layer_norm, aten::log_softmax_int, aten::native_layer_norm, aten::rms_norm,
    aten::softmax_int,
);
#[cfg(feature = "recurrent")]
autocast!(untouched on CPU: aten::gru_cell, aten::lstm_cell, aten::rnn_relu_cell, aten::rnn_tanh_cell);
#[cfg(feature = "resize")]
autocast!(untouched on CPU:
    aten::_upsample_bicubic2d_aa, aten::_upsample_bilinear2d_aa, aten::_upsample_nearest_exact1d,
    aten::_upsample_nearest_exact2d, aten::_upsample_nearest_exact3d, aten::upsample_bicubic2d,
    aten::upsample_bilinear2d, aten::upsample_linear1d, aten::upsample_nearest1d, aten::upsample_nearest2d,
    aten::upsample_nearest3d, aten::upsample_trilinear3d,
);
