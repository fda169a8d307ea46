//! Tests of `einsum`: invalid equations are refused with an error that names the mistake.

use aten::einsum;
use aten::prelude::*;
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

fn ones(sizes: &[i64]) -> Tensor {
    Tensor::ones(sizes, ()).unwrap()
}

#[test]
fn invalid_equations_are_refused() {
    let cases: [(&str, &[&[i64]]); 14] = [
        ("ij", &[]),
        ("ij", &[&[2, 2], &[2, 2]]),
        ("ij,jk", &[&[2, 2]]),
        ("ijk", &[&[2, 2]]),
        ("i", &[&[2, 2]]),
        ("i1", &[&[2, 2]]),
        ("i.j", &[&[2, 2]]),
        ("...i...", &[&[2, 2]]),
        ("...ijk", &[&[2, 2]]),
        ("ij->ii", &[&[2, 2]]),
        ("ij->ik", &[&[2, 2]]),
        ("ij->...i...", &[&[2, 2]]),
        ("ii->i", &[&[2, 3]]),
        ("ij,jk->ik", &[&[2, 3], &[4, 2]]),
    ];
    for (equation, sizes) in cases {
        let tensors: Vec<Tensor> = sizes.iter().map(|sizes| ones(sizes)).collect();
        let error = einsum(equation, &tensors, None).expect_err(equation).to_string();
        assert!(error.contains("equation") || error.contains("tensors"), "{equation}: {error}");
    }
}

#[test]
fn invalid_paths_are_refused() {
    let tensors = [ones(&[2, 3]), ones(&[3, 4]), ones(&[4, 2])];
    for path in [&[0, 1][..], &[0, 0, 0, 1], &[0, 3, 0, 1], &[0, 1, 1, 2], &[-1, 0, 0, 1]] {
        let error = einsum("ij,jk,kl->il", &tensors, Some(path)).unwrap_err().to_string();
        assert!(error.contains("path"), "{path:?}: {error}");
    }
}

#[test]
fn einsum_of_meta_tensors_returns_the_sizes() {
    let meta = |sizes: &[i64]| Tensor::empty(sizes, Device::META).unwrap();
    let scores = einsum("bqhd,bkhd->bhqk", &[meta(&[2, 5, 3, 4]), meta(&[2, 7, 3, 4])], None).unwrap();
    assert_eq!((scores.sizes(), scores.device()), (&[2, 3, 5, 7][..], Device::META));
}
