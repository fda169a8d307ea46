//! Tests of operators with batch rules, none of which may loop.

use super::*;

fn ints(values: &[i64]) -> TestArgument {
    value(values.to_vec())
}

fn bools(values: &[bool]) -> TestArgument {
    value(values.to_vec())
}

#[test]
fn pooling() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for image in [tensor(&[2, 3, 6, 6]), tensor(&[3, 6, 6])] {
        check(aten::_adaptive_avg_pool2d::operator(), [image.clone(), ints(&[3, 2])]);
        check(aten::adaptive_max_pool2d::operator(), [image.clone(), ints(&[3, 2])]);
        let given = [image.clone(), ints(&[2, 2]), ints(&[]), ints(&[1, 1]), value(false), value(true), none()];
        check(aten::avg_pool2d::operator(), given);
        let given = [image, ints(&[3, 3]), ints(&[2, 2]), ints(&[1, 1]), ints(&[1, 1]), value(false)];
        check(aten::max_pool2d_with_indices::operator(), given);
    }
    check(aten::_adaptive_avg_pool2d_backward::operator(), [tensor(&[2, 3, 3, 2]), tensor(&[2, 3, 6, 6])]);
    let given = [
        tensor(&[2, 3, 3, 3]),
        tensor(&[2, 3, 6, 6]),
        ints(&[2, 2]),
        ints(&[2, 2]),
        ints(&[0, 0]),
        value(false),
        value(true),
        none(),
    ];
    check(aten::avg_pool2d_backward::operator(), given);
    let (grad, image, places) = (tensor(&[2, 3, 3, 3]), tensor(&[2, 3, 6, 6]), index_tensor(&[2, 3, 3, 3], 36));
    let given = [grad, image, ints(&[2, 2]), ints(&[2, 2]), ints(&[0, 0]), ints(&[1, 1]), value(false), places];
    check(aten::max_pool2d_with_indices_backward::operator(), given);
    check(aten::max_unpool2d::operator(), [tensor(&[2, 1, 2]), index_tensor(&[2, 1, 2], 8), ints(&[2, 4])]);
    let given =
        [tensor(&[2, 2, 4, 4, 4]), ints(&[2, 2, 2]), ints(&[]), ints(&[0, 0, 0]), value(false), value(true), none()];
    check(aten::avg_pool3d::operator(), given);
}

#[test]
fn image_operators() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(aten::upsample_nearest2d::operator(), [tensor(&[2, 3, 4, 4]), ints(&[6, 8]), none(), none()]);
    check(aten::upsample_bilinear2d::operator(), [tensor(&[2, 3, 4, 4]), ints(&[6, 8]), value(true), none(), none()]);
    let given = [tensor(&[2, 3, 6, 8]), ints(&[6, 8]), ints(&[2, 3, 4, 4]), value(false), none(), none()];
    check(aten::upsample_bicubic2d_backward::operator(), given);
    check(aten::upsample_linear1d::operator(), [tensor(&[2, 3, 4]), ints(&[6]), value(false), none()]);
    for lines in [tensor(&[2, 3, 4]), tensor(&[3, 4])] {
        check(aten::reflection_pad1d::operator(), [lines.clone(), ints(&[1, 2])]);
        check(aten::replication_pad1d::operator(), [lines, ints(&[1, 2])]);
    }
    check(
        aten::reflection_pad2d_backward::operator(),
        [tensor(&[2, 3, 6, 5]), tensor(&[2, 3, 4, 4]), ints(&[1, 0, 1, 1])],
    );
    let given = [tensor(&[2, 3, 4, 4]), tensor(&[2, 5, 5, 2]), value(0_i64), value(0_i64), value(false)];
    check(aten::grid_sampler_2d::operator(), given);
    let given = [tensor(&[2, 3, 4, 4]), ints(&[2, 2]), ints(&[1, 1]), ints(&[0, 0]), ints(&[1, 1])];
    check(aten::im2col::operator(), given);
    let given = [tensor(&[2, 12, 9]), ints(&[4, 4]), ints(&[2, 2]), ints(&[1, 1]), ints(&[0, 0]), ints(&[1, 1])];
    check(aten::col2im::operator(), given);
    check(aten::pixel_shuffle::operator(), [tensor(&[2, 8, 2, 3]), value(2_i64)]);
    check(aten::pixel_unshuffle::operator(), [tensor(&[2, 4, 6]), value(2_i64)]);
}

