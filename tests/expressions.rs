//! Tests of `expr!` on a block of a transformer and on a step of Adam, each beside the same computation with a `?` for every operation.

#![cfg(all(feature = "cpu", feature = "autograd", feature = "families"))]

use std::f64::consts::PI;

use opdispatch::autograd::functional::grad;
use opdispatch::prelude::*;

/// A layer norm, written out.
#[derive(TensorTree)]
struct Norm {
    weight: Tensor,
    bias: Tensor,
    eps: f64,
}

/// A block of GPT: causal attention of several heads, and a network of two linear layers.
#[derive(TensorTree)]
struct Block {
    heads: i64,
    norms: [Norm; 2],
    queries_keys_values: Tensor,
    projection: Tensor,
    up: Tensor,
    down: Tensor,
}

impl Norm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let centered = expr!(x - aten::mean_dim!(x, dim = [-1], keepdim = true))?;
        let variance = aten::mean_dim!(&expr!(centered * centered)?, dim = [-1], keepdim = true)?;
        expr!(centered / expr!(variance + self.eps)?.sqrt() * self.weight + self.bias)
    }
}

fn gelu(x: &Tensor) -> Result<Tensor> {
    let inner = expr!((x + x * x * x * 0.044_715) * (2.0 / PI).sqrt())?;
    expr!(x * 0.5 * (inner.tanh() + 1.0))
}

impl Block {
    fn attention(&self, x: &Tensor) -> Result<Tensor> {
        let &[batch, time, width] = x.sizes() else { return Err("the sizes are batch, time, width".into()) };
        let head_width = width / self.heads;
        let parts =
            aten::linear(x, &self.queries_keys_values, None)?.reshape([batch, time, 3, self.heads, head_width])?;
        let parts = aten::permute(&parts, &[2, 0, 3, 1, 4])?;
        let [q, k, v] = [0, 1, 2].map(|i| aten::select_int(&parts, 0, i));
        let scores = q?.matmul(&aten::transpose_int(&k?, -2, -1)?)?;
        let ones = Tensor::ones([time, time], x)?;
        let future = expr!((aten::tril(&ones, 0) - 1.0) * 1e9)?;
        let weights = aten::softmax_int(&expr!(scores / f64_of(head_width).sqrt() + future)?, -1, None)?;
        let mixed = aten::transpose_int(&weights.matmul(&v?)?, 1, 2)?.reshape([batch, time, width])?;
        aten::linear(&mixed, &self.projection, None)
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = expr!(x + self.attention(&self.norms[0].forward(x)?))?;
        let hidden = gelu(&aten::linear(&self.norms[1].forward(&x)?, &self.up, None)?)?;
        expr!(x + aten::linear(&hidden, &self.down, None))
    }
}

/// The state of Adam for one parameter.
struct Adam {
    rate: f64,
    betas: (f64, f64),
    eps: f64,
    step: i32,
    mean: Tensor,
    square: Tensor,
}

impl Adam {
    /// Returns the parameter after a step.
    fn step(&mut self, parameter: &Tensor, gradient: &Tensor) -> Result<Tensor> {
        self.step += 1;
        let (beta, beta_of_square) = self.betas;
        self.mean = expr!(beta * self.mean + (1.0 - beta) * gradient)?;
        self.square = expr!(beta_of_square * self.square + (1.0 - beta_of_square) * gradient * gradient)?;
        let mean = expr!(self.mean / (1.0 - beta.powi(self.step)))?;
        let square = expr!(self.square / (1.0 - beta_of_square.powi(self.step)))?;
        expr!(parameter - self.rate * mean / (square.sqrt() + self.eps))
    }
}

mod without_macro {
    use super::*;

    pub(super) fn norm(norm: &Norm, x: &Tensor) -> Result<Tensor> {
        let centered = (x - aten::mean_dim!(x, dim = [-1], keepdim = true)?)?;
        let variance = aten::mean_dim!(&(&centered * &centered)?, dim = [-1], keepdim = true)?;
        ((centered / (variance + norm.eps)?.sqrt()?)? * &norm.weight)? + &norm.bias
    }

