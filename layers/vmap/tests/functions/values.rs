//! Tests of dtypes, scalars, masks and special values in mapped functions.

use aten::prelude::*;
use dispatch_runtime::MemoryFormat;
use dispatch_runtime::prelude::*;
use dispatch_vmap::vmap;

use crate::{check_against_loop, varied_tensor};

fn tensor_of_dtype(dtype: DType, sizes: &[i64]) -> Tensor {
    (varied_tensor(sizes) * 4.0).unwrap().to(dtype).unwrap()
}

#[test]
fn zero_dimensional_slices_promote_only_by_category() {
    for (slices, other) in [(DType::F64, DType::F32), (DType::I64, DType::I32), (DType::I64, DType::F32)] {
        check_against_loop([(&tensor_of_dtype(slices, &[3]), Some(0)), (&tensor_of_dtype(other, &[2]), None)], |x| {
            &x[0] * &x[1]
        });
        check_against_loop(
            [(&tensor_of_dtype(slices, &[3]), Some(0)), (&tensor_of_dtype(other, &[3, 2]), Some(0))],
            |x| &x[1] - &x[0],
        );
    }
    let f = |x: &Tensor| x * &Tensor::ones(2, DType::F32)?;
    assert_eq!(vmap(f, tensor_of_dtype(DType::F64, &[3])).unwrap().dtype(), DType::F32);
}

#[test]
fn slices_of_different_dtypes_are_promoted() {
    for (a, b) in
        [(DType::I32, DType::F32), (DType::F32, DType::F64), (DType::Bool, DType::I64), (DType::U8, DType::I8)]
    {
        check_against_loop([(&tensor_of_dtype(a, &[3, 2]), Some(0)), (&tensor_of_dtype(b, &[3, 2]), Some(0))], |x| {
            &x[0] * &x[1]
        });
        check_against_loop([(&tensor_of_dtype(a, &[3, 2]), Some(0)), (&tensor_of_dtype(b, &[2]), None)], |x| {
            &x[0] * &x[1]
        });
    }
}

#[test]
fn scalars_do_not_change_the_dtype_of_slices() {
    check_against_loop([(&tensor_of_dtype(DType::I64, &[3, 2]), Some(0))], |x| &x[0] * 2.5);
    check_against_loop([(&tensor_of_dtype(DType::F32, &[3, 2]), Some(0))], |x| &x[0] * 2.5);
    check_against_loop([(&tensor_of_dtype(DType::F32, &[3]), Some(0))], |x| &x[0] + 1);
    check_against_loop([(&tensor_of_dtype(DType::Bool, &[3]), Some(0))], |x| &x[0] + 1);
}

#[test]
fn division_of_integer_slices_is_a_float() {
    check_against_loop([(&tensor_of_dtype(DType::I64, &[3]), Some(0)), (&Tensor::from([4_i64, 5]), None)], |x| {
        &x[0] / &x[1]
    });
}

#[test]
fn large_integers_are_converted_to_float_without_rounding_first() {
    let large = Tensor::from([1000_i64, -70_000, 2_000_000]);
    for dtype in [DType::U8, DType::I16] {
        let other = Tensor::from([4_i64, 5]).to(dtype).unwrap();
        check_against_loop([(&large, Some(0)), (&other, None)], |x| &x[0] / &x[1]);
        check_against_loop([(&large, Some(0)), (&other, None)], |x| aten::atan2(&x[1], &x[0]));
        check_against_loop([(&large, Some(0)), (&other, None)], |x| aten::div_tensor_mode(&x[0], &x[1], None));
    }
}

#[test]
fn an_unmapped_operand_promotes_as_it_does_for_one_slice() {
    let (small, large) = (Tensor::from([10_i64, 7, 9]).to(DType::U8).unwrap(), Tensor::from(-32768_i64));
    check_against_loop([(&small, Some(0)), (&large, None)], |x| aten::gcd(&x[0], &x[1]));
    check_against_loop([(&small, Some(0)), (&large, None)], |x| {
        let mut written = aten::clone(&x[0], None)?;
        aten::gcd_(&mut written, &x[1])?;
        Ok(written)
    });
}

