//! Tests of what recordings do not have: refused arguments, batches with wrong image numbers, autocast, and results on several threads.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{VmapError, vmap};
use kernels_cpu::thread_pool::set_num_threads;
use {dispatch_autocast as autocast, dispatch_autograd as autograd};

use dispatch_vision::{
    _ps_roi_align_backward, _roi_align_backward, _roi_pool_backward, deform_conv2d, nms, ps_roi_align, ps_roi_pool,
    roi_align, roi_pool,
};

fn image(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    Tensor::arange(0..count, DType::F32).unwrap().reshape(sizes).unwrap().sin().unwrap()
}

fn regions(rows: &[[f32; 5]]) -> Tensor {
    Tensor::from_vec(rows.as_flattened().to_vec(), [i64::try_from(rows.len()).unwrap(), 5]).unwrap()
}

fn elements(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().unwrap()
}

#[track_caller]
fn assert_refused<T>(outcome: Result<T>, message: &str) {
    let error = outcome.err().expect("the call is refused").to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn a_region_of_an_image_that_does_not_exist_is_refused() {
    let image = image(&[2, 1, 4, 4]);
    for number in [2.0, -1.0, -0.5, f32::NAN, f32::INFINITY] {
        let rois = regions(&[[number, 0.0, 0.0, 2.0, 2.0]]);
        let message = format!("argument `rois` is a row with {number} as the number of its image");
        assert_refused(roi_align(&image, &rois, 1.0, 2, 2, 2, true), &message);
        assert_refused(roi_pool(&image, &rois, 1.0, 2, 2), &message);
        assert_refused(ps_roi_pool(&image, &rois, 1.0, 1, 1), &message);
        assert_refused(ps_roi_align(&image, &rois, 1.0, 1, 1, 2), &message);
    }
}

#[test]
fn edges_that_are_no_numbers_or_far_outside_give_results() {
    let image = image(&[1, 1, 4, 4]);
    for edge in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30] {
        let rois = regions(&[[0.0, edge, 0.0, 2.0, 2.0], [0.0, 0.0, 0.0, 2.0, edge]]);
        assert_eq!(roi_align(&image, &rois, 1.0, 2, 2, 2, true).unwrap().sizes(), [2, 1, 2, 2]);
        assert_eq!(roi_pool(&image, &rois, 1.0, 2, 2).unwrap().0.sizes(), [2, 1, 2, 2]);
        assert_eq!(ps_roi_pool(&image, &rois, 1.0, 1, 1).unwrap().0.sizes(), [2, 1, 1, 1]);
    }
    let huge = regions(&[[0.0, 0.0, 0.0, 1e30, 1e30]]);
    assert_refused(roi_align(&image, &huge, 1.0, 2, 2, 0, true), "must be at most 65536 pixels for each bin");
    assert_refused(
        roi_align(&image, &huge, 1.0, 2, 2, i64::MAX, true),
        "argument `sampling_ratio` is 9223372036854775807",
    );
}

#[test]
fn images_without_pixels_have_empty_regions() {
    let rois = regions(&[[0.0, 0.0, 0.0, 2.0, 2.0]]);
    for sizes in [[1, 1, 0, 4], [1, 1, 4, 0]] {
        let image = image(&sizes);
        assert_eq!(elements(&roi_align(&image, &rois, 1.0, 1, 1, 2, true).unwrap()), [0.0]);
        let (maxima, indices) = roi_pool(&image, &rois, 1.0, 1, 1).unwrap();
        assert_eq!((elements(&maxima), indices.to_vec::<i32>().unwrap()), (vec![0.0], vec![-1]));
        assert_eq!(elements(&ps_roi_pool(&image, &rois, 1.0, 1, 1).unwrap().0), [0.0]);
    }
    assert_eq!(roi_align(&image(&[1, 0, 4, 4]), &rois, 1.0, 1 << 40, 2, 2, true).unwrap().sizes(), [1, 0, 1 << 40, 2]);
}

