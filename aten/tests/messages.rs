//! Tests of errors of composites: they name the called operator, its arguments, and the sizes that it was given.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

fn x(sizes: &[i64]) -> Tensor {
    Tensor::zeros(sizes, DType::F32).unwrap()
}

fn classes(sizes: &[i64]) -> Tensor {
    Tensor::zeros(sizes, DType::I64).unwrap()
}

/// Checks that each call fails with the given text.
macro_rules! refused {
    ($($call:expr => $text:literal;)*) => {$(
        let error = $call.map(drop).expect_err(stringify!($call));
        assert_eq!(error.to_string(), $text, "{}", stringify!($call));
    )*};
}

#[test]
fn products_name_their_factors() {
    refused! {
        aten::linear(&x(&[2, 3]), &x(&[4, 5]), None) =>
            "`aten::linear`: argument `weight` has sizes [4, 5], but must have 3 in dimension 1, as `input` has sizes [2, 3]";
        aten::linear(&x(&[7, 2, 3]), &x(&[4, 3]), Some(&x(&[5]))) =>
            "`aten::linear`: argument `bias` has sizes [5], but must have 4 in the last dimension, as `weight` has sizes [4, 3]";
        aten::matmul(&x(&[2, 3]), &x(&[4, 5])) =>
            "`aten::matmul`: argument `other` has sizes [4, 5], but must have 3 in dimension 0, as `self` has sizes [2, 3]";
        aten::matmul(&x(&[2, 4, 3]), &x(&[5, 3, 6])) =>
            "`aten::matmul`: argument `other` has sizes [5, 3, 6], but must have dimensions before the last two that broadcast with \
             [2], as `self` has sizes [2, 4, 3]";
        aten::bilinear(&x(&[2, 3]), &x(&[2, 4]), &x(&[6, 3, 5]), None) =>
            "`aten::bilinear`: argument `input2` has sizes [2, 4], but must have 5 in dimension 1, as `weight` has sizes [6, 3, 5]";
        aten::linalg_multi_dot(&[x(&[2, 3]), x(&[4, 5])]) =>
            "`aten::linalg_multi_dot`: argument `tensors` has sizes [4, 5], but must have 3 in dimension 0, as the factor before it, \
             number 0, has sizes [2, 3]";
        aten::pairwise_distance(&x(&[2, 3]), &x(&[4, 3]), 2.0, 1e-6, false) =>
            "`aten::pairwise_distance`: argument `x2` has sizes [4, 3], which do not broadcast with [2, 3]: counted from the last, \
             sizes must be equal, or one of them 1";
    }
}

#[test]
fn attention_names_keys_values_and_mask() {
    let query = x(&[1, 2, 5, 8]);
    let attention = |key: &[i64], value: &[i64], mask: Option<&Tensor>| {
        aten::scaled_dot_product_attention(&query, &x(key), &x(value), mask, 0.0, false, None, false)
    };
    refused! {
        attention(&[1, 2, 6, 4], &[1, 2, 6, 8], None) =>
            "`aten::scaled_dot_product_attention`: argument `key` has sizes [1, 2, 6, 4], but must have 8 in dimension 3, as `query` \
             has sizes [1, 2, 5, 8]";
        attention(&[1, 2, 6, 8], &[1, 2, 7, 8], None) =>
            "`aten::scaled_dot_product_attention`: argument `value` has sizes [1, 2, 7, 8], but must have 6 in dimension 2, as `key` \
             has sizes [1, 2, 6, 8]";
        attention(&[1, 2, 6, 8], &[1, 2, 6, 8], Some(&x(&[5, 5]))) =>
            "`aten::scaled_dot_product_attention`: argument `attn_mask` has sizes [5, 5], but must have sizes that broadcast with \
             [1, 2, 5, 6], as `query` has sizes [1, 2, 5, 8] and `key` has sizes [1, 2, 6, 8]";
    }
}

