//! Tests of nested function transforms: Jacobians, per-sample gradients, autocast in vmap.

#![cfg(all(feature = "autocast", feature = "autograd", feature = "vmap", feature = "cpu", feature = "families"))]

use opdispatch::autocast;
use opdispatch::autograd::functional::grad;
use opdispatch::autograd::{Differentiable, GradientError};
use opdispatch::jacobian::{JacobianError, hessian, jacrev};
use opdispatch::prelude::*;
use opdispatch::vmap::{Vmap, vmap};

fn sample_tensor(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let numbers: Vec<f64> =
        (0..count).map(|i| f64::from(i32::try_from((i * 7 + 3) % 11).unwrap()) / 4.0 - 1.2).collect();
    Tensor::from_slice(&numbers).reshape(sizes).unwrap()
}

fn to_f64_vec(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64) {
    assert_eq!(found.sizes(), expected.sizes());
    for (a, b) in to_f64_vec(found).into_iter().zip(to_f64_vec(expected)) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{found} and not {expected}");
    }
}

/// Returns the Jacobian by central differences, with two calls for each element of the input.
fn jacobian_by_central_differences(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) -> Tensor {
    const STEP: f64 = 1e-5;
    let count = to_f64_vec(x).len();
    let columns = (0..count).map(|i| {
        let moved = |by: f64| {
            let mut all = to_f64_vec(x);
            all[i] += by;
            f(&Tensor::from_slice(&all).reshape(x.sizes()).unwrap()).unwrap()
        };
        ((moved(STEP) - moved(-STEP)).unwrap() / (2.0 * STEP)).unwrap()
    });
    let columns = aten::stack(&columns.collect::<Vec<_>>(), -1).unwrap();
    let sizes = [&columns.sizes()[..columns.sizes().len() - 1], x.sizes()].concat();
    columns.reshape(&sizes).unwrap()
}

fn assert_jacobian_equals_central_differences(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) {
    assert_close(&jacrev(&f, x).unwrap(), &jacobian_by_central_differences(&f, x), 1e-6);
}

#[test]
fn jacobian_of_an_elementwise_function_is_diagonal() {
    let x = sample_tensor(&[4]);
    assert_close(&jacrev(Tensor::sin, &x).unwrap(), &x.cos().unwrap().diag(0).unwrap(), 1e-12);
    let tanh = x.tanh().unwrap();
    let slope = (Tensor::ones(4, DType::F64).unwrap() - (&tanh * &tanh).unwrap()).unwrap();
    assert_close(&jacrev(Tensor::tanh, &x).unwrap(), &slope.diag(0).unwrap(), 1e-12);
}

#[test]
fn jacobian_of_a_matrix_product_is_the_matrix() {
    let (matrix, x) = (sample_tensor(&[3, 4]), sample_tensor(&[4]));
    assert_close(&jacrev(|x| matrix.mv(x), &x).unwrap(), &matrix, 1e-12);
}

#[test]
fn jacobian_of_softmax_matches_its_formula() {
    let x = sample_tensor(&[5]);
    let p = x.softmax(0).unwrap();
    let expected = (p.diag(0).unwrap() - p.outer(&p).unwrap()).unwrap();
    assert_close(&jacrev(|x| x.softmax(0), &x).unwrap(), &expected, 1e-12);
}

#[test]
fn jacobians_match_central_differences() {
    assert_jacobian_equals_central_differences(|x| x.exp()?.cumsum(0), &sample_tensor(&[2, 3]));
    assert_jacobian_equals_central_differences(|x| x.mm(&x.t()?), &sample_tensor(&[2, 3]));
    assert_jacobian_equals_central_differences(
        |x| aten::conv2d!(x, &sample_tensor(&[2, 1, 2, 2])),
        &sample_tensor(&[1, 3, 3]),
    );
    assert_jacobian_equals_central_differences(|x| x.log_softmax(-1)?.select(0, 1), &sample_tensor(&[2, 3]));
    assert_jacobian_equals_central_differences(|x| aten::layer_norm!(x, [3]), &sample_tensor(&[2, 3]));
    assert_jacobian_equals_central_differences(|x| x.i([2_i64, 0, 0])? * x.i([1_i64, 1, 0])?, &sample_tensor(&[3, 2]));
    assert_jacobian_equals_central_differences(|x| aten::cat(&[x.sigmoid()?, x.square()?], 0), &sample_tensor(&[3]));
    assert_jacobian_equals_central_differences(|x| Ok(aten::sort(x, 0, false)?.0), &sample_tensor(&[5]));
    assert_jacobian_equals_central_differences(|x| aten::avg_pool2d!(x, [2, 2]), &sample_tensor(&[1, 4, 4]));
}