#[test]
fn arguments_that_do_not_fit_are_refused_by_name() {
    let (image, rois) = (image(&[1, 3, 4, 4]), regions(&[[0.0, 0.0, 0.0, 2.0, 2.0]]));
    assert_refused(
        roi_align(&image, &rois, 1.0, -1, 2, 2, true),
        "argument `pooled_height` is -1, but must be at least 0",
    );
    assert_refused(ps_roi_pool(&image, &rois, 1.0, 0, 2), "argument `pooled_height` is 0, but must be at least 1");
    assert_refused(ps_roi_pool(&image, &rois, 1.0, 1, 2), "must have a multiple of 2 in dimension 1");
    assert_refused(
        roi_align(&image, &rois.narrow(1, 0, 4).unwrap(), 1.0, 1, 1, 2, true),
        "argument `rois` has sizes [1, 4]",
    );
    assert_refused(
        roi_align(&image, &rois.to(DType::F64).unwrap(), 1.0, 1, 1, 2, true),
        "argument `rois` is of float64, but must be float32, as `input` is",
    );
    let grad = Tensor::ones([1, 3, 1, 1], DType::F32).unwrap();
    let wrong = Tensor::full([1, 3, 1, 1], 16, DType::I32).unwrap();
    assert_refused(
        _roi_pool_backward(&grad, &rois, &wrong, 1.0, 1, 1, 1, 3, 4, 4),
        "argument `argmax` has the index 16, which is outside of a dimension of size 16",
    );
    assert_refused(
        _ps_roi_align_backward(&grad, &rois, &wrong, 1.0, 1, 1, 2, 1, 3, 4, 4),
        "argument `channel_mapping` has the index 16, which is outside of a dimension of size 3",
    );
    assert_refused(
        _roi_align_backward(&grad, &rois, 1.0, 2, 1, 1, 3, 4, 4, 2, true),
        "argument `grad` has sizes [1, 3, 1, 1], but must have [1, 3, 2, 1], as the result has",
    );
    assert_refused(
        nms(&rois.narrow(1, 0, 4).unwrap(), &Tensor::from([1.0_f32, 2.0]), 0.5),
        "argument `scores` has sizes [2]",
    );
}

#[test]
fn a_deformable_convolution_refuses_arguments_by_name() {
    let ones = |sizes: &[i64]| Tensor::ones(sizes, DType::F32).unwrap();
    let (input, weight, offset, mask, bias) =
        (ones(&[1, 4, 5, 5]), ones(&[2, 2, 3, 3]), ones(&[1, 18, 3, 3]), ones(&[1, 9, 3, 3]), ones(&[2]));
    let call = |stride: i64, padding: i64, groups: i64, offset_groups: i64, bias: &Tensor| {
        deform_conv2d(&input, &weight, &offset, &mask, bias, stride, 1, padding, 0, 1, 1, groups, offset_groups, true)
    };
    assert!(call(1, 0, 2, 1, &bias).is_ok());
    assert_refused(call(0, 0, 2, 1, &bias), "argument `stride_h` is 0, but must be at least 1");
    assert_refused(call(1, -1, 2, 1, &bias), "argument `pad_h` is -1, but must be at least 0");
    assert_refused(
        call(1, 0, 1, 1, &bias),
        "argument `weight` is of sizes [2, 2, 3, 3], but must be sizes with 4 / 1 in dimension 1",
    );
    assert_refused(call(1, 0, 2, 3, &bias), "argument `offset_groups` is 3");
    assert_refused(call(1, 0, 2, 1, &ones(&[3])), "argument `bias` has sizes [3], but must have [2]");
    assert_refused(call(1, 1, 2, 1, &bias), "argument `offset` has sizes [1, 18, 3, 3], but must have [1, 18, 5, 3]");
    assert_refused(call(1, i64::MAX, 2, 1, &bias), "argument `offset` has sizes");
}

