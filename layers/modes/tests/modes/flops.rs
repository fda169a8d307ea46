//! Tests of the mode that counts floating-point operations.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_modes::{Flops, with_mode};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

/// Returns the number of operations that `f` takes on tensors of these sizes.
fn count_flops<const N: usize>(sizes: [&[i64]; N], f: impl FnOnce([Tensor; N]) -> Result<()>) -> u64 {
    let tensors = sizes.map(|sizes| Tensor::ones(sizes, ()).unwrap());
    let flops = std::sync::Arc::new(Flops::new());
    with_mode(flops.clone(), || f(tensors)).unwrap();
    flops.total()
}

/// The operations per term of a product: one multiplication and one addition.
const OPERATIONS_PER_TERM: u64 = 2;

#[test]
fn flops_follow_from_shape_words() {
    assert_eq!(count_flops([&[2, 1], &[3]], |[a, b]| (&a + &b).map(drop)), 6);
    assert_eq!(count_flops([&[2, 3]], |[a]| a.sum().map(drop)), 6);
    assert_eq!(count_flops([&[2, 3], &[3, 5]], |[a, b]| a.mm(&b).map(drop)), OPERATIONS_PER_TERM * 2 * 3 * 5);
    assert_eq!(
        count_flops([&[7, 2, 3], &[7, 3, 5]], |[a, b]| a.bmm(&b).map(drop)),
        OPERATIONS_PER_TERM * 7 * 2 * 3 * 5
    );
    assert_eq!(count_flops([&[3], &[3]], |[a, b]| aten::dot(&a, &b).map(drop)), OPERATIONS_PER_TERM * 3);
}

#[test]
fn writing_forms_count_as_their_functional_operator() {
    assert_eq!(count_flops([&[2, 3], &[3]], |[a, b]| a.mul_(&b).map(drop)), 6);
    let product = |[a, b, mut out]: [Tensor; 3]| aten::mm_out(&a, &b, &mut out);
    assert_eq!(count_flops([&[2, 3], &[3, 5], &[2, 5]], product), OPERATIONS_PER_TERM * 2 * 3 * 5);
}

#[test]
fn data_movement_counts_nothing() {
    let moves = |[a]: [Tensor; 1]| {
        a.zero_()?;
        aten::fill_scalar(&a, 1.into())?;
        a.t()?.contiguous()?.reshape(6)?;
        Ok(())
    };
    assert_eq!(count_flops([&[2, 3]], moves), 0);
}

#[test]
fn addmm_counts_a_product_and_a_sum() {
    let one = || Scalar::Int(1);
    let matrix = |[c, a, b]: [Tensor; 3]| aten::addmm(&c, &a, &b, one(), one()).map(drop);
    assert_eq!(count_flops([&[5], &[2, 3], &[3, 5]], matrix), OPERATIONS_PER_TERM * 2 * 3 * 5 + 2 * 5);
    let batch = |[c, a, b]: [Tensor; 3]| aten::baddbmm(&c, &a, &b, one(), one()).map(drop);
    assert_eq!(count_flops([&[5], &[7, 2, 3], &[7, 3, 5]], batch), 7 * (OPERATIONS_PER_TERM * 2 * 3 * 5 + 2 * 5));
    let summed = |[c, a, b]: [Tensor; 3]| aten::addbmm(&c, &a, &b, one(), one()).map(drop);
    assert_eq!(count_flops([&[5], &[7, 2, 3], &[7, 3, 5]], summed), OPERATIONS_PER_TERM * 7 * 2 * 3 * 5 + 2 * 5);
    let vector = |[c, a, b]: [Tensor; 3]| aten::addmv(&c, &a, &b, one(), one()).map(drop);
    assert_eq!(count_flops([&[2], &[2, 3], &[3]], vector), OPERATIONS_PER_TERM * 2 * 3 + 2);
}

#[test]
fn a_composite_counts_as_its_parts() {
    let linear = |[x, w, b]: [Tensor; 3]| aten::linear(&x, &w, Some(&b)).map(drop);
    assert_eq!(count_flops([&[2, 3], &[5, 3], &[5]], linear), OPERATIONS_PER_TERM * 2 * 3 * 5 + 2 * 5);
    assert_eq!(
        count_flops([&[7, 2, 3], &[3, 5]], |[a, b]| a.matmul(&b).map(drop)),
        OPERATIONS_PER_TERM * 7 * 2 * 3 * 5
    );
}

#[op_def("doubled(Tensor self) -> Tensor", shape = pointwise)]
fn doubled(this: &Tensor) -> Result<Tensor>;

