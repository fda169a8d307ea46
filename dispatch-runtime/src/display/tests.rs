//! Tests of printing against PyTorch's text for the same data, except for the names of dtypes and the form of sizes.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use crate::tensor::TensorSummary;
use crate::{DType, Device, Geometry, Spec, Storage, Tensor};

fn range_tensor(count: i64) -> Tensor {
    Tensor::from((0..count).collect::<Vec<i64>>())
}

fn reshape(tensor: &Tensor, sizes: &[i64]) -> Tensor {
    tensor.restride(Geometry::contiguous(sizes)).unwrap()
}

fn two_long_rows() -> Tensor {
    reshape(&Tensor::from((0..30).map(|x| f64::from(x) + 0.5).collect::<Vec<f64>>()), &[2, 15])
}

#[rustfmt::skip]
/// A function that creates a tensor, and the expected text.
type PrintCase = (fn() -> Tensor, &'static str);

const PRINT_CASES: &[PrintCase] = &[
    (|| Tensor::from([1.0_f32, 2.5, -3.25]), "tensor([ 1.0000,  2.5000, -3.2500])"),
    (|| Tensor::from([1.0_f32, 2.0, 300.0]), "tensor([  1.,   2., 300.])"),
    (|| Tensor::from([0.0_f32, -0.0]), "tensor([0., -0.])"),
    (|| Tensor::from([1e-5_f32, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
    (|| Tensor::from([1.0_f32, 12345.0]), "tensor([1.0000e+00, 1.2345e+04])"),
    (|| Tensor::from([1e9, -2e9]), "tensor([ 1.0000e+09, -2.0000e+09], dtype=float64)"),
    (|| Tensor::from([1e300, 1e-300, 0.0]), "tensor([1.0000e+300, 1.0000e-300,  0.0000e+00], dtype=float64)"),
    (|| Tensor::from([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0]), "tensor([nan, inf, -inf, 1.])"),
    (|| Tensor::from([f32::NAN, 1.5, f32::NEG_INFINITY]), "tensor([   nan, 1.5000,   -inf])"),
    (|| Tensor::from([f64::NAN]), "tensor([nan], dtype=float64)"),
    (|| Tensor::from(3.0_f32), "tensor(3.)"),
    (|| Tensor::from(0.1), "tensor(0.1000, dtype=float64)"),
    (|| Tensor::from(7_i64), "tensor(7)"),
    (|| Tensor::from(true), "tensor(true)"),
    (
        || Tensor::from([[1_i64, -20], [300, 4]]),
        "tensor([[  1, -20],
        [300,   4]])",
    ),
    (|| Tensor::from([1_i32, 2]), "tensor([1, 2], dtype=int32)"),
    (|| Tensor::from([200_u8, 0]), "tensor([200,   0], dtype=uint8)"),
    (|| Tensor::from([i64::MIN, i64::MAX]), "tensor([-9223372036854775808,  9223372036854775807])"),
    (
        || Tensor::from([[true, false], [false, false]]),
        "tensor([[ true, false],
        [false, false]])",
    ),
    (|| Tensor::from([f16::from_f32(0.1), f16::MAX]), "tensor([9.9976e-02, 6.5504e+04], dtype=float16)"),
    (|| Tensor::from([bf16::from_f32(0.1), bf16::from_f32(-1.0)]), "tensor([ 0.1001, -1.0000], dtype=bfloat16)"),
    (|| Tensor::from([Complex32::new(1.0, 2.0), Complex32::new(10.0, -20.5)]), "tensor([ 1.+2.0000j, 10.-20.5000j])"),
    (|| Tensor::from(Complex64::new(-0.5, f64::NAN)), "tensor(-0.5000+nanj, dtype=complex128)"),
    (
        || Tensor::from([[[1_i64, 2], [3, 4]], [[5, 6], [7, 8]]]),
        "tensor([[[1, 2],
         [3, 4]],

        [[5, 6],
         [7, 8]]])",
    ),
    (
        || Tensor::from([[[[1_i64]], [[2]]], [[[3]], [[4]]]]),
        "tensor([[[[1]],

         [[2]]],


        [[[3]],

         [[4]]]])",
    ),
    (|| Tensor::from([0.0_f32; 0]), "tensor([])"),
    (|| Tensor::from([[0_i64; 0]; 2]), "tensor([], size=[2, 0], dtype=int64)"),
    (|| Tensor::from([true; 0]), "tensor([], dtype=bool)"),
    (
        || range_tensor(30),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    ),
    (|| range_tensor(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        || range_tensor(1000).restride(Geometry::strided(&[2, 4], &[500, 100], 0).unwrap()).unwrap(),
        "tensor([[  0, 100, 200, 300],
        [500, 600, 700, 800]])",
    ),
    (
        || reshape(&range_tensor(10_000), &[100, 100]),
        "tensor([[   0,    1,    2,  ...,   97,   98,   99],
        [ 100,  101,  102,  ...,  197,  198,  199],
        [ 200,  201,  202,  ...,  297,  298,  299],
        ...,
        [9700, 9701, 9702,  ..., 9797, 9798, 9799],
        [9800, 9801, 9802,  ..., 9897, 9898, 9899],
        [9900, 9901, 9902,  ..., 9997, 9998, 9999]])",
    ),
    (
        || reshape(&range_tensor(2400), &[2, 3, 400]),
        "tensor([[[   0,    1,    2,  ...,  397,  398,  399],
         [ 400,  401,  402,  ...,  797,  798,  799],
         [ 800,  801,  802,  ..., 1197, 1198, 1199]],

        [[1200, 1201, 1202,  ..., 1597, 1598, 1599],
         [1600, 1601, 1602,  ..., 1997, 1998, 1999],
         [2000, 2001, 2002,  ..., 2397, 2398, 2399]]])",
    ),
    (
        || reshape(&range_tensor(1400), &[7, 1, 200]),
        "tensor([[[   0,    1,    2,  ...,  197,  198,  199]],

        [[ 200,  201,  202,  ...,  397,  398,  399]],

        [[ 400,  401,  402,  ...,  597,  598,  599]],

        ...,

        [[ 800,  801,  802,  ...,  997,  998,  999]],

        [[1000, 1001, 1002,  ..., 1197, 1198, 1199]],

        [[1200, 1201, 1202,  ..., 1397, 1398, 1399]]])",
    ),
    (
        || two_long_rows(),
        "tensor([[ 0.5000,  1.5000,  2.5000,  3.5000,  4.5000,  5.5000,  6.5000,  7.5000,
          8.5000,  9.5000, 10.5000, 11.5000, 12.5000, 13.5000, 14.5000],
        [15.5000, 16.5000, 17.5000, 18.5000, 19.5000, 20.5000, 21.5000, 22.5000,
         23.5000, 24.5000, 25.5000, 26.5000, 27.5000, 28.5000, 29.5000]],
       dtype=float64)",
    ),
];

