//! Tests of counts and sizes beyond the range of bytes, of memory, or of reasonable time: results are correct, or the call is refused.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, Spec};

#[test]
fn count_nonzero_counts_beyond_255() -> Result<()> {
    let [rows, columns] = [300, 70_001];
    for dtype in [DType::Bool, DType::U8, DType::F16, DType::F32, DType::I64] {
        let line = Tensor::ones(columns, dtype)?;
        assert_eq!(aten::count_nonzero(&line, None)?.to_vec::<i64>()?, [columns], "{dtype}");
        assert_eq!(aten::count_nonzero(&line.i(..255)?, None)?.to_vec::<i64>()?, [255], "{dtype}");
        assert_eq!(aten::count_nonzero(&line.i(..256)?, None)?.to_vec::<i64>()?, [256], "{dtype}");
        let matrix = line.i(..1000)?.expand([rows, 1000])?;
        assert_eq!(aten::count_nonzero(&matrix, Some(0))?.to_vec::<i64>()?, [rows; 1000], "{dtype}");
        assert_eq!(aten::count_nonzero(&matrix, Some(1))?.to_vec::<i64>()?, [1000; 300], "{dtype}");
        let matrix = matrix.contiguous()?;
        assert_eq!(aten::count_nonzero(&matrix, Some(0))?.to_vec::<i64>()?, [rows; 1000], "{dtype}");
        assert_eq!(aten::count_nonzero(&matrix.t()?, Some(0))?.to_vec::<i64>()?, [1000; 300], "{dtype}");
        assert_eq!(aten::count_nonzero(&matrix, None)?.to_vec::<i64>()?, [rows * 1000], "{dtype}");
    }
    Ok(())
}

fn meta_tensor(dtype: DType, sizes: &[i64]) -> Tensor {
    Spec::contiguous(dtype, sizes).on(Device::META).unwrap()
}

/// Returns the text of an error; panics if there is none.
fn error_text<T>(result: Result<T>) -> String {
    result.err().expect("the call fails").to_string()
}

const HUGE_SIZE: i64 = 1 << 45;

#[test]
fn embedding_gradients_beyond_memory_are_refused() -> Result<()> {
    let (grad, rows) = (Tensor::ones([2, 3], DType::F32)?, Tensor::from([1_i64, 1]));
    assert!(error_text(aten::embedding_dense_backward(&grad, &rows, HUGE_SIZE, -1, true)).contains("bytes of memory"));
    let narrow = Tensor::ones([2, 0], DType::F32)?;
    assert_eq!(aten::embedding_dense_backward(&narrow, &rows, HUGE_SIZE, -1, true)?.sizes(), [HUGE_SIZE, 0]);
    let shared = aten::embedding_dense_backward(&grad, &rows, 3, -1, true)?;
    assert_eq!(shared.to_vec::<f32>()?, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let (bags, counts) = (Tensor::from([0_i64, 1]), Tensor::from([1_i64, 1]));
    let backward = |grad: &Tensor, rows: &Tensor, count: i64| {
        aten::_embedding_bag_dense_backward(grad, rows, &bags, &counts, &counts, count, false, 0, None, -1)
    };
    assert!(error_text(backward(&grad, &rows, HUGE_SIZE)).contains("bytes of memory"));
    assert_eq!(backward(&narrow, &rows, HUGE_SIZE)?.sizes(), [HUGE_SIZE, 0]);
    let summed = backward(&Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]), &Tensor::from([2_i64, 0]), 3)?;
    assert_eq!(summed.to_vec::<f32>()?, [3.0, 4.0, 0.0, 0.0, 1.0, 2.0]);
    Ok(())
}

#[test]
fn histograms_beyond_memory_are_refused() -> Result<()> {
    let points = Tensor::from([[0.5_f32, 0.5], [0.25, 1.0]]);
    for bins in [&[HUGE_SIZE, HUGE_SIZE][..], &[i64::MAX, 1], &[1, i64::MAX], &[HUGE_SIZE, 1]] {
        let refused = error_text(aten::_histogramdd_from_bin_cts(&points, bins, None, None, false));
        let expected = ["bytes of memory", "fit no memory"];
        assert!(expected.iter().any(|words| refused.contains(words)), "{bins:?}: {refused}");
    }
    assert!(aten::histogramdd_int_bins(&points, i64::MAX, None, None, false).is_err());
    assert!(aten::histogramdd_int_bins(&meta_tensor(DType::F32, &[2, HUGE_SIZE]), 3, None, None, false).is_err());
    assert!(aten::histogramdd_int_bins(&Tensor::ones([0, HUGE_SIZE], DType::F32)?, 3, None, None, false).is_err());
    assert!(aten::histc!(&points, i64::MAX).is_err() && aten::histogram_bin_ct!(&points, i64::MAX).is_err());
    Ok(())
}

