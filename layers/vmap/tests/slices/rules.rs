//! Tests of operators with batch rules, none of which may loop.

use super::*;

fn ints_arg(values: &[i64]) -> TestArgument {
    value_arg(values.to_vec())
}

fn bools_arg(values: &[bool]) -> TestArgument {
    value_arg(values.to_vec())
}

#[test]
fn mapped_pooling_equals_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for image in [tensor_arg(&[2, 3, 6, 6]), tensor_arg(&[3, 6, 6])] {
        check_batched_calls(aten::_adaptive_avg_pool2d::operator(), [image.clone(), ints_arg(&[3, 2])]);
        check_batched_calls(aten::adaptive_max_pool2d::operator(), [image.clone(), ints_arg(&[3, 2])]);
        let given = [
            image.clone(),
            ints_arg(&[2, 2]),
            ints_arg(&[]),
            ints_arg(&[1, 1]),
            value_arg(false),
            value_arg(true),
            none_arg(),
        ];
        check_batched_calls(aten::avg_pool2d::operator(), given);
        let given =
            [image, ints_arg(&[3, 3]), ints_arg(&[2, 2]), ints_arg(&[1, 1]), ints_arg(&[1, 1]), value_arg(false)];
        check_batched_calls(aten::max_pool2d_with_indices::operator(), given);
    }
    check_batched_calls(
        aten::_adaptive_avg_pool2d_backward::operator(),
        [tensor_arg(&[2, 3, 3, 2]), tensor_arg(&[2, 3, 6, 6])],
    );
    let given = [
        tensor_arg(&[2, 3, 3, 3]),
        tensor_arg(&[2, 3, 6, 6]),
        ints_arg(&[2, 2]),
        ints_arg(&[2, 2]),
        ints_arg(&[0, 0]),
        value_arg(false),
        value_arg(true),
        none_arg(),
    ];
    check_batched_calls(aten::avg_pool2d_backward::operator(), given);
    let (grad, image, places) = (tensor_arg(&[2, 3, 3, 3]), tensor_arg(&[2, 3, 6, 6]), index_arg(&[2, 3, 3, 3], 36));
    let given = [
        grad,
        image,
        ints_arg(&[2, 2]),
        ints_arg(&[2, 2]),
        ints_arg(&[0, 0]),
        ints_arg(&[1, 1]),
        value_arg(false),
        places,
    ];
    check_batched_calls(aten::max_pool2d_with_indices_backward::operator(), given);
    check_batched_calls(
        aten::max_unpool2d::operator(),
        [tensor_arg(&[2, 1, 2]), index_arg(&[2, 1, 2], 8), ints_arg(&[2, 4])],
    );
    let given = [
        tensor_arg(&[2, 2, 4, 4, 4]),
        ints_arg(&[2, 2, 2]),
        ints_arg(&[]),
        ints_arg(&[0, 0, 0]),
        value_arg(false),
        value_arg(true),
        none_arg(),
    ];
    check_batched_calls(aten::avg_pool3d::operator(), given);
}