#[test]
fn norms() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for (weight, bias) in [(tensor(&[4]), tensor(&[4])), (tensor(&[4]), none()), (none(), none())] {
        let given = [tensor(&[2, 3, 4]), ints(&[4]), weight.clone(), bias.clone(), value(1e-5)];
        check(aten::native_layer_norm::operator(), given);
        let given = [
            tensor(&[2, 4, 3]),
            weight.clone(),
            bias.clone(),
            value(2_i64),
            value(4_i64),
            value(3_i64),
            value(2_i64),
            value(1e-5),
        ];
        check(aten::native_group_norm::operator(), given);
        let given =
            [tensor(&[2, 4, 3]), weight.clone(), bias.clone(), none(), none(), value(true), value(0.1), value(1e-5)];
        check(aten::native_batch_norm::operator(), given);
        let given =
            [tensor(&[2, 4, 3]), weight, bias, tensor(&[4]), tensor(&[4]), value(false), value(0.1), value(1e-5)];
        check(aten::native_batch_norm::operator(), given);
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
                let [weight, bias] = [&weight, &bias].map(|all| all.select_int(0, i).unwrap());
                for (mapped, one) in mapped.iter().zip(&norms([&weight, &bias]).unwrap()) {
                    assert_eq!(f32(&mapped.select_int(0, i).unwrap()), f32(one), "{dtype}, {of_weights}, {given}");
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
        let slice = |all: &Tensor| all.select_int(0, i).unwrap();
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
fn gradients_of_norms() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let all = || bools(&[true; 3]);
    let given = [
        tensor(&[2, 4]),
        tensor(&[2, 4]),
        ints(&[4]),
        tensor(&[2, 1]),
        tensor(&[2, 1]),
        tensor(&[4]),
        tensor(&[4]),
        all(),
    ];
    check(aten::native_layer_norm_backward::operator(), given);
    let given = [
        tensor(&[2, 4, 3]),
        tensor(&[2, 4, 3]),
        tensor(&[4]),
        none(),
        none(),
        tensor(&[4]),
        tensor(&[4]),
        value(true),
        value(1e-5),
        all(),
    ];
    check(aten::native_batch_norm_backward::operator(), given);
}

#[test]
fn flash_attention() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let operator = aten::_scaled_dot_product_flash_attention_for_cpu::operator();
    let heads = || tensor(&[2, 2, 3, 4]);
    check(operator, [heads(), heads(), heads(), value(0.0), value(true), none(), none()]);
    for products in [tensor(&[3, 3]), tensor(&[2, 2, 3, 3]), tensor(&[1, 2, 3, 3])] {
        check(operator, [heads(), heads(), heads(), value(0.0), value(false), products, none()]);
    }
}

#[test]
fn indexing_operators() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(
        aten::embedding::operator(),
        [tensor(&[5, 2]), index_tensor(&[4], 5), value(-1_i64), value(false), value(false)],
    );
    let given = [tensor(&[4, 2]), index_tensor(&[4], 5), value(5_i64), value(3_i64), value(false)];
    check(aten::embedding_dense_backward::operator(), given);
    check(aten::index_select::operator(), [tensor(&[4, 3]), value(0_i64), index_tensor(&[5], 4)]);
    check(aten::index_select::operator(), [tensor(&[4, 3]), value(-1_i64), index_tensor(&[5], 3)]);
    check(
        aten::index_add::operator(),
        [tensor(&[4, 3]), value(0_i64), index_tensor(&[5], 4), tensor(&[5, 3]), value(2_i64)],
    );
    check(aten::index_copy::operator(), [tensor(&[4, 3]), value(1_i64), index_tensor(&[2], 3), tensor(&[4, 2])]);
    check(
        aten::index_fill_int_scalar::operator(),
        [tensor(&[4, 3]), value(1_i64), index_tensor(&[2], 3), value(9_i64)],
    );
    check(aten::gather::operator(), [tensor(&[4, 2]), value(0_i64), index_tensor(&[3, 2], 4), value(false)]);
    check(
        aten::scatter_reduce_two::operator(),
        [tensor(&[4, 2]), value(0_i64), index_tensor(&[3, 2], 4), tensor(&[3, 2]), value("sum"), value(true)],
    );
}

