//! Tests of mapped input dimensions and batch dimensions of results.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Vmap, VmapError, vmap};

use crate::{assert_close, check_against_loop, varied_tensor, vmap_error};

#[test]
fn a_negative_in_dim_counts_from_the_end() {
    check_against_loop([(&varied_tensor(&[2, 3, 4]), Some(-1))], |x| x[0].sum_dims(0));
    check_against_loop([(&varied_tensor(&[2, 3, 4]), Some(-3))], |x| x[0].sum_dims(0));
}

#[test]
fn a_negative_out_dim_counts_from_the_end_of_the_result() {
    let x = varied_tensor(&[5, 2, 3]);
    let out = |dim| Vmap::new().out_dims([Some(dim)]).call(Tensor::exp, &x).unwrap();
    assert_close(&out(-1), &x.exp().unwrap().movedim(0, 2).unwrap());
    assert_close(&out(-2), &x.exp().unwrap().movedim(0, 1).unwrap());
    assert_close(&out(-3), &x.exp().unwrap());
}

#[test]
fn each_result_has_its_own_out_dim() {
    let x = varied_tensor(&[4, 2]);
    let f = |row: &Tensor| Ok(((-row)?, row.exp()?));
    let (first, second) = Vmap::new().out_dims([Some(1), Some(0)]).call(f, &x).unwrap();
    assert_close(&first, &(-&x).unwrap().t().unwrap());
    assert_close(&second, &x.exp().unwrap());
}

#[test]
fn an_out_dim_out_of_range_is_an_error() {
    let error = Vmap::new().out_dims([Some(2)]).call(Tensor::sum, varied_tensor(&[4, 2])).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::MissingDim { argument: "out_dims", position: 0, dim: 2, rank: 1 });
}

#[test]
fn a_wrong_number_of_out_dims_is_an_error() {
    let error = Vmap::new().out_dims([Some(0), Some(0)]).call(Tensor::exp, varied_tensor(&[4, 2])).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::WrongDimCount { argument: "out_dims", found: 2, tensors: 1 });
}

#[test]
fn an_unmapped_result_needs_no_out_dim() {
    let (x, y) = (varied_tensor(&[4, 2]), varied_tensor(&[3]));
    let shared = Vmap::new().out_dims([None]).call(|_| y.exp(), &x).unwrap();
    assert_close(&shared, &y.exp().unwrap());
}

#[test]
fn an_unmapped_input_is_the_same_for_all_slices() {
    check_against_loop([(&varied_tensor(&[4, 2]), Some(0)), (&varied_tensor(&[2]), None)], |x| &x[0] * &x[1]);
    check_against_loop([(&varied_tensor(&[2]), None), (&varied_tensor(&[2, 4]), Some(1))], |x| &x[0] - &x[1]);
}

#[test]
fn inputs_are_mapped_over_different_dimensions() {
    check_against_loop([(&varied_tensor(&[4, 2, 3]), Some(0)), (&varied_tensor(&[2, 4, 3]), Some(1))], |x| {
        &x[0] * &x[1]
    });
    check_against_loop([(&varied_tensor(&[3, 4]), Some(1)), (&varied_tensor(&[4, 3]), Some(0))], |x| x[0].dot(&x[1]));
}

#[test]
fn tuples_nest_in_inputs_and_in_results() {
    let (x, y, z) = (varied_tensor(&[4, 2]), varied_tensor(&[4, 2]), varied_tensor(&[4]));
    let f = |((x, y), z): &((Tensor, Tensor), Tensor)| Ok(((x + y)?, ((x * z)?, y.sum()?)));
    let (sum, (product, whole)) = vmap(f, ((&x, &y), &z)).unwrap();
    assert_close(&sum, &(&x + &y).unwrap());
    assert_close(&product, &(&x * z.unsqueeze(1).unwrap()).unwrap());
    assert_close(&whole, &y.sum_dims(1).unwrap());
}

#[test]
fn a_function_can_take_and_return_lists() {
    let (x, y) = (varied_tensor(&[4, 2]), varied_tensor(&[4, 3]));
    let f = |rows: &Vec<Tensor>| rows.iter().rev().map(Tensor::exp).collect::<Result<Vec<_>>>();
    let found = vmap(f, &[&x, &y][..]).unwrap();
    assert_close(&found[0], &y.exp().unwrap());
    assert_close(&found[1], &x.exp().unwrap());
}

#[test]
fn a_function_without_results_is_run() {
    let x = varied_tensor(&[4, 2]);
    let expected = (&x + 1.0).unwrap();
    let nothing = vmap(
        |row| {
            row.clone().add_(1)?;
            Ok(Vec::<Tensor>::new())
        },
        &x,
    )
    .unwrap();
    assert!(nothing.is_empty());
    assert_close(&x, &expected);
}

#[test]
fn one_tensor_can_be_mapped_twice() {
    let x = varied_tensor(&[3, 3]);
    check_against_loop([(&x, Some(0)), (&x, Some(1))], |x| x[0].dot(&x[1]));
}

#[test]
fn mapping_a_zero_dimensional_tensor_is_an_error() {
    let error = vmap(Tensor::exp, Tensor::from(1.0)).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::MissingDim { argument: "in_dims", position: 0, dim: 0, rank: 0 });
}

#[test]
fn a_batch_of_size_one_is_mapped() {
    check_against_loop([(&varied_tensor(&[1, 3]), Some(0))], |x| x[0].softmax(-1));
}

#[test]
fn slices_can_have_no_dimensions() {
    check_against_loop([(&varied_tensor(&[4]), Some(0))], |x| &x[0] * &x[0]);
    check_against_loop([(&varied_tensor(&[4]), Some(0)), (&varied_tensor(&[3]), None)], |x| &x[0] * &x[1]);
}

#[test]
fn slices_can_have_no_elements() {
    check_against_loop([(&varied_tensor(&[4, 0]), Some(0))], |x| x[0].exp());
    check_against_loop([(&varied_tensor(&[4, 0]), Some(0))], |x| x[0].sum());
    check_against_loop([(&varied_tensor(&[4, 0, 3]), Some(0)), (&varied_tensor(&[3, 2]), None)], |x| x[0].mm(&x[1]));
}

#[test]
fn an_input_can_be_returned_with_another_out_dim() {
    let x = varied_tensor(&[4, 2]);
    let back = Vmap::new().in_dims([Some(1)]).call(|column| Ok(column.clone()), &x).unwrap();
    assert_close(&back, &x.t().unwrap());
}