    pub(super) fn gelu(x: &Tensor) -> Result<Tensor> {
        let inner = ((x + (((x * x)? * x)? * 0.044_715)?)? * (2.0 / PI).sqrt())?;
        (x * 0.5)? * (inner.tanh()? + 1.0)?
    }

    pub(super) fn step(adam: &mut Adam, parameter: &Tensor, gradient: &Tensor) -> Result<Tensor> {
        adam.step += 1;
        let (beta, beta_of_square) = adam.betas;
        adam.mean = ((beta * &adam.mean)? + ((1.0 - beta) * gradient)?)?;
        adam.square = ((beta_of_square * &adam.square)? + (((1.0 - beta_of_square) * gradient)? * gradient)?)?;
        let mean = (&adam.mean / (1.0 - beta.powi(adam.step)))?;
        let square = (&adam.square / (1.0 - beta_of_square.powi(adam.step)))?;
        parameter - ((adam.rate * mean)? / (square.sqrt()? + adam.eps)?)?
    }
}

fn f64_of(size: i64) -> f64 {
    f64::from(i32::try_from(size).unwrap())
}

fn wave(sizes: &[i64], frequency: f64) -> Tensor {
    let count = i32::try_from(sizes.iter().product::<i64>()).unwrap();
    let numbers: Vec<f64> = (0..count).map(|i| (f64::from(i) * frequency).sin()).collect();
    Tensor::from_vec(numbers, sizes).unwrap()
}

fn block() -> Block {
    let norm = |frequency| Norm { weight: wave(&[8], frequency), bias: wave(&[8], frequency + 1.0), eps: 1e-5 };
    Block {
        heads: 2,
        norms: [norm(0.3), norm(0.7)],
        queries_keys_values: wave(&[24, 8], 1.1),
        projection: wave(&[8, 8], 1.3),
        up: wave(&[32, 8], 1.7),
        down: wave(&[8, 32], 1.9),
    }
}

fn elements(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn assert_close(found: &Tensor, expected: &Tensor) {
    assert_eq!(found.sizes(), expected.sizes());
    let close = elements(found).iter().zip(elements(expected)).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs()));
    assert!(close, "{found} is not {expected}");
}

#[test]
fn a_transformer_block_equals_pytorchs_operators() {
    let (block, x) = (block(), wave(&[2, 3, 8], 0.9));
    let [first, second] = &block.norms;
    let norm = |norm: &Norm, x: &Tensor| aten::layer_norm!(x, [8], weight = &norm.weight, bias = &norm.bias);
    let parts = aten::linear(&norm(first, &x).unwrap(), &block.queries_keys_values, None).unwrap();
    let parts = aten::permute(&parts.reshape([2, 3, 3, 2, 4]).unwrap(), &[2, 0, 3, 1, 4]).unwrap();
    let [q, k, v] = [0, 1, 2].map(|i| aten::select_int(&parts, 0, i).unwrap());
    let mixed = aten::scaled_dot_product_attention!(&q, &k, &v, is_causal = true).unwrap();
    let mixed = aten::transpose_int(&mixed, 1, 2).unwrap().reshape([2, 3, 8]).unwrap();
    let x_1 = (&x + aten::linear(&mixed, &block.projection, None).unwrap()).unwrap();
    let hidden = aten::linear(&norm(second, &x_1).unwrap(), &block.up, None).unwrap();
    let hidden = aten::gelu!(&hidden, approximate = "tanh").unwrap();
    let expected = (x_1 + aten::linear(&hidden, &block.down, None).unwrap()).unwrap();
    assert_close(&block.forward(&x).unwrap(), &expected);
}

#[test]
fn expressions_equal_the_operations_that_they_stand_for() {
    let (norm, x) = (&block().norms[0], wave(&[2, 3, 8], 0.9));
    assert_eq!(elements(&norm.forward(&x).unwrap()), elements(&without_macro::norm(norm, &x).unwrap()));
    assert_eq!(elements(&gelu(&x).unwrap()), elements(&without_macro::gelu(&x).unwrap()));
}