#[test]
fn recurrent_layers_over_huge_sequences_are_refused() {
    for device in [Device::META, Device::CPU] {
        // Sequences without elements can have this length on the CPU, too.
        let batch = i64::from(device == Device::META);
        let of = |sizes: &[i64]| Spec::contiguous(DType::F32, sizes).on(device).unwrap();
        let (input, state) = (of(&[HUGE_SIZE, batch, 2]), of(&[1, batch, 3]));
        let weights = |gates: i64| [of(&[gates * 3, 2]), of(&[gates * 3, 3])];
        let states = [state.clone(), state.clone()];
        let (lstm, gru, rnn) = (weights(4), weights(3), weights(1));
        let most = "argument `input`";
        assert!(
            error_text(aten::lstm_input(&input, &states, &lstm, false, 1, 0.0, false, false, false)).contains(most)
        );
        assert!(error_text(aten::gru_input(&input, &state, &gru, false, 1, 0.0, false, false, false)).contains(most));
        for layer in [aten::rnn_tanh_input, aten::rnn_relu_input] {
            assert!(error_text(layer(&input, &state, &rnn, false, 1, 0.0, false, false, false)).contains(most));
            let few = of(&[2, batch, 2]);
            let endless = layer(&few, &state, &rnn, false, i64::MAX, 0.0, false, true, false);
            assert!(error_text(endless).contains("params"));
        }
    }
}

#[test]
fn combinations_take_time_in_proportion_to_the_result() -> Result<()> {
    let letters = Tensor::from([10_i64, 20, 30]);
    let of = |r: i64, again: bool| aten::combinations(&letters, r, again);
    assert_eq!(of(2, false)?.to_vec::<i64>()?, [10, 20, 10, 30, 20, 30]);
    assert_eq!(of(2, true)?.to_vec::<i64>()?, [10, 10, 10, 20, 10, 30, 20, 20, 20, 30, 30, 30]);
    assert_eq!(of(3, true)?.sizes(), [10, 3]);
    assert_eq!(of(1, false)?.to_vec::<i64>()?, [10, 20, 30]);
    assert_eq!((of(4, false)?.sizes(), of(1 << 50, false)?.sizes()), (&[0_i64, 4][..], &[0, 1 << 50][..]));
    assert!(of(i64::MAX, false).is_err() && of(i64::MAX, true).is_err() && of(-1, true).is_err());
    assert_eq!(of(0, true)?.sizes(), [0]);
    let one = Tensor::from([7.0_f32]);
    assert_eq!(aten::combinations(&one, 1000, true)?.to_vec::<f32>()?, [7.0; 1000]);
    assert!(aten::combinations(&one, i64::MAX, true).is_err());
    let many = aten::combinations(&Tensor::arange(0..300, DType::I64)?, 2, false)?;
    assert_eq!((many.sizes(), many.i(-1)?.to_vec::<i64>()?), (&[44_850_i64, 2][..], vec![298, 299]));
    assert_eq!(aten::combinations(&meta_tensor(DType::F32, &[20_000]), 2, false)?.sizes(), [199_990_000, 2]);
    assert!(aten::combinations(&meta_tensor(DType::F32, &[1000]), 500, false).is_err());
    Ok(())
}

#[test]
fn mvlgamma_and_diff_bound_their_number_of_terms() -> Result<()> {
    let x = Tensor::from([40.0_f64, 50.0]);
    assert!(error_text(aten::mvlgamma_(&mut x.clone(), HUGE_SIZE)).contains("argument `p`"));
    assert!(aten::mvlgamma(&x, i64::MAX).is_err());
    assert!((aten::mvlgamma(&x, 1)?.to_vec::<f64>()?[0] - aten::lgamma(&x)?.to_vec::<f64>()?[0]).abs() < 1e-12);
    assert_eq!(aten::diff!(&x, i64::MAX)?.sizes(), [0]);
    assert_eq!(aten::diff!(&x, 1)?.to_vec::<f64>()?, [10.0]);
    assert!(aten::diff!(&meta_tensor(DType::F32, &[HUGE_SIZE]), HUGE_SIZE - 1).is_err());
    assert_eq!(aten::diff!(&meta_tensor(DType::F32, &[HUGE_SIZE]), 2)?.sizes(), [HUGE_SIZE - 2]);
    Ok(())
}