/// Checks an indexing operator with index tensors at two of three positions, the tensor and indices batched or not.
fn check_indexing(places: [bool; 3], dims: [Option<i64>; 3], f: impl Fn(&Tensor, &[Option<Tensor>]) -> Result<Tensor>) {
    let sizes = [4, 3, 5];
    let tensors = [
        distinct_tensor(&with_batch(&sizes, dims[0].map(|_| 0))),
        index_elements(&with_batch(&[2, 1], dims[1].map(|_| 0)), 3),
        index_elements(&with_batch(&[3], dims[2].map(|_| 0)), 3),
    ];
    let call = |tensors: &[Tensor]| {
        let mut given = tensors[1..].iter().cloned();
        let indices: Vec<Option<Tensor>> = places.iter().map(|&here| if here { given.next() } else { None }).collect();
        f(&tensors[0], &indices)
    };
    let mapped = Vmap::new().in_dims(dims).call(|tensors: &Vec<Tensor>| call(tensors), &tensors[..]).unwrap();
    let slices = (0..BATCH).map(|i| {
        let slice = tensors.iter().zip(dims).map(|(tensor, dim)| match dim {
            Some(dim) => tensor.select_int(dim, i).unwrap(),
            None => tensor.clone(),
        });
        call(&slice.collect::<Vec<_>>()).unwrap()
    });
    let expected = aten::stack(&slices.collect::<Vec<_>>(), 0).unwrap();
    assert_eq!(mapped.sizes(), expected.sizes(), "{places:?} {dims:?}");
    assert!(mapped.allclose_with(&expected), "{places:?} {dims:?}: {mapped} and not {expected}");
}

#[test]
fn index_with_adjacent_and_separated_indices() {
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
                let value = aten::index(this, indices)?.neg()?;
                aten::index_put(this, indices, &value, true)
            });
            check_indexing(places, dims, |this, indices| aten::index_put(this, indices, &Tensor::from(7.0), false));
        }
    }
}

#[test]
fn losses() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for reduction in 0..3_i64 {
        let (scores, classes) = (|| tensor(&[4, 5]), || index_tensor(&[4], 5));
        for weight in [none(), tensor(&[5])] {
            let given = [scores(), classes(), weight.clone(), value(reduction), value(3_i64)];
            check(aten::nll_loss_forward::operator(), given);
            let given = [tensor(&[5]), index_tensor(&[], 5), weight.clone(), value(reduction), value(-100_i64)];
            check(aten::nll_loss_forward::operator(), given);
            let given =
                [tensor(&[2, 5, 2, 2]), index_tensor(&[2, 2, 2], 5), weight.clone(), value(reduction), value(3_i64)];
            check(aten::nll_loss2d_forward::operator(), given);
            let grad = if reduction == 0 { tensor(&[4]) } else { tensor(&[]) };
            let given = [grad, scores(), classes(), weight, value(reduction), value(3_i64), tensor(&[])];
            check(aten::nll_loss_backward::operator(), given);
        }
        check(aten::mse_loss::operator(), [tensor(&[2, 3]), tensor(&[2, 3]), value(reduction)]);
        check(aten::mse_loss::operator(), [tensor(&[]), tensor(&[]), value(reduction)]);
        check(aten::huber_loss::operator(), [tensor(&[2, 3]), tensor(&[2, 3]), value(reduction), value(1.0)]);
        check(aten::smooth_l1_loss::operator(), [tensor(&[2, 3]), tensor(&[2, 3]), value(reduction), value(1.0)]);
        check(aten::soft_margin_loss::operator(), [tensor(&[2, 3]), tensor(&[2, 3]), value(reduction)]);
        let given = [tensor(&[2, 3]), tensor(&[2, 3]), none(), tensor(&[3]), value(reduction)];
        check(aten::binary_cross_entropy_with_logits::operator(), given);
    }
}

