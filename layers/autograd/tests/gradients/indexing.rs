//! Tests of gradients of views, gather and scatter operators that PyTorch's recordings do not cover.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn into_leaf(tensor: Tensor) -> Tensor {
    tensor.requires_grad_(true).unwrap()
}

/// Returns a tensor of irregular values.
fn irregular_tensor(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let numbers = Tensor::arange(1..count + 1, DType::F64).unwrap();
    (numbers * 0.7).unwrap().sin().unwrap().reshape(sizes).unwrap()
}

/// Returns the gradients of `outputs` with irregular seed gradients.
fn seeded_gradients(outputs: &[&Tensor], inputs: &[&Tensor]) -> Vec<Option<Tensor>> {
    let seeds: Vec<Tensor> = outputs.iter().map(|output| irregular_tensor(output.sizes())).collect();
    let seeds: Vec<&Tensor> = seeds.iter().collect();
    Differentiation::of_outputs(outputs).with_seeds(&seeds).retain_graph().allow_unused().grad(inputs).unwrap()
}

fn gradient_elements(output: &Tensor, input: &Tensor) -> Vec<f64> {
    seeded_gradients(&[output], &[input])[0].as_ref().expect("the output depends on the input").to_vec().unwrap()
}

#[test]
fn a_detached_tensor_shares_storage_and_can_be_a_leaf() {
    let x = into_leaf(irregular_tensor(&[3]));
    for tensor in [x.clone(), (&x * &x).unwrap()] {
        let detached = tensor.detach().unwrap();
        assert!(!detached.requires_grad() && !detached.same(&tensor));
        assert!(detached.storage().same(tensor.storage()));
        assert!(tensor.requires_grad());
        let leaf = into_leaf(detached);
        assert_eq!(gradient_elements(&leaf.exp().unwrap(), &leaf).len(), 3);
    }
}

#[test]
fn an_overlapping_strided_view_sums_gradients_of_each_element() {
    let x = into_leaf(irregular_tensor(&[4]));
    let windows = aten::as_strided(&x, &[2, 3], &[1, 1], Some(0)).unwrap();
    let w: Vec<f64> = irregular_tensor(&[6]).to_vec().unwrap();
    assert_eq!(gradient_elements(&windows, &x), [w[0], w[1] + w[3], w[2] + w[4], w[5]]);
}

#[test]
fn a_strided_view_larger_than_its_source_has_a_gradient() {
    let x = into_leaf(irregular_tensor(&[4]));
    let part = x.narrow(0, 2, 1).unwrap();
    let all = aten::as_strided(&part, &[4], &[1], Some(0)).unwrap();
    let w: Vec<f64> = irregular_tensor(&[4]).to_vec().unwrap();
    assert_eq!(gradient_elements(&all, &x), [0.0, 0.0, w[2], 0.0], "only the elements of `part` get a gradient");
}

#[test]
fn a_strided_view_of_an_expanded_tensor_has_a_gradient() {
    let x = into_leaf(irregular_tensor(&[2]));
    let twice = x.expand([2, 2]).unwrap();
    let flat = aten::as_strided(&twice, &[2], &[1], Some(0)).unwrap();
    let w: Vec<f64> = irregular_tensor(&[2]).to_vec().unwrap();
    assert_eq!(gradient_elements(&flat, &x), w, "each of two positions of one element gets half");
}

#[test]
fn unused_parts_of_a_split_get_gradient_zero() {
    let x = into_leaf(irregular_tensor(&[5]));
    let w: Vec<f64> = irregular_tensor(&[2]).to_vec().unwrap();
    let parts = x.split(2, 0).unwrap();
    assert_eq!(gradient_elements(&parts[1], &x), [0.0, 0.0, w[0], w[1], 0.0]);
    let parts = x.split_sizes([1, 2, 2], 0).unwrap();
    assert_eq!(gradient_elements(&parts[1], &x), [0.0, w[0], w[1], 0.0, 0.0]);
    let parts = x.unbind(0).unwrap();
    assert_eq!(gradient_elements(&parts[3], &x), [0.0, 0.0, 0.0, w[0], 0.0]);
}

#[test]
fn concatenated_tensors_get_their_parts_of_the_gradient() {
    let (x, y) = (into_leaf(irregular_tensor(&[2])), into_leaf(irregular_tensor(&[3])));
    let squares = (&x * &x).unwrap();
    let nothing = Tensor::zeros(0, DType::F64).unwrap();
    let all = aten::cat(&[squares.clone(), nothing, y.clone()], 0).unwrap();
    squares.mul_(2).unwrap();
    let gradients = seeded_gradients(&[&all], &[&x, &y]);
    let w: Vec<f64> = irregular_tensor(&[5]).to_vec().unwrap();
    let values: Vec<f64> = x.to_vec().unwrap();
    let of_x: Vec<f64> = gradients[0].as_ref().unwrap().to_vec().unwrap();
    assert_eq!(of_x, [2.0 * values[0] * w[0], 2.0 * values[1] * w[1]]);
    assert_eq!(gradients[1].as_ref().unwrap().to_vec::<f64>().unwrap(), w[2..]);
}

