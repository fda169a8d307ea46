//! Tests of vmap of gradients, and of gradients of vmap.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_autograd::functional::{grad, jvp, value_and_grad, vjp};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Randomness, Vmap, vmap};

use crate::{assert_close, check_against_loop, elements_as_f64, slice_elements, varied_tensor};

fn tanh_loss(w: &Tensor, x: &Tensor) -> Result<Tensor> {
    x.matmul(w)?.tanh()?.square()?.sum()
}

/// Returns the parameters of a small network.
fn network_parameters() -> [Tensor; 4] {
    [varied_tensor(&[5, 4]), varied_tensor(&[5]), varied_tensor(&[3, 5]), varied_tensor(&[3])]
}

fn network_loss(parameters: &[Tensor], x: &Tensor, class: &Tensor) -> Result<Tensor> {
    let [first, first_bias, second, second_bias] = parameters else { panic!("four parameters") };
    let hidden = aten::linear(x, first, Some(first_bias))?.gelu()?;
    let scores = aten::linear(&hidden, second, Some(second_bias))?;
    aten::cross_entropy_loss!(&scores, class)
}

fn network_gradients(x: &Tensor, class: &Tensor) -> Result<[Tensor; 4]> {
    let parameters = network_parameters();
    let (loss, pullback) = vjp(|parameters| network_loss(parameters, x, class), &parameters)?;
    pullback.call(&loss.ones_like()?)
}

#[test]
fn gradients_of_each_sample_are_those_of_a_loop() {
    let (x, classes) = (varied_tensor(&[6, 4]), Tensor::from([0_i64, 2, 1, 1, 0, 2]));
    let mapped = vmap(|(x, class)| network_gradients(x, class), (&x, &classes)).unwrap();
    for i in 0..6 {
        let alone = network_gradients(&x.select(0, i).unwrap(), &classes.select(0, i).unwrap()).unwrap();
        for (mapped, alone) in mapped.iter().zip(&alone) {
            assert_close(&mapped.select(0, i).unwrap(), alone);
        }
    }
}

#[test]
fn gradients_of_each_sample_add_up_to_the_gradient_of_the_batch() {
    let (w, x) = (varied_tensor(&[4, 2]), varied_tensor(&[6, 4]));
    let each = vmap(|x| grad(|w| tanh_loss(w, x), &w), &x).unwrap();
    let whole = grad(|w| tanh_loss(w, &x), &w).unwrap();
    assert_close(&each.sum_dims(0).unwrap(), &whole);
}

#[test]
fn chunks_do_not_change_the_gradients_of_samples() {
    let (w, x) = (varied_tensor(&[4, 2]), varied_tensor(&[7, 4]));
    let f = |x: &Tensor| grad(|w| tanh_loss(w, x), &w);
    assert_close(&Vmap::new().chunk_size(3).call(f, &x).unwrap(), &vmap(f, &x).unwrap());
}

#[test]
fn gradients_of_each_model_of_an_ensemble_equal_a_loop() {
    check_against_loop([(&varied_tensor(&[3, 4, 2]), Some(0)), (&varied_tensor(&[6, 4]), None)], |x| {
        grad(|w| tanh_loss(w, &x[1]), &x[0])
    });
    check_against_loop([(&varied_tensor(&[3, 4, 2]), Some(0)), (&varied_tensor(&[3, 6, 4]), Some(0))], |x| {
        grad(|w| tanh_loss(w, &x[1]), &x[0])
    });
}

#[test]
fn gradients_of_a_convolution_for_each_image_equal_a_loop() {
    check_against_loop([(&varied_tensor(&[3, 2, 5, 5]), Some(0)), (&varied_tensor(&[2, 2, 3, 3]), None)], |x| {
        grad(|w| aten::conv2d!(&x[0].unsqueeze(0)?, w)?.square()?.sum(), &x[1])
    });
}