#[test]
fn a_wrong_image_number_of_one_slice_is_refused_in_a_batch() {
    let images = image(&[2, 1, 1, 4, 4]);
    let right = regions(&[[0.0, 0.0, 0.0, 2.0, 2.0]]);
    let wrong = regions(&[[1.0, 0.0, 0.0, 2.0, 2.0]]);
    let call = |rois: &Tensor| vmap(|image| roi_align(image, rois, 1.0, 1, 1, 2, true), &images);
    assert_eq!(call(&right).unwrap().sizes(), [2, 1, 1, 1, 1]);
    assert_refused(call(&wrong), "argument `rois` is a row with -1 as the number of its image");
}

#[test]
fn the_results_of_nms_cannot_be_a_batch() {
    let boxes = Tensor::from([[[0.0_f32, 0.0, 1.0, 1.0]], [[0.0, 0.0, 2.0, 2.0]]]);
    let error = vmap(|boxes| nms(boxes, &Tensor::from([1.0_f32]), 0.5), &boxes).unwrap_err();
    let mut causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    assert!(causes.any(|cause| matches!(cause.downcast_ref(), Some(VmapError::DataDependent { .. }))), "{error}");
}

#[test]
fn autocast_computes_regions_in_single_precision() {
    let (image, rois) = (image(&[1, 1, 4, 4]), regions(&[[0.0, 0.3, 0.1, 2.2, 2.7]]));
    let image = image.to(DType::BF16).unwrap();
    let expected = roi_align(&image.to(DType::F32).unwrap(), &rois, 1.0, 2, 2, 2, true).unwrap();
    let _on = autocast::enable(Device::CPU, None).unwrap();
    let means = roi_align(&image, &rois, 1.0, 2, 2, 2, true).unwrap();
    assert_eq!(means.dtype(), DType::BF16);
    assert_eq!(
        elements(&means.to(DType::F32).unwrap()),
        elements(&expected.to(DType::BF16).unwrap().to(DType::F32).unwrap())
    );
    let boxes = Tensor::from([[0.0_f32, 0.0, 1.0, 1.0]]);
    assert_eq!(
        nms(&boxes, &Tensor::from([1.0_f32]).to(DType::F16).unwrap(), 0.5).unwrap().to_vec::<i64>().unwrap(),
        [0]
    );
}

#[test]
fn a_second_backward_pass_through_a_deformable_convolution_is_an_error_with_its_name() {
    let input = image(&[1, 1, 3, 3]).requires_grad_(true).unwrap();
    let ones = |sizes: &[i64]| Tensor::ones(sizes, DType::F32).unwrap();
    let result = deform_conv2d(
        &input,
        &ones(&[1, 1, 1, 1]),
        &ones(&[1, 2, 3, 3]),
        &ones(&[1, 1]),
        &ones(&[1]),
        1,
        1,
        0,
        0,
        1,
        1,
        1,
        1,
        false,
    );
    let sum = result.unwrap().square().unwrap().sum().unwrap();
    let gradients = autograd::Differentiation::of_outputs(&[&sum]).create_graph().grad(&[&input]).unwrap();
    let second = gradients[0].as_ref().unwrap().sum().unwrap().backward();
    assert_refused(second, "`torchvision::_deform_conv2d_backward` has no derivative");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (image, mut rows) = (image(&[2, 64, 20, 20]), Vec::new());
    for i in 0..60_u8 {
        let corner = f32::from(i) / 5.0;
        rows.push([f32::from(i % 2), corner, corner / 2.0, corner + 6.5, corner + 5.25]);
    }
    let all_regions = regions(&rows);
    let compute = || {
        let image = image.detach().unwrap().requires_grad_(true).unwrap();
        let means = roi_align(&image, &all_regions, 1.0, 3, 3, 2, true).unwrap();
        (&means * &means).unwrap().sum().unwrap().backward().unwrap();
        [elements(&means.detach().unwrap()), elements(&image.grad().unwrap())]
    };
    let many = compute();
    set_num_threads(1);
    assert_eq!(compute(), many);
}
