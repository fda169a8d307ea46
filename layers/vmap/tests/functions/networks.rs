//! Tests of network layers with shared weights and with batched weights.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::vmap;

use crate::{assert_close, check_against_loop, varied_tensor};

type NetworkFunction = fn(&[Tensor]) -> Result<Tensor>;

/// Checks a function of an input and a weight with the input, the weight, or both batched.
fn check_mapped_input_and_weight(input: &[i64], weight: &[i64], f: NetworkFunction) {
    let with_batch = |sizes: &[i64]| varied_tensor(&[&[3], sizes].concat());
    check_against_loop([(&with_batch(input), Some(0)), (&varied_tensor(weight), None)], f);
    check_against_loop([(&varied_tensor(input), None), (&with_batch(weight), Some(0))], f);
    check_against_loop([(&with_batch(input), Some(0)), (&with_batch(weight), Some(0))], f);
}

#[test]
fn mapped_linear_layer_equals_a_loop() {
    check_mapped_input_and_weight(&[2, 4], &[5, 4], |x| aten::linear(&x[0], &x[1], None));
    check_mapped_input_and_weight(&[4], &[5, 4], |x| aten::linear(&x[0], &x[1], None));
    check_mapped_input_and_weight(&[4], &[4], |x| aten::linear(&x[0], &Tensor::eye(4, DType::F64)?, Some(&x[1])));
}

#[test]
fn mapped_matrix_and_vector_products_equal_a_loop() {
    check_mapped_input_and_weight(&[2, 4], &[4, 3], |x| x[0].matmul(&x[1]));
    check_mapped_input_and_weight(&[4], &[4, 3], |x| x[0].matmul(&x[1]));
    check_mapped_input_and_weight(&[2, 4], &[4], |x| x[0].matmul(&x[1]));
    check_mapped_input_and_weight(&[4], &[4], |x| x[0].matmul(&x[1]));
    check_mapped_input_and_weight(&[5, 2, 4], &[4, 3], |x| x[0].matmul(&x[1]));
    check_mapped_input_and_weight(&[5, 2, 4], &[5, 4, 3], |x| x[0].bmm(&x[1]));
    check_mapped_input_and_weight(&[4], &[3], |x| x[0].outer(&x[1]));
}

#[test]
fn mapped_einsum_equals_a_loop() {
    check_mapped_input_and_weight(&[2, 4], &[4, 3], |x| aten::einsum("ij,jk->ki", x, None));
    check_mapped_input_and_weight(&[5, 2, 4], &[5, 4], |x| aten::einsum("bij,bj->bi", x, None));
    check_mapped_input_and_weight(&[3], &[4], |x| aten::einsum("i,j->ij", x, None));
}

#[test]
fn mapped_convolution_equals_a_loop() {
    check_mapped_input_and_weight(&[2, 2, 5, 5], &[3, 2, 3, 3], |x| aten::conv2d!(&x[0], &x[1], padding = [1, 1]));
    check_mapped_input_and_weight(&[2, 4, 6], &[4, 2, 3], |x| aten::conv1d!(&x[0], &x[1], stride = [2], groups = 2));
    check_mapped_input_and_weight(&[2, 5, 5], &[3, 2, 3, 3], |x| aten::conv2d!(&x[0], &x[1]));
}

#[test]
fn mapped_batch_norm_with_running_statistics_equals_a_loop() {
    check_mapped_input_and_weight(&[2, 3, 4], &[3], |x| {
        let (mean, var) = (Tensor::zeros(3, DType::F64)?, Tensor::ones(3, DType::F64)?);
        aten::batch_norm(&x[0], Some(&x[1]), None, Some(&mean), Some(&var), false, 0.1, 1e-5, false)
    });
}

#[test]
fn mapped_batch_norm_with_the_statistics_of_each_slice_equals_a_loop() {
    check_mapped_input_and_weight(&[2, 3, 4], &[3], |x| {
        aten::batch_norm(&x[0], Some(&x[1]), None, None, None, true, 0.1, 1e-5, false)
    });
}