#[test]
fn mapped_image_operators_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(
        aten::upsample_nearest2d::operator(),
        [tensor_arg(&[2, 3, 4, 4]), ints_arg(&[6, 8]), none_arg(), none_arg()],
    );
    check_batched_calls(
        aten::upsample_bilinear2d::operator(),
        [tensor_arg(&[2, 3, 4, 4]), ints_arg(&[6, 8]), value_arg(true), none_arg(), none_arg()],
    );
    let given = [
        tensor_arg(&[2, 3, 6, 8]),
        ints_arg(&[6, 8]),
        ints_arg(&[2, 3, 4, 4]),
        value_arg(false),
        none_arg(),
        none_arg(),
    ];
    check_batched_calls(aten::upsample_bicubic2d_backward::operator(), given);
    check_batched_calls(
        aten::upsample_linear1d::operator(),
        [tensor_arg(&[2, 3, 4]), ints_arg(&[6]), value_arg(false), none_arg()],
    );
    for lines in [tensor_arg(&[2, 3, 4]), tensor_arg(&[3, 4])] {
        check_batched_calls(aten::reflection_pad1d::operator(), [lines.clone(), ints_arg(&[1, 2])]);
        check_batched_calls(aten::replication_pad1d::operator(), [lines, ints_arg(&[1, 2])]);
    }
    check_batched_calls(
        aten::reflection_pad2d_backward::operator(),
        [tensor_arg(&[2, 3, 6, 5]), tensor_arg(&[2, 3, 4, 4]), ints_arg(&[1, 0, 1, 1])],
    );
    let given =
        [tensor_arg(&[2, 3, 4, 4]), tensor_arg(&[2, 5, 5, 2]), value_arg(0_i64), value_arg(0_i64), value_arg(false)];
    check_batched_calls(aten::grid_sampler_2d::operator(), given);
    let given = [tensor_arg(&[2, 3, 4, 4]), ints_arg(&[2, 2]), ints_arg(&[1, 1]), ints_arg(&[0, 0]), ints_arg(&[1, 1])];
    check_batched_calls(aten::im2col::operator(), given);
    let given = [
        tensor_arg(&[2, 12, 9]),
        ints_arg(&[4, 4]),
        ints_arg(&[2, 2]),
        ints_arg(&[1, 1]),
        ints_arg(&[0, 0]),
        ints_arg(&[1, 1]),
    ];
    check_batched_calls(aten::col2im::operator(), given);
    check_batched_calls(aten::pixel_shuffle::operator(), [tensor_arg(&[2, 8, 2, 3]), value_arg(2_i64)]);
    check_batched_calls(aten::pixel_unshuffle::operator(), [tensor_arg(&[2, 4, 6]), value_arg(2_i64)]);
}

#[test]
fn mapped_norms_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for (weight, bias) in
        [(tensor_arg(&[4]), tensor_arg(&[4])), (tensor_arg(&[4]), none_arg()), (none_arg(), none_arg())]
    {
        let given = [tensor_arg(&[2, 3, 4]), ints_arg(&[4]), weight.clone(), bias.clone(), value_arg(1e-5)];
        check_batched_calls(aten::native_layer_norm::operator(), given);
        let given = [
            tensor_arg(&[2, 4, 3]),
            weight.clone(),
            bias.clone(),
            value_arg(2_i64),
            value_arg(4_i64),
            value_arg(3_i64),
            value_arg(2_i64),
            value_arg(1e-5),
        ];
        check_batched_calls(aten::native_group_norm::operator(), given);
        let given = [
            tensor_arg(&[2, 4, 3]),
            weight.clone(),
            bias.clone(),
            none_arg(),
            none_arg(),
            value_arg(true),
            value_arg(0.1),
            value_arg(1e-5),
        ];
        check_batched_calls(aten::native_batch_norm::operator(), given);
        let given = [
            tensor_arg(&[2, 4, 3]),
            weight,
            bias,
            tensor_arg(&[4]),
            tensor_arg(&[4]),
            value_arg(false),
            value_arg(0.1),
            value_arg(1e-5),
        ];
        check_batched_calls(aten::native_batch_norm::operator(), given);
    }
}

#[test]
fn norms_in_half_precision_are_rounded_once() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let all = |sizes: &[i64], dtype: DType| distinct_tensor(sizes).to(dtype).unwrap();
    let f32 = |tensor: &Tensor| (tensor.dtype(), tensor.to(DType::F32).unwrap().to_vec::<f32>().unwrap());
    for (dtype, of_weights) in
        [(DType::F16, DType::F16), (DType::BF16, DType::BF16), (DType::BF16, DType::F32), (DType::F64, DType::F64)]
    {
        let (x, weight, bias) = (all(&[2, 12, 4], dtype), all(&[3, 12], of_weights), all(&[3, 12], of_weights));
        let lines = aten::transpose_int(&x, 1, 2).unwrap();
        for given in [0b11_u8, 0b01, 0b10] {
            let norms = |[weight, bias]: [&Tensor; 2]| -> Result<Vec<Tensor>> {
                let (weight, bias) = (Some(weight).filter(|_| given & 1 > 0), Some(bias).filter(|_| given & 2 > 0));
                let layers = aten::native_layer_norm(&lines, &[12], weight, bias, 1e-5)?;
                let groups = aten::native_group_norm(&x, weight, bias, 2, 12, 4, 3, 1e-5)?;
                Ok(vec![layers.0, layers.1, layers.2, groups.0, groups.1, groups.2])
            };
            let mapped = vmap(|(weight, bias)| norms([weight, bias]), (&weight, &bias)).unwrap();
            for i in 0..3 {
                let [weight, bias] = [&weight, &bias].map(|all| all.select(0, i).unwrap());
                for (mapped, one) in mapped.iter().zip(&norms([&weight, &bias]).unwrap()) {
                    assert_eq!(f32(&mapped.select(0, i).unwrap()), f32(one), "{dtype}, {of_weights}, {given}");
                }
            }
        }
    }
}