#[test]
fn gradients_of_an_embedding_for_each_sample_equal_a_loop() {
    let places = Tensor::from([[0_i64, 4], [3, 3], [1, 2]]);
    check_against_loop([(&varied_tensor(&[5, 2]), None), (&places, Some(0))], |x| {
        grad(|table| aten::embedding!(table, &x[1])?.square()?.sum(), &x[0])
    });
}

#[test]
fn the_gradient_through_vmap_equals_that_through_a_loop() {
    let (w, x) = (varied_tensor(&[4, 2]), varied_tensor(&[6, 4]));
    let mapped = grad(|w| vmap(|x| tanh_loss(w, x), &x)?.sum(), &w).unwrap();
    let looped = grad(
        |w| {
            let losses = (0..6).map(|i| tanh_loss(w, &x.select(0, i)?)).collect::<Result<Vec<_>>>()?;
            aten::stack(&losses, 0)?.sum()
        },
        &w,
    )
    .unwrap();
    assert_close(&mapped, &looped);
}

#[test]
fn a_mapped_tensor_gets_a_gradient() {
    let x = varied_tensor(&[6, 4]);
    let through = grad(|x| vmap(|row| row.softmax(-1)?.square()?.sum(), x)?.sum(), &x).unwrap();
    let plain = grad(|x| x.softmax(-1)?.square()?.sum(), &x).unwrap();
    assert_close(&through, &plain);
}

#[test]
fn backward_computes_gradients_through_vmap() {
    let (w, x) = (varied_tensor(&[4, 2]).requires_grad_(true).unwrap(), varied_tensor(&[6, 4]));
    let losses = vmap(|x| tanh_loss(&w, x), &x).unwrap();
    assert!(losses.requires_grad());
    losses.sum().unwrap().backward().unwrap();
    assert_close(&w.grad().unwrap(), &grad(|w| tanh_loss(w, &x), &w.detach().unwrap()).unwrap());
}

#[test]
fn vmap_under_no_grad_records_nothing() {
    let (w, x) = (varied_tensor(&[4, 2]).requires_grad_(true).unwrap(), varied_tensor(&[6, 4]));
    let _off = guard::no_grad();
    assert!(!vmap(|x| tanh_loss(&w, x), &x).unwrap().requires_grad());
}

#[test]
fn a_constant_of_a_mapped_function_has_no_gradient() {
    let (w, x) = (varied_tensor(&[4, 2]), varied_tensor(&[6, 4]));
    let each = vmap(|x| grad(|w| tanh_loss(&w.detach()?, x)? + (w * 0.0)?.sum()?, &w), &x).unwrap();
    assert!(elements_as_f64(&each).iter().all(|&x| x == 0.0));
}

#[test]
fn vmap_of_grad_of_grad_is_the_second_derivative_of_each_sample() {
    let x = varied_tensor(&[6]);
    let cube = |x: &Tensor| (x * x)? * x;
    let second = vmap(|x| grad(|x| grad(cube, x), x), &x).unwrap();
    assert_close(&second, &(&x * 6.0).unwrap());
}

#[test]
fn grad_of_vmap_of_grad_is_a_second_derivative() {
    let (x, y) = (varied_tensor(&[3]), varied_tensor(&[4]));
    // The function is the sum over y of the derivative of x^2 y^2 with respect to x. It is differentiated with respect to x again.
    let f = |x: &Tensor| vmap(|y| grad(|x| (x * y)?.square()?.sum(), x), &y)?.sum();
    let found = grad(f, &x).unwrap();
    let expected = (x.ones_like().unwrap() * (y.square().unwrap().sum().unwrap() * 2.0).unwrap()).unwrap();
    assert_close(&found, &expected);
}

#[test]
fn vmap_of_value_and_grad_returns_the_loss_of_each_sample() {
    let (w, x) = (varied_tensor(&[4, 2]), varied_tensor(&[6, 4]));
    let (losses, gradients) = vmap(|x| value_and_grad(|w| tanh_loss(w, x), &w), &x).unwrap();
    assert_close(&losses, &vmap(|x| tanh_loss(&w, x), &x).unwrap());
    assert_eq!(gradients.sizes(), [6, 4, 2]);
}