#[test]
fn splits_into_too_many_parts_are_refused() {
    let long = meta_tensor(DType::F32, &[HUGE_SIZE, 2]);
    let none = Tensor::zeros([HUGE_SIZE, 0], DType::F32).unwrap();
    for this in [&long, &none] {
        assert!(error_text(aten::split(this, 1, 0)).contains("split_size"));
        assert!(error_text(aten::chunk(this, HUGE_SIZE, 0)).contains("split_size"));
        assert!(error_text(aten::unbind_int(this, 0)).contains("self"));
        assert!(error_text(aten::tensor_split_sections(this, HUGE_SIZE, 0)).contains("sections"));
        assert_eq!(aten::chunk(this, 3, 0).unwrap().len(), 3);
    }
    assert!(error_text(aten::chunk(&Tensor::zeros(0, DType::F32).unwrap(), HUGE_SIZE, 0)).contains("chunks"));
}

#[test]
fn packed_sequences_of_any_size_are_padded_or_refused() -> Result<()> {
    let (rows, sizes) = (Tensor::from([[1.0_f32], [2.0], [3.0]]), Tensor::from([2_i64, 1]));
    let padded =
        |data: &Tensor, sizes: &Tensor, length| aten::_pad_packed_sequence(data, sizes, false, 0.into(), length);
    assert_eq!(padded(&rows, &sizes, 3)?.0.to_vec::<f32>()?, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
    assert!(padded(&rows, &sizes, i64::MAX).is_err() && padded(&rows, &sizes, HUGE_SIZE).is_err());
    let none = Tensor::zeros([HUGE_SIZE + 1, 0], DType::F32)?;
    assert!(error_text(padded(&none, &Tensor::from([HUGE_SIZE, 1]), 0)).contains("bytes of memory"));
    let none = Tensor::zeros([3, 0], DType::F32)?;
    assert_eq!(padded(&none, &sizes, 1 << 58)?.0.sizes(), [1 << 58, 2, 0]);
    assert!(padded(&none, &sizes, 1 << 62).is_err());
    let backward = |input_size: &[i64]| aten::_pack_padded_sequence_backward(&rows, input_size, &sizes, false);
    assert_eq!(backward(&[2, 2, 1])?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 0.0]);
    for sizes in
        [&[i64::MAX, i64::MAX, 1][..], &[1, i64::MAX, 1], &[0, i64::MAX, 1], &[i64::MAX, 1, 1], &[2, HUGE_SIZE, 1]]
    {
        assert!(backward(sizes).is_err(), "{sizes:?}");
    }
    let lengths = Tensor::from([HUGE_SIZE]);
    let endless = Tensor::zeros([HUGE_SIZE, 1, 0], DType::F32)?;
    assert!(error_text(aten::_pack_padded_sequence(&endless, &lengths, false)).contains("bytes of memory"));
    Ok(())
}