#[test]
fn adam_steps_equal_pytorchs() {
    let start = || wave(&[4], 1.0);
    let zeros = || Tensor::zeros([4], DType::F64).unwrap();
    let adam = || Adam { rate: 0.05, betas: (0.9, 0.999), eps: 1e-8, step: 0, mean: zeros(), square: zeros() };
    let (mut adam_with_macro, mut adam_without_macro) = (adam(), adam());
    let (mut x, mut y) = (start(), start());
    let loss = |x: &Tensor| expr!((x - 1.0) * (x - 1.0))?.sum();
    // PyTorch's fused step, on tensors of its own.
    let (fused, mean, square, count) = (start(), zeros(), zeros(), Tensor::from(0.0_f32));
    for _ in 0..3 {
        let gradient = grad(loss, &x).unwrap();
        x = adam_with_macro.step(&x, &gradient).unwrap();
        y = without_macro::step(&mut adam_without_macro, &y, &gradient).unwrap();
        let list = |tensor: &Tensor| [tensor.clone()];
        aten::add_(&mut count.clone(), &Tensor::from(1.0_f32), 1.into()).unwrap();
        aten::_fused_adam_(
            &mut list(&fused),
            &mut list(&gradient),
            &mut list(&mean),
            &mut list(&square),
            &mut [],
            &list(&count),
            0.05,
            0.9,
            0.999,
            0.0,
            1e-8,
            false,
            false,
            None,
            None,
        )
        .unwrap();
        assert_eq!(elements(&x), elements(&y));
        assert_close(&x, &fused);
    }
}

#[test]
fn operands_are_borrowed_or_computed() {
    let (a, list, pair) = (Tensor::from(2.0), [Tensor::from(3.0)], (Tensor::from(5.0), 7_i64));
    let (reference, mutable, boxed) = (&a, &mut Tensor::from(11.0), Box::new(Tensor::from(13.0)));
    let value = |found: Result<Tensor>| found.unwrap().to(DType::F64).unwrap().item::<f64>().unwrap();
    assert_eq!(value(expr!(a * list[0] - pair.0 * pair.1)).to_bits(), (-29.0_f64).to_bits());
    assert_eq!(value(expr!(reference + mutable + *boxed)).to_bits(), 26.0_f64.to_bits());
    assert_eq!(value(expr!(-a - -1.5 * (a.exp()? - a.exp()))).to_bits(), (-2.0_f64).to_bits());
    assert_eq!(value(expr!(a.clone() / if a.requires_grad() { 1.0_f64 } else { 4.0 })).to_bits(), 0.5_f64.to_bits());
    let (half, numbers) = (0.5_f32, &[2.0_f64, 4.0]);
    assert_eq!(value(expr!(a * half * numbers[1] + (1.0 + numbers[0]) * 2.0 * a)).to_bits(), 16.0_f64.to_bits());
    let (x, y) = (Tensor::from([true, false]), Tensor::from([true, true]));
    assert_eq!(expr!(!x & y | x ^ y).unwrap().to(DType::I64).unwrap().to_vec::<i64>().unwrap(), [0, 1]);
    let i = expr!(a * Complex64::new(0.0, 1.0)).unwrap();
    assert_eq!(i.to_vec::<Complex64>().unwrap(), [Complex64::new(0.0, 2.0)]);
    // The operands are still there, and a generic function can take the macro's value.
    drop((a, list, pair, boxed));
}

#[test]
fn the_first_error_is_returned() {
    let (x, y) = (wave(&[3], 1.0), wave(&[4], 1.0));
    let calls = std::cell::Cell::new(0);
    let counted = || {
        calls.set(calls.get() + 1);
        x.exp()
    };
    // Not in a function that returns a `Result`: the value is the `Result`.
    let error = expr!(x + y * x + counted()).unwrap_err();
    assert_eq!(error.to_string(), (&y * &x).unwrap_err().to_string());
    assert_eq!(calls.get(), 0, "nothing is computed after an error");
    let error = expr!(x * x.reshape([17])).unwrap_err();
    assert_eq!(error.to_string(), x.reshape([17]).unwrap_err().to_string());
}