#[test]
fn tensors_without_dimensions_have_jacobians() {
    let x = Tensor::from(2.0);
    let found = jacrev(|x| x * x, &x).unwrap();
    assert_eq!((found.sizes(), to_f64_vec(&found)), (&[][..], vec![4.0]));
    assert_eq!(jacrev(|x| x * &sample_tensor(&[3]), &x).unwrap().sizes(), [3]);
    assert_eq!(jacrev(Tensor::sum, &sample_tensor(&[2, 3])).unwrap().sizes(), [2, 3]);
}

#[test]
fn jacobians_of_every_result_with_respect_to_every_input() {
    let (x, y) = (sample_tensor(&[2]), sample_tensor(&[3]));
    let found = jacrev(|[x, y]| Ok(vec![x.outer(y)?, y.exp()?]), [&x, &y]).unwrap();
    let by_x = jacobian_by_central_differences(|x| x.outer(&y), &x);
    let by_y = jacobian_by_central_differences(|y| x.outer(y), &y);
    assert_close(&found[0][0], &by_x, 1e-6);
    assert_close(&found[0][1], &by_y, 1e-6);
    assert_eq!((found[1][0].sizes(), to_f64_vec(&found[1][0])), (&[3_i64, 2][..], vec![0.0; 6]));
    assert_close(&found[1][1], &y.exp().unwrap().diag(0).unwrap(), 1e-12);
}

#[test]
fn jacobian_of_a_jacobian_is_the_hessian() {
    let x = sample_tensor(&[3]);
    let f = |x: &Tensor| (x.tanh()? * x.square()?)?.sum()? * x.sum()?;
    let by_jacobians = jacrev(|x| jacrev(f, x), &x).unwrap();
    assert_close(&hessian(f, &x).unwrap(), &by_jacobians, 1e-12);
    assert_close(&by_jacobians, &jacobian_by_central_differences(|x| jacrev(f, x), &x), 1e-6);
    assert_close(&by_jacobians, &by_jacobians.t().unwrap().contiguous().unwrap(), 1e-9);
    let matrix = sample_tensor(&[3, 3]);
    let quadratic = |x: &Tensor| x.dot(&matrix.mv(x)?);
    assert_close(&hessian(quadratic, &x).unwrap(), &(&matrix + matrix.t().unwrap()).unwrap(), 1e-12);
}

/// The parameters of a line.
#[derive(TensorTree)]
struct Line {
    slope: Tensor,
    offset: Tensor,
}

fn line() -> Line {
    Line { slope: Tensor::from([2.0, -1.0]), offset: Tensor::from(0.5) }
}

impl Line {
    fn at(&self, x: &Tensor) -> Result<Tensor> {
        expr!(x * self.slope + self.offset * self.offset)
    }
}

#[test]
fn hessian_of_a_pair_is_a_pair_of_pairs() {
    let (x, y) = (sample_tensor(&[2]), sample_tensor(&[3]));
    let f = |(x, y): &(Tensor, Tensor)| expr!(x.square()?.sum() * y.exp()?.sum());
    let ((xx, xy), (yx, yy)) = hessian(f, (&x, &y)).unwrap();
    let (squares, exponentials) = (x.square().unwrap().sum().unwrap(), y.exp().unwrap().sum().unwrap());
    assert_close(&xx, &expr!(Tensor::eye(2, DType::F64) * 2.0 * exponentials).unwrap(), 1e-12);
    assert_close(&xy, &expr!(x * 2.0).unwrap().outer(&y.exp().unwrap()).unwrap(), 1e-12);
    assert_close(&yx, &xy.t().unwrap().contiguous().unwrap(), 1e-12);
    assert_close(&yy, &expr!(y.exp()?.diag(0) * squares).unwrap(), 1e-12);
}

