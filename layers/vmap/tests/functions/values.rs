//! Tests of dtypes, scalars, masks and special values in mapped functions.

use aten::prelude::*;
use dispatch_runtime::MemoryFormat;
use dispatch_runtime::prelude::*;
use dispatch_vmap::vmap;

use crate::{check, numbers};

fn of(dtype: DType, sizes: &[i64]) -> Tensor {
    (numbers(sizes) * 4.0).unwrap().to(dtype).unwrap()
}

#[test]
fn a_slice_without_dimensions_decides_the_kind_of_the_result_and_not_its_dtype() {
    for (slices, other) in [(DType::F64, DType::F32), (DType::I64, DType::I32), (DType::I64, DType::F32)] {
        check([(&of(slices, &[3]), Some(0)), (&of(other, &[2]), None)], |x| &x[0] * &x[1]);
        check([(&of(slices, &[3]), Some(0)), (&of(other, &[3, 2]), Some(0))], |x| &x[1] - &x[0]);
    }
    let f = |x: &Tensor| x * &Tensor::ones(&[2], DType::F32)?;
    assert_eq!(vmap(f, &of(DType::F64, &[3])).unwrap().dtype(), DType::F32);
}

#[test]
fn slices_of_different_dtypes_are_promoted_as_any_tensors() {
    for (a, b) in
        [(DType::I32, DType::F32), (DType::F32, DType::F64), (DType::Bool, DType::I64), (DType::U8, DType::I8)]
    {
        check([(&of(a, &[3, 2]), Some(0)), (&of(b, &[3, 2]), Some(0))], |x| &x[0] * &x[1]);
        check([(&of(a, &[3, 2]), Some(0)), (&of(b, &[2]), None)], |x| &x[0] * &x[1]);
    }
}

#[test]
fn numbers_are_as_weak_as_ever() {
    check([(&of(DType::I64, &[3, 2]), Some(0))], |x| &x[0] * 2.5);
    check([(&of(DType::F32, &[3, 2]), Some(0))], |x| &x[0] * 2.5);
    check([(&of(DType::F32, &[3]), Some(0))], |x| &x[0] + 1);
    check([(&of(DType::Bool, &[3]), Some(0))], |x| &x[0] + 1);
}

#[test]
fn division_of_integers_gives_fractions() {
    check([(&of(DType::I64, &[3]), Some(0)), (&Tensor::from([4_i64, 5]), None)], |x| &x[0] / &x[1]);
}

#[test]
fn integers_that_become_fractions_keep_their_values() {
    let large = Tensor::from([1000_i64, -70_000, 2_000_000]);
    for dtype in [DType::U8, DType::I16] {
        let other = Tensor::from([4_i64, 5]).to(dtype).unwrap();
        check([(&large, Some(0)), (&other, None)], |x| &x[0] / &x[1]);
        check([(&large, Some(0)), (&other, None)], |x| aten::atan2(&x[1], &x[0]));
        check([(&large, Some(0)), (&other, None)], |x| aten::div_tensor_mode(&x[0], &x[1], None));
    }
}

#[test]
fn what_all_share_decides_beside_slices_without_dimensions_as_it_does_alone() {
    let (small, large) = (Tensor::from([10_i64, 7, 9]).to(DType::U8).unwrap(), Tensor::from(-32768_i64));
    check([(&small, Some(0)), (&large, None)], |x| aten::gcd(&x[0], &x[1]));
    check([(&small, Some(0)), (&large, None)], |x| {
        let mut written = aten::clone(&x[0], None)?;
        aten::gcd_(&mut written, &x[1])?;
        Ok(written)
    });
}

