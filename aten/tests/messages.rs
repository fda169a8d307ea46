//! Tests of errors of composites: they name the called operator, its arguments, and the sizes that it was given.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

fn zeros(sizes: &[i64]) -> Tensor {
    Tensor::zeros(sizes, DType::F32).unwrap()
}

fn class_indices(sizes: &[i64]) -> Tensor {
    Tensor::zeros(sizes, DType::I64).unwrap()
}

/// Checks that each call fails with the given text.
macro_rules! assert_errors {
    ($($call:expr => $text:literal;)*) => {$(
        let error = $call.map(drop).expect_err(stringify!($call));
        assert_eq!(error.to_string(), $text, "{}", stringify!($call));
    )*};
}

#[test]
fn product_errors_name_the_operand() {
    assert_errors! {
        aten::linear(&zeros(&[2, 3]), &zeros(&[4, 5]), None) =>
            "`aten::linear`: argument `weight` has sizes [4, 5], but must have 3 in dimension 1, as `input` has sizes [2, 3]";
        aten::linear(&zeros(&[7, 2, 3]), &zeros(&[4, 3]), Some(&zeros(&[5]))) =>
            "`aten::linear`: argument `bias` has sizes [5], but must have 4 in the last dimension, as `weight` has sizes [4, 3]";
        aten::matmul(&zeros(&[2, 3]), &zeros(&[4, 5])) =>
            "`aten::matmul`: argument `other` has sizes [4, 5], but must have 3 in dimension 0, as `self` has sizes [2, 3]";
        aten::matmul(&zeros(&[2, 4, 3]), &zeros(&[5, 3, 6])) =>
            "`aten::matmul`: argument `other` has sizes [5, 3, 6], but must have dimensions before the last two that broadcast with \
             [2], as `self` has sizes [2, 4, 3]";
        aten::bilinear(&zeros(&[2, 3]), &zeros(&[2, 4]), &zeros(&[6, 3, 5]), None) =>
            "`aten::bilinear`: argument `input2` has sizes [2, 4], but must have 5 in dimension 1, as `weight` has sizes [6, 3, 5]";
        aten::linalg_multi_dot(&[zeros(&[2, 3]), zeros(&[4, 5])]) =>
            "`aten::linalg_multi_dot`: argument `tensors` has sizes [4, 5], but must have 3 in dimension 0, as the factor before it, \
             number 0, has sizes [2, 3]";
        aten::pairwise_distance(&zeros(&[2, 3]), &zeros(&[4, 3]), 2.0, 1e-6, false) =>
            "`aten::pairwise_distance`: argument `x2` has sizes [4, 3], which do not broadcast with [2, 3]: counted from the last, \
             sizes must be equal, or one of them 1";
    }
}

#[test]
fn attention_errors_name_the_argument() {
    let query = zeros(&[1, 2, 5, 8]);
    let attention = |key: &[i64], value: &[i64], mask: Option<&Tensor>| {
        aten::scaled_dot_product_attention(&query, &zeros(key), &zeros(value), mask, 0.0, false, None, false)
    };
    assert_errors! {
        attention(&[1, 2, 6, 4], &[1, 2, 6, 8], None) =>
            "`aten::scaled_dot_product_attention`: argument `key` has sizes [1, 2, 6, 4], but must have 8 in dimension 3, as `query` \
             has sizes [1, 2, 5, 8]";
        attention(&[1, 2, 6, 8], &[1, 2, 7, 8], None) =>
            "`aten::scaled_dot_product_attention`: argument `value` has sizes [1, 2, 7, 8], but must have 6 in dimension 2, as `key` \
             has sizes [1, 2, 6, 8]";
        attention(&[1, 2, 6, 8], &[1, 2, 6, 8], Some(&zeros(&[5, 5]))) =>
            "`aten::scaled_dot_product_attention`: argument `attn_mask` has sizes [5, 5], but must have sizes that broadcast with \
             [1, 2, 5, 6], as `query` has sizes [1, 2, 5, 8] and `key` has sizes [1, 2, 6, 8]";
    }
}