#[test]
fn like_factories() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let plain = || [none(), none(), none(), none()];
    check(aten::zeros_like::operator(), [vec![tensor(&[2, 3])], plain().to_vec(), vec![none()]].concat());
    check(aten::ones_like::operator(), [vec![tensor(&[])], plain().to_vec(), vec![none()]].concat());
    check(aten::full_like::operator(), [vec![tensor(&[2, 3]), value(2_i64)], plain().to_vec(), vec![none()]].concat());
    check(aten::new_zeros::operator(), [vec![tensor(&[2, 3]), ints(&[4])], plain().to_vec()].concat());
    check(aten::new_full::operator(), [vec![tensor(&[2, 3]), ints(&[4]), value(3_i64)], plain().to_vec()].concat());
    let cast = [tensor(&[2, 3]), value(DType::F32), none(), none(), none(), value(false), none()];
    check(aten::_to_copy::operator(), cast);
}

#[test]
fn scatter_operators_of_views() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(aten::select_backward::operator(), [tensor(&[2]), ints(&[2, 3]), value(1_i64), value(2_i64)]);
    check(
        aten::slice_backward::operator(),
        [tensor(&[2, 2]), ints(&[2, 4]), value(-1_i64), value(0_i64), value(4_i64), value(2_i64)],
    );
    check(aten::diagonal_backward::operator(), [tensor(&[2]), ints(&[2, 3]), value(1_i64), value(0_i64), value(1_i64)]);
    check(aten::select_scatter::operator(), [tensor(&[2, 3]), tensor(&[2]), value(1_i64), value(0_i64)]);
    check(
        aten::slice_scatter::operator(),
        [tensor(&[2, 4]), tensor(&[2, 2]), value(1_i64), value(1_i64), value(3_i64), value(1_i64)],
    );
    check(
        aten::diagonal_scatter::operator(),
        [tensor(&[2, 3]), tensor(&[2]), value(0_i64), value(0_i64), value(1_i64)],
    );
    check(aten::copy::operator(), [tensor(&[2, 3]), tensor(&[3]), value(false)]);
    check(aten::repeat::operator(), [tensor(&[2, 3]), ints(&[2, 1, 3])]);
    check(aten::diag_embed::operator(), [tensor(&[2, 3]), value(1_i64), value(-1_i64), value(0_i64)]);
}

#[test]
fn reductions_with_and_without_keepdim() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for keepdim in [false, true] {
        check(aten::argmax::operator(), [tensor(&[2, 4]), none(), value(keepdim)]);
        check(aten::argmin::operator(), [tensor(&[]), none(), value(keepdim)]);
        check(aten::aminmax::operator(), [tensor(&[2, 4]), none(), value(keepdim)]);
        check(aten::aminmax::operator(), [tensor(&[2, 4]), value(-1_i64), value(keepdim)]);
        check(aten::var_mean_correction::operator(), [tensor(&[2, 4]), ints(&[1]), none(), value(keepdim)]);
        check(aten::std_mean_correction::operator(), [tensor(&[2, 4]), none(), none(), value(keepdim)]);
    }
    check(aten::nanmedian::operator(), [tensor(&[2, 4])]);
}

#[test]
fn elementwise_operators_without_a_shape_word() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(aten::div_tensor_mode::operator(), [tensor(&[2, 4]), tensor(&[4]), value("floor")]);
    check(aten::log_sigmoid_forward::operator(), [tensor(&[2, 4])]);
    check(aten::frexp::operator(), [tensor(&[2, 4])]);
    check(aten::glu::operator(), [tensor(&[2, 4]), value(-1_i64)]);
    check(aten::glu_jvp::operator(), [tensor(&[2, 2]), tensor(&[2, 4]), tensor(&[2, 4]), value(-1_i64)]);
}