#[test]
fn comparisons_make_masks_for_where() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| aten::where_self(&x[0].gt(0)?, &x[0], &(-&x[0])?));
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0)), (&varied_tensor(&[4]), None)], |x| {
        aten::where_self(&x[1].gt(0)?, &x[0], &x[1])
    });
    check_against_loop([(&varied_tensor(&[3]), Some(0)), (&varied_tensor(&[4]), None)], |x| {
        aten::where_self(&x[0].gt(0)?, &x[1], &x[0])
    });
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| {
        aten::where_scalarother(&x[0].lt(0)?, &x[0], 0.into())
    });
}

#[test]
fn masked_fill_with_a_mask_for_each_slice() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0)), (&varied_tensor(&[3, 4]), Some(0))], |x| {
        x[0].masked_fill(&x[1].gt(0)?, -7)
    });
    check_against_loop([(&varied_tensor(&[4]), None), (&varied_tensor(&[3, 4]), Some(0))], |x| {
        x[0].masked_fill(&x[1].gt(0)?, -7)
    });
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0)), (&varied_tensor(&[3]), Some(0))], |x| {
        x[0].masked_fill(&x[0].gt(0)?, &x[1])
    });
}

#[test]
fn mapped_logical_operators_equal_a_loop() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| {
        let (above, below) = (x[0].gt(-1)?, x[0].lt(1)?);
        above.logical_and(&below)?.bitwise_or(&above.logical_not()?)?.any()
    });
}

#[test]
fn mapped_complex_operators_equal_a_loop() {
    let z = |x: &[Tensor]| aten::complex(&x[0], &x[1]);
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0)), (&varied_tensor(&[3, 4]), Some(0))], |x| {
        (z(x)? * z(x)?)?.real()
    });
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0)), (&varied_tensor(&[4]), None)], |x| {
        z(x)?.view_as_real()?.select(-1, 1)
    });
}

#[test]
fn mapped_lazy_views_equal_a_loop() {
    let z = |x: &[Tensor]| aten::complex(&x[0], &x[1])?.conj();
    let tensors = [varied_tensor(&[3, 4]), varied_tensor(&[4, 3])];
    let mapped = [(&tensors[0], Some(0)), (&tensors[1], Some(1))];
    check_against_loop(mapped, |x| z(x)?.imag());
    check_against_loop(mapped, |x| z(x)?.view([2, 2])?.mH()?.imag()? * z(x)?.view([2, 2])?.real()?);
    check_against_loop(mapped, |x| {
        let (whole, conjugate) = (aten::complex(&x[0], &x[1])?, z(x)?);
        assert!(aten::is_conj(&conjugate)? && aten::is_neg(&conjugate.imag()?)?);
        let first = whole.conj()?.narrow(0, 0, 2)?;
        first.mul_(&conjugate.narrow(0, 1, 2)?)?;
        whole.imag()
    });
}

#[test]
fn a_slice_can_be_cast() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| x[0].to(DType::F32));
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0)), (&tensor_of_dtype(DType::I64, &[2]), None)], |x| {
        x[0].type_as(&x[1])
    });
}

#[test]
fn like_factories_use_the_sizes_of_a_slice() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| x[0].ones_like());
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| x[0].full_like(3)? * &x[0]);
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| {
        aten::new_full(&x[0], &[2, 2], 5.into(), None, None, None, None)
    });
}

#[test]
fn tensors_created_in_the_function_are_unmapped() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| &x[0] * &Tensor::arange(0..4, DType::F64)?);
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| Tensor::eye(4, DType::F64)?.mv(&x[0]));
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| {
        aten::cat(&[x[0].clone(), Tensor::zeros(2, DType::F64)?], 0)
    });
}

#[test]
fn each_slice_is_sorted() {
    check_against_loop([(&varied_tensor(&[3, 5]), Some(0))], |x| Ok(aten::sort(&x[0], -1, true)?.0));
    check_against_loop([(&varied_tensor(&[3, 5]), Some(0))], |x| Ok(x[0].topk(2)?.1));
    check_against_loop([(&varied_tensor(&[5, 3]), Some(1))], |x| aten::argsort(&x[0], 0, false));
    check_against_loop([(&varied_tensor(&[3, 5]), Some(0))], |x| x[0].argmax());
    check_against_loop([(&varied_tensor(&[3, 5]), Some(0))], |x| x[0].median());
}