#[test]
fn loss_errors_name_the_argument() {
    assert_errors! {
        aten::l1_loss(&zeros(&[2, 3]), &zeros(&[2, 4]), 1) =>
            "`aten::l1_loss`: argument `target` has sizes [2, 4], which do not broadcast with [2, 3]: counted from the last, sizes \
             must be equal, or one of them 1";
        aten::cross_entropy_loss(&zeros(&[2, 5]), &class_indices(&[3]), None, 1, -100, 0.0) =>
            "`aten::cross_entropy_loss`: argument `target` has sizes [3], but must have [2], as `self` has sizes [2, 5], with the \
             classes in dimension 1";
        aten::cross_entropy_loss(&zeros(&[2, 5]), &class_indices(&[2]), Some(&zeros(&[4])), 1, -100, 0.0) =>
            "`aten::cross_entropy_loss`: argument `weight` has sizes [4], but must have [5], one for each class in dimension 1 of \
             `self`, which has [2, 5]";
        aten::nll_loss(&zeros(&[2, 5]), &class_indices(&[3]), None, 1, -100) =>
            "`aten::nll_loss`: argument `target` has sizes [3], but must have [2], as `self` has without its class dimension";
        aten::cosine_embedding_loss(&zeros(&[2, 3]), &zeros(&[2, 3]), &zeros(&[4]), 0.0, 1) =>
            "`aten::cosine_embedding_loss`: argument `target` has sizes [4], but must have [2], as `input1` has sizes [2, 3]";
        aten::triplet_margin_loss(&zeros(&[2, 3]), &zeros(&[2, 4]), &zeros(&[2, 3]), 1.0, 2.0, 1e-6, false, 1) =>
            "`aten::triplet_margin_loss`: argument `positive` has sizes [2, 4], which do not broadcast with [2, 3]: counted from the \
             last, sizes must be equal, or one of them 1";
        aten::soft_margin_loss(&zeros(&[1, 3]), &zeros(&[2, 3]), 1) =>
            "`aten::soft_margin_loss`: argument `target` has sizes [2, 3], but must have sizes that broadcast to [1, 3], as `self` has";
    }
}

#[test]
fn convolution_errors_show_the_sizes_of_the_caller() {
    let conv2d = |input: &[i64], weight: &[i64], bias: Option<&Tensor>, groups| {
        aten::conv2d(&zeros(input), &zeros(weight), bias, &[1], &[0], &[1], groups)
    };
    assert_errors! {
        conv2d(&[1, 3, 8, 8], &[6, 4, 3, 3], None, 1) =>
            "`aten::conv2d`: argument `input` has sizes [1, 3, 8, 8], but must have 4 channels in dimension 1, as `weight` has sizes \
             [6, 4, 3, 3]";
        conv2d(&[3, 8, 8], &[6, 4, 3, 3], None, 2) =>
            "`aten::conv2d`: argument `input` has sizes [3, 8, 8], but must have 8 channels in dimension 0, as `weight` has sizes \
             [6, 4, 3, 3] and `groups` is 2";
        conv2d(&[3, 2, 2], &[6, 3, 3, 3], None, 1) =>
            "`aten::conv2d`: argument `input` has sizes [3, 2, 2], but must have large enough sizes for the kernel, as `weight` has sizes [6, 3, 3, 3]";
        conv2d(&[1, 3, 8, 8], &[6, 3, 3, 3], Some(&zeros(&[5])), 1) =>
            "`aten::conv2d`: argument `bias` has sizes [5], but must have [6], one for each channel, as `weight` has sizes [6, 3, 3, 3]";
        aten::conv1d_padding(&zeros(&[1, 3, 8]), &zeros(&[6, 4, 3]), None, &[1], "same", &[1], 1) =>
            "`aten::conv1d.padding`: argument `input` has sizes [1, 3, 8], but must have 4 channels in dimension 1, as `weight` has \
             sizes [6, 4, 3]";
        aten::conv_transpose2d_input(&zeros(&[1, 3, 8, 8]), &zeros(&[4, 6, 3, 3]), None, &[1], &[0], &[0], 1, &[1]) =>
            "`aten::conv_transpose2d.input`: argument `input` has sizes [1, 3, 8, 8], but must have 4 channels in dimension 1, as \
             `weight` has sizes [4, 6, 3, 3]";
    }
}

#[test]
fn recurrent_layer_errors_name_the_parameter() {
    let states = [zeros(&[1, 2, 4]), zeros(&[1, 2, 4])];
    assert_errors! {
        aten::lstm_input(&zeros(&[5, 2, 3]), &states, &[zeros(&[16, 7]), zeros(&[16, 4])], false, 1, 0.0, false, false, false) =>
            "`aten::lstm.input`: argument `params[0]` has sizes [16, 7], but must have [16, 3], as `input` has sizes [5, 2, 3], and \
             `hx` has sizes [[1, 2, 4], [1, 2, 4]]";
        aten::gru_input(&zeros(&[5, 2, 3]), &states[0], &[zeros(&[12, 3]), zeros(&[12, 5])], false, 1, 0.0, false, false, false) =>
            "`aten::gru.input`: argument `params[1]` has sizes [12, 5], but must have [12, 4], as `input` has sizes [5, 2, 3], and \
             `hx` has sizes [[1, 2, 4]]";
        aten::rnn_tanh_input(&zeros(&[5, 2, 3]), &states[0], &[zeros(&[4, 3]), zeros(&[4, 4]), zeros(&[4]), zeros(&[5])], true, 1, 0.0, false, false, false) =>
            "`aten::rnn_tanh.input`: argument `params[3]` has sizes [5], but must have [4], as `input` has sizes [5, 2, 3], and `hx` \
             has sizes [[1, 2, 4]]";
        aten::lstm_cell(&zeros(&[2, 3]), &[zeros(&[2, 4]), zeros(&[2, 4])], &zeros(&[16, 5]), &zeros(&[16, 4]), None, None) =>
            "`aten::lstm_cell`: argument `w_ih` has sizes [16, 5], but must have 3 in dimension 1, as `input` has sizes [2, 3]";
        aten::gru_cell(&zeros(&[2, 3]), &zeros(&[3, 4]), &zeros(&[12, 3]), &zeros(&[12, 4]), None, None) =>
            "`aten::gru_cell`: argument `hx` has sizes [3, 4], but must have as many rows as `input`, which has sizes [2, 3]";
    }
}