#[test]
fn gradients_that_are_not_requested() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for asked in [[true, true, false], [false, true, true], [true, false, false], [false, false, true]] {
        let rest =
            [ints(&[4]), ints(&[1]), ints(&[0]), ints(&[1]), value(false), ints(&[0]), value(1_i64), bools(&asked)];
        let given = [vec![tensor(&[2, 4, 3]), tensor(&[2, 2, 5]), tensor(&[4, 2, 3])], rest.to_vec()].concat();
        check(aten::convolution_backward::operator(), given);
        let (grad, input, statistics) = (tensor(&[2, 4]), tensor(&[2, 4]), tensor(&[2, 1]));
        let given =
            [grad, input, ints(&[4]), statistics.clone(), statistics, tensor(&[4]), tensor(&[4]), bools(&asked)];
        check(aten::native_layer_norm_backward::operator(), given);
    }
    let given = [
        tensor(&[2, 4]),
        tensor(&[2, 4]),
        ints(&[4]),
        tensor(&[2, 1]),
        tensor(&[2, 1]),
        none(),
        none(),
        bools(&[true, false, false]),
    ];
    check(aten::native_layer_norm_backward::operator(), given);
}

#[test]
fn slices_of_one_element() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(aten::stack::operator(), [TestArgument::TensorList(vec![vec![], vec![]]), value(0_i64)]);
    check(aten::cumsum::operator(), [tensor(&[]), value(-1_i64), none()]);
    check(aten::softmax_int::operator(), [tensor(&[]), value(0_i64), none()]);
    check(aten::sort::operator(), [tensor(&[]), value(0_i64), value(true)]);
    check(aten::topk::operator(), [tensor(&[]), value(1_i64), value(0_i64), value(true), value(true)]);
    check(aten::gather::operator(), [tensor(&[]), value(0_i64), index_tensor(&[], 1), value(false)]);
    for keepdim in [false, true] {
        check(aten::sum_dim_intlist::operator(), [tensor(&[]), ints(&[0]), value(keepdim), none()]);
        check(aten::amax::operator(), [tensor(&[]), ints(&[]), value(keepdim)]);
        check(aten::mean_dim::operator(), [tensor(&[]), none(), value(keepdim), none()]);
        check(aten::prod_dim_int::operator(), [tensor(&[]), value(-1_i64), value(keepdim), none()]);
        check(aten::var_correction::operator(), [tensor(&[]), none(), value(0_i64), value(keepdim)]);
        check(aten::argmax::operator(), [tensor(&[]), value(0_i64), value(keepdim)]);
        check(aten::max_dim::operator(), [tensor(&[]), value(0_i64), value(keepdim)]);
    }
}

#[test]
fn products_with_a_summand() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let factors = [value(2_i64), value(3_i64)];
    let added = |given: [TestArgument; 3]| [&given[..], &factors].concat();
    for this in [tensor(&[2, 5]), tensor(&[5]), tensor(&[])] {
        check(aten::addmm::operator(), added([this.clone(), tensor(&[2, 3]), tensor(&[3, 5])]));
        check(aten::addbmm::operator(), added([this.clone(), tensor(&[4, 2, 3]), tensor(&[4, 3, 5])]));
        check(aten::baddbmm::operator(), added([this, tensor(&[4, 2, 3]), tensor(&[4, 3, 5])]));
    }
    check(aten::baddbmm::operator(), added([tensor(&[4, 1, 5]), tensor(&[4, 2, 3]), tensor(&[4, 3, 5])]));
    for this in [tensor(&[2]), tensor(&[1]), tensor(&[])] {
        check(aten::addmv::operator(), added([this, tensor(&[2, 3]), tensor(&[3])]));
    }
}