#[test]
fn mapped_reductions_over_any_dimensions_equal_a_loop() {
    let x = varied_tensor(&[3, 4, 2]);
    for dims in [&[0][..], &[-1], &[0, 1]] {
        check_against_loop([(&x, Some(0))], |x| x[0].sum_keepdim(dims));
        check_against_loop([(&x, Some(1))], |x| aten::var_correction(&x[0], Some(dims), None, false));
    }
    check_against_loop([(&x, Some(0))], |x| x[0].sum());
    check_against_loop([(&x, Some(2))], |x| x[0].mean());
    check_against_loop([(&x, Some(0))], |x| x[0].logsumexp_dims([0, 1]));
}

#[test]
fn zero_dimensional_slices_promote_by_category_in_losses() {
    let losses: [fn(&Tensor, &Tensor) -> Result<Tensor>; 3] = [
        |x, y| aten::mse_loss(x, y, 1),
        |x, y| aten::huber_loss(x, y, 0, 1.0),
        |x, y| aten::smooth_l1_loss(x, y, 2, 1.0),
    ];
    for loss in losses {
        let (x, y) = (tensor_of_dtype(DType::F32, &[3, 2]), tensor_of_dtype(DType::F64, &[3]));
        check_against_loop([(&x, Some(0)), (&y, Some(0))], |x| loss(&x[0], &x[1]));
        check_against_loop([(&x, Some(0)), (&Tensor::from(0.5), None)], |x| loss(&x[0], &x[1]));
    }
}

#[test]
fn ignored_samples_of_nll_loss_can_be_infinite() {
    let scores = Tensor::from([[f64::NEG_INFINITY, -1.0], [f64::INFINITY, -2.0]]);
    let classes = Tensor::from([[1_i64, -100], [-100, 1]]);
    let weight = Tensor::from([f64::INFINITY, 2.0]);
    for weight in [None, Some(&weight)] {
        check_against_loop([(&scores, None), (&classes, Some(0))], |x| {
            Ok(aten::nll_loss_forward(&x[0], &x[1], weight, 1, -100)?.0)
        });
        check_against_loop([(&scores, None), (&classes, Some(0))], |x| {
            let grad = Tensor::from(f64::INFINITY);
            aten::nll_loss_backward(&grad, &x[0], &x[1], weight, 2, -100, &Tensor::from(1.0))
        });
    }
}

#[test]
fn any_and_all_over_no_dimensions_are_elementwise() {
    let x = varied_tensor(&[3, 2, 4]);
    check_against_loop([(&x, Some(0))], |x| aten::any_dims(&x[0], Some(&[]), false));
    check_against_loop([(&x, Some(1))], |x| aten::all_dims(&x[0], Some(&[]), true));
    check_against_loop([(&x, Some(2))], |x| aten::all_dims(&x[0], None, true));
}

#[test]
fn the_median_of_an_empty_slice_is_nan() {
    let found = vmap(|x| Ok((x.median()?, x.nanmedian()?)), Tensor::zeros([3, 0], DType::F64).unwrap()).unwrap();
    for found in [found.0, found.1] {
        assert!(found.to_vec::<f64>().unwrap().iter().all(|x| x.is_nan()) && found.sizes() == [3]);
    }
}

#[test]
fn a_channels_last_3d_format_applies_to_a_slice() {
    let x = varied_tensor(&[3, 2, 2, 2, 2, 2]);
    check_against_loop([(&x, Some(0))], |x| aten::contiguous(&x[0], MemoryFormat::ChannelsLast3d));
}

#[test]
fn zero_dimensional_masks_and_negative_indices_apply_to_a_slice() {
    let x = varied_tensor(&[3, 4, 2]);
    check_against_loop([(&x, Some(0))], |x| aten::index(&x[0], &[Some(Tensor::from(true))]));
    check_against_loop([(&x, Some(0)), (&Tensor::from([[-1_i64, 0], [-4, 3], [1, -2]]), Some(0))], |x| {
        aten::index_fill_int_scalar(&x[0], 0, &x[1], 9.into())
    });
    let counts = Tensor::from([[1_i64, 2], [3, 4]]);
    check_against_loop([(&counts, Some(0)), (&Tensor::from([[0_i64], [1]]), Some(0))], |x| {
        aten::index_add(&x[0], 0, &x[1], &Tensor::from([2_i64]), 1.5.into())
    });
}