#[test]
fn losses_name_their_targets() {
    refused! {
        aten::l1_loss(&x(&[2, 3]), &x(&[2, 4]), 1) =>
            "`aten::l1_loss`: argument `target` has sizes [2, 4], which do not broadcast with [2, 3]: counted from the last, sizes \
             must be equal, or one of them 1";
        aten::cross_entropy_loss(&x(&[2, 5]), &classes(&[3]), None, 1, -100, 0.0) =>
            "`aten::cross_entropy_loss`: argument `target` has sizes [3], but must have [2], as `self` has sizes [2, 5], with the \
             classes in dimension 1";
        aten::cross_entropy_loss(&x(&[2, 5]), &classes(&[2]), Some(&x(&[4])), 1, -100, 0.0) =>
            "`aten::cross_entropy_loss`: argument `weight` has sizes [4], but must have [5], one for each class in dimension 1 of \
             `self`, which has [2, 5]";
        aten::nll_loss(&x(&[2, 5]), &classes(&[3]), None, 1, -100) =>
            "`aten::nll_loss`: argument `target` has sizes [3], but must have [2], as `self` has beside its classes";
        aten::cosine_embedding_loss(&x(&[2, 3]), &x(&[2, 3]), &x(&[4]), 0.0, 1) =>
            "`aten::cosine_embedding_loss`: argument `target` has sizes [4], but must have [2], as `input1` has sizes [2, 3]";
        aten::triplet_margin_loss(&x(&[2, 3]), &x(&[2, 4]), &x(&[2, 3]), 1.0, 2.0, 1e-6, false, 1) =>
            "`aten::triplet_margin_loss`: argument `positive` has sizes [2, 4], which do not broadcast with [2, 3]: counted from the \
             last, sizes must be equal, or one of them 1";
        aten::soft_margin_loss(&x(&[1, 3]), &x(&[2, 3]), 1) =>
            "`aten::soft_margin_loss`: argument `target` has sizes [2, 3], but must have sizes that broadcast to [1, 3], as `self` has";
    }
}

#[test]
fn convolutions_name_the_image_as_it_came() {
    let conv2d = |input: &[i64], weight: &[i64], bias: Option<&Tensor>, groups| {
        aten::conv2d(&x(input), &x(weight), bias, &[1], &[0], &[1], groups)
    };
    refused! {
        conv2d(&[1, 3, 8, 8], &[6, 4, 3, 3], None, 1) =>
            "`aten::conv2d`: argument `input` has sizes [1, 3, 8, 8], but must have 4 channels in dimension 1, as `weight` has sizes \
             [6, 4, 3, 3]";
        conv2d(&[3, 8, 8], &[6, 4, 3, 3], None, 2) =>
            "`aten::conv2d`: argument `input` has sizes [3, 8, 8], but must have 8 channels in dimension 0, as `weight` has sizes \
             [6, 4, 3, 3] and `groups` is 2";
        conv2d(&[3, 2, 2], &[6, 3, 3, 3], None, 1) =>
            "`aten::conv2d`: argument `input` has sizes [3, 2, 2], but must have room for the kernel, as `weight` has sizes [6, 3, 3, 3]";
        conv2d(&[1, 3, 8, 8], &[6, 3, 3, 3], Some(&x(&[5])), 1) =>
            "`aten::conv2d`: argument `bias` has sizes [5], but must have [6], one for each channel, as `weight` has sizes [6, 3, 3, 3]";
        aten::conv1d_padding(&x(&[1, 3, 8]), &x(&[6, 4, 3]), None, &[1], "same", &[1], 1) =>
            "`aten::conv1d.padding`: argument `input` has sizes [1, 3, 8], but must have 4 channels in dimension 1, as `weight` has \
             sizes [6, 4, 3]";
        aten::conv_transpose2d_input(&x(&[1, 3, 8, 8]), &x(&[4, 6, 3, 3]), None, &[1], &[0], &[0], 1, &[1]) =>
            "`aten::conv_transpose2d.input`: argument `input` has sizes [1, 3, 8, 8], but must have 4 channels in dimension 1, as \
             `weight` has sizes [4, 6, 3, 3]";
    }
}

#[test]
fn recurrent_networks_name_their_parameters() {
    let states = [x(&[1, 2, 4]), x(&[1, 2, 4])];
    refused! {
        aten::lstm_input(&x(&[5, 2, 3]), &states, &[x(&[16, 7]), x(&[16, 4])], false, 1, 0.0, false, false, false) =>
            "`aten::lstm.input`: argument `params[0]` has sizes [16, 7], but must have [16, 3], as `input` has sizes [5, 2, 3], and \
             `hx` has sizes [[1, 2, 4], [1, 2, 4]]";
        aten::gru_input(&x(&[5, 2, 3]), &states[0], &[x(&[12, 3]), x(&[12, 5])], false, 1, 0.0, false, false, false) =>
            "`aten::gru.input`: argument `params[1]` has sizes [12, 5], but must have [12, 4], as `input` has sizes [5, 2, 3], and \
             `hx` has sizes [[1, 2, 4]]";
        aten::rnn_tanh_input(&x(&[5, 2, 3]), &states[0], &[x(&[4, 3]), x(&[4, 4]), x(&[4]), x(&[5])], true, 1, 0.0, false, false, false) =>
            "`aten::rnn_tanh.input`: argument `params[3]` has sizes [5], but must have [4], as `input` has sizes [5, 2, 3], and `hx` \
             has sizes [[1, 2, 4]]";
        aten::lstm_cell(&x(&[2, 3]), &[x(&[2, 4]), x(&[2, 4])], &x(&[16, 5]), &x(&[16, 4]), None, None) =>
            "`aten::lstm_cell`: argument `w_ih` has sizes [16, 5], but must have 3 in dimension 1, as `input` has sizes [2, 3]";
        aten::gru_cell(&x(&[2, 3]), &x(&[3, 4]), &x(&[12, 3]), &x(&[12, 4]), None, None) =>
            "`aten::gru_cell`: argument `hx` has sizes [3, 4], but must have as many rows as `input`, which has sizes [2, 3]";
    }
}

