//! Tests of boundary values of dtypes, sizes and memory.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

#[test]
fn nan_to_num_replaces_infinities_by_the_limits_of_the_dtype() -> Result<()> {
    let infinite = Tensor::from([f32::INFINITY, f32::NEG_INFINITY]);
    for (dtype, largest) in [(DType::F16, 65504.0), (DType::BF16, 3.389_531_389_251_535_5e38)] {
        let finite = aten::nan_to_num(&infinite.to(dtype)?, None, None, None)?;
        assert_eq!(finite.to(DType::F64)?.to_vec::<f64>()?, [largest, -largest], "{dtype}");
    }
    Ok(())
}

#[test]
fn nextafter_uses_the_precision_of_the_dtype() -> Result<()> {
    let (from, to) = (Tensor::from([1.0_f32, 1.0, 0.0, f32::NEG_INFINITY]), Tensor::from([2.0_f32, 0.0, -1.0, 0.0]));
    let expected = [
        (DType::F16, [1.0 + 2_f64.powi(-10), 1.0 - 2_f64.powi(-11), -(2_f64.powi(-24)), -65504.0]),
        (DType::BF16, [1.0 + 2_f64.powi(-7), 1.0 - 2_f64.powi(-8), -(2_f64.powi(-133)), -3.389_531_389_251_535_5e38]),
    ];
    for (dtype, next) in expected {
        let found = from.to(dtype)?.nextafter(&to.to(dtype)?)?;
        assert_eq!((found.dtype(), found.to(DType::F64)?.to_vec::<f64>()?), (dtype, next.to_vec()));
    }
    Ok(())
}

#[test]
fn triangle_indices_take_time_in_proportion_to_the_result() -> Result<()> {
    assert_eq!(aten::tril_indices!(1 << 40, 0, 2)?.sizes(), [2, 0]);
    assert_eq!(aten::triu_indices!(1 << 40, 3, 0)?.to_vec::<i64>()?, [0, 0, 0, 1, 1, 2, 0, 1, 2, 1, 2, 2]);
    assert_eq!(aten::tril_indices!(3, 2, -1)?.to_vec::<i64>()?, [1, 2, 2, 0, 0, 1]);
    Ok(())
}

#[test]
fn empty_tensors_with_overflowing_sizes_are_refused() -> Result<()> {
    let none = Tensor::zeros([5, 0, 2, 0, 3], DType::I32)?;
    assert_eq!(aten::view_copy(&none, &[6, -1, 3, 1 << 50])?.sizes(), [6, 0, 3, 1 << 50]);
    assert!(aten::view_copy(&none, &[6, -1, 3, 1 << 62]).unwrap_err().to_string().contains("fit no memory"));
    let none = Tensor::zeros([0, 2, 4, 4, 3], DType::I32)?;
    assert!(aten::constant_pad_nd!(&none, [1 << 62, -1]).unwrap_err().to_string().contains("fit no memory"));
    assert_eq!(aten::tile(&Tensor::ones([2, 2, 4], DType::Bool)?, &[0, 1 << 50, 3])?.sizes(), [0, 1 << 51, 12]);
    Ok(())
}

#[test]
fn equal_compares_values_across_dtypes() -> Result<()> {
    assert!(aten::equal(&Tensor::from([2_i64]), &Tensor::from([2.0_f64]))?);
    assert!(!aten::equal(&Tensor::from([2_i64]), &Tensor::from([2.5_f64]))?);
    Ok(())
}

#[test]
fn errors_about_a_negative_count_name_the_argument() {
    assert!(aten::randperm!(-1).unwrap_err().to_string().contains("argument `n` is -1"));
}

#[test]
fn padding_of_empty_tensors_takes_no_memory() -> Result<()> {
    let none = Tensor::zeros([0, 3, 3, 3], DType::F32)?;
    let wide = aten::replication_pad2d(&none, &[1 << 40, 2, 0, 1])?;
    assert_eq!(wide.sizes(), [0, 3, 4, 5 + (1 << 40)]);
    assert_eq!(aten::replication_pad2d_backward(&wide, &none, &[1 << 40, 2, 0, 1])?.sizes(), none.sizes());
    Ok(())
}

#[test]
fn opposite_paddings_do_not_overflow() -> Result<()> {
    let line = Tensor::from([[1.0, 2.0, 3.0]]);
    let last = aten::replication_pad1d(&line, &[-i64::MAX, i64::MAX])?;
    assert_eq!(last.to_vec::<f64>()?, [3.0, 3.0, 3.0]);
    Ok(())
}

#[test]
fn sizes_and_lengths_whose_sum_or_product_overflows_are_refused() -> Result<()> {
    let (image, places) = (Tensor::zeros([1, 2, 2], DType::F32)?, Tensor::zeros([1, 2, 2], DType::I64)?);
    assert!(aten::max_unpool2d(&image, &places, &[i64::MAX, 4]).is_err());
    let (steps, labels) = (Tensor::zeros([6, 3, 5], DType::F64)?, Tensor::zeros(6, DType::I64)?);
    let error = aten::_ctc_loss!(&steps, &labels, [6, 6, 6], [i64::MAX, 2, 2]).unwrap_err().to_string();
    assert!(error.contains("targets"), "{error}");
    Ok(())
}

