//! Tests of mapped functions and their errors, one file per topic.

mod chunks;
mod dims;
mod errors;
mod gradients;
mod levels;
mod mapped_functions;
mod networks;
mod other_crates;
mod random;
mod trees;
mod values;
mod writes;

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Vmap, VmapError};
use kernels_cpu as _;

/// Returns a tensor of different values around zero.
fn varied_tensor(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let numbers: Vec<f64> =
        (0..count).map(|i| f64::from(i32::try_from((i * 7 + 3) % 11).unwrap()) / 4.0 - 1.25).collect();
    Tensor::from_slice(&numbers).reshape(sizes).unwrap()
}

fn elements_as_f64(tensor: &Tensor) -> Vec<f64> {
    tensor.to(DType::F64).unwrap().to_vec().unwrap()
}

fn slice_elements(tensor: &Tensor, i: i64) -> Vec<f64> {
    elements_as_f64(&tensor.select(0, i).unwrap())
}

fn assert_close(found: &Tensor, expected: &Tensor) {
    assert_eq!((found.sizes(), found.dtype()), (expected.sizes(), expected.dtype()));
    for (a, b) in elements_as_f64(found).into_iter().zip(elements_as_f64(expected)) {
        let close = a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        assert!(close, "{found} and not {expected}");
    }
}

/// Compares a function mapped over these dimensions with a loop over the slices.
fn check_against_loop<const N: usize>(inputs: [(&Tensor, Option<i64>); N], f: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let tensors = inputs.map(|(tensor, _)| tensor);
    let dims = inputs.map(|(_, dim)| dim);
    let size = inputs.iter().find_map(|(tensor, dim)| dim.map(|dim| aten::size_int(tensor, dim).unwrap())).unwrap();
    let looped = (0..size).map(|i| {
        let slices = inputs.map(|(tensor, dim)| match dim {
            Some(dim) => tensor.select(dim, i).unwrap(),
            None => tensor.clone(),
        });
        f(&slices).unwrap()
    });
    let looped = aten::stack(&looped.collect::<Vec<_>>(), 0).unwrap();
    let mapped = Vmap::new().in_dims(dims).call(|slices: &Vec<Tensor>| f(slices), &tensors[..]).unwrap();
    assert_close(&mapped, &looped);
}

/// Returns the [`VmapError`] among the sources of an error.
fn vmap_error(error: &Error) -> &VmapError {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return found;
        }
        source = error.source();
    }
    panic!("another error: {error}");
}