#[test]
fn gradients_of_norms_in_half_precision_are_rounded_once() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let all = |sizes: &[i64]| distinct_tensor(sizes).to(DType::BF16).unwrap();
    let (grad, x, weight) = (all(&[3, 40, 12]), all(&[3, 40, 12]), all(&[3, 12]));
    let back = |(grad, x, weight): &(Tensor, Tensor, Tensor)| {
        let (_, mean, rstd) = aten::native_layer_norm(x, &[12], Some(weight), None, 1e-5)?;
        let of =
            aten::native_layer_norm_backward(grad, x, &[12], &mean, &rstd, Some(weight), None, &[true, true, false])?;
        Ok(vec![of.0, of.1])
    };
    let mapped = vmap(back, (&grad, &x, &weight)).unwrap();
    for i in 0..3 {
        let slice = |all: &Tensor| all.select(0, i).unwrap();
        let one = back(&(slice(&grad), slice(&x), slice(&weight))).unwrap();
        for (mapped, one) in mapped.iter().zip(&one) {
            let [mapped, one] = [&slice(mapped), one].map(|x| x.to(DType::F64).unwrap().to_vec::<f64>().unwrap());
            for (mapped, one) in mapped.iter().zip(one) {
                assert!((mapped - one).abs() <= 1e-5 + one.abs() / 128.0, "{mapped} and not {one}");
            }
        }
    }
}

#[test]
fn mapped_gradients_of_norms_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let all = || bools_arg(&[true; 3]);
    let given = [
        tensor_arg(&[2, 4]),
        tensor_arg(&[2, 4]),
        ints_arg(&[4]),
        tensor_arg(&[2, 1]),
        tensor_arg(&[2, 1]),
        tensor_arg(&[4]),
        tensor_arg(&[4]),
        all(),
    ];
    check_batched_calls(aten::native_layer_norm_backward::operator(), given);
    let given = [
        tensor_arg(&[2, 4, 3]),
        tensor_arg(&[2, 4, 3]),
        tensor_arg(&[4]),
        none_arg(),
        none_arg(),
        tensor_arg(&[4]),
        tensor_arg(&[4]),
        value_arg(true),
        value_arg(1e-5),
        all(),
    ];
    check_batched_calls(aten::native_batch_norm_backward::operator(), given);
}

#[test]
fn mapped_flash_attention_equals_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let operator = aten::_scaled_dot_product_flash_attention_for_cpu::operator();
    let heads = || tensor_arg(&[2, 2, 3, 4]);
    check_batched_calls(operator, [heads(), heads(), heads(), value_arg(0.0), value_arg(true), none_arg(), none_arg()]);
    for products in [tensor_arg(&[3, 3]), tensor_arg(&[2, 2, 3, 3]), tensor_arg(&[1, 2, 3, 3])] {
        check_batched_calls(
            operator,
            [heads(), heads(), heads(), value_arg(0.0), value_arg(false), products, none_arg()],
        );
    }
}

