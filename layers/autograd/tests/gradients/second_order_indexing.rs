//! Tests that compare second-order gradients of views, gather and scatter operators with finite differences.

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

/// Checks the gradient of the sum of squared gradients against finite differences.
fn assert_second_derivatives(inputs: &[&Tensor], f: impl Fn(&[&Tensor]) -> Result<Tensor>) {
    let squares = |inputs: &[&Tensor]| -> Result<Tensor> {
        let output = f(inputs)?;
        let seed = irregular_tensor(output.sizes());
        let seeds = [&seed];
        let outputs = [&output];
        let gradients = Differentiation::of_outputs(&outputs).with_seeds(&seeds).create_graph().grad(inputs)?;
        let sums = gradients.iter().flatten().map(|gradient| (gradient * gradient)?.sum());
        sums.reduce(|a, b| a? + b?).expect("there is an input")
    };
    let leaves: Vec<Tensor> = inputs.iter().map(|input| into_leaf(input.detach().unwrap())).collect();
    let all: Vec<&Tensor> = leaves.iter().collect();
    let found = Differentiation::of_outputs(&[&squares(&all).unwrap()]).allow_unused().grad(&all).unwrap();
    for (which, input) in inputs.iter().enumerate() {
        let values: Vec<f64> = input.to_vec().unwrap();
        let found = found[which].as_ref().map_or_else(|| vec![0.0; values.len()], |found| found.to_vec().unwrap());
        for at in 0..values.len() {
            let moved = |step: f64| {
                let mut values = values.clone();
                values[at] += step;
                let moved = into_leaf(Tensor::from_slice(&values).reshape(input.sizes()).unwrap());
                let mut all = all.clone();
                all[which] = &moved;
                squares(&all).unwrap().item::<f64>().unwrap()
            };
            let expected = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            let near = (found[at] - expected).abs() <= 1e-5 * expected.abs().max(1.0);
            assert!(near, "input {which}, element {at}: {} instead of {expected}", found[at]);
        }
    }
}

#[test]
fn convolutions_have_second_gradients() {
    let (image, bias) = (irregular_tensor(&[1, 4, 4, 3]), irregular_tensor(&[4]));
    assert_second_derivatives(&[&image, &irregular_tensor(&[4, 2, 2, 2]), &bias], |inputs| {
        aten::convolution(inputs[0], inputs[1], Some(inputs[2]), &[2, 1], &[1, 0], &[1, 2], false, &[0], 2)
    });
    assert_second_derivatives(&[&image, &irregular_tensor(&[4, 1, 2, 2]), &irregular_tensor(&[2])], |inputs| {
        aten::convolution(inputs[0], inputs[1], Some(inputs[2]), &[2, 1], &[1, 0], &[1], true, &[1, 0], 2)
    });
}

#[test]
fn scale_grad_by_freq_has_second_gradients() {
    let index = Tensor::from_slice(&[1_i64, 0, 1, 2]);
    assert_second_derivatives(&[&irregular_tensor(&[4, 2])], |inputs| {
        let rows = aten::embedding_dense_backward(inputs[0], &index, 3, 2, true)?;
        &rows * &rows
    });
}

#[test]
fn renorm_has_second_gradients() {
    for p in [1.5, 2.0, 3.0] {
        assert_second_derivatives(&[&irregular_tensor(&[2, 3])], |inputs| {
            aten::renorm(inputs[0], p.into(), 0, 0.8.into())
        });
    }
}