#[test]
fn tensors_print_as_in_pytorch() {
    for (tensor, text) in PRINT_CASES {
        assert_eq!(tensor().to_string(), *text);
    }
}

#[test]
fn debug_prints_the_sizes_and_a_summary_prints_no_elements() {
    let tensor = Tensor::from([[1.0_f32, 2.0]]);
    assert_eq!(format!("{tensor:?}"), "tensor([[1., 2.]], size=[1, 2])");
    assert_eq!(format!("{:?}", Tensor::from(1_u8)), "tensor(1, size=[], dtype=uint8)");
    assert_eq!(format!("{:?}", TensorSummary(&tensor)), "Tensor(float32 [1, 2] on cpu)");
    assert_eq!(format!("{:?}", crate::Value::from(tensor)), "Tensor(float32 [1, 2] on cpu)");
}

#[test]
fn precision_sets_the_digits_and_alternate_prints_all_elements() {
    assert_eq!(format!("{:.2}", Tensor::from([1.0_f32, 2.55])), "tensor([1.00, 2.55])");
    let all = format!("{:#}", range_tensor(1001));
    assert!(!all.contains("...") && all.contains(" 500,"));
    assert_eq!(format!("{:#?}", range_tensor(1001)), format!("{:?}", range_tensor(1001)));
}

#[test]
fn requires_grad_is_printed() {
    let tensor = Tensor::from([1.0_f32]);
    tensor.mark(crate::Marks::REQUIRES_GRAD);
    assert_eq!(tensor.to_string(), "tensor([1.], requires_grad=true)");
}

#[test]
fn elements_are_printed_during_a_read_but_not_during_a_write() {
    let mut tensor = Tensor::from([1.0_f32, 2.0]);
    let other = tensor.clone();
    let reading = tensor.read::<f32>().unwrap();
    assert_eq!(other.to_string(), "tensor([1., 2.])");
    drop(reading);
    let writing = tensor.write::<f32>().unwrap();
    assert_eq!(other.to_string(), "tensor(<being written>, size=[2])");
    drop(writing);
    assert_eq!(other.to_string(), "tensor([1., 2.])");
}

#[test]
fn a_meta_tensor_shows_its_sizes() {
    let meta = |dtype, sizes: &[i64]| Spec::contiguous(dtype, sizes).on(Device::META).unwrap().to_string();
    assert_eq!(meta(DType::F32, &[2, 3]), "tensor(..., device=meta, size=[2, 3])");
    assert_eq!(meta(DType::I64, &[]), "tensor(..., device=meta, size=[], dtype=int64)");
}

#[test]
fn too_many_elements_are_not_printed() {
    let one = Storage::new_host(4);
    let of = |sizes: &[i64]| {
        let geometry = Geometry::strided(sizes, &vec![0; sizes.len()], 0).unwrap();
        Tensor::new(one.clone(), DType::F32, geometry).unwrap()
    };
    assert!(of(&[1 << 40, 1 << 20]).to_string().starts_with("tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"));
    assert_eq!(of(&[6; 12]).to_string(), "tensor(..., size=[6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6])");
    assert!(of(&vec![1; 10_000]).to_string().starts_with("tensor(...,\n       size=[1, 1"));
    assert!(format!("{:#}", of(&[1 << 40])).contains(" ..., "));
}