#[test]
fn mapped_indexing_operators_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(
        aten::embedding::operator(),
        [tensor_arg(&[5, 2]), index_arg(&[4], 5), value_arg(-1_i64), value_arg(false), value_arg(false)],
    );
    let given = [tensor_arg(&[4, 2]), index_arg(&[4], 5), value_arg(5_i64), value_arg(3_i64), value_arg(false)];
    check_batched_calls(aten::embedding_dense_backward::operator(), given);
    check_batched_calls(aten::index_select::operator(), [tensor_arg(&[4, 3]), value_arg(0_i64), index_arg(&[5], 4)]);
    check_batched_calls(aten::index_select::operator(), [tensor_arg(&[4, 3]), value_arg(-1_i64), index_arg(&[5], 3)]);
    check_batched_calls(
        aten::index_add::operator(),
        [tensor_arg(&[4, 3]), value_arg(0_i64), index_arg(&[5], 4), tensor_arg(&[5, 3]), value_arg(2_i64)],
    );
    check_batched_calls(
        aten::index_copy::operator(),
        [tensor_arg(&[4, 3]), value_arg(1_i64), index_arg(&[2], 3), tensor_arg(&[4, 2])],
    );
    check_batched_calls(
        aten::index_fill_int_scalar::operator(),
        [tensor_arg(&[4, 3]), value_arg(1_i64), index_arg(&[2], 3), value_arg(9_i64)],
    );
    check_batched_calls(
        aten::gather::operator(),
        [tensor_arg(&[4, 2]), value_arg(0_i64), index_arg(&[3, 2], 4), value_arg(false)],
    );
    check_batched_calls(
        aten::scatter_reduce_two::operator(),
        [
            tensor_arg(&[4, 2]),
            value_arg(0_i64),
            index_arg(&[3, 2], 4),
            tensor_arg(&[3, 2]),
            value_arg("sum"),
            value_arg(true),
        ],
    );
}

/// Checks an indexing operator with index tensors at two of three positions, the tensor and indices batched or not.
fn check_indexing(places: [bool; 3], dims: [Option<i64>; 3], f: impl Fn(&Tensor, &[Option<Tensor>]) -> Result<Tensor>) {
    let sizes = [4, 3, 5];
    let tensors = [
        distinct_tensor(&insert_batch_size(&sizes, dims[0].map(|_| 0))),
        index_elements(&insert_batch_size(&[2, 1], dims[1].map(|_| 0)), 3),
        index_elements(&insert_batch_size(&[3], dims[2].map(|_| 0)), 3),
    ];
    let call = |tensors: &[Tensor]| {
        let mut given = tensors[1..].iter().cloned();
        let indices: Vec<Option<Tensor>> = places.iter().map(|&here| if here { given.next() } else { None }).collect();
        f(&tensors[0], &indices)
    };
    let mapped = Vmap::new().in_dims(dims).call(|tensors: &Vec<Tensor>| call(tensors), &tensors[..]).unwrap();
    let slices = (0..BATCH_SIZE).map(|i| {
        let slice = tensors.iter().zip(dims).map(|(tensor, dim)| match dim {
            Some(dim) => tensor.select(dim, i).unwrap(),
            None => tensor.clone(),
        });
        call(&slice.collect::<Vec<_>>()).unwrap()
    });
    let expected = aten::stack(&slices.collect::<Vec<_>>(), 0).unwrap();
    assert_eq!(mapped.sizes(), expected.sizes(), "{places:?} {dims:?}");
    assert!(mapped.is_close_to(&expected), "{places:?} {dims:?}: {mapped} and not {expected}");
}

#[test]
fn mapped_index_with_adjacent_and_separated_indices_equals_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let patterns = [[true, true, false], [false, true, true], [true, false, true], [false, true, false]];
    for places in patterns {
        for choice in 1..8 {
            let dims = [0, 1, 2].map(|at| (choice >> at & 1 == 1).then_some(0));
            if places.iter().filter(|&&here| here).count() == 1 && dims == [None, None, Some(0)] {
                continue;
            }
            check_indexing(places, dims, aten::index);
            check_indexing(places, dims, |this, indices| {
                let value = (-aten::index(this, indices)?)?;
                aten::index_put(this, indices, &value, true)
            });
            check_indexing(places, dims, |this, indices| aten::index_put(this, indices, &Tensor::from(7.0), false));
        }
    }
}