#[test]
fn comparisons_give_masks_which_choose() {
    check([(&numbers(&[3, 4]), Some(0))], |x| aten::where_self(&x[0].gt_scalar(0)?, &x[0], &x[0].neg()?));
    check([(&numbers(&[3, 4]), Some(0)), (&numbers(&[4]), None)], |x| {
        aten::where_self(&x[1].gt_scalar(0)?, &x[0], &x[1])
    });
    check([(&numbers(&[3]), Some(0)), (&numbers(&[4]), None)], |x| aten::where_self(&x[0].gt_scalar(0)?, &x[1], &x[0]));
    check([(&numbers(&[3, 4]), Some(0))], |x| aten::where_scalarother(&x[0].lt_scalar(0)?, &x[0], 0.into()));
}

#[test]
fn masks_of_each_slice_fill() {
    check([(&numbers(&[3, 4]), Some(0)), (&numbers(&[3, 4]), Some(0))], |x| {
        x[0].masked_fill_scalar(&x[1].gt_scalar(0)?, -7)
    });
    check([(&numbers(&[4]), None), (&numbers(&[3, 4]), Some(0))], |x| x[0].masked_fill_scalar(&x[1].gt_scalar(0)?, -7));
    check([(&numbers(&[3, 4]), Some(0)), (&numbers(&[3]), Some(0))], |x| x[0].masked_fill(&x[0].gt_scalar(0)?, &x[1]));
}

#[test]
fn logic_on_masks() {
    check([(&numbers(&[3, 4]), Some(0))], |x| {
        let (above, below) = (x[0].gt_scalar(-1)?, x[0].lt_scalar(1)?);
        above.logical_and(&below)?.bitwise_or(&above.logical_not()?)?.any()
    });
}

#[test]
fn complex_numbers_in_slices() {
    let z = |x: &[Tensor]| aten::complex(&x[0], &x[1]);
    check([(&numbers(&[3, 4]), Some(0)), (&numbers(&[3, 4]), Some(0))], |x| (z(x)? * z(x)?)?.real());
    check([(&numbers(&[3, 4]), Some(0)), (&numbers(&[4]), None)], |x| z(x)?.view_as_real()?.select_int(-1, 1));
}

#[test]
fn a_slice_is_cast() {
    check([(&numbers(&[3, 4]), Some(0))], |x| x[0].to(DType::F32));
    check([(&numbers(&[3, 4]), Some(0)), (&of(DType::I64, &[2]), None)], |x| x[0].type_as(&x[1]));
}

#[test]
fn tensors_made_like_a_slice_have_its_sizes() {
    check([(&numbers(&[3, 4]), Some(0))], |x| x[0].ones_like());
    check([(&numbers(&[3, 4]), Some(0))], |x| x[0].full_like(3)? * &x[0]);
    check([(&numbers(&[3, 4]), Some(0))], |x| x[0].new_full(&[2, 2], 5));
}

#[test]
fn tensors_made_in_the_function_are_the_same_for_all() {
    check([(&numbers(&[3, 4]), Some(0))], |x| &x[0] * &Tensor::arange(0..4, DType::F64)?);
    check([(&numbers(&[3, 4]), Some(0))], |x| Tensor::eye(4, DType::F64)?.mv(&x[0]));
    check([(&numbers(&[3, 4]), Some(0))], |x| aten::cat(&[x[0].clone(), Tensor::zeros(&[2], DType::F64)?], 0));
}

#[test]
fn the_order_of_each_slice() {
    check([(&numbers(&[3, 5]), Some(0))], |x| Ok(x[0].sort(-1, true)?.0));
    check([(&numbers(&[3, 5]), Some(0))], |x| Ok(x[0].topk(2, -1, true, true)?.1));
    check([(&numbers(&[5, 3]), Some(1))], |x| x[0].argsort(0, false));
    check([(&numbers(&[3, 5]), Some(0))], |x| x[0].argmax(None, false));
    check([(&numbers(&[3, 5]), Some(0))], |x| x[0].median());
}

