//! Tests of nested vmaps and of threads.

use aten::prelude::*;
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Vmap, vmap};

use crate::{assert_close, check_against_loop, elements_as_f64, varied_tensor};

#[test]
fn three_nested_levels_make_three_dimensions() {
    let (x, y, z) = (varied_tensor(&[2]), varied_tensor(&[3]), varied_tensor(&[4]));
    let f = |x: &Tensor| vmap(|y| vmap(|z| (x * y)? + z, &z), &y);
    let found = vmap(f, &x).unwrap();
    let column = (x.unsqueeze(1).unwrap() * &y).unwrap().unsqueeze(2).unwrap();
    assert_close(&found, &(&column + &z).unwrap());
}

#[test]
fn nested_levels_can_map_any_dimensions() {
    let x = varied_tensor(&[2, 3, 4]);
    let inner = Vmap::new().in_dims([Some(1)]);
    let found = vmap(|x| inner.call(|x| x.cumsum(0), x), &x).unwrap();
    assert_close(&found, &x.cumsum(1).unwrap().transpose(1, 2).unwrap());
    let outer = Vmap::new().in_dims([Some(-1)]).out_dims([Some(-1)]);
    let found = outer.call(|x| vmap(Tensor::exp, x), &x).unwrap();
    assert_close(&found, &x.exp().unwrap());
}

#[test]
fn an_inner_function_can_capture_a_tensor_of_the_outer_level() {
    let (x, y) = (varied_tensor(&[3, 2]), varied_tensor(&[4, 2]));
    check_against_loop([(&x, Some(0)), (&y, None)], |x| vmap(|row| row.dot(&x[0]), &x[1]));
    check_against_loop([(&x, Some(0)), (&y, None)], |x| vmap(|row| (row * &x[0])?.softmax(-1), &x[1]));
}

#[test]
fn a_batch_rule_of_matrix_products_nests() {
    let (x, y) = (varied_tensor(&[2, 3, 4, 5]), varied_tensor(&[2, 5, 4]));
    check_against_loop([(&x, Some(0)), (&y, Some(0))], |x| vmap(|matrix| matrix.mm(&x[1]), &x[0]));
}

#[test]
fn an_operator_without_a_rule_loops_over_all_levels() {
    check_against_loop([(&varied_tensor(&[2, 3, 4]), Some(0))], |x| {
        vmap(|row| aten::_cdist_forward(&row.unsqueeze(1)?, &row.unsqueeze(1)?, 2.0, None), &x[0])
    });
}

#[test]
fn an_inner_level_can_write_to_a_slice_of_the_outer_level() {
    let x = varied_tensor(&[2, 3, 2]);
    let expected = (&x * 2.0).unwrap();
    vmap(|x| vmap(|x| x.clone().mul_(2).map(|()| x.clone()), x), &x).unwrap();
    assert_close(&x, &expected);
}

#[test]
fn depth_counts_the_levels_of_the_function() {
    assert_eq!(dispatch_transform::depth(), 0);
    let f = |x: &Tensor| {
        assert_eq!(dispatch_transform::depth(), 1);
        vmap(
            |x| {
                assert_eq!(dispatch_transform::depth(), 2);
                x.exp()
            },
            x,
        )
    };
    vmap(f, varied_tensor(&[2, 3])).unwrap();
    assert_eq!(dispatch_transform::depth(), 0);
}

#[test]
fn an_inner_result_of_the_outer_level_is_expanded() {
    let x = varied_tensor(&[3, 2]);
    let found = vmap(|x| vmap(|_| Ok(x.clone()), varied_tensor(&[4])), &x).unwrap();
    assert_close(&found, &x.unsqueeze(1).unwrap().expand([3, 4, 2]).unwrap());
}

#[test]
fn threads_have_separate_levels() {
    let threads: Vec<_> = (0..4)
        .map(|i| {
            std::thread::spawn(move || {
                let x = varied_tensor(&[3 + i, 5]);
                for _ in 0..20 {
                    let found = vmap(|x| vmap(|x| x * x, x), &x).unwrap();
                    assert_close(&found, &(&x * &x).unwrap());
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_started_thread_is_at_no_level() {
    let y = varied_tensor(&[3]);
    let f = |x: &Tensor| {
        let y = y.clone();
        let found =
            std::thread::spawn(move || (dispatch_transform::depth(), elements_as_f64(&y.exp().unwrap()))).join();
        assert_eq!(found.unwrap(), (0, elements_as_f64(&varied_tensor(&[3]).exp().unwrap())));
        x.exp()
    };
    vmap(f, varied_tensor(&[2, 3])).unwrap();
}

#[test]
fn a_batched_tensor_on_another_thread_is_an_error() {
    let f = |x: &Tensor| {
        let moved = x.clone();
        let error = guard::spawn(move || moved.exp().map(|_| ())).join().unwrap().unwrap_err();
        assert!(error.to_string().contains("thread"), "{error}");
        x.exp()
    };
    vmap(f, varied_tensor(&[2, 3])).unwrap();
}

#[test]
fn a_tensor_of_an_ended_inner_level_belongs_to_the_outer_level() {
    let x = varied_tensor(&[4, 3]);
    let kept = std::cell::RefCell::new(None);
    let keep = |element: &Tensor| {
        kept.replace(Some(element.clone()));
        element.exp()
    };
    let found = vmap(|row| vmap(keep, row).map(|_| kept.take().unwrap()), &x).unwrap();
    assert_close(&found, &x);
}

#[test]
fn a_tensor_of_an_ended_level_is_mapped_as_the_tensor_below() {
    let x = varied_tensor(&[4, 3]);
    let kept = std::cell::RefCell::new(None);
    vmap(|row| kept.replace(Some(row.clone())).map_or_else(|| row.exp(), Ok), &x).unwrap();
    let found = vmap(Tensor::sum, kept.take().unwrap()).unwrap();
    assert_close(&found, &x.sum_dims(1).unwrap());
}
