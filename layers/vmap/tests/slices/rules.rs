//! Tests of operators with batch rules, none of which may loop.

use super::*;

fn i(values: &[i64]) -> Given {
    v(values.to_vec())
}

fn mask(values: &[bool]) -> Given {
    v(values.to_vec())
}

#[test]
fn pooling() {
    let _slow = slow(Slow::Refuse);
    for image in [x(&[2, 3, 6, 6]), x(&[3, 6, 6])] {
        check(aten::_adaptive_avg_pool2d::operator(), [image.clone(), i(&[3, 2])]);
        check(aten::adaptive_max_pool2d::operator(), [image.clone(), i(&[3, 2])]);
        let given = [image.clone(), i(&[2, 2]), i(&[]), i(&[1, 1]), v(false), v(true), none()];
        check(aten::avg_pool2d::operator(), given);
        let given = [image, i(&[3, 3]), i(&[2, 2]), i(&[1, 1]), i(&[1, 1]), v(false)];
        check(aten::max_pool2d_with_indices::operator(), given);
    }
    check(aten::_adaptive_avg_pool2d_backward::operator(), [x(&[2, 3, 3, 2]), x(&[2, 3, 6, 6])]);
    let given = [x(&[2, 3, 3, 3]), x(&[2, 3, 6, 6]), i(&[2, 2]), i(&[2, 2]), i(&[0, 0]), v(false), v(true), none()];
    check(aten::avg_pool2d_backward::operator(), given);
    let (grad, image, places) = (x(&[2, 3, 3, 3]), x(&[2, 3, 6, 6]), at(&[2, 3, 3, 3], 36));
    let given = [grad, image, i(&[2, 2]), i(&[2, 2]), i(&[0, 0]), i(&[1, 1]), v(false), places];
    check(aten::max_pool2d_with_indices_backward::operator(), given);
    check(aten::max_unpool2d::operator(), [x(&[2, 1, 2]), at(&[2, 1, 2], 8), i(&[2, 4])]);
    let given = [x(&[2, 2, 4, 4, 4]), i(&[2, 2, 2]), i(&[]), i(&[0, 0, 0]), v(false), v(true), none()];
    check(aten::avg_pool3d::operator(), given);
}

#[test]
fn images_of_other_sizes() {
    let _slow = slow(Slow::Refuse);
    check(aten::upsample_nearest2d::operator(), [x(&[2, 3, 4, 4]), i(&[6, 8]), none(), none()]);
    check(aten::upsample_bilinear2d::operator(), [x(&[2, 3, 4, 4]), i(&[6, 8]), v(true), none(), none()]);
    let given = [x(&[2, 3, 6, 8]), i(&[6, 8]), i(&[2, 3, 4, 4]), v(false), none(), none()];
    check(aten::upsample_bicubic2d_backward::operator(), given);
    check(aten::upsample_linear1d::operator(), [x(&[2, 3, 4]), i(&[6]), v(false), none()]);
    for lines in [x(&[2, 3, 4]), x(&[3, 4])] {
        check(aten::reflection_pad1d::operator(), [lines.clone(), i(&[1, 2])]);
        check(aten::replication_pad1d::operator(), [lines, i(&[1, 2])]);
    }
    check(aten::reflection_pad2d_backward::operator(), [x(&[2, 3, 6, 5]), x(&[2, 3, 4, 4]), i(&[1, 0, 1, 1])]);
    let given = [x(&[2, 3, 4, 4]), x(&[2, 5, 5, 2]), v(0_i64), v(0_i64), v(false)];
    check(aten::grid_sampler_2d::operator(), given);
    let given = [x(&[2, 3, 4, 4]), i(&[2, 2]), i(&[1, 1]), i(&[0, 0]), i(&[1, 1])];
    check(aten::im2col::operator(), given);
    let given = [x(&[2, 12, 9]), i(&[4, 4]), i(&[2, 2]), i(&[1, 1]), i(&[0, 0]), i(&[1, 1])];
    check(aten::col2im::operator(), given);
    check(aten::pixel_shuffle::operator(), [x(&[2, 8, 2, 3]), v(2_i64)]);
    check(aten::pixel_unshuffle::operator(), [x(&[2, 4, 6]), v(2_i64)]);
}

