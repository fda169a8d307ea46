//! Tests of the backend on a machine without a GPU: its tables are complete, and each allocation returns the same typed error.

use std::error::Error as _;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Spec, keys};
use kernels_cuda::{CudaError, MissingRequirement};

fn has_no_gpu() -> bool {
    let absent = !kernels_cuda::is_available();
    if !absent {
        println!("skipped: a GPU is present");
    }
    absent
}

fn find_cuda_error(error: &Error) -> CudaError {
    error.source().and_then(|source| source.downcast_ref::<CudaError>()).expect("the cause is a CudaError").clone()
}

#[test]
fn allocation_without_a_gpu_is_an_error_that_names_the_missing_part() {
    if !has_no_gpu() {
        return;
    }
    for device in ["cuda", "cuda:0"] {
        let error = Spec::contiguous(DType::F32, &[2]).on(device.parse().unwrap()).unwrap_err();
        assert!(
            matches!(
                find_cuda_error(&error),
                CudaError::Unavailable(
                    MissingRequirement::Driver | MissingRequirement::Device { requested: 0, count: 0 }
                )
            ),
            "{error}"
        );
        assert!(error.to_string().contains("CUDA is not available"), "{error}");
    }
    let moved =
        aten::to_device(&Tensor::from_slice(&[1.0_f32]), "cuda".parse().unwrap(), DType::F32, false, false, None);
    assert!(moved.unwrap_err().to_string().contains("CUDA is not available"));
}

#[test]
fn device_queries_return_errors_without_a_gpu() {
    if !has_no_gpu() {
        return;
    }
    assert_eq!(kernels_cuda::device_count(), 0);
    assert!(kernels_cuda::device_properties(0).is_err() && kernels_cuda::memory_stats(0).is_err());
    let device: Device = "cuda:0".parse().unwrap();
    assert!(device.synchronize().is_err());
    assert!(kernels_cuda::Stream::new(device).is_err());
}

#[test]
fn kernels_are_registered_without_a_gpu() {
    let table = aten::add::operator().table();
    let cell = table.iter().find(|cell| cell.key == keys::CUDA).unwrap();
    assert!(cell.kernels.iter().any(|kernel| kernel.contains("add")), "{:?}", cell.kernels);
    assert!(dispatch_runtime::verify().iter().all(|finding| !finding.to_string().contains("CUDA")));
}