#[test]
fn output_masks_of_wrong_length_are_refused() -> Result<()> {
    let (image, places) = (Tensor::zeros([2, 2, 3, 2], DType::F64)?, Tensor::zeros([2, 3, 2, 2], DType::F64)?);
    let grad = Tensor::zeros([2, 2, 3, 2], DType::F64)?;
    let scale = Tensor::zeros([2, 2, 3, 1], DType::F64)?;
    for mask in [&[][..], &[true], &[true; 3]] {
        let error = aten::grid_sampler_2d_backward(&grad, &image, &places, 0, 0, false, mask).unwrap_err().to_string();
        assert!(error.contains("output_mask"), "{error}");
        let error = aten::_fused_rms_norm_backward(&grad, &image, &[2], &scale, None, mask).unwrap_err().to_string();
        assert!(error.contains("output_mask"), "{error}");
    }
    Ok(())
}

#[test]
fn kernels_of_empty_tensors_return_at_once() -> Result<()> {
    const HUGE_SIZE: i64 = 1 << 40;
    let (tall, wide) = (Tensor::zeros([HUGE_SIZE, 0], DType::F32)?, Tensor::zeros([0, HUGE_SIZE], DType::F32)?);
    for (line, dim) in [(&tall, 1), (&wide, 0)] {
        assert_eq!(aten::_softmax(line, dim, false)?.sizes(), line.sizes());
        assert_eq!(aten::cumsum(line, dim, None)?.sizes(), line.sizes());
        assert_eq!(aten::sort(line, dim, false)?.1.sizes(), line.sizes());
        assert_eq!(aten::flip(line, &[0, 1])?.sizes(), line.sizes());
        assert_eq!(aten::roll(line, &[1, 1], &[0, 1])?.sizes(), line.sizes());
    }
    let (left, right) = (Tensor::zeros([HUGE_SIZE, 3, 0], DType::F32)?, Tensor::zeros([HUGE_SIZE, 0, 2], DType::F32)?);
    let twice = aten::addbmm(&Tensor::ones([3, 2], DType::F32)?, &left, &right, 2.into(), 1.into())?;
    assert_eq!(twice.to_vec::<f32>()?, [2.0; 6]);
    let none = Tensor::zeros([HUGE_SIZE, 0, 3], DType::F32)?;
    assert_eq!(aten::bmm(&none, &aten::transpose_int(&none, 1, 2)?)?.sizes(), [HUGE_SIZE, 0, 0]);
    assert!(aten::_pdist_forward(&tall, 2.0).is_err());
    assert_eq!(aten::cat(&[&wide, &wide].map(Clone::clone), 1)?.sizes(), [0, 2 * HUGE_SIZE]);
    let square = Tensor::zeros([0, 0], DType::F32)?;
    for whole in [DType::F32, DType::I64] {
        let (tall, square) = (tall.to(whole)?, square.to(whole)?);
        assert_eq!(aten::mm(&tall, &square)?.sizes(), [HUGE_SIZE, 0]);
        assert_eq!(aten::addmm(&square.i(..0)?.sum()?, &tall, &square, 1.into(), 1.into())?.sizes(), [HUGE_SIZE, 0]);
    }
    Ok(())
}

#[test]
fn attention_over_empty_keys_has_uniform_weights() -> Result<()> {
    const HUGE_SIZE: i64 = 1 << 40;
    let of = |rows: i64| Tensor::zeros([1, 1, rows, 0], DType::F64);
    let attend = |keys: &Tensor, is_causal| {
        aten::_scaled_dot_product_flash_attention_for_cpu(&of(3)?, keys, keys, 0.0, is_causal, None, None)
    };
    let (out, logarithms) = attend(&of(HUGE_SIZE)?, false)?;
    assert_eq!(out.sizes(), [1, 1, 3, 0]);
    let are_of = |logarithms: &Tensor, counts: [f64; 3]| -> Result<bool> {
        let mut pairs = logarithms.to_vec::<f64>()?.into_iter().zip(counts);
        Ok(pairs.all(|(logarithm, count)| (logarithm - count.ln()).abs() < 1e-12))
    };
    assert!(are_of(&logarithms, [f64::exp2(40.0); 3])?);
    assert!(are_of(&attend(&of(HUGE_SIZE)?, true)?.1, [1.0, 2.0, 3.0])?);
    assert!(are_of(&attend(&of(2)?, true)?.1, [1.0, 2.0, 2.0])?);
    Ok(())
}

#[test]
fn missing_segments_are_refused_unless_the_dimension_is_empty() -> Result<()> {
    let (data, none) = (Tensor::zeros([5, 2], DType::F32)?, Tensor::zeros([5, 0], DType::I64)?);
    let segments = |data: &Tensor| aten::segment_reduce!(data, "sum", lengths = Some(&none), axis = 1);
    assert!(segments(&data).unwrap_err().to_string().contains("lengths"));
    assert_eq!(segments(&Tensor::zeros([5, 0], DType::F32)?)?.sizes(), [5, 0]);
    Ok(())
}