#[test]
fn mapped_layer_and_group_norm_equal_a_loop() {
    check_mapped_input_and_weight(&[2, 4], &[4], |x| aten::layer_norm!(&x[0], [4], weight = Some(&x[1])));
    check_mapped_input_and_weight(&[2, 4, 3], &[4], |x| aten::group_norm!(&x[0], 2, weight = Some(&x[1])));
}

#[test]
fn mapped_embedding_equals_a_loop() {
    let places = Tensor::from([[0_i64, 4], [3, 3], [1, 2]]);
    check_against_loop([(&varied_tensor(&[5, 2]), None), (&places, Some(0))], |x| aten::embedding!(&x[0], &x[1]));
    check_against_loop([(&varied_tensor(&[3, 5, 2]), Some(0)), (&places, Some(0))], |x| aten::embedding!(&x[0], &x[1]));
    check_against_loop([(&varied_tensor(&[3, 5, 2]), Some(0)), (&places, None)], |x| aten::embedding!(&x[0], &x[1]));
}

#[test]
fn mapped_attention_equals_a_loop() {
    check_mapped_input_and_weight(&[2, 4, 6], &[2, 5, 6], |x| aten::scaled_dot_product_attention!(&x[0], &x[1], &x[1]));
    check_mapped_input_and_weight(&[2, 4, 6], &[2, 4, 6], |x| {
        aten::scaled_dot_product_attention!(&x[0], &x[1], &x[0], is_causal = true)
    });
}

#[test]
fn mapped_pooling_equals_a_loop() {
    check_against_loop([(&varied_tensor(&[3, 2, 6, 6]), Some(0))], |x| aten::max_pool2d!(&x[0], [2, 2]));
    check_against_loop([(&varied_tensor(&[3, 2, 6, 6]), Some(0))], |x| {
        aten::avg_pool2d!(&x[0], [2, 2], padding = [1, 1])
    });
    check_against_loop([(&varied_tensor(&[2, 6, 3, 6]), Some(2))], |x| aten::adaptive_avg_pool2d(&x[0], &[3, 2]));
}

#[test]
fn mapped_losses_equal_a_loop() {
    let classes = Tensor::from([[0_i64, 4], [3, 3], [1, 2]]);
    check_against_loop([(&varied_tensor(&[3, 2, 5]), Some(0)), (&classes, Some(0))], |x| {
        aten::cross_entropy_loss!(&x[0], &x[1])
    });
    check_against_loop([(&varied_tensor(&[3, 2]), Some(0)), (&varied_tensor(&[2]), None)], |x| {
        aten::mse_loss!(&x[0], &x[1])
    });
    check_against_loop([(&varied_tensor(&[3, 2]), Some(0)), (&varied_tensor(&[3, 2]), Some(0))], |x| {
        aten::binary_cross_entropy_with_logits!(&x[0], &x[1].sigmoid()?)
    });
}

#[test]
fn an_ensemble_of_models_is_mapped() {
    let (first, second) = (varied_tensor(&[3, 4, 5]), varied_tensor(&[3, 5, 2]));
    let model = |first: &Tensor, second: &Tensor, x: &Tensor| x.mm(first)?.tanh()?.mm(second)?.softmax(-1);
    let x = varied_tensor(&[6, 4]);
    let found = vmap(|(first, second)| model(first, second, &x), (&first, &second)).unwrap();
    for i in 0..3 {
        let alone = model(&first.select(0, i).unwrap(), &second.select(0, i).unwrap(), &x).unwrap();
        assert_close(&found.select(0, i).unwrap(), &alone);
    }
}

#[test]
fn a_recurrent_network_is_mapped_over_sequences() {
    check_against_loop(
        [(&varied_tensor(&[3, 5, 2]), Some(0)), (&varied_tensor(&[2, 4]), None), (&varied_tensor(&[4, 4]), None)],
        |x| {
            let mut state = Tensor::zeros(4, DType::F64)?;
            for step in x[0].unbind(0)? {
                state = (step.matmul(&x[1])? + state.matmul(&x[2])?)?.tanh()?;
            }
            Ok(state)
        },
    );
}