#[test]
fn pooling_windows_of_any_size_do_not_overflow() -> Result<()> {
    let image = Tensor::arange(0..16, DType::F32)?.reshape([1, 4, 4])?;
    let pool = |kernel: i64, stride: i64, padding: i64, dilation: i64, ceil: bool| {
        aten::max_pool2d_with_indices(&image, &[kernel], &[stride], &[padding], &[dilation], ceil)
    };
    // The result has one window position. The window reaches far beyond the image, so that only its first element is inside.
    for (kernel, dilation) in [(2, i64::MAX), (3, 1 << 62), (1 << 40, 1 << 22), (i64::MAX, 1)] {
        let (largest, places) = pool(kernel, i64::MAX, 0, dilation, true)?;
        assert_eq!((largest.sizes(), places.sizes()), (&[1_i64, 1, 1][..], &[1_i64, 1, 1][..]), "{kernel} {dilation}");
        let first = if dilation == 1 { 15.0 } else { 0.0 };
        assert_eq!(largest.to_vec::<f32>()?, [first], "{kernel} {dilation}");
        assert!(pool(kernel, i64::MAX, 0, dilation, false).is_err());
    }
    assert_eq!(pool(i64::MAX, 1, i64::MAX / 2, 1, false)?.0.sizes(), [1, 4, 4]);
    assert_eq!(pool(2, 3, 1, 1, true)?.0.to_vec::<f32>()?, [0.0, 3.0, 12.0, 15.0]);
    for extreme in [i64::MAX, i64::MAX - 1, 1 << 62, i64::MIN, -1, 0] {
        for other in [1, 2, 1 << 31, i64::MAX] {
            for ceil in [false, true] {
                // Any result or error is accepted; only a panic or a crash fails.
                _ = (pool(extreme, other, 0, other, ceil), pool(other, extreme, 1, other, ceil));
                _ = (pool(other, other, extreme, other, ceil), pool(other, other, 1, extreme, ceil));
                _ = aten::avg_pool2d(&image, &[extreme], &[other], &[other / 2], ceil, true, None);
                _ = aten::avg_pool2d(&image, &[other], &[extreme], &[0], ceil, false, None);
            }
        }
    }
    let meta = meta_tensor(DType::U8, &[1, 1 << 31, 1 << 31]);
    _ = aten::max_pool2d_with_indices(&meta, &[i64::MAX], &[1], &[i64::MAX / 2], &[1], true);
    Ok(())
}

#[test]
fn images_are_resized_for_any_scale_factor() -> Result<()> {
    let image = Tensor::arange(0..12, DType::F32)?.reshape([1, 1, 3, 4])?;
    let bytes = image.to(DType::U8)?;
    for scale in [1e-300, -1e-300, 5e-324, 1e300, f64::NAN, f64::INFINITY, f64::MIN] {
        for (aligned, scales) in [(false, Some(scale)), (true, Some(scale))] {
            for this in [&image, &bytes] {
                assert_eq!(aten::upsample_bilinear2d(this, &[2, 2], aligned, scales, scales)?.sizes(), [1, 1, 2, 2]);
                assert_eq!(aten::upsample_bicubic2d(this, &[2, 2], aligned, scales, scales)?.sizes(), [1, 1, 2, 2]);
            }
            let smooth = aten::_upsample_bilinear2d_aa(&image, &[2, 2], aligned, scales, scales)?;
            assert_eq!(smooth.sizes(), [1, 1, 2, 2]);
            assert!(aten::_upsample_bicubic2d_aa(&image, &[2, 2], aligned, scales, scales).is_ok());
            let sizes = [1, 1, 3, 4];
            assert!(aten::upsample_bicubic2d_backward(&smooth, &[2, 2], &sizes, aligned, scales, scales).is_ok());
        }
        assert!(aten::upsample_nearest2d(&image, &[2, 2], Some(scale), Some(scale)).is_ok());
        assert!(aten::_upsample_nearest_exact2d(&image, &[2, 2], Some(scale), Some(scale)).is_ok());
        let by_factors = aten::upsample_nearest2d_vec(&image, None, Some(&[scale, scale]));
        assert!(by_factors.is_err(), "{scale}");
    }
    // Each of many results would depend on many elements: their list does not fit memory.
    let row = Tensor::zeros([1, 1, 1, 1 << 20], DType::F32)?;
    let smooth = aten::_upsample_bilinear2d_aa(&row, &[1, (1 << 20) - 1], false, None, Some(1e-300));
    assert!(error_text(smooth).contains("bytes of memory"));
    Ok(())
}