#[test]
fn derivatives_of_structs_have_the_paths_of_their_tensors() {
    // f = (x slope + offset^2)^2 for each element: the second derivatives are those of the square.
    let x = Tensor::from([3.0, 5.0]);
    let second = hessian(|line: &Line| line.at(&x)?.square()?.sum(), &line()).unwrap();
    assert_eq!(second.iter().map(|(path, _)| path).collect::<Vec<_>>(), ["slope", "offset"]);
    let (by_slope, by_offset) = (second.get("slope").unwrap(), second.get("offset").unwrap());
    assert_eq!(to_f64_vec(&by_slope.slope), [18.0, 0.0, 0.0, 50.0]);
    assert_eq!(to_f64_vec(&by_slope.offset), [6.0, 10.0]);
    assert_eq!(to_f64_vec(&by_offset.slope), [6.0, 10.0]);
    // 2 sum(r) 2 + (2 offset)^2 2 for each element, with r = (6.25, -4.75).
    assert_eq!(to_f64_vec(&by_offset.offset), [2.0 * 2.0 * 1.5 + 2.0 * 2.0]);

    let rows = jacrev(|line: &Line| line.at(&x), &line()).unwrap();
    assert_eq!(to_f64_vec(&rows.slope), [3.0, 0.0, 0.0, 5.0]);
    assert_eq!(to_f64_vec(&rows.offset), [1.0, 1.0]);
    let moved = |line: &Line| Ok(Line { slope: expr!(line.slope * line.offset)?, offset: line.offset.clone() });
    let each = jacrev(moved, &line()).unwrap();
    assert_eq!(to_f64_vec(&each.get("slope").unwrap().offset), [2.0, -1.0]);
    assert_eq!(to_f64_vec(&each.get("offset").unwrap().slope), [0.0, 0.0]);
}

#[test]
fn transforms_of_structs_nest() {
    let (x, line) = (sample_tensor(&[4, 2]), line());
    let by_slope = |x: &Tensor| {
        let second = hessian(|line: &Line| line.at(x)?.square()?.sum(), &line)?;
        Ok(second.get("slope").map(|by| by.slope.clone()))
    };
    let hessians = vmap(by_slope, &x).unwrap().unwrap();
    for i in 0..4 {
        let row = x.i(i).unwrap();
        let expected = expr!(row.square()?.diag(0) * 2.0).unwrap();
        assert_close(&hessians.i(i).unwrap(), &expected, 1e-12);
    }
    // The Jacobian through a map is that of the batch.
    let through = jacrev(|line: &Line| vmap(|x| line.at(x), &x), &line).unwrap();
    let direct = jacrev(|line: &Line| line.at(&x), &line).unwrap();
    assert_close(&through.slope, &direct.slope, 1e-12);
    assert_close(&through.offset, &direct.offset, 1e-12);
}

#[test]
fn complex_tensors_of_a_tree_are_named_by_their_path() {
    let (x, z) = (sample_tensor(&[3]), aten::complex(&sample_tensor(&[3]), &sample_tensor(&[3])).unwrap());
    let error = jacrev(|(x, _): &(Tensor, Vec<Tensor>)| Ok(x.clone()), (&x, vec![&x, &z])).unwrap_err();
    let expected = JacobianError::Complex { path: "inputs.1[1]".into(), dtype: DType::C128 };
    assert_eq!(find_source_of_type::<JacobianError>(&error), Some(&expected));
}