#[op_impl(doubled, CPU)]
fn doubled_cpu(this: &Tensor) -> Result<Tensor> {
    this + this
}

#[test]
fn the_parts_of_a_counted_call_are_not_counted() {
    assert_eq!(count_flops([&[2, 3]], |[x]| doubled(&x).map(drop)), 6);
}

#[test]
fn a_convolution_counts_two_operations_per_product() {
    let same = |[x, w, b]: [Tensor; 3]| aten::conv2d(&x, &w, Some(&b), &[1], &[1], &[1], 1).map(drop);
    assert_eq!(count_flops([&[2, 3, 8, 8], &[5, 3, 3, 3], &[5]], same), 2 * 5 * 64 * (OPERATIONS_PER_TERM * 27 + 1));
    let halved = |[x, w]: [Tensor; 2]| aten::conv2d(&x, &w, None, &[2], &[0], &[1], 2).map(drop);
    assert_eq!(count_flops([&[1, 4, 8, 8], &[6, 2, 2, 2]], halved), OPERATIONS_PER_TERM * 6 * 16 * 8);
    let across = |[x, w, b]: [Tensor; 3]| {
        aten::convolution(&x, &w, Some(&b), &[2], &[0], &[1], true, &[0], 1).map(|result| {
            assert_eq!(result.sizes(), [1, 5, 8]);
        })
    };
    assert_eq!(count_flops([&[1, 3, 4], &[3, 5, 2], &[5]], across), OPERATIONS_PER_TERM * 3 * 4 * 5 * 2 + 5 * 8);
}

#[test]
fn attention_counts_two_products() {
    let attend = |[q, k, v]: [Tensor; 3]| {
        aten::scaled_dot_product_attention(&q, &k, &v, None, 0.0, false, None, false).map(drop)
    };
    let (queries, keys, width) = (6, 10, 16);
    let expected = OPERATIONS_PER_TERM * 2 * 3 * queries * keys * (width + width);
    let sizes: [&[i64]; 3] = [&[2, 3, 6, 16], &[2, 3, 10, 16], &[2, 3, 10, 16]];
    assert_eq!(count_flops(sizes, attend), expected);
}

#[test]
fn a_backward_counts_two_products_for_each_of_the_forward() {
    let ones = |sizes: &[i64]| Tensor::ones(sizes, ()).unwrap().requires_grad_(true).unwrap();
    let flops = dispatch_modes::enter(Flops::new());
    let (x, w) = (ones(&[2, 3]), ones(&[3, 5]));
    let y = x.mm(&w).unwrap();
    let forward = flops.of_operator("aten::mm");
    y.sum().unwrap().backward().unwrap();
    assert_eq!(
        (forward, flops.of_operator("aten::mm")),
        (OPERATIONS_PER_TERM * 2 * 3 * 5, 3 * OPERATIONS_PER_TERM * 2 * 3 * 5)
    );

    let (image, kernel) = (ones(&[1, 2, 8, 8]), ones(&[4, 2, 3, 3]));
    let y = aten::conv2d(&image, &kernel, None, &[1], &[1], &[1], 1).unwrap();
    y.sum().unwrap().backward().unwrap();
    assert_eq!(flops.of_operator("aten::convolution_backward"), 2 * flops.of_operator("aten::convolution"));

    let qkv = ones(&[1, 2, 8, 16]);
    let y = aten::scaled_dot_product_attention(&qkv, &qkv, &qkv, None, 0.0, false, None, false).unwrap();
    y.sum().unwrap().backward().unwrap();
    let attention = "aten::_scaled_dot_product_flash_attention_for_cpu";
    assert!(flops.of_operator(attention) > 0);
    assert_eq!(2 * flops.of_operator(&format!("{attention}_backward")), 5 * flops.of_operator(attention));
}

#[test]
fn a_call_that_fails_is_not_counted() {
    let flops = dispatch_modes::enter(Flops::new());
    let x = Tensor::ones([2, 3], ()).unwrap();
    assert!(x.mm(&x).is_err());
    assert_eq!(flops.total(), 0);
}

#[test]
fn the_table_has_a_row_for_each_operator_and_a_total() {
    let flops = dispatch_modes::enter(Flops::new());
    let x = Tensor::ones([100, 100], ()).unwrap();
    x.mm(&x).unwrap().mm(&x).unwrap().relu().unwrap();
    let expected = "\
operator    calls        FLOP    share
aten::mm        2  4.000 MFLOP  99.8 %
aten::relu      1  10.000 kFLOP  0.2 %
total           3  4.010 MFLOP  100.0 %";
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let table = flops.to_string();
    assert_eq!(words(&table), words(expected), "{table}");
    let widths: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
    assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
}