#[test]
fn mapped_losses_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for reduction in 0..3_i64 {
        let (scores, classes) = (|| tensor_arg(&[4, 5]), || index_arg(&[4], 5));
        for weight in [none_arg(), tensor_arg(&[5])] {
            let given = [scores(), classes(), weight.clone(), value_arg(reduction), value_arg(3_i64)];
            check_batched_calls(aten::nll_loss_forward::operator(), given);
            let given =
                [tensor_arg(&[5]), index_arg(&[], 5), weight.clone(), value_arg(reduction), value_arg(-100_i64)];
            check_batched_calls(aten::nll_loss_forward::operator(), given);
            let given = [
                tensor_arg(&[2, 5, 2, 2]),
                index_arg(&[2, 2, 2], 5),
                weight.clone(),
                value_arg(reduction),
                value_arg(3_i64),
            ];
            check_batched_calls(aten::nll_loss2d_forward::operator(), given);
            let grad = if reduction == 0 { tensor_arg(&[4]) } else { tensor_arg(&[]) };
            let given = [grad, scores(), classes(), weight, value_arg(reduction), value_arg(3_i64), tensor_arg(&[])];
            check_batched_calls(aten::nll_loss_backward::operator(), given);
        }
        check_batched_calls(
            aten::mse_loss::operator(),
            [tensor_arg(&[2, 3]), tensor_arg(&[2, 3]), value_arg(reduction)],
        );
        check_batched_calls(aten::mse_loss::operator(), [tensor_arg(&[]), tensor_arg(&[]), value_arg(reduction)]);
        check_batched_calls(
            aten::huber_loss::operator(),
            [tensor_arg(&[2, 3]), tensor_arg(&[2, 3]), value_arg(reduction), value_arg(1.0)],
        );
        check_batched_calls(
            aten::smooth_l1_loss::operator(),
            [tensor_arg(&[2, 3]), tensor_arg(&[2, 3]), value_arg(reduction), value_arg(1.0)],
        );
        check_batched_calls(
            aten::soft_margin_loss::operator(),
            [tensor_arg(&[2, 3]), tensor_arg(&[2, 3]), value_arg(reduction)],
        );
        let given = [tensor_arg(&[2, 3]), tensor_arg(&[2, 3]), none_arg(), tensor_arg(&[3]), value_arg(reduction)];
        check_batched_calls(aten::binary_cross_entropy_with_logits::operator(), given);
    }
}

#[test]
fn mapped_like_factories_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let plain = || [none_arg(), none_arg(), none_arg(), none_arg()];
    check_batched_calls(
        aten::zeros_like::operator(),
        [vec![tensor_arg(&[2, 3])], plain().to_vec(), vec![none_arg()]].concat(),
    );
    check_batched_calls(
        aten::ones_like::operator(),
        [vec![tensor_arg(&[])], plain().to_vec(), vec![none_arg()]].concat(),
    );
    check_batched_calls(
        aten::full_like::operator(),
        [vec![tensor_arg(&[2, 3]), value_arg(2_i64)], plain().to_vec(), vec![none_arg()]].concat(),
    );
    check_batched_calls(
        aten::new_zeros::operator(),
        [vec![tensor_arg(&[2, 3]), ints_arg(&[4])], plain().to_vec()].concat(),
    );
    check_batched_calls(
        aten::new_full::operator(),
        [vec![tensor_arg(&[2, 3]), ints_arg(&[4]), value_arg(3_i64)], plain().to_vec()].concat(),
    );
    let cast =
        [tensor_arg(&[2, 3]), value_arg(DType::F32), none_arg(), none_arg(), none_arg(), value_arg(false), none_arg()];
    check_batched_calls(aten::_to_copy::operator(), cast);
}

