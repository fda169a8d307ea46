//! Tests of the backend on a machine without a GPU: its tables are complete, and each allocation returns the same typed error.

use std::error::Error as _;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Spec, keys};
use kernels_cuda::{CudaError, Missing};

fn is_absent() -> bool {
    let absent = !kernels_cuda::is_available();
    if !absent {
        println!("skipped: there is a device");
    }
    absent
}

fn cause(error: &Error) -> CudaError {
    error.source().and_then(|source| source.downcast_ref::<CudaError>()).expect("an error of this crate's").clone()
}

#[test]
fn memory_on_a_device_that_is_not_there_is_refused_with_what_is_missing() {
    if !is_absent() {
        return;
    }
    for device in ["cuda", "cuda:0"] {
        let error = Spec::contiguous(DType::F32, &[2]).on(device.parse().unwrap()).unwrap_err();
        assert!(
            matches!(cause(&error), CudaError::Unavailable(Missing::Driver | Missing::Device { asked: 0, count: 0 })),
            "{error}"
        );
        assert!(error.to_string().contains("CUDA is not available"), "{error}");
    }
    let moved =
        aten::to_device(&Tensor::from_slice(&[1.0_f32]), "cuda".parse().unwrap(), DType::F32, false, false, None);
    assert!(moved.unwrap_err().to_string().contains("CUDA is not available"));
}

#[test]
fn questions_have_answers_and_do_not_panic() {
    if !is_absent() {
        return;
    }
    assert_eq!(kernels_cuda::count(), 0);
    assert!(kernels_cuda::properties(0).is_err() && kernels_cuda::memory(0).is_err());
    let device: Device = "cuda:0".parse().unwrap();
    assert!(device.synchronize().is_err());
    assert!(kernels_cuda::Stream::new(device).is_err());
}

#[test]
fn tables_and_explanations_know_the_kernels_without_a_device() {
    let table = aten::add::operator().table();
    let cell = table.iter().find(|cell| cell.key == keys::CUDA).unwrap();
    assert!(cell.kernels.iter().any(|kernel| kernel.contains("add")), "{:?}", cell.kernels);
    assert!(dispatch_runtime::verify().iter().all(|finding| !finding.to_string().contains("CUDA")));
}