/// An operator, and the sizes of its inputs. Each is differentiated twice.
type Example = (&'static str, &'static [&'static [i64]], fn(&[&Tensor]) -> Result<Tensor>);

fn assert_second_derivatives_of_all(examples: &[Example]) {
    for (name, sizes, f) in examples {
        println!("{name}");
        let inputs: Vec<Tensor> = sizes.iter().map(|sizes| (irregular_tensor(sizes) + 0.2).unwrap()).collect();
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        // The result is squared, so that its gradient depends on the inputs.
        assert_second_derivatives(&inputs, |inputs| f(inputs)?.square());
    }
}

fn index_tensor() -> Tensor {
    Tensor::from([[2_i64, 0, 1], [1, 1, 0]])
}

fn mask_tensor() -> Tensor {
    Tensor::from([[true, false, true], [false, true, true]])
}

#[test]
fn views_and_splits_have_second_gradients() {
    assert_second_derivatives_of_all(&[
        ("view", &[&[2, 3]], |x| x[0].view([3, 2])),
        ("expand", &[&[3]], |x| x[0].expand([2, 3])),
        ("permute", &[&[2, 3, 2]], |x| x[0].permute([2, 0, -2])),
        ("transpose", &[&[2, 3]], |x| x[0].transpose(0, -1)),
        ("squeeze", &[&[2, 1, 3]], |x| x[0].squeeze()),
        ("unsqueeze", &[&[2, 3]], |x| x[0].unsqueeze(1)),
        ("as_strided", &[&[5]], |x| aten::as_strided(x[0], &[2, 3], &[2, 1], None)),
        ("select", &[&[2, 3]], |x| x[0].select(1, -1)),
        ("slice", &[&[2, 5]], |x| aten::slice(x[0], 1, Some(-4), None, 2)),
        ("diagonal", &[&[3, 4]], |x| aten::diagonal(x[0], 1, 0, 1)),
        ("unfold", &[&[2, 5]], |x| x[0].unfold(1, 3, 1)),
        ("unbind", &[&[2, 3]], |x| &x[0].unbind(0)?[1] * &x[0].unbind(0)?[0]),
        ("split", &[&[2, 5]], |x| Ok(x[0].split(2, 1)?.swap_remove(1))),
        ("split_with_sizes", &[&[2, 5]], |x| Ok(x[0].split_sizes([1, 3, 1], 1)?.swap_remove(1))),
        ("cat", &[&[2, 2], &[2, 1]], |x| aten::cat(&[x[0].clone(), x[1].clone()], -1)),
        ("repeat", &[&[2, 3]], |x| x[0].repeat([2, 1, 2])),
        ("flip", &[&[2, 3]], |x| x[0].flip(1)),
        ("roll", &[&[2, 3]], |x| aten::roll(x[0], &[1], &[1])),
        ("tril", &[&[3, 3]], |x| aten::tril(x[0], -1)),
        ("triu", &[&[3, 3]], |x| aten::triu(x[0], 1)),
        ("diag_embed", &[&[2, 2]], |x| aten::diag_embed(x[0], 1, 0, 2)),
        ("block_diag", &[&[2], &[2, 1]], |x| aten::block_diag(&[x[0].clone(), x[1].clone()])),
        ("pixel_shuffle", &[&[1, 4, 2, 1]], |x| x[0].pixel_shuffle(2)),
        ("channel_shuffle", &[&[1, 6, 2]], |x| x[0].channel_shuffle(2)),
        ("constant_pad_nd", &[&[2, 3]], |x| aten::constant_pad_nd(x[0], &[1, -1, 0, 2], 0.5.into())),
        ("reflection_pad1d", &[&[2, 4]], |x| aten::reflection_pad1d(x[0], &[2, 1])),
        ("replication_pad2d", &[&[1, 2, 3]], |x| aten::replication_pad2d(x[0], &[2, 1, 0, 1])),
    ]);
}

#[test]
fn indexing_operators_have_second_gradients() {
    assert_second_derivatives_of_all(&[
        ("gather", &[&[2, 3]], |x| x[0].gather(1, &index_tensor())),
        ("take", &[&[2, 3]], |x| x[0].take(&index_tensor())),
        ("put", &[&[2, 3], &[2]], |x| aten::put(x[0], &Tensor::from([4_i64, 1]), x[1], false)),
        ("put, added", &[&[2, 3], &[2]], |x| aten::put(x[0], &Tensor::from([4_i64, 4]), x[1], true)),
        ("index_select", &[&[2, 3]], |x| x[0].index_select(1, &Tensor::from([2_i64, 0, 2]))),
        ("index", &[&[2, 3]], |x| aten::index(x[0], &[None, Some(Tensor::from([2_i64, 2]))])),
        ("index by a mask", &[&[2, 3]], |x| aten::index(x[0], &[Some(mask_tensor())])),
        ("index_put", &[&[2, 3], &[2]], |x| {
            aten::index_put(x[0], &[None, Some(Tensor::from([2_i64, 0]))], x[1], false)
        }),
        ("index_put, added", &[&[2, 3], &[1]], |x| {
            aten::index_put(x[0], &[None, Some(Tensor::from([2_i64, 2]))], x[1], true)
        }),
        ("index_copy", &[&[2, 3], &[2, 2]], |x| x[0].index_copy(1, &Tensor::from([2_i64, 0]), x[1])),
        ("index_add", &[&[2, 3], &[2, 2]], |x| aten::index_add(x[0], 1, &Tensor::from([2_i64, 2]), x[1], 1.5.into())),
        ("index_fill", &[&[2, 3], &[]], |x| aten::index_fill_int_tensor(x[0], 1, &Tensor::from([2_i64, 0]), x[1])),
        ("masked_select", &[&[2, 3]], |x| x[0].masked_select(&mask_tensor())),
        ("masked_scatter", &[&[2, 3], &[5]], |x| x[0].masked_scatter(&mask_tensor(), x[1])),
        ("scatter", &[&[3, 3], &[2, 3]], |x| x[0].scatter(1, &Tensor::from([[2_i64, 0], [1, 0]]), x[1])),
        ("scatter_add", &[&[2, 3], &[2, 3]], |x| x[0].scatter_add(1, &index_tensor(), x[1])),
        ("select_scatter", &[&[2, 3], &[2]], |x| x[0].select_scatter(x[1], 1, 2)),
        ("slice_scatter", &[&[2, 3], &[2, 2]], |x| aten::slice_scatter(x[0], x[1], 1, None, None, 2)),
        ("diagonal_scatter", &[&[2, 3], &[2]], |x| aten::diagonal_scatter(x[0], x[1], 1, 0, 1)),
        ("scatter_reduce, mean", &[&[2, 3], &[2, 3]], |x| scatter_reduce_with_fixed_index(x, "mean", true)),
        ("scatter_reduce, mean of the source", &[&[2, 3], &[2, 3]], |x| {
            scatter_reduce_with_fixed_index(x, "mean", false)
        }),
        ("scatter_reduce, prod", &[&[2, 3], &[2, 3]], |x| scatter_reduce_with_fixed_index(x, "prod", true)),
        ("scatter_reduce, amax", &[&[2, 3], &[2, 3]], |x| scatter_reduce_with_fixed_index(x, "amax", true)),
        ("index_reduce, prod", &[&[2, 3], &[2, 2]], |x| {
            aten::index_reduce(x[0], 1, &Tensor::from([2_i64, 2]), x[1], "prod", true)
        }),
        ("index_reduce, mean", &[&[2, 3], &[2, 2]], |x| {
            aten::index_reduce(x[0], 1, &Tensor::from([2_i64, 2]), x[1], "mean", false)
        }),
        ("index_reduce, amin", &[&[2, 3], &[2, 2]], |x| {
            aten::index_reduce(x[0], 1, &Tensor::from([2_i64, 2]), x[1], "amin", true)
        }),
    ]);
}

fn scatter_reduce_with_fixed_index(x: &[&Tensor], name: &str, include_self: bool) -> Result<Tensor> {
    aten::scatter_reduce_two(x[0], 1, &index_tensor(), x[1], name, include_self)
}

#[test]
fn image_operators_have_second_gradients() {
    assert_second_derivatives_of_all(&[
        ("im2col", &[&[1, 2, 3, 3]], |x| aten::im2col(x[0], &[2, 2], &[1, 1], &[1, 0], &[1, 2])),
        ("col2im", &[&[1, 4, 4]], |x| aten::col2im(x[0], &[3, 3], &[2, 2], &[1, 1], &[0, 0], &[1, 1])),
        ("max_pool2d", &[&[1, 4, 4]], |x| aten::max_pool2d(x[0], &[2, 2], &[1], &[0], &[1], false)),
        ("max_pool3d", &[&[1, 2, 3, 3]], |x| aten::max_pool3d(x[0], &[2], &[1], &[0], &[1], false)),
        ("avg_pool2d", &[&[1, 4, 4]], |x| aten::avg_pool2d(x[0], &[3, 2], &[2], &[1], true, false, None)),
        ("avg_pool3d", &[&[1, 2, 3, 3]], |x| aten::avg_pool3d(x[0], &[2], &[1], &[0], false, true, Some(3))),
        ("adaptive_avg_pool2d", &[&[1, 4, 3]], |x| x[0].adaptive_avg_pool2d([3, 2])),
        ("adaptive_max_pool2d", &[&[1, 4, 3]], |x| x[0].adaptive_max_pool2d((3, 2))),
        ("upsample_nearest1d", &[&[1, 1, 3]], |x| aten::upsample_nearest1d(x[0], &[5], None)),
        ("upsample_bilinear2d", &[&[1, 1, 2, 3]], |x| aten::upsample_bilinear2d(x[0], &[4, 5], true, None, None)),
        ("upsample_bicubic2d", &[&[1, 1, 2, 3]], |x| aten::upsample_bicubic2d(x[0], &[4, 5], false, None, None)),
        ("_upsample_nearest_exact2d", &[&[1, 1, 2, 3]], |x| aten::_upsample_nearest_exact2d(x[0], &[4, 5], None, None)),
    ]);
}