#[test]
fn normalisations_name_their_parameters() {
    refused! {
        aten::layer_norm(&x(&[2, 3]), &[3], Some(&x(&[4])), None, 1e-5, false) =>
            "`aten::layer_norm`: argument `weight` has sizes [4], but must have [3], as `normalized_shape` says";
        aten::group_norm(&x(&[2, 6, 4]), 3, Some(&x(&[5])), None, 1e-5, false) =>
            "`aten::group_norm`: argument `weight` has sizes [5], but must have [6], one for each channel of `input`, which has sizes \
             [2, 6, 4]";
        aten::batch_norm(&x(&[2, 6, 4]), None, Some(&x(&[5])), None, None, true, 0.1, 1e-5, false) =>
            "`aten::batch_norm`: argument `bias` has sizes [5], but must have [6], one for each channel of `input`, which has sizes \
             [2, 6, 4]";
        aten::instance_norm(&x(&[2, 6, 4]), Some(&x(&[5])), None, None, None, true, 0.1, 1e-5, false) =>
            "`aten::instance_norm`: argument `weight` has sizes [5], but must have [6], one for each channel of `input`, which has \
             sizes [2, 6, 4]";
    }
}

#[test]
fn lists_and_shapes_are_named_as_they_came() {
    refused! {
        aten::vstack(&[x(&[2]), x(&[3])]) =>
            "`aten::vstack`: argument `tensors` has sizes [3], but must have [2] beside dimension 0, as the first has sizes [2]";
        aten::column_stack(&[x(&[2]), x(&[3])]) =>
            "`aten::column_stack`: argument `tensors` has sizes [3], but must have [2] beside dimension 1, as the first has sizes [2]";
        aten::view_as(&x(&[2, 3]), &x(&[4])) =>
            "`aten::view_as`: argument `other` has sizes [4], but must have as many elements as `self`, which has sizes [2, 3]";
        aten::where_scalarother(&x(&[2]), &x(&[2]), 1.into()) =>
            "`aten::where.ScalarOther`: argument `condition` is of float32, but must be bool";
    }
}

#[test]
fn another_name_and_every_form_have_the_error_as_their_own() {
    refused! {
        aten::less(&x(&[2]), &x(&[3])) =>
            "`aten::less.Tensor`: argument `other` has sizes [3], which do not broadcast with [2]: counted from the last, sizes must be \
             equal, or one of them 1";
        aten::multiply_(&mut x(&[2]), &x(&[3])) =>
            "`aten::multiply_.Tensor`: argument `other` has sizes [3], which do not broadcast with [2]: counted from the last, sizes \
             must be equal, or one of them 1";
        aten::rsub_scalar(&x(&[2]), 1.into(), 1e300.into()) =>
            "`aten::rsub.Scalar`: argument `alpha` is 1e300, which float32 cannot hold; use a number up to 3.4028234663852886e38 or \
             infinity, or a wider dtype";
        aten::linear_out(&x(&[2, 3]), &x(&[4, 5]), None, &mut x(&[0])) =>
            "`aten::linear.out`: argument `weight` has sizes [4, 5], but must have 3 in dimension 1, as `input` has sizes [2, 3]";
    }
}

/// A composite without a check.
#[op_def("messages::halved_product(Tensor left, Tensor right) -> Tensor", out = "out")]
pub fn halved_product(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    aten::mul_scalar(&aten::matmul(left, right)?, 0.5.into())
}

#[test]
fn without_a_check_the_error_names_the_part_and_the_operator_that_was_called() {
    let part =
        "`aten::matmul`: argument `other` has sizes [4, 5], but must have 3 in dimension 0, as `self` has sizes [2, 3]";
    let (left, right) = (x(&[2, 3]), x(&[4, 5]));
    let error = halved_product(&left, &right).unwrap_err().to_string();
    assert_eq!(error, format!("{part}\n  called by `messages::halved_product`"));
    let error = halved_product_out(&left, &right, &mut x(&[0])).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{part}\n  called by `messages::halved_product`\n  called by `messages::halved_product.out`")
    );
}