#[test]
fn mapped_scatter_operators_of_views_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(
        aten::select_backward::operator(),
        [tensor_arg(&[2]), ints_arg(&[2, 3]), value_arg(1_i64), value_arg(2_i64)],
    );
    check_batched_calls(
        aten::slice_backward::operator(),
        [
            tensor_arg(&[2, 2]),
            ints_arg(&[2, 4]),
            value_arg(-1_i64),
            value_arg(0_i64),
            value_arg(4_i64),
            value_arg(2_i64),
        ],
    );
    check_batched_calls(
        aten::diagonal_backward::operator(),
        [tensor_arg(&[2]), ints_arg(&[2, 3]), value_arg(1_i64), value_arg(0_i64), value_arg(1_i64)],
    );
    check_batched_calls(
        aten::select_scatter::operator(),
        [tensor_arg(&[2, 3]), tensor_arg(&[2]), value_arg(1_i64), value_arg(0_i64)],
    );
    check_batched_calls(
        aten::slice_scatter::operator(),
        [
            tensor_arg(&[2, 4]),
            tensor_arg(&[2, 2]),
            value_arg(1_i64),
            value_arg(1_i64),
            value_arg(3_i64),
            value_arg(1_i64),
        ],
    );
    check_batched_calls(
        aten::diagonal_scatter::operator(),
        [tensor_arg(&[2, 3]), tensor_arg(&[2]), value_arg(0_i64), value_arg(0_i64), value_arg(1_i64)],
    );
    check_batched_calls(aten::copy::operator(), [tensor_arg(&[2, 3]), tensor_arg(&[3]), value_arg(false)]);
    check_batched_calls(aten::repeat::operator(), [tensor_arg(&[2, 3]), ints_arg(&[2, 1, 3])]);
    check_batched_calls(
        aten::diag_embed::operator(),
        [tensor_arg(&[2, 3]), value_arg(1_i64), value_arg(-1_i64), value_arg(0_i64)],
    );
}

#[test]
fn mapped_reductions_with_and_without_keepdim_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for keepdim in [false, true] {
        check_batched_calls(aten::argmax::operator(), [tensor_arg(&[2, 4]), none_arg(), value_arg(keepdim)]);
        check_batched_calls(aten::argmin::operator(), [tensor_arg(&[]), none_arg(), value_arg(keepdim)]);
        check_batched_calls(aten::aminmax::operator(), [tensor_arg(&[2, 4]), none_arg(), value_arg(keepdim)]);
        check_batched_calls(aten::aminmax::operator(), [tensor_arg(&[2, 4]), value_arg(-1_i64), value_arg(keepdim)]);
        check_batched_calls(
            aten::var_mean_correction::operator(),
            [tensor_arg(&[2, 4]), ints_arg(&[1]), none_arg(), value_arg(keepdim)],
        );
        check_batched_calls(
            aten::std_mean_correction::operator(),
            [tensor_arg(&[2, 4]), none_arg(), none_arg(), value_arg(keepdim)],
        );
    }
    check_batched_calls(aten::nanmedian::operator(), [tensor_arg(&[2, 4])]);
}

#[test]
fn mapped_elementwise_operators_without_a_shape_word_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(aten::div_tensor_mode::operator(), [tensor_arg(&[2, 4]), tensor_arg(&[4]), value_arg("floor")]);
    check_batched_calls(aten::log_sigmoid_forward::operator(), [tensor_arg(&[2, 4])]);
    check_batched_calls(aten::frexp::operator(), [tensor_arg(&[2, 4])]);
    check_batched_calls(aten::glu::operator(), [tensor_arg(&[2, 4]), value_arg(-1_i64)]);
    check_batched_calls(
        aten::glu_jvp::operator(),
        [tensor_arg(&[2, 2]), tensor_arg(&[2, 4]), tensor_arg(&[2, 4]), value_arg(-1_i64)],
    );
}

#[test]
fn mapped_backwards_with_any_requested_gradients_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for asked in [[true, true, false], [false, true, true], [true, false, false], [false, false, true]] {
        let rest = [
            ints_arg(&[4]),
            ints_arg(&[1]),
            ints_arg(&[0]),
            ints_arg(&[1]),
            value_arg(false),
            ints_arg(&[0]),
            value_arg(1_i64),
            bools_arg(&asked),
        ];
        let given =
            [vec![tensor_arg(&[2, 4, 3]), tensor_arg(&[2, 2, 5]), tensor_arg(&[4, 2, 3])], rest.to_vec()].concat();
        check_batched_calls(aten::convolution_backward::operator(), given);
        let (grad, input, statistics) = (tensor_arg(&[2, 4]), tensor_arg(&[2, 4]), tensor_arg(&[2, 1]));
        let given = [
            grad,
            input,
            ints_arg(&[4]),
            statistics.clone(),
            statistics,
            tensor_arg(&[4]),
            tensor_arg(&[4]),
            bools_arg(&asked),
        ];
        check_batched_calls(aten::native_layer_norm_backward::operator(), given);
    }
    let given = [
        tensor_arg(&[2, 4]),
        tensor_arg(&[2, 4]),
        ints_arg(&[4]),
        tensor_arg(&[2, 1]),
        tensor_arg(&[2, 1]),
        none_arg(),
        none_arg(),
        bools_arg(&[true, false, false]),
    ];
    check_batched_calls(aten::native_layer_norm_backward::operator(), given);
}