#[test]
fn three_nested_jacobians_are_the_third_derivative() {
    let x = sample_tensor(&[2]);
    let cubes = |x: &Tensor| ((x * x)? * x)?.sum();
    let third = jacrev(|x| jacrev(|x| jacrev(cubes, x), x), &x).unwrap();
    assert_eq!(third.sizes(), [2, 2, 2]);
    assert_eq!(to_f64_vec(&third), [6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
}

#[test]
fn vmap_of_a_jacobian_matches_a_loop() {
    let (matrix, x) = (sample_tensor(&[3, 4]), sample_tensor(&[5, 4]));
    let f = |x: &Tensor| matrix.mv(x)?.tanh();
    let each = vmap(|x| jacrev(f, x), &x).unwrap();
    for i in 0..5 {
        assert_close(&each.i(i).unwrap(), &jacrev(f, &x.i(i).unwrap()).unwrap(), 1e-12);
    }
    let hessians = vmap(|x| jacrev(|x| jacrev(|x| f(x)?.sum(), x), x), &x).unwrap();
    for i in 0..5 {
        let alone = jacrev(|x| jacrev(|x| f(x)?.sum(), x), &x.i(i).unwrap()).unwrap();
        assert_close(&hessians.i(i).unwrap(), &alone, 1e-12);
    }
}

#[test]
fn jacobian_of_a_vmap_is_block_diagonal() {
    let x = sample_tensor(&[3, 2]);
    let found = jacrev(|x| vmap(|row| row.softmax(0), x), &x).unwrap();
    assert_close(&found, &jacobian_by_central_differences(|x| x.softmax(1), &x), 1e-6);
}

#[test]
fn jacobian_is_differentiable() {
    let x = sample_tensor(&[3]);
    let trace = |x: &Tensor| jacrev(Tensor::sin, x)?.trace();
    assert_close(&grad(trace, &x).unwrap(), &(-x.sin().unwrap()).unwrap(), 1e-12);
    let w = x.requires_grad_(true).unwrap();
    trace(&w).unwrap().backward().unwrap();
    assert_close(&w.grad().unwrap(), &(-w.detach().unwrap().sin().unwrap()).unwrap(), 1e-12);
}

#[test]
fn constant_function_has_a_jacobian_of_zeros() {
    let found = jacrev(|_| Ok(sample_tensor(&[2])), &sample_tensor(&[3])).unwrap();
    assert_eq!((found.sizes(), to_f64_vec(&found)), (&[2_i64, 3][..], vec![0.0; 6]));
}

#[test]
fn result_without_elements_has_a_jacobian_without_rows() {
    let found = jacrev(|x| x.narrow(0, 0, 0), &sample_tensor(&[3])).unwrap();
    assert_eq!(found.sizes(), [0, 3]);
}

#[test]
fn jacobian_has_the_dtype_of_the_input() {
    let x = sample_tensor(&[3]).to(DType::F32).unwrap();
    assert_eq!(jacrev(Tensor::exp, &x).unwrap().dtype(), DType::F32);
    assert_eq!(jacrev(|x| x.to(DType::F64), &x).unwrap().dtype(), DType::F32);
}

#[test]
fn complex_numbers_and_integers_have_no_jacobian() {
    let x = sample_tensor(&[3]);
    let error = jacrev(|x| aten::complex(x, x), &x).unwrap_err();
    let expected = JacobianError::Complex { path: "results".into(), dtype: DType::C128 };
    assert_eq!(find_source_of_type::<JacobianError>(&error), Some(&expected));
    assert!(error.to_string().contains("view_as_real"), "{error}");
    let error = jacrev(|x| x * 2, &Tensor::from([1_i64, 2])).unwrap_err();
    assert_eq!(
        find_source_of_type::<GradientError>(&error),
        Some(&GradientError::NotDifferentiableInput { path: "inputs".into(), dtype: DType::I64 })
    );
}

#[test]
fn error_of_the_function_is_returned() {
    let error = jacrev(|x| x.reshape(17), &sample_tensor(&[3])).unwrap_err();
    assert!(error.to_string().contains("17"), "{error}");
    assert_eq!(to_f64_vec(&jacrev(Tensor::sum, &sample_tensor(&[2])).unwrap()), [1.0, 1.0]);
}

fn find_source_of_type<E: std::error::Error + 'static>(error: &Error) -> Option<&E> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        source = error.source();
    }
    None
}

#[test]
fn per_sample_gradients_match_a_loop() {
    let (x, w) = (sample_tensor(&[6, 4]), sample_tensor(&[3, 4]));
    let classes = Tensor::from([0_i64, 2, 1, 1, 0, 2]);
    let loss = |w: &Tensor, x: &Tensor, class: &Tensor| {
        let scores = aten::layer_norm!(&aten::linear(x, w, None)?, [3])?.relu()?;
        aten::cross_entropy_loss!(&scores, class)
    };
    let each = vmap(|(x, class)| grad(|w| loss(w, x, class), &w), (&x, &classes)).unwrap();
    for i in 0..6 {
        let alone = grad(|w| loss(w, &x.i(i).unwrap(), &classes.i(i).unwrap()), &w).unwrap();
        assert_close(&each.i(i).unwrap(), &alone, 1e-12);
    }
}

#[test]
fn autocast_applies_inside_vmap() {
    let (x, w) = (sample_tensor(&[5, 2, 4]).to(DType::F32).unwrap(), sample_tensor(&[4, 3]).to(DType::F32).unwrap());
    let _on = autocast::enable(Device::CPU, None).unwrap();
    let found = vmap(|x| x.mm(&w), &x).unwrap();
    assert_eq!((found.dtype(), found.sizes()), (DType::BF16, &[5_i64, 2, 3][..]));
    let looped: Vec<Tensor> = (0..5).map(|i| x.i(i).unwrap().mm(&w).unwrap()).collect();
    assert_eq!(found.to_vec::<bf16>().unwrap(), aten::stack(&looped, 0).unwrap().to_vec::<bf16>().unwrap());
}

#[test]
fn autocast_enabled_in_a_mapped_function_ends_with_it() {
    let x = sample_tensor(&[5, 2, 4]).to(DType::F32).unwrap();
    let f = |x: &Tensor| {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&x.t()?)
    };
    assert_eq!(Vmap::new().chunk_size(2).call(f, &x).unwrap().dtype(), DType::BF16);
    assert_eq!(vmap(|x| x.mm(&x.t()?), &x).unwrap().dtype(), DType::F32);
}