#[test]
fn normalisation_errors_name_the_parameter() {
    assert_errors! {
        aten::layer_norm(&zeros(&[2, 3]), &[3], Some(&zeros(&[4])), None, 1e-5, false) =>
            "`aten::layer_norm`: argument `weight` has sizes [4], but must have [3], as `normalized_shape` says";
        aten::group_norm(&zeros(&[2, 6, 4]), 3, Some(&zeros(&[5])), None, 1e-5, false) =>
            "`aten::group_norm`: argument `weight` has sizes [5], but must have [6], one for each channel of `input`, which has sizes \
             [2, 6, 4]";
        aten::batch_norm(&zeros(&[2, 6, 4]), None, Some(&zeros(&[5])), None, None, true, 0.1, 1e-5, false) =>
            "`aten::batch_norm`: argument `bias` has sizes [5], but must have [6], one for each channel of `input`, which has sizes \
             [2, 6, 4]";
        aten::instance_norm(&zeros(&[2, 6, 4]), Some(&zeros(&[5])), None, None, None, true, 0.1, 1e-5, false) =>
            "`aten::instance_norm`: argument `weight` has sizes [5], but must have [6], one for each channel of `input`, which has \
             sizes [2, 6, 4]";
    }
}

#[test]
fn list_and_view_errors_show_the_sizes_of_the_caller() {
    assert_errors! {
        aten::vstack(&[zeros(&[2]), zeros(&[3])]) =>
            "`aten::vstack`: argument `tensors` has sizes [3], but must have [2] in all dimensions except 0, as the first has sizes [2]";
        aten::column_stack(&[zeros(&[2]), zeros(&[3])]) =>
            "`aten::column_stack`: argument `tensors` has sizes [3], but must have [2] in all dimensions except 1, as the first has sizes [2]";
        aten::view_as(&zeros(&[2, 3]), &zeros(&[4])) =>
            "`aten::view_as`: argument `other` has sizes [4], but must have as many elements as `self`, which has sizes [2, 3]";
        aten::where_scalarother(&zeros(&[2]), &zeros(&[2]), 1.into()) =>
            "`aten::where.ScalarOther`: argument `condition` is of float32, but must be bool";
    }
}

#[test]
fn errors_of_aliases_and_forms_name_the_called_operator() {
    assert_errors! {
        aten::less(&zeros(&[2]), &zeros(&[3])) =>
            "`aten::less.Tensor`: argument `other` has sizes [3], which do not broadcast with [2]: counted from the last, sizes must be \
             equal, or one of them 1";
        aten::multiply_(&mut zeros(&[2]), &zeros(&[3])) =>
            "`aten::multiply_.Tensor`: argument `other` has sizes [3], which do not broadcast with [2]: counted from the last, sizes \
             must be equal, or one of them 1";
        aten::rsub_scalar(&zeros(&[2]), 1.into(), 1e300.into()) =>
            "`aten::rsub.Scalar`: argument `alpha` is 1e300, which float32 cannot hold; use a number up to 3.4028234663852886e38 or \
             infinity, or a wider dtype";
        aten::linear_out(&zeros(&[2, 3]), &zeros(&[4, 5]), None, &mut zeros(&[0])) =>
            "`aten::linear.out`: argument `weight` has sizes [4, 5], but must have 3 in dimension 1, as `input` has sizes [2, 3]";
    }
}

/// A composite without a check.
#[op_def("messages::halved_product(Tensor left, Tensor right) -> Tensor", out = "out")]
pub fn halved_product(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    aten::mul_scalar(&aten::matmul(left, right)?, 0.5.into())
}

#[test]
fn error_of_a_composite_without_check_names_inner_and_outer_operators() {
    let part =
        "`aten::matmul`: argument `other` has sizes [4, 5], but must have 3 in dimension 0, as `self` has sizes [2, 3]";
    let (left, right) = (zeros(&[2, 3]), zeros(&[4, 5]));
    let error = halved_product(&left, &right).unwrap_err().to_string();
    assert_eq!(error, format!("{part}\n  called by `messages::halved_product`"));
    let error = halved_product_out(&left, &right, &mut zeros(&[0])).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{part}\n  called by `messages::halved_product`\n  called by `messages::halved_product.out`")
    );
}