#[test]
fn operators_on_slices_of_one_element_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(aten::stack::operator(), [TestArgument::TensorList(vec![vec![], vec![]]), value_arg(0_i64)]);
    check_batched_calls(aten::cumsum::operator(), [tensor_arg(&[]), value_arg(-1_i64), none_arg()]);
    check_batched_calls(aten::softmax_int::operator(), [tensor_arg(&[]), value_arg(0_i64), none_arg()]);
    check_batched_calls(aten::sort::operator(), [tensor_arg(&[]), value_arg(0_i64), value_arg(true)]);
    check_batched_calls(
        aten::topk::operator(),
        [tensor_arg(&[]), value_arg(1_i64), value_arg(0_i64), value_arg(true), value_arg(true)],
    );
    check_batched_calls(
        aten::gather::operator(),
        [tensor_arg(&[]), value_arg(0_i64), index_arg(&[], 1), value_arg(false)],
    );
    for keepdim in [false, true] {
        check_batched_calls(
            aten::sum_dim_intlist::operator(),
            [tensor_arg(&[]), ints_arg(&[0]), value_arg(keepdim), none_arg()],
        );
        check_batched_calls(aten::amax::operator(), [tensor_arg(&[]), ints_arg(&[]), value_arg(keepdim)]);
        check_batched_calls(aten::mean_dim::operator(), [tensor_arg(&[]), none_arg(), value_arg(keepdim), none_arg()]);
        check_batched_calls(
            aten::prod_dim_int::operator(),
            [tensor_arg(&[]), value_arg(-1_i64), value_arg(keepdim), none_arg()],
        );
        check_batched_calls(
            aten::var_correction::operator(),
            [tensor_arg(&[]), none_arg(), value_arg(0_i64), value_arg(keepdim)],
        );
        check_batched_calls(aten::argmax::operator(), [tensor_arg(&[]), value_arg(0_i64), value_arg(keepdim)]);
        check_batched_calls(aten::max_dim::operator(), [tensor_arg(&[]), value_arg(0_i64), value_arg(keepdim)]);
    }
}

#[test]
fn mapped_products_with_a_summand_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let factors = [value_arg(2_i64), value_arg(3_i64)];
    let added = |given: [TestArgument; 3]| [&given[..], &factors].concat();
    for this in [tensor_arg(&[2, 5]), tensor_arg(&[5]), tensor_arg(&[])] {
        check_batched_calls(aten::addmm::operator(), added([this.clone(), tensor_arg(&[2, 3]), tensor_arg(&[3, 5])]));
        check_batched_calls(
            aten::addbmm::operator(),
            added([this.clone(), tensor_arg(&[4, 2, 3]), tensor_arg(&[4, 3, 5])]),
        );
        check_batched_calls(aten::baddbmm::operator(), added([this, tensor_arg(&[4, 2, 3]), tensor_arg(&[4, 3, 5])]));
    }
    check_batched_calls(
        aten::baddbmm::operator(),
        added([tensor_arg(&[4, 1, 5]), tensor_arg(&[4, 2, 3]), tensor_arg(&[4, 3, 5])]),
    );
    for this in [tensor_arg(&[2]), tensor_arg(&[1]), tensor_arg(&[])] {
        check_batched_calls(aten::addmv::operator(), added([this, tensor_arg(&[2, 3]), tensor_arg(&[3])]));
    }
}
