//! Tensors of every dtype and layout are loaded as they were saved, and tensors that a format cannot hold are refused.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use dispatch_files::{FileProblem, load_npy, load_npz, load_safetensors, save_npy, save_npz, save_safetensors};
use dispatch_runtime::{
    Bool, Complex32, Complex64, DType, Device, Element, Float8E4M3Fn, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu,
    Geometry, Spec, Tensor, bf16, f16, keys,
};
use proptest::prelude::*;

/// Checks that a tensor is loaded as it was saved, from each format that has its dtype.
fn check<T: Element>(tensor: &Tensor, in_npy: bool, in_safetensors: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let is_saved = |loaded: &Tensor| {
        assert_eq!((loaded.sizes(), loaded.dtype()), (tensor.sizes(), tensor.dtype()));
        assert_eq!(loaded.to_vec::<T>().unwrap(), tensor.to_vec::<T>().unwrap());
    };
    if in_npy {
        save_npy(&path, tensor).unwrap();
        is_saved(&load_npy(&path).unwrap());
        save_npz(&path, [("a/b.c", tensor), ("", tensor)]).unwrap();
        let loaded = load_npz(&path).unwrap();
        assert_eq!(loaded.len(), 2);
        loaded.values().for_each(is_saved);
    } else {
        let error = save_npy(&path, tensor).unwrap_err().to_string();
        assert!(error.contains(tensor.dtype().name()), "{error}");
        assert!(!path.exists());
    }
    if in_safetensors {
        save_safetensors(&path, &BTreeMap::from([("x".to_owned(), tensor.clone()), ("y".to_owned(), tensor.clone())]))
            .unwrap();
        let loaded = load_safetensors(&path).unwrap();
        assert_eq!(loaded.len(), 2);
        loaded.values().for_each(is_saved);
    } else {
        let error = save_safetensors(&path, [("x", tensor)]).unwrap_err().to_string();
        assert!(error.contains("entry `x`") && error.contains(tensor.dtype().name()), "{error}");
    }
}

#[test]
fn every_dtype_is_saved_in_the_formats_that_have_it() {
    let numbers = [0.0_f32, -1.5, 2.0];
    check::<Bool>(&Tensor::from([true, false, true]), true, true);
    check::<u8>(&Tensor::from([0_u8, 1, 255]), true, true);
    check::<i8>(&Tensor::from([0_i8, -128, 127]), true, true);
    check::<i16>(&Tensor::from([0_i16, i16::MIN, 300]), true, true);
    check::<i32>(&Tensor::from([0, i32::MIN, 300]), true, true);
    check::<i64>(&Tensor::from([0, i64::MIN, 300]), true, true);
    check::<f16>(&Tensor::from(numbers.map(f16::from_f32)), true, true);
    check::<f32>(&Tensor::from(numbers), true, true);
    check::<f64>(&Tensor::from(numbers.map(f64::from)), true, true);
    check::<Complex32>(&Tensor::from_slice(&numbers.map(|x| Complex32::new(x, x + 1.0))), true, true);
    check::<Complex64>(&Tensor::from_slice(&numbers.map(|x| Complex64::new(x.into(), 1e300))), true, false);
    check::<bf16>(&Tensor::from(numbers.map(bf16::from_f32)), false, true);
    check::<Float8E5M2>(&Tensor::from_slice(&numbers.map(Float8E5M2::from_f32)), false, true);
    check::<Float8E4M3Fn>(&Tensor::from_slice(&numbers.map(Float8E4M3Fn::from_f32)), false, true);
    check::<Float8E5M2Fnuz>(&Tensor::from_slice(&numbers.map(Float8E5M2Fnuz::from_f32)), false, true);
    check::<Float8E8M0Fnu>(&Tensor::from_slice(&[1.0, 4.0].map(Float8E8M0Fnu::from_f32)), false, true);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn every_layout_is_saved_in_the_order_of_the_dimensions(
        sizes in prop::collection::vec(0_i64..5, 0..5), step in 1_i64..3, offset in 0_i64..3,
    ) {
        // Strides of Fortran's order, with gaps.
        let (mut strides, mut stride) = (Vec::new(), step);
        for size in &sizes {
            strides.push(stride);
            stride *= size.max(&1);
        }
        let elements: Vec<f64> = (0..stride + offset).map(|i| f64::from(i32::try_from(i).unwrap())).collect();
        let view = Tensor::from(elements).restride(Geometry::strided(&sizes, &strides, offset).unwrap()).unwrap();
        check::<f64>(&view, true, true);
    }
}

#[test]
fn elements_of_many_blocks_are_saved() {
    let elements: Vec<i32> = (0..100_000).collect();
    check::<i32>(&Tensor::from(elements), true, true);
}

#[test]
fn lazy_conjugates_and_negatives_are_saved_as_their_elements() {
    let z = Tensor::from_slice(&[Complex32::new(1.0, 2.0), Complex32::new(3.0, -4.0)]);
    check::<Complex32>(&z.with_math_bits(keys::Conjugate.into()), true, true);
    check::<f32>(&Tensor::from([1.0_f32, -2.0]).with_math_bits(keys::Negative.into()), true, true);
}

#[test]
fn saved_twice_the_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.npy");
    save_npy(&path, &Tensor::from([1, 2, 3])).unwrap();
    save_npy(&path, &Tensor::from([4])).unwrap();
    assert_eq!(load_npy(&path).unwrap().to_vec::<i32>().unwrap(), [4]);
    // A refused tensor leaves the file as it is.
    let on_meta = Spec::contiguous(DType::F32, &[2]).on(Device::META).unwrap();
    let error = save_npy(&path, &on_meta).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::Tensor(_)) && error.to_string().contains("meta"), "{error}");
    let error = save_safetensors(&path, [("x", &Tensor::from([1])), ("y", &on_meta)]).unwrap_err();
    assert!(error.to_string().contains("entry `y`") && error.to_string().contains("meta"), "{error}");
    assert_eq!(load_npy(&path).unwrap().to_vec::<i32>().unwrap(), [4]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn names_that_cannot_be_saved_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, x) = (folder.path().join("file"), Tensor::from([1]));
    let error = save_npz(&path, [("x", &x), ("x", &x)]).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::DuplicateName) && error.entry.as_deref() == Some("x"), "{error}");
    let error = save_safetensors(&path, [("x", &x), ("x", &x)]).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::DuplicateName), "{error}");
    let error = save_safetensors(&path, [("__metadata__", &x)]).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::ReservedName), "{error}");
    let error = save_npy(folder.path().join("missing/file"), &x).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::Io(_)), "{error}");
}