#[test]
fn convolutions_skip_window_elements_outside_of_the_image() -> Result<()> {
    let image = Tensor::from([[[1.0_f32, 2.0, 3.0, 4.0]]]);
    let weight = Tensor::from([[[10.0_f32, 1.0, 100.0]]]);
    let far = 1_i64 << 59;
    let bias = Tensor::from([0.5_f32]);
    let convolve = |image: &Tensor, weight: &Tensor, padding: i64, dilation: i64| {
        aten::convolution(image, weight, Some(&bias), &[1], &[padding], &[dilation], false, &[0], 1)
    };
    assert_eq!(convolve(&image, &weight, far, far)?.to_vec::<f32>()?, [1.5, 2.5, 3.5, 4.5]);
    let two = Tensor::from([[[10.0_f32, 100.0]]]);
    assert_eq!(convolve(&image, &two, far / 2, far)?.to_vec::<f32>()?, [0.5; 4]);
    let grad = Tensor::ones([1, 1, 4], DType::F32)?;
    for (weight, expected) in [(&weight, vec![0.0, 10.0, 0.0]), (&two, vec![0.0, 0.0])] {
        let padding = if expected.len() == 3 { far } else { far / 2 };
        let backward = aten::convolution_backward(
            &grad,
            &image,
            weight,
            None,
            &[1],
            &[padding],
            &[far],
            false,
            &[0],
            1,
            &[true; 3],
        )?;
        let of_image = if expected.len() == 3 { [1.0; 4] } else { [0.0; 4] };
        assert_eq!(backward.0.to_vec::<f32>()?, of_image);
        assert_eq!((backward.1.to_vec::<f32>()?, backward.2.to_vec::<f32>()?), (expected, vec![4.0]));
    }
    // The same test with as many channels and filters as are computed side by side.
    let (wide, heavy) = (image.expand([2, 16, 4])?, weight.expand([16, 16, 3])?);
    let many = aten::convolution(&wide, &heavy, None, &[1], &[far], &[far], false, &[0], 1)?;
    assert_eq!(many.i((0, 0))?.to_vec::<f32>()?, [16.0, 32.0, 48.0, 64.0]);
    let grad = Tensor::ones([2, 16, 4], DType::F32)?;
    let backward = aten::convolution_backward(
        &grad,
        &wide,
        &heavy,
        None,
        &[1],
        &[far],
        &[far],
        false,
        &[0],
        1,
        &[false, true, false],
    )?;
    assert_eq!(backward.1.i((3, 5))?.to_vec::<f32>()?, [0.0, 20.0, 0.0]);
    // Without channels there is nothing to sum, for a window of any size.
    let (none, window) =
        (Tensor::zeros([1, 0, HUGE_SIZE + 1], DType::F32)?, Tensor::zeros([1, 0, HUGE_SIZE], DType::F32)?);
    assert_eq!(convolve(&none, &window, 0, 1)?.to_vec::<f32>()?, [0.5, 0.5]);
    let transposed = aten::convolution(
        &Tensor::zeros([1, 0, 2], DType::F32)?,
        &Tensor::zeros([0, 1, 3], DType::F32)?,
        Some(&bias),
        &[1],
        &[0],
        &[1],
        true,
        &[0],
        1,
    )?;
    assert_eq!(transposed.to_vec::<f32>()?, [0.5; 4]);
    Ok(())
}

#[test]
fn view_operators_do_not_overflow_on_huge_sizes() -> Result<()> {
    let none = Tensor::zeros([0, 1 << 30, 1 << 30], DType::F32)?;
    assert_eq!(aten::flip(&none, &[1, 2])?.sizes(), none.sizes());
    assert_eq!(aten::roll(&none, &[i64::MAX, i64::MIN], &[1, 1])?.sizes(), none.sizes());
    assert_eq!(aten::tile(&none, &[2, 1, 1])?.sizes(), none.sizes());
    assert_eq!(aten::pixel_unshuffle(&none, 1 << 15)?.sizes(), [0, 1 << 15, 1 << 15]);
    assert!(aten::pixel_unshuffle(&none, 1 << 31).is_err());
    let turned = Tensor::arange(0..5, DType::I64)?;
    assert_eq!(aten::roll(&turned, &[i64::MIN, i64::MAX], &[0, 0])?.to_vec::<i64>()?, [1, 2, 3, 4, 0]);
    // Dimensions of size 1 can have any stride.
    let odd = Geometry::strided(&[1, 4, 1, 3], &[1 << 40, 3, 1 << 50, 1], 0).unwrap();
    let odd = meta_tensor(DType::F32, &[12]).restride(odd)?;
    assert_eq!(aten::reshape(&odd, &[2, 6])?.sizes(), [2, 6]);
    assert_eq!(aten::pixel_shuffle(&odd, 2)?.sizes(), [1, 1, 2, 6]);
    let far = Geometry::strided(&[2, 2], &[1 << 58, 1 << 57], 0).unwrap();
    let far = meta_tensor(DType::U8, &[4]).restride(far)?;
    assert_eq!(aten::reshape(&far, &[4])?.sizes(), [4]);
    _ = (
        aten::view(&far, &[4]),
        aten::channel_shuffle(&far.unsqueeze(0)?, 2),
        aten::cartesian_prod(&[far.i(0)?, far.i(1)?]),
    );
    assert!(aten::bilinear(&none, &none, &none, None).is_err());
    Ok(())
}
