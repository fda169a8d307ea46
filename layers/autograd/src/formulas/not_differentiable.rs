//! Operators declared not differentiable: comparisons, logic, searches, creation of tensors.

use crate::not_differentiable;

// Comparisons.
not_differentiable!(aten::eq, aten::ne, aten::lt, aten::le, aten::gt, aten::ge, aten::equal, aten::allclose);

// Logic and classification of elements.
not_differentiable!(
    aten::bitwise_and,
    aten::bitwise_or,
    aten::bitwise_xor,
    aten::bitwise_not,
    aten::bitwise_left_shift,
    aten::bitwise_right_shift,
    aten::logical_and,
    aten::logical_or,
    aten::logical_xor,
    aten::logical_not,
    aten::isnan,
    aten::isinf,
    aten::isposinf,
    aten::isneginf,
    aten::isfinite,
    aten::signbit
);

// Assertions.
not_differentiable!(aten::_assert_async, aten::_assert_async_msg, aten::_assert_tensor_metadata);

// Search and counting.
not_differentiable!(aten::searchsorted, aten::bucketize, aten::isin_tensor_tensor, aten::histc);

// Creation of tensors: empty, or filled with one scalar.
not_differentiable!(
    aten::empty_memory_format,
    aten::empty_strided,
    aten::empty_permuted,
    aten::full,
    aten::scalar_tensor,
    aten::zeros,
    aten::_efficientzerotensor,
    aten::ones,
    aten::empty_like,
    aten::full_like,
    aten::zeros_like,
    aten::ones_like,
    aten::new_empty,
    aten::new_empty_strided,
    aten::new_full,
    aten::new_zeros,
    aten::new_ones,
    aten::_new_zeros_with_same_feature_meta
);

// Elements of a file.
not_differentiable!(aten::from_file);

// Windows, ranges and index matrices.
not_differentiable!(
    aten::bartlett_window,
    aten::bartlett_window_periodic,
    aten::blackman_window,
    aten::blackman_window_periodic,
    aten::hamming_window,
    aten::hamming_window_periodic,
    aten::hamming_window_periodic_alpha,
    aten::hamming_window_periodic_alpha_beta,
    aten::hann_window,
    aten::hann_window_periodic,
    aten::kaiser_window,
    aten::kaiser_window_beta,
    aten::kaiser_window_periodic,
    aten::range,
    aten::range_step,
    aten::arange,
    aten::arange_start,
    aten::arange_start_step,
    aten::linspace,
    aten::linspace_tensor_tensor,
    aten::linspace_tensor_scalar,
    aten::linspace_scalar_tensor,
    aten::logspace,
    aten::logspace_tensor_tensor,
    aten::logspace_tensor_scalar,
    aten::logspace_scalar_tensor,
    aten::eye,
    aten::eye_m,
    aten::tril_indices,
    aten::triu_indices
);

// A copied token of an assertion.
not_differentiable!(aten::_functional_assert_async_msg);

// Frequencies of Fourier transforms.
#[cfg(feature = "fft")]
not_differentiable!(aten::fft_fftfreq, aten::fft_rfftfreq);

// Steps of optimisers, and the scale of a loss.
#[cfg(feature = "optim")]
not_differentiable!(
    aten::_fused_adam_,
    aten::_fused_adam__tensor_lr,
    aten::_fused_adam,
    aten::_fused_adam_tensor_lr,
    aten::_fused_adamw_,
    aten::_fused_adamw__tensor_lr,
    aten::_fused_adamw,
    aten::_fused_adamw_tensor_lr,
    aten::_fused_sgd_,
    aten::_fused_sgd__tensor_lr,
    aten::_fused_sgd,
    aten::_fused_sgd_tensor_lr,
    aten::_fused_adagrad_,
    aten::_fused_adagrad__tensor_lr,
    aten::_fused_adagrad,
    aten::_fused_adagrad_tensor_lr,
    aten::_amp_foreach_non_finite_check_and_unscale_,
    aten::_amp_foreach_non_finite_check_and_unscale,
    aten::_amp_update_scale_,
    aten::_amp_update_scale
);