#[test]
fn elements_that_were_not_scattered_get_gradient_zero() {
    let x = into_leaf(irregular_tensor(&[3]));
    let source = into_leaf(irregular_tensor(&[4]));
    let index = Tensor::from_slice(&[2_i64, 0]);
    let w: Vec<f64> = irregular_tensor(&[3]).to_vec().unwrap();
    let scattered = x.scatter(0, &index, &source).unwrap();
    assert_eq!(gradient_elements(&scattered, &source), [w[2], w[0], 0.0, 0.0]);
    assert_eq!(gradient_elements(&scattered, &x), [0.0, w[1], 0.0]);
    let added = x.scatter_add(0, &index, &source).unwrap();
    assert_eq!(gradient_elements(&added, &source), [w[2], w[0], 0.0, 0.0]);
    assert_eq!(gradient_elements(&added, &x), w);
}

#[test]
fn scatter_reduce_has_gradients() {
    let (x, source) = (into_leaf(irregular_tensor(&[2])), into_leaf(irregular_tensor(&[3])));
    let index = Tensor::from_slice(&[0_i64, 0, 1]);
    let product = aten::scatter_reduce(&x, 0, &index, &source, "multiply").unwrap();
    let (a, b): (Vec<f64>, Vec<f64>) = (x.to_vec().unwrap(), source.to_vec().unwrap());
    let w: Vec<f64> = irregular_tensor(&[2]).to_vec().unwrap();
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} instead of {expected:?}");
    };
    near(gradient_elements(&product, &x), &[w[0] * b[0] * b[1], w[1] * b[2]]);
    near(gradient_elements(&product, &source), &[w[0] * a[0] * b[1], w[0] * a[0] * b[0], w[1] * a[1]]);
    let sum = aten::scatter_reduce(&x, 0, &index, &source, "add").unwrap();
    near(gradient_elements(&sum, &source), &[w[0], w[0], w[1]]);
    let scaled = aten::scatter_value_reduce(&x, 0, &index, 3.0.into(), "multiply").unwrap();
    near(gradient_elements(&scaled, &x), &[9.0 * w[0], 3.0 * w[1]]);
}

#[test]
fn a_scatter_product_with_one_zero_has_a_gradient() {
    let x = into_leaf(Tensor::from([2.0, 0.0]));
    let source = into_leaf(Tensor::from([0.0, 3.0, 5.0]));
    let index = Tensor::from_slice(&[0_i64, 0, 1]);
    let product = aten::scatter_reduce_two(&x, 0, &index, &source, "prod", true).unwrap();
    let w: Vec<f64> = irregular_tensor(&[2]).to_vec().unwrap();
    assert_eq!(gradient_elements(&product, &source), [w[0] * 6.0, 0.0, 0.0]);
    assert_eq!(gradient_elements(&product, &x), [0.0, w[1] * 5.0]);
}

#[test]
fn an_index_that_is_filled_twice_counts_once_in_the_gradient() {
    let (x, value) = (into_leaf(irregular_tensor(&[3])), into_leaf(Tensor::from(1.5)));
    let index = Tensor::from_slice(&[1_i64, 1]);
    let filled = aten::index_fill_int_tensor(&x, 0, &index, &value).unwrap();
    let w: Vec<f64> = irregular_tensor(&[3]).to_vec().unwrap();
    assert_eq!(gradient_elements(&filled, &value), [w[1]]);
    assert_eq!(gradient_elements(&filled, &x), [w[0], 0.0, w[2]]);
}

#[test]
fn the_gradient_of_chunk_cat_ignores_the_padding() {
    let (x, y) = (into_leaf(irregular_tensor(&[3, 2])), into_leaf(irregular_tensor(&[5])));
    let joined = aten::_chunk_cat(&[x.clone(), y.clone()], 0, 2).unwrap();
    assert_eq!(joined.sizes(), [2, 7]);
    let w: Vec<f64> = irregular_tensor(&[14]).to_vec().unwrap();
    assert_eq!(gradient_elements(&joined, &x), [w[0], w[1], w[2], w[3], w[7], w[8]]);
    assert_eq!(gradient_elements(&joined, &y), [w[4], w[5], w[6], w[11], w[12]]);
}

#[test]
fn an_attention_mask_gets_a_gradient() {
    let sizes = [1, 2, 3, 4];
    let (query, mask) = (into_leaf(irregular_tensor(&sizes)), into_leaf(irregular_tensor(&[3, 3])));
    let value = (irregular_tensor(&sizes) * 0.5).unwrap();
    let attend = |mask: &Tensor| {
        aten::scaled_dot_product_attention(&query, &query, &value, Some(mask), 0.0, false, None, false).unwrap()
    };
    assert!(gradient_elements(&attend(&mask), &mask).iter().any(|&gradient| gradient != 0.0));
}