#[test]
fn norms() {
    let _slow = slow(Slow::Refuse);
    for (weight, bias) in [(x(&[4]), x(&[4])), (x(&[4]), none()), (none(), none())] {
        let given = [x(&[2, 3, 4]), i(&[4]), weight.clone(), bias.clone(), v(1e-5)];
        check(aten::native_layer_norm::operator(), given);
        let given = [x(&[2, 4, 3]), weight.clone(), bias.clone(), v(2_i64), v(4_i64), v(3_i64), v(2_i64), v(1e-5)];
        check(aten::native_group_norm::operator(), given);
        let given = [x(&[2, 4, 3]), weight.clone(), bias.clone(), none(), none(), v(true), v(0.1), v(1e-5)];
        check(aten::native_batch_norm::operator(), given);
        let given = [x(&[2, 4, 3]), weight, bias, x(&[4]), x(&[4]), v(false), v(0.1), v(1e-5)];
        check(aten::native_batch_norm::operator(), given);
    }
}

#[test]
fn norms_of_few_bits_are_rounded_once() {
    let _slow = slow(Slow::Refuse);
    let all = |sizes: &[i64], dtype: DType| numbers(sizes).to(dtype).unwrap();
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
fn gradients_of_norms_of_few_bits_are_rounded_once() {
    let _slow = slow(Slow::Refuse);
    let all = |sizes: &[i64]| numbers(sizes).to(DType::BF16).unwrap();
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
    let _slow = slow(Slow::Refuse);
    let all = || mask(&[true; 3]);
    let given = [x(&[2, 4]), x(&[2, 4]), i(&[4]), x(&[2, 1]), x(&[2, 1]), x(&[4]), x(&[4]), all()];
    check(aten::native_layer_norm_backward::operator(), given);
    let given = [x(&[2, 4, 3]), x(&[2, 4, 3]), x(&[4]), none(), none(), x(&[4]), x(&[4]), v(true), v(1e-5), all()];
    check(aten::native_batch_norm_backward::operator(), given);
}

#[test]
fn attention_in_blocks() {
    let _slow = slow(Slow::Refuse);
    let operator = aten::_scaled_dot_product_flash_attention_for_cpu::operator();
    let heads = || x(&[2, 2, 3, 4]);
    check(operator, [heads(), heads(), heads(), v(0.0), v(true), none(), none()]);
    for products in [x(&[3, 3]), x(&[2, 2, 3, 3]), x(&[1, 2, 3, 3])] {
        check(operator, [heads(), heads(), heads(), v(0.0), v(false), products, none()]);
    }
}

#[test]
fn places_that_indices_list() {
    let _slow = slow(Slow::Refuse);
    check(aten::embedding::operator(), [x(&[5, 2]), at(&[4], 5), v(-1_i64), v(false), v(false)]);
    let given = [x(&[4, 2]), at(&[4], 5), v(5_i64), v(3_i64), v(false)];
    check(aten::embedding_dense_backward::operator(), given);
    check(aten::index_select::operator(), [x(&[4, 3]), v(0_i64), at(&[5], 4)]);
    check(aten::index_select::operator(), [x(&[4, 3]), v(-1_i64), at(&[5], 3)]);
    check(aten::index_add::operator(), [x(&[4, 3]), v(0_i64), at(&[5], 4), x(&[5, 3]), v(2_i64)]);
    check(aten::index_copy::operator(), [x(&[4, 3]), v(1_i64), at(&[2], 3), x(&[4, 2])]);
    check(aten::index_fill_int_scalar::operator(), [x(&[4, 3]), v(1_i64), at(&[2], 3), v(9_i64)]);
    check(aten::gather::operator(), [x(&[4, 2]), v(0_i64), at(&[3, 2], 4), v(false)]);
    check(aten::scatter_reduce_two::operator(), [x(&[4, 2]), v(0_i64), at(&[3, 2], 4), x(&[3, 2]), v("sum"), v(true)]);
}

/// Checks an indexing operator with index tensors at two of three positions, the tensor and indices batched or not.
fn indexed(places: [bool; 3], dims: [Option<i64>; 3], f: impl Fn(&Tensor, &[Option<Tensor>]) -> Result<Tensor>) {
    let sizes = [4, 3, 5];
    let tensors = [
        numbers(&with_batch(&sizes, dims[0].map(|_| 0))),
        super::places(&with_batch(&[2, 1], dims[1].map(|_| 0)), 3),
        super::places(&with_batch(&[3], dims[2].map(|_| 0)), 3),
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
fn indices_side_by_side_and_apart_mapped_and_not() {
    let _slow = slow(Slow::Refuse);
    let patterns = [[true, true, false], [false, true, true], [true, false, true], [false, true, false]];
    for places in patterns {
        for choice in 1..8 {
            let dims = [0, 1, 2].map(|at| (choice >> at & 1 == 1).then_some(0));
            if places.iter().filter(|&&here| here).count() == 1 && dims == [None, None, Some(0)] {
                continue;
            }
            indexed(places, dims, aten::index);
            indexed(places, dims, |this, indices| {
                let value = aten::index(this, indices)?.neg()?;
                aten::index_put(this, indices, &value, true)
            });
            indexed(places, dims, |this, indices| aten::index_put(this, indices, &Tensor::from(7.0), false));
        }
    }
}

#[test]
fn losses() {
    let _slow = slow(Slow::Refuse);
    for reduction in 0..3_i64 {
        let (scores, classes) = (|| x(&[4, 5]), || at(&[4], 5));
        for weight in [none(), x(&[5])] {
            let given = [scores(), classes(), weight.clone(), v(reduction), v(3_i64)];
            check(aten::nll_loss_forward::operator(), given);
            let given = [x(&[5]), at(&[], 5), weight.clone(), v(reduction), v(-100_i64)];
            check(aten::nll_loss_forward::operator(), given);
            let given = [x(&[2, 5, 2, 2]), at(&[2, 2, 2], 5), weight.clone(), v(reduction), v(3_i64)];
            check(aten::nll_loss2d_forward::operator(), given);
            let grad = if reduction == 0 { x(&[4]) } else { x(&[]) };
            let given = [grad, scores(), classes(), weight, v(reduction), v(3_i64), x(&[])];
            check(aten::nll_loss_backward::operator(), given);
        }
        check(aten::mse_loss::operator(), [x(&[2, 3]), x(&[2, 3]), v(reduction)]);
        check(aten::mse_loss::operator(), [x(&[]), x(&[]), v(reduction)]);
        check(aten::huber_loss::operator(), [x(&[2, 3]), x(&[2, 3]), v(reduction), v(1.0)]);
        check(aten::smooth_l1_loss::operator(), [x(&[2, 3]), x(&[2, 3]), v(reduction), v(1.0)]);
        check(aten::soft_margin_loss::operator(), [x(&[2, 3]), x(&[2, 3]), v(reduction)]);
        let given = [x(&[2, 3]), x(&[2, 3]), none(), x(&[3]), v(reduction)];
        check(aten::binary_cross_entropy_with_logits::operator(), given);
    }
}

#[test]
fn tensors_made_like_others() {
    let _slow = slow(Slow::Refuse);
    let plain = || [none(), none(), none(), none()];
    check(aten::zeros_like::operator(), [vec![x(&[2, 3])], plain().to_vec(), vec![none()]].concat());
    check(aten::ones_like::operator(), [vec![x(&[])], plain().to_vec(), vec![none()]].concat());
    check(aten::full_like::operator(), [vec![x(&[2, 3]), v(2_i64)], plain().to_vec(), vec![none()]].concat());
    check(aten::new_zeros::operator(), [vec![x(&[2, 3]), i(&[4])], plain().to_vec()].concat());
    check(aten::new_full::operator(), [vec![x(&[2, 3]), i(&[4]), v(3_i64)], plain().to_vec()].concat());
    let cast = [x(&[2, 3]), v(DType::F32), none(), none(), none(), v(false), none()];
    check(aten::_to_copy::operator(), cast);
}

#[test]
fn parts_of_a_whole() {
    let _slow = slow(Slow::Refuse);
    check(aten::select_backward::operator(), [x(&[2]), i(&[2, 3]), v(1_i64), v(2_i64)]);
    check(aten::slice_backward::operator(), [x(&[2, 2]), i(&[2, 4]), v(-1_i64), v(0_i64), v(4_i64), v(2_i64)]);
    check(aten::diagonal_backward::operator(), [x(&[2]), i(&[2, 3]), v(1_i64), v(0_i64), v(1_i64)]);
    check(aten::select_scatter::operator(), [x(&[2, 3]), x(&[2]), v(1_i64), v(0_i64)]);
    check(aten::slice_scatter::operator(), [x(&[2, 4]), x(&[2, 2]), v(1_i64), v(1_i64), v(3_i64), v(1_i64)]);
    check(aten::diagonal_scatter::operator(), [x(&[2, 3]), x(&[2]), v(0_i64), v(0_i64), v(1_i64)]);
    check(aten::copy::operator(), [x(&[2, 3]), x(&[3]), v(false)]);
    check(aten::repeat::operator(), [x(&[2, 3]), i(&[2, 1, 3])]);
    check(aten::diag_embed::operator(), [x(&[2, 3]), v(1_i64), v(-1_i64), v(0_i64)]);
}

#[test]
fn what_is_left_of_slices() {
    let _slow = slow(Slow::Refuse);
    for keepdim in [false, true] {
        check(aten::argmax::operator(), [x(&[2, 4]), none(), v(keepdim)]);
        check(aten::argmin::operator(), [x(&[]), none(), v(keepdim)]);
        check(aten::aminmax::operator(), [x(&[2, 4]), none(), v(keepdim)]);
        check(aten::aminmax::operator(), [x(&[2, 4]), v(-1_i64), v(keepdim)]);
        check(aten::var_mean_correction::operator(), [x(&[2, 4]), i(&[1]), none(), v(keepdim)]);
        check(aten::std_mean_correction::operator(), [x(&[2, 4]), none(), none(), v(keepdim)]);
    }
    check(aten::nanmedian::operator(), [x(&[2, 4])]);
}

#[test]
fn elements_that_meet_though_no_word_says_so() {
    let _slow = slow(Slow::Refuse);
    check(aten::div_tensor_mode::operator(), [x(&[2, 4]), x(&[4]), v("floor")]);
    check(aten::log_sigmoid_forward::operator(), [x(&[2, 4])]);
    check(aten::frexp::operator(), [x(&[2, 4])]);
    check(aten::glu::operator(), [x(&[2, 4]), v(-1_i64)]);
    check(aten::glu_jvp::operator(), [x(&[2, 2]), x(&[2, 4]), x(&[2, 4]), v(-1_i64)]);
}

#[test]
fn gradients_that_nobody_asked_for() {
    let _slow = slow(Slow::Refuse);
    for asked in [[true, true, false], [false, true, true], [true, false, false], [false, false, true]] {
        let rest = [i(&[4]), i(&[1]), i(&[0]), i(&[1]), v(false), i(&[0]), v(1_i64), mask(&asked)];
        let given = [vec![x(&[2, 4, 3]), x(&[2, 2, 5]), x(&[4, 2, 3])], rest.to_vec()].concat();
        check(aten::convolution_backward::operator(), given);
        let (grad, input, statistics) = (x(&[2, 4]), x(&[2, 4]), x(&[2, 1]));
        let given = [grad, input, i(&[4]), statistics.clone(), statistics, x(&[4]), x(&[4]), mask(&asked)];
        check(aten::native_layer_norm_backward::operator(), given);
    }
    let given = [x(&[2, 4]), x(&[2, 4]), i(&[4]), x(&[2, 1]), x(&[2, 1]), none(), none(), mask(&[true, false, false])];
    check(aten::native_layer_norm_backward::operator(), given);
}

#[test]
fn slices_of_one_element() {
    let _slow = slow(Slow::Refuse);
    check(aten::stack::operator(), [Given::List(vec![vec![], vec![]]), v(0_i64)]);
    check(aten::cumsum::operator(), [x(&[]), v(-1_i64), none()]);
    check(aten::softmax_int::operator(), [x(&[]), v(0_i64), none()]);
    check(aten::sort::operator(), [x(&[]), v(0_i64), v(true)]);
    check(aten::topk::operator(), [x(&[]), v(1_i64), v(0_i64), v(true), v(true)]);
    check(aten::gather::operator(), [x(&[]), v(0_i64), at(&[], 1), v(false)]);
    for keepdim in [false, true] {
        check(aten::sum_dim_intlist::operator(), [x(&[]), i(&[0]), v(keepdim), none()]);
        check(aten::amax::operator(), [x(&[]), i(&[]), v(keepdim)]);
        check(aten::mean_dim::operator(), [x(&[]), none(), v(keepdim), none()]);
        check(aten::prod_dim_int::operator(), [x(&[]), v(-1_i64), v(keepdim), none()]);
        check(aten::var_correction::operator(), [x(&[]), none(), v(0_i64), v(keepdim)]);
        check(aten::argmax::operator(), [x(&[]), v(0_i64), v(keepdim)]);
        check(aten::max_dim::operator(), [x(&[]), v(0_i64), v(keepdim)]);
    }
}

#[test]
fn products_that_are_added_to_something() {
    let _slow = slow(Slow::Refuse);
    let factors = [v(2_i64), v(3_i64)];
    let added = |given: [Given; 3]| [&given[..], &factors].concat();
    for this in [x(&[2, 5]), x(&[5]), x(&[])] {
        check(aten::addmm::operator(), added([this.clone(), x(&[2, 3]), x(&[3, 5])]));
        check(aten::addbmm::operator(), added([this.clone(), x(&[4, 2, 3]), x(&[4, 3, 5])]));
        check(aten::baddbmm::operator(), added([this, x(&[4, 2, 3]), x(&[4, 3, 5])]));
    }
    check(aten::baddbmm::operator(), added([x(&[4, 1, 5]), x(&[4, 2, 3]), x(&[4, 3, 5])]));
    for this in [x(&[2]), x(&[1]), x(&[])] {
        check(aten::addmv::operator(), added([this, x(&[2, 3]), x(&[3])]));
    }
}
