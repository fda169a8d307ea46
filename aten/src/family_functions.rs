//! The operators of the optional families. Generated from the registry by the test `generated`; do not edit.

/// Calls a macro for each optional family.
macro_rules! for_each_family {
    ($family:ident) => {
        $family! { "attention" attention:
            _fused_sdp_choice _masked_softmax _masked_softmax_backward _masked_softmax_backward_out _masked_softmax_out
            _native_multi_head_attention _native_multi_head_attention_out _scaled_dot_product_attention_math
            _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward
            _scaled_dot_product_fused_attention_overrideable _scaled_dot_product_fused_attention_overrideable_backward
            _transform_bias_rescale_qkv _transform_bias_rescale_qkv_out _transformer_encoder_layer_fwd
            _transformer_encoder_layer_fwd_out scaled_dot_product_attention
        }
        $family! { "conv" conv:
            _convolution _convolution_deprecated _convolution_double_backward _convolution_mode _convolution_out
            _slow_conv2d_backward_grad_input _slow_conv2d_backward_output_mask _slow_conv2d_backward_output_mask_out
            _slow_conv2d_forward _slow_conv2d_forward_output col2im col2im_out conv1d conv1d_padding conv2d
            conv2d_padding conv3d conv3d_padding conv_tbc conv_tbc_backward conv_tbc_out conv_transpose1d
            conv_transpose2d_input conv_transpose3d_input convolution convolution_backward convolution_backward_out
            convolution_backward_overrideable convolution_backward_overrideable_out convolution_out
            convolution_overrideable convolution_overrideable_out im2col im2col_out slow_conv3d slow_conv3d_forward
            slow_conv3d_forward_output slow_conv3d_out slow_conv_dilated2d slow_conv_dilated2d_out slow_conv_dilated3d
            slow_conv_dilated3d_out slow_conv_transpose2d slow_conv_transpose2d_out slow_conv_transpose3d
            slow_conv_transpose3d_out thnn_conv2d thnn_conv2d_out
        }
        $family! { "fft" fft:
            _fft_c2c _fft_c2c_out _fft_c2r _fft_c2r_out _fft_r2c _fft_r2c_out fft_fft fft_fft2 fft_fft2_out fft_fft_out
            fft_fftfreq fft_fftfreq_out fft_fftn fft_fftn_out fft_fftshift fft_hfft fft_hfft2 fft_hfft2_out fft_hfft_out
            fft_hfftn fft_hfftn_out fft_ifft fft_ifft2 fft_ifft2_out fft_ifft_out fft_ifftn fft_ifftn_out fft_ifftshift
            fft_ihfft fft_ihfft2 fft_ihfft2_out fft_ihfft_out fft_ihfftn fft_ihfftn_out fft_irfft fft_irfft2
            fft_irfft2_out fft_irfft_out fft_irfftn fft_irfftn_out fft_rfft fft_rfft2 fft_rfft2_out fft_rfft_out
            fft_rfftfreq fft_rfftfreq_out fft_rfftn fft_rfftn_out istft stft stft_center
        }
        $family! { "linalg" linalg:
            _cholesky_solve_helper _cholesky_solve_helper_out _compute_linear_combination
            _compute_linear_combination_out _linalg_check_errors _linalg_det _linalg_det_result _linalg_eigh
            _linalg_eigh_eigenvalues _linalg_eigvals _linalg_slogdet _linalg_slogdet_sign _linalg_solve_ex
            _linalg_solve_ex_result _linalg_svd _linalg_svd_u _lu_with_info cholesky_inverse cholesky_inverse_out
            cholesky_solve cholesky_solve_out det geqrf geqrf_a inverse inverse_out linalg_cholesky linalg_cholesky_ex
            linalg_cholesky_ex_l linalg_cholesky_out linalg_cond linalg_cond_out linalg_cond_p_str linalg_cond_p_str_out
            linalg_det linalg_det_out linalg_eig linalg_eig_out linalg_eigh linalg_eigh_eigvals linalg_eigvals
            linalg_eigvals_out linalg_eigvalsh linalg_eigvalsh_out linalg_householder_product
            linalg_householder_product_out linalg_inv linalg_inv_ex linalg_inv_ex_inverse linalg_inv_out
            linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_factor_ex_out linalg_ldl_factor_out linalg_ldl_solve
            linalg_ldl_solve_out linalg_lstsq linalg_lstsq_out linalg_lu linalg_lu_factor linalg_lu_factor_ex
            linalg_lu_factor_ex_out linalg_lu_factor_out linalg_lu_out linalg_lu_solve linalg_lu_solve_out
            linalg_matrix_exp linalg_matrix_exp_out linalg_matrix_norm linalg_matrix_norm_out linalg_matrix_norm_str_ord
            linalg_matrix_norm_str_ord_out linalg_matrix_rank linalg_matrix_rank_atol_rtol_float
            linalg_matrix_rank_atol_rtol_float_out linalg_matrix_rank_atol_rtol_tensor
            linalg_matrix_rank_atol_rtol_tensor_out linalg_matrix_rank_out linalg_matrix_rank_out_tol_tensor
            linalg_matrix_rank_tol_tensor linalg_matrix_sqrth linalg_matrix_sqrth_out linalg_norm linalg_norm_ord_str
            linalg_norm_ord_str_out linalg_norm_out linalg_pinv linalg_pinv_atol_rtol_float
            linalg_pinv_atol_rtol_float_out linalg_pinv_atol_rtol_tensor linalg_pinv_atol_rtol_tensor_out
            linalg_pinv_out linalg_pinv_out_rcond_tensor linalg_pinv_rcond_tensor linalg_polar linalg_polar_out
            linalg_qr linalg_qr_out linalg_slogdet linalg_slogdet_out linalg_solve linalg_solve_ex linalg_solve_ex_out
            linalg_solve_out linalg_solve_triangular linalg_solve_triangular_out linalg_svd linalg_svd_u linalg_svdvals
            linalg_svdvals_out linalg_tensorinv linalg_tensorinv_out linalg_tensorsolve linalg_tensorsolve_out
            linalg_vecdot linalg_vecdot_out logdet lu_solve lu_solve_out lu_unpack lu_unpack_out matrix_exp
            matrix_exp_backward nuclear_norm nuclear_norm_dim nuclear_norm_dim_out nuclear_norm_out orgqr orgqr_out
            ormqr ormqr_out pinverse slogdet slogdet_out svd svd_u triangular_solve triangular_solve_x
        }
        $family! { "loss" loss:
            _ctc_loss _ctc_loss_backward _ctc_loss_backward_out _ctc_loss_backward_tensor _ctc_loss_out _ctc_loss_tensor
            _ctc_loss_tensor_out binary_cross_entropy binary_cross_entropy_backward
            binary_cross_entropy_backward_grad_input binary_cross_entropy_out binary_cross_entropy_with_logits
            binary_cross_entropy_with_logits_out cosine_embedding_loss cross_entropy_loss ctc_loss ctc_loss_intlist
            hinge_embedding_loss huber_loss huber_loss_backward huber_loss_backward_out huber_loss_out kl_div l1_loss
            margin_ranking_loss mse_loss mse_loss_backward mse_loss_backward_grad_input mse_loss_out multi_margin_loss
            multi_margin_loss_backward multi_margin_loss_backward_grad_input multi_margin_loss_out
            multilabel_margin_loss multilabel_margin_loss_backward multilabel_margin_loss_backward_grad_input
            multilabel_margin_loss_forward multilabel_margin_loss_forward_output multilabel_margin_loss_out nll_loss
            nll_loss2d nll_loss2d_backward nll_loss2d_backward_grad_input nll_loss2d_forward nll_loss2d_forward_output
            nll_loss2d_out nll_loss_backward nll_loss_backward_grad_input nll_loss_forward nll_loss_forward_output
            nll_loss_nd nll_loss_out poisson_nll_loss smooth_l1_loss smooth_l1_loss_backward
            smooth_l1_loss_backward_grad_input smooth_l1_loss_out soft_margin_loss soft_margin_loss_backward
            soft_margin_loss_backward_grad_input soft_margin_loss_out triplet_margin_loss
        }
        $family! { "norm" norm:
            _batch_norm_impl_index _batch_norm_impl_index_backward _batch_norm_no_update _batch_norm_no_update_out
            _batch_norm_with_update _batch_norm_with_update_functional _batch_norm_with_update_out _fused_rms_norm
            _fused_rms_norm_backward _log_softmax _log_softmax_backward_data _log_softmax_backward_data_out
            _log_softmax_out _native_batch_norm_legit _native_batch_norm_legit_functional
            _native_batch_norm_legit_no_stats _native_batch_norm_legit_no_stats_out _native_batch_norm_legit_no_training
            _native_batch_norm_legit_no_training_out _native_batch_norm_legit_out _safe_softmax _softmax
            _softmax_backward_data _softmax_backward_data_out _softmax_out batch_norm batch_norm_backward
            batch_norm_update_stats batch_norm_update_stats_out group_norm instance_norm layer_norm log_softmax_int
            log_softmax_int_out native_batch_norm native_batch_norm_backward native_batch_norm_backward_out
            native_batch_norm_out native_group_norm native_group_norm_backward native_group_norm_backward_out
            native_group_norm_out native_layer_norm native_layer_norm_backward native_layer_norm_backward_out
            native_layer_norm_out rms_norm softmax_int softmax_int_out special_log_softmax special_softmax
        }
        $family! { "optim" optim:
            _amp_foreach_non_finite_check_and_unscale _amp_foreach_non_finite_check_and_unscale_
            _amp_foreach_non_finite_check_and_unscale_out _amp_update_scale _amp_update_scale_ _amp_update_scale_out
            _foreach_abs _foreach_abs_ _foreach_abs_out _foreach_acos _foreach_acos_ _foreach_acos_out _foreach_add
            _foreach_add_ _foreach_add__list _foreach_add__scalar _foreach_add__scalarlist _foreach_add_list
            _foreach_add_list_out _foreach_add_scalar _foreach_add_scalar_out _foreach_add_scalarlist
            _foreach_add_scalarlist_out _foreach_add_tensor_out _foreach_addcdiv _foreach_addcdiv_
            _foreach_addcdiv__scalar _foreach_addcdiv__scalarlist _foreach_addcdiv_scalar _foreach_addcdiv_scalar_out
            _foreach_addcdiv_scalarlist _foreach_addcdiv_scalarlist_out _foreach_addcdiv_tensor_out _foreach_addcmul
            _foreach_addcmul_ _foreach_addcmul__scalar _foreach_addcmul__scalarlist _foreach_addcmul_scalar
            _foreach_addcmul_scalar_out _foreach_addcmul_scalarlist _foreach_addcmul_scalarlist_out
            _foreach_addcmul_tensor_out _foreach_asin _foreach_asin_ _foreach_asin_out _foreach_atan _foreach_atan_
            _foreach_atan_out _foreach_ceil _foreach_ceil_ _foreach_ceil_out _foreach_clamp_max__list
            _foreach_clamp_max__scalar _foreach_clamp_max__scalarlist _foreach_clamp_max_list
            _foreach_clamp_max_list_out _foreach_clamp_max_scalar _foreach_clamp_max_scalar_out
            _foreach_clamp_max_scalarlist _foreach_clamp_max_scalarlist_out _foreach_clamp_min__list
            _foreach_clamp_min__scalar _foreach_clamp_min__scalarlist _foreach_clamp_min_list
            _foreach_clamp_min_list_out _foreach_clamp_min_scalar _foreach_clamp_min_scalar_out
            _foreach_clamp_min_scalarlist _foreach_clamp_min_scalarlist_out _foreach_clone _foreach_clone_out
            _foreach_copy _foreach_copy_ _foreach_copy_out _foreach_cos _foreach_cos_ _foreach_cos_out _foreach_cosh
            _foreach_cosh_ _foreach_cosh_out _foreach_div _foreach_div_ _foreach_div__list _foreach_div__scalar
            _foreach_div__scalarlist _foreach_div_list _foreach_div_list_out _foreach_div_scalar _foreach_div_scalar_out
            _foreach_div_scalarlist _foreach_div_scalarlist_out _foreach_div_tensor_out _foreach_erf _foreach_erf_
            _foreach_erf_out _foreach_erfc _foreach_erfc_ _foreach_erfc_out _foreach_exp _foreach_exp_ _foreach_exp_out
            _foreach_expm1 _foreach_expm1_ _foreach_expm1_out _foreach_floor _foreach_floor_ _foreach_floor_out
            _foreach_frac _foreach_frac_ _foreach_frac_out _foreach_lerp__list _foreach_lerp__scalar
            _foreach_lerp__scalarlist _foreach_lerp_list _foreach_lerp_list_out _foreach_lerp_scalar
            _foreach_lerp_scalar_out _foreach_lerp_scalarlist _foreach_lerp_scalarlist_out _foreach_lgamma
            _foreach_lgamma_ _foreach_lgamma_out _foreach_log _foreach_log10 _foreach_log10_ _foreach_log10_out
            _foreach_log1p _foreach_log1p_ _foreach_log1p_out _foreach_log2 _foreach_log2_ _foreach_log2_out
            _foreach_log_ _foreach_log_out _foreach_max _foreach_max_out _foreach_maximum__list _foreach_maximum__scalar
            _foreach_maximum__scalarlist _foreach_maximum_list _foreach_maximum_list_out _foreach_maximum_scalar
            _foreach_maximum_scalar_out _foreach_maximum_scalarlist _foreach_maximum_scalarlist_out
            _foreach_minimum__list _foreach_minimum__scalar _foreach_minimum__scalarlist _foreach_minimum_list
            _foreach_minimum_list_out _foreach_minimum_scalar _foreach_minimum_scalar_out _foreach_minimum_scalarlist
            _foreach_minimum_scalarlist_out _foreach_mm _foreach_mul _foreach_mul_ _foreach_mul__list
            _foreach_mul__scalar _foreach_mul__scalarlist _foreach_mul_list _foreach_mul_list_out _foreach_mul_scalar
            _foreach_mul_scalar_out _foreach_mul_scalarlist _foreach_mul_scalarlist_out _foreach_mul_tensor_out
            _foreach_neg _foreach_neg_ _foreach_neg_out _foreach_norm_scalar _foreach_norm_scalar_out _foreach_pow__list
            _foreach_pow__scalar _foreach_pow__scalarlist _foreach_pow_list _foreach_pow_list_out _foreach_pow_scalar
            _foreach_pow_scalar_out _foreach_pow_scalarandtensor _foreach_pow_scalarlist _foreach_pow_scalarlist_out
            _foreach_powsum_scalar _foreach_powsum_scalar_out _foreach_reciprocal _foreach_reciprocal_
            _foreach_reciprocal_out _foreach_round _foreach_round_ _foreach_round_out _foreach_rsqrt _foreach_rsqrt_
            _foreach_rsqrt_out _foreach_sigmoid _foreach_sigmoid_ _foreach_sigmoid_out _foreach_sign _foreach_sign_
            _foreach_sign_out _foreach_sin _foreach_sin_ _foreach_sin_out _foreach_sinh _foreach_sinh_ _foreach_sinh_out
            _foreach_sqrt _foreach_sqrt_ _foreach_sqrt_out _foreach_sub__list _foreach_sub__scalar
            _foreach_sub__scalarlist _foreach_sub_list _foreach_sub_list_out _foreach_sub_scalar _foreach_sub_scalar_out
            _foreach_sub_scalarlist _foreach_sub_scalarlist_out _foreach_tan _foreach_tan_ _foreach_tan_out
            _foreach_tanh _foreach_tanh_ _foreach_tanh_out _foreach_trunc _foreach_trunc_ _foreach_trunc_out
            _foreach_zero _foreach_zero_ _foreach_zero_out _fused_adagrad _fused_adagrad_ _fused_adagrad__tensor_lr
            _fused_adagrad_out _fused_adagrad_tensor_lr _fused_adagrad_tensor_lr_out _fused_adam _fused_adam_
            _fused_adam__tensor_lr _fused_adam_out _fused_adam_tensor_lr _fused_adam_tensor_lr_out _fused_adamw
            _fused_adamw_ _fused_adamw__tensor_lr _fused_adamw_out _fused_adamw_tensor_lr _fused_adamw_tensor_lr_out
            _fused_sgd _fused_sgd_ _fused_sgd__tensor_lr _fused_sgd_out _fused_sgd_tensor_lr _fused_sgd_tensor_lr_out
        }
        $family! { "pooling" pooling:
            _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool2d_backward_out
            _adaptive_avg_pool2d_out _adaptive_avg_pool3d _adaptive_avg_pool3d_backward
            _adaptive_avg_pool3d_backward_out _adaptive_avg_pool3d_out adaptive_avg_pool1d adaptive_avg_pool1d_out
            adaptive_avg_pool2d adaptive_avg_pool2d_out adaptive_avg_pool3d adaptive_avg_pool3d_out adaptive_max_pool1d
            adaptive_max_pool2d adaptive_max_pool2d_backward adaptive_max_pool2d_backward_grad_input
            adaptive_max_pool2d_out adaptive_max_pool3d adaptive_max_pool3d_backward
            adaptive_max_pool3d_backward_grad_input adaptive_max_pool3d_out avg_pool1d avg_pool1d_out avg_pool2d
            avg_pool2d_backward avg_pool2d_backward_grad_input avg_pool2d_out avg_pool3d avg_pool3d_backward
            avg_pool3d_backward_grad_input avg_pool3d_out fractional_max_pool2d fractional_max_pool2d_backward
            fractional_max_pool2d_backward_grad_input fractional_max_pool2d_output fractional_max_pool3d
            fractional_max_pool3d_backward fractional_max_pool3d_backward_grad_input fractional_max_pool3d_output
            max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool2d_with_indices_backward
            max_pool2d_with_indices_backward_grad_input max_pool2d_with_indices_out max_pool3d max_pool3d_with_indices
            max_pool3d_with_indices_backward max_pool3d_with_indices_backward_grad_input max_pool3d_with_indices_out
            max_unpool2d max_unpool2d_out max_unpool3d max_unpool3d_out
        }
        $family! { "products" products:
            _addmm_activation _addmm_activation_out _cdist_backward _cdist_backward_out _cdist_forward
            _cdist_forward_out _euclidean_dist _euclidean_dist_out _pdist_backward _pdist_backward_out _pdist_forward
            _pdist_forward_out _trilinear _trilinear_out addbmm addbmm_ addbmm_out addmm addmm_ addmm_out addmv addmv_
            addmv_out addr addr_ addr_out baddbmm baddbmm_ baddbmm_out bilinear bmm bmm_out cdist chain_matmul
            chain_matmul_out corrcoef cosine_similarity cov cross cross_out dist dist_out dot dot_out einsum ger ger_out
            inner inner_out kron kron_out linalg_cross linalg_cross_out linalg_matmul linalg_matmul_out
            linalg_matrix_power linalg_matrix_power_out linalg_multi_dot linalg_multi_dot_out linalg_vander linear
            linear_out matmul matmul_out matrix_power matrix_power_out mm mm_out mv mv_out outer outer_out
            pairwise_distance pdist tensordot tensordot_out vander vdot vdot_out
        }
        $family! { "quantized" quantized:
            _choose_qparams_per_tensor _convert_weight_to_int4pack_for_cpu _convert_weight_to_int4pack_for_cpu_out
            _dyn_quant_matmul_4bit _dyn_quant_matmul_4bit_out _dyn_quant_pack_4bit_weight
            _dyn_quant_pack_4bit_weight_out _fake_quantize_learnable_per_channel_affine
            _fake_quantize_learnable_per_channel_affine_backward _fake_quantize_learnable_per_channel_affine_out
            _fake_quantize_learnable_per_tensor_affine _fake_quantize_learnable_per_tensor_affine_backward
            _fake_quantize_learnable_per_tensor_affine_out _fake_quantize_per_tensor_affine_cachemask_tensor_qparams
            _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_out _fused_moving_avg_obs_fq_helper
            _fused_moving_avg_obs_fq_helper_functional _fused_moving_avg_obs_fq_helper_out _grouped_mm _grouped_mm_out
            _int_mm _int_mm_out _saturate_weight_to_fp16 _scaled_mm _scaled_mm_out _scaled_mm_v2 _scaled_mm_v2_out
            _weight_int4pack_mm_for_cpu _weight_int4pack_mm_for_cpu_out _weight_int8pack_mm _weight_int8pack_mm_out
            choose_qparams_optimized fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask
            fake_quantize_per_channel_affine_cachemask_backward fake_quantize_per_channel_affine_cachemask_out
            fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask
            fake_quantize_per_tensor_affine_cachemask_backward fake_quantize_per_tensor_affine_cachemask_out
            fake_quantize_per_tensor_affine_tensor_qparams fused_moving_avg_obs_fake_quant
        }
        $family! { "random" random:
            _dirichlet_grad _dirichlet_grad_out _philox_key_fold_in _philox_key_fold_in_tensor _philox_key_split
            _philox_normal _philox_normal_ _philox_normal_out _philox_randint _philox_randint_ _philox_randint_out
            _philox_uniform _philox_uniform_ _philox_uniform_out _sample_dirichlet _sample_dirichlet_out
            _sobol_engine_draw _sobol_engine_ff_ _sobol_engine_initialize_state_ _sobol_engine_scramble_ _standard_gamma
            _standard_gamma_grad _standard_gamma_grad_out _standard_gamma_out alpha_dropout alpha_dropout_ bernoulli
            bernoulli__float bernoulli__tensor bernoulli_out bernoulli_p bernoulli_tensor bernoulli_tensor_out binomial
            binomial_out cauchy cauchy_ cauchy_out dropout dropout_ exponential exponential_ exponential_out
            feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ geometric geometric_
            geometric_out log_normal log_normal_ log_normal_out multinomial multinomial_out native_dropout
            native_dropout_backward native_dropout_backward_out native_dropout_out normal_ normal_float_float
            normal_float_float_out normal_float_tensor normal_float_tensor_out normal_functional normal_out
            normal_tensor_float normal_tensor_float_out normal_tensor_tensor normal_tensor_tensor_out poisson
            poisson_out rand rand_generator rand_generator_out rand_like rand_like_generator rand_like_generator_out
            rand_like_out rand_out randint randint_generator randint_generator_out randint_like randint_like_generator
            randint_like_generator_out randint_like_low_dtype randint_like_low_dtype_out
            randint_like_low_generator_dtype randint_like_low_generator_dtype_out randint_like_out randint_like_tensor
            randint_like_tensor_generator randint_like_tensor_generator_out randint_like_tensor_out randint_low
            randint_low_generator randint_low_generator_out randint_low_out randint_out randn randn_generator
            randn_generator_out randn_like randn_like_generator randn_like_generator_out randn_like_out randn_out random
            random_ random__from random__to random_from random_from_out random_out random_to random_to_out randperm
            randperm_generator randperm_generator_out randperm_out rrelu rrelu_ rrelu_with_noise rrelu_with_noise_
            rrelu_with_noise_backward rrelu_with_noise_backward_out rrelu_with_noise_functional uniform uniform_
            uniform_out
        }
        $family! { "recurrent" recurrent:
            _pack_padded_sequence _pack_padded_sequence_backward _pack_padded_sequence_out _pad_packed_sequence
            _thnn_differentiable_gru_cell_backward _thnn_differentiable_lstm_cell_backward
            _thnn_fused_lstm_cell_backward _use_cudnn_rnn_flatten_weight gru_cell gru_data gru_input lstm_cell lstm_data
            lstm_input pad_sequence rnn_relu_cell rnn_relu_data rnn_relu_input rnn_tanh_cell rnn_tanh_data
            rnn_tanh_input
        }
        $family! { "resize" resize:
            _grid_sampler_2d_cpu_fallback _grid_sampler_2d_cpu_fallback_backward _grid_sampler_2d_cpu_fallback_out
            _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bicubic2d_aa_backward_grad_input
            _upsample_bicubic2d_aa_out _upsample_bicubic2d_aa_vec _upsample_bilinear2d_aa
            _upsample_bilinear2d_aa_backward _upsample_bilinear2d_aa_backward_grad_input _upsample_bilinear2d_aa_out
            _upsample_bilinear2d_aa_vec _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward
            _upsample_lanczos2d_aa_backward_grad_input _upsample_lanczos2d_aa_out _upsample_lanczos2d_aa_vec
            _upsample_nearest_exact1d _upsample_nearest_exact1d_backward _upsample_nearest_exact1d_backward_grad_input
            _upsample_nearest_exact1d_out _upsample_nearest_exact1d_vec _upsample_nearest_exact2d
            _upsample_nearest_exact2d_backward _upsample_nearest_exact2d_backward_grad_input
            _upsample_nearest_exact2d_out _upsample_nearest_exact2d_vec _upsample_nearest_exact3d
            _upsample_nearest_exact3d_backward _upsample_nearest_exact3d_backward_grad_input
            _upsample_nearest_exact3d_out _upsample_nearest_exact3d_vec affine_grid_generator
            affine_grid_generator_backward affine_grid_generator_out grid_sampler grid_sampler_2d
            grid_sampler_2d_backward grid_sampler_2d_backward_out grid_sampler_2d_out grid_sampler_3d
            grid_sampler_3d_backward grid_sampler_3d_backward_out grid_sampler_3d_out upsample_bicubic2d
            upsample_bicubic2d_backward upsample_bicubic2d_backward_grad_input upsample_bicubic2d_out
            upsample_bicubic2d_vec upsample_bilinear2d upsample_bilinear2d_backward
            upsample_bilinear2d_backward_grad_input upsample_bilinear2d_out upsample_bilinear2d_vec
            upsample_bilinear2d_vec_out upsample_linear1d upsample_linear1d_backward
            upsample_linear1d_backward_grad_input upsample_linear1d_out upsample_linear1d_vec upsample_nearest1d
            upsample_nearest1d_backward upsample_nearest1d_backward_grad_input upsample_nearest1d_out
            upsample_nearest1d_vec upsample_nearest2d upsample_nearest2d_backward upsample_nearest2d_backward_grad_input
            upsample_nearest2d_out upsample_nearest2d_vec upsample_nearest2d_vec_out upsample_nearest3d
            upsample_nearest3d_backward upsample_nearest3d_backward_grad_input upsample_nearest3d_out
            upsample_nearest3d_vec upsample_trilinear3d upsample_trilinear3d_backward
            upsample_trilinear3d_backward_grad_input upsample_trilinear3d_out upsample_trilinear3d_vec
        }
        $family! { "sort" sort:
            _histogramdd_bin_edges _histogramdd_bin_edges_out _histogramdd_from_bin_cts _histogramdd_from_bin_cts_out
            _histogramdd_from_bin_tensors _histogramdd_from_bin_tensors_out _unique _unique2 _unique2_out _unique_out
            argsort argsort_stable argsort_stable_out histogram_bin_ct histogram_bin_ct_out histogram_bins_tensor
            histogram_bins_tensor_out histogramdd histogramdd_int_bins histogramdd_tensorlist_bins kthvalue
            kthvalue_values median median_dim median_dim_values median_out mode mode_values msort msort_out nanmedian
            nanmedian_dim nanmedian_dim_values nanmedian_out nanquantile nanquantile_out nanquantile_scalar
            nanquantile_scalar_out quantile quantile_out quantile_scalar quantile_scalar_out sort sort_stable
            sort_values sort_values_stable topk topk_values unique_consecutive unique_consecutive_out unique_dim
            unique_dim_consecutive unique_dim_consecutive_out unique_dim_out
        }
    };
}

pub(crate) use for_each_family;