#[test]
fn sums_over_named_all_and_no_dimensions() {
    let x = numbers(&[3, 4, 2]);
    for dims in [&[0][..], &[-1], &[0, 1]] {
        check([(&x, Some(0))], |x| x[0].sum_dim_intlist(Some(dims), true));
        check([(&x, Some(1))], |x| x[0].var_correction(Some(dims)));
    }
    check([(&x, Some(0))], |x| x[0].sum_dim_intlist(None, false));
    check([(&x, Some(2))], |x| x[0].mean());
    check([(&x, Some(0))], |x| x[0].logsumexp(&[0, 1], false));
}

#[test]
fn a_slice_without_dimensions_decides_no_more_in_a_loss() {
    let losses: [fn(&Tensor, &Tensor) -> Result<Tensor>; 3] = [
        |x, y| aten::mse_loss(x, y, 1),
        |x, y| aten::huber_loss(x, y, 0, 1.0),
        |x, y| aten::smooth_l1_loss(x, y, 2, 1.0),
    ];
    for loss in losses {
        let (x, y) = (of(DType::F32, &[3, 2]), of(DType::F64, &[3]));
        check([(&x, Some(0)), (&y, Some(0))], |x| loss(&x[0], &x[1]));
        check([(&x, Some(0)), (&Tensor::from(0.5), None)], |x| loss(&x[0], &x[1]));
    }
}

#[test]
fn what_a_likelihood_ignores_need_not_be_finite() {
    let scores = Tensor::from([[f64::NEG_INFINITY, -1.0], [f64::INFINITY, -2.0]]);
    let classes = Tensor::from([[1_i64, -100], [-100, 1]]);
    let weight = Tensor::from([f64::INFINITY, 2.0]);
    for weight in [None, Some(&weight)] {
        check([(&scores, None), (&classes, Some(0))], |x| Ok(aten::nll_loss_forward(&x[0], &x[1], weight, 1, -100)?.0));
        check([(&scores, None), (&classes, Some(0))], |x| {
            let grad = Tensor::from(f64::INFINITY);
            aten::nll_loss_backward(&grad, &x[0], &x[1], weight, 2, -100, &Tensor::from(1.0))
        });
    }
}

#[test]
fn truth_over_no_dimensions_is_that_of_each_element() {
    let x = numbers(&[3, 2, 4]);
    check([(&x, Some(0))], |x| aten::any_dims(&x[0], Some(&[]), false));
    check([(&x, Some(1))], |x| aten::all_dims(&x[0], Some(&[]), true));
    check([(&x, Some(2))], |x| aten::all_dims(&x[0], None, true));
}

#[test]
fn in_the_middle_of_nothing_there_is_no_number() {
    let found = vmap(|x| Ok((x.median()?, x.nanmedian()?)), &Tensor::zeros(&[3, 0], DType::F64).unwrap()).unwrap();
    for found in [found.0, found.1] {
        assert!(found.to_vec::<f64>().unwrap().iter().all(|x| x.is_nan()) && found.sizes() == [3]);
    }
}

#[test]
fn a_format_of_volumes_is_a_slices() {
    let x = numbers(&[3, 2, 2, 2, 2, 2]);
    check([(&x, Some(0))], |x| aten::contiguous(&x[0], MemoryFormat::ChannelsLast3d));
}

#[test]
fn a_mask_without_dimensions_and_places_from_the_end_are_a_slices() {
    let x = numbers(&[3, 4, 2]);
    check([(&x, Some(0))], |x| aten::index(&x[0], &[Some(Tensor::from(true))]));
    check([(&x, Some(0)), (&Tensor::from([[-1_i64, 0], [-4, 3], [1, -2]]), Some(0))], |x| {
        aten::index_fill_int_scalar(&x[0], 0, &x[1], 9.into())
    });
    let counts = Tensor::from([[1_i64, 2], [3, 4]]);
    check([(&counts, Some(0)), (&Tensor::from([[0_i64], [1]]), Some(0))], |x| {
        aten::index_add(&x[0], 0, &x[1], &Tensor::from([2_i64]), 1.5.into())
    });
}