#[test]
fn vmap_of_jvp_is_a_derivative_along_each_direction() {
    let (x, directions) = (varied_tensor(&[4]), varied_tensor(&[3, 4]));
    let along = vmap(|direction| Ok(jvp(Tensor::sin, &x, direction)?.1), &directions).unwrap();
    assert_close(&along, &(&directions * x.cos().unwrap()).unwrap());
}

#[test]
fn the_gradient_of_dropout_uses_the_mask_of_each_sample() {
    let x = Tensor::ones([4, 32], DType::F64).unwrap();
    let f = |x: &Tensor| grad(|x| aten::dropout(x, 0.5, true)?.sum(), x);
    let gradients = Vmap::new().randomness(Randomness::Different).call(f, &x).unwrap();
    assert!(elements_as_f64(&gradients).iter().all(|&g| g == 0.0 || g.to_bits() == 2_f64.to_bits()));
    assert_ne!(slice_elements(&gradients, 0), slice_elements(&gradients, 1));
}

#[test]
fn an_error_of_a_derivative_ends_the_level() {
    let error = vmap(|x| grad(Tensor::exp, x), varied_tensor(&[2, 3])).unwrap_err();
    assert!(!error.to_string().is_empty());
    assert_eq!(dispatch_transform::depth(), 0);
}

#[test]
fn the_gradient_goes_through_in_place_writes_to_a_slice() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| {
        grad(
            |x| {
                let y = (x * 2.0)?;
                y.mul_(x)?;
                y.select(0, 1)?.fill_(0)?;
                y.sum()
            },
            &x[0],
        )
    });
}

#[test]
fn detached_results_of_a_mapped_function_are_constants() {
    let (w, x) = (varied_tensor(&[3]), varied_tensor(&[4, 3]));
    let unrecorded = |w: &Tensor, row: &Tensor| {
        let _unrecorded = guard::no_grad();
        w * row
    };
    let found = grad(|w| vmap(|row| (w * row)? * unrecorded(w, row)?, &x)?.sum(), &w).unwrap();
    let once = ((&x * &x).unwrap().sum_dims(0).unwrap() * &w).unwrap();
    assert_close(&found, &once);

    let w = w.requires_grad_(true).unwrap();
    assert!(!vmap(|row| unrecorded(&w, row), &x).unwrap().requires_grad());
    let _unrecorded = guard::no_grad();
    let recorded = vmap(
        |row| {
            let _recorded = guard::enable_grad();
            &w * row
        },
        &x,
    );
    assert!(recorded.unwrap().requires_grad());
}

#[test]
fn the_gradient_of_a_mean_divides_by_the_elements_of_one_sample() {
    let losses: [fn(&Tensor, &Tensor) -> Result<Tensor>; 8] = [
        |x, y| aten::mse_loss(x, y, 1),
        |x, y| aten::huber_loss(x, y, 1, 0.3),
        |x, y| aten::smooth_l1_loss(x, y, 1, 0.3),
        |x, y| aten::soft_margin_loss(x, y, 1),
        |x, y| aten::binary_cross_entropy(&x.sigmoid()?, &y.sigmoid()?, Some(&varied_tensor(&[3])), 1),
        |x, y| aten::binary_cross_entropy_with_logits(x, y, None, None, 1),
        |x, y| aten::kl_div(x, &y.exp()?, 1, false),
        |x, y| aten::mse_loss(x, y, 2),
    ];
    let (x, y) = (varied_tensor(&[4, 2, 3]), varied_tensor(&[5, 2, 3]).narrow(0, 1, 4).unwrap());
    for loss in losses {
        check_against_loop([(&x, Some(0)), (&y, Some(0))], |x| grad(|z| loss(z, &x[1]), &x[0]));
        check_against_loop([(&x, Some(0)), (&y.select(0, 0).unwrap(), None)], |x| grad(|z| loss(z, &x[1]), &x[0]));
        check_against_loop([(&x.select(0, 0).unwrap(), None), (&y, Some(0))], |x| {
            grad(|z| loss(z, &x[1])?.sin(), &x[0])
        });
    }
}
