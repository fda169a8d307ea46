//! Tests of `chunk_size`: the function runs for some slices at a time.

use std::cell::Cell;

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Randomness, Vmap, VmapError};

use crate::{assert_close, slice_elements, varied_tensor, vmap_error};

/// Checks the chunked result against the whole, and returns how often the function ran.
fn count_runs(chunk_size: i64) -> usize {
    let (x, count) = (varied_tensor(&[7, 3]), Cell::new(0));
    let f = |row: &Tensor| {
        count.set(count.get() + 1);
        row.softmax(-1)
    };
    let found = Vmap::new().chunk_size(chunk_size).call(f, &x).unwrap();
    assert_close(&found, &x.softmax(-1).unwrap());
    count.get()
}

#[test]
fn chunks_of_one_run_once_for_each_slice() {
    assert_eq!(count_runs(1), 7);
}

#[test]
fn the_last_chunk_can_be_smaller() {
    assert_eq!(count_runs(3), 3);
    assert_eq!(count_runs(6), 2);
}

#[test]
fn a_chunk_as_large_as_the_batch_runs_once() {
    assert_eq!(count_runs(7), 1);
    assert_eq!(count_runs(100), 1);
}

#[test]
fn a_negative_chunk_size_is_an_error() {
    let error = Vmap::new().chunk_size(-2).call(Tensor::exp, varied_tensor(&[7, 3])).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::InvalidChunkSize { chunk_size: -2 });
}

#[test]
fn chunks_are_concatenated_along_the_out_dim() {
    let x = varied_tensor(&[3, 5]);
    let vmap = Vmap::new().in_dims([Some(1)]).out_dims([Some(-1)]).chunk_size(2);
    assert_close(&vmap.call(Tensor::exp, &x).unwrap(), &x.exp().unwrap());
}

#[test]
fn an_unmapped_result_is_returned_once() {
    let (x, y) = (varied_tensor(&[5, 3]), varied_tensor(&[2]));
    let vmap = Vmap::new().out_dims([None]).chunk_size(2);
    assert_close(&vmap.call(|_| y.exp(), &x).unwrap(), &y.exp().unwrap());
}

#[test]
fn slices_of_different_chunks_get_different_random_numbers() {
    let x = Tensor::zeros([6, 4], DType::F64).unwrap();
    let vmap = Vmap::new().randomness(Randomness::Different).chunk_size(2);
    let found = vmap.call(|row| row + &row.rand_like()?, &x).unwrap();
    for i in 1..6 {
        assert_ne!(slice_elements(&found, i), slice_elements(&found, 0));
    }
}

#[test]
fn an_error_in_a_later_chunk_is_returned() {
    let count = Cell::new(0);
    let f = |row: &Tensor| {
        count.set(count.get() + 1);
        if count.get() == 2 { row.reshape(17) } else { row.exp() }
    };
    let error = Vmap::new().chunk_size(2).call(f, varied_tensor(&[7, 3])).unwrap_err();
    assert!(error.to_string().contains("17"), "{error}");
    assert_eq!((count.get(), dispatch_transform::depth()), (2, 0));
}

#[test]
fn all_chunks_use_the_same_random_numbers_with_randomness_same() {
    let x = Tensor::zeros([5, 4], DType::F64).unwrap();
    let vmap = Vmap::new().randomness(Randomness::Same).chunk_size(2);
    let draws: [fn(&Tensor) -> Result<Tensor>; 2] = [Tensor::rand_like, |_| Tensor::rand(4, DType::F64)];
    for draw in draws {
        let found = vmap.call(draw, &x).unwrap();
        for i in 1..5 {
            assert_eq!(slice_elements(&found, i), slice_elements(&found, 0));
        }
        assert_ne!(
            slice_elements(&vmap.call(draw, &x).unwrap(), 0),
            slice_elements(&found, 0),
            "the next call draws other numbers"
        );
    }
}
