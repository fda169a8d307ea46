//! Tests of regions: when and for which backends autocast is on.

use std::thread;

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::keys::{Autocast, CUDA};
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

fn matrix(device: Device) -> Tensor {
    Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]).to(device).unwrap()
}

/// Returns the dtype of a matrix product, which has the policy `lower` on every backend.
fn product_dtype(device: Device) -> DType {
    let x = matrix(device);
    aten::mm(&x, &x).unwrap().dtype()
}

#[test]
fn autocast_is_off_outside_of_regions() {
    assert_eq!(product_dtype(Device::CPU), DType::F32);
    {
        let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
        assert_eq!(product_dtype(Device::CPU), DType::F16);
    }
    assert_eq!(product_dtype(Device::CPU), DType::F32);
    assert!(guard::excluded().has(Autocast));
}

#[test]
fn the_default_dtype_is_that_of_the_backend() {
    let cuda = Device::new(CUDA).unwrap();
    let _on = (autocast::enable(Device::CPU, None).unwrap(), autocast::enable(cuda, None).unwrap());
    assert_eq!((autocast::dtype(Device::CPU), autocast::dtype(cuda)), (Some(DType::BF16), Some(DType::F16)));
}

#[test]
fn the_default_dtypes_equal_those_of_pytorch() {
    let bf16 = ["cpu", "xla", "hpu", "maia"].map(|name| autocast::default_dtype(name.parse().unwrap()));
    let f16 =
        ["cuda", "xpu", "mps", "mtia", "ipu", "privateuse1"].map(|name| autocast::default_dtype(name.parse().unwrap()));
    assert_eq!((bf16, f16), ([DType::BF16; 4], [DType::F16; 6]));
}

#[test]
fn the_innermost_region_decides() {
    let _outer = autocast::enable(Device::CPU, DType::BF16).unwrap();
    {
        let _inner = autocast::enable(Device::CPU, DType::F16).unwrap();
        assert_eq!(product_dtype(Device::CPU), DType::F16);
    }
    assert_eq!(product_dtype(Device::CPU), DType::BF16);
}

#[test]
fn autocast_can_be_disabled_and_enabled_inside_of_a_region() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    {
        let _off = autocast::disable(Device::CPU);
        assert!(!autocast::is_enabled(Device::CPU));
        assert_eq!(product_dtype(Device::CPU), DType::F32);
        {
            let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
            assert_eq!(product_dtype(Device::CPU), DType::F16);
        }
        assert_eq!(product_dtype(Device::CPU), DType::F32);
    }
    assert_eq!(product_dtype(Device::CPU), DType::BF16);
}

#[test]
fn regions_of_different_backends_are_independent() {
    let _on = autocast::enable(Device::META, DType::F16).unwrap();
    assert_eq!((product_dtype(Device::META), product_dtype(Device::CPU)), (DType::F16, DType::F32));
    let _both = autocast::enable(Device::CPU, DType::BF16).unwrap();
    assert_eq!((product_dtype(Device::META), product_dtype(Device::CPU)), (DType::F16, DType::BF16));
    let _off = autocast::disable(Device::META);
    assert_eq!((product_dtype(Device::META), product_dtype(Device::CPU)), (DType::F32, DType::BF16));
}

#[test]
fn the_index_of_a_device_is_ignored() {
    let first = Device::CPU.with_index(0).unwrap();
    let _on = autocast::enable(first, DType::F16).unwrap();
    assert_eq!(autocast::dtype(Device::CPU), Some(DType::F16));
    assert_eq!(product_dtype(Device::CPU), DType::F16);
}

#[test]
fn regions_can_end_out_of_order() {
    let first = autocast::enable(Device::CPU, DType::BF16).unwrap();
    let second = autocast::enable(Device::META, DType::F16).unwrap();
    drop(first);
    assert_eq!((product_dtype(Device::META), product_dtype(Device::CPU)), (DType::F16, DType::F32));
    drop(second);
    assert!(guard::excluded().has(Autocast) && !autocast::is_enabled(Device::META));
}

#[test]
fn a_panic_ends_a_region() {
    let caught = std::panic::catch_unwind(|| {
        let _on = autocast::enable(Device::CPU, None).unwrap();
        panic!("inside");
    });
    assert!(caught.is_err() && !autocast::is_enabled(Device::CPU));
}

#[test]
fn a_new_thread_does_not_inherit_autocast() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    assert_eq!(thread::spawn(|| product_dtype(Device::CPU)).join().unwrap(), DType::F32);
}

#[test]
fn a_thread_with_captured_state_casts_to_the_same_dtype() {
    let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
    assert_eq!(guard::spawn(|| product_dtype(Device::CPU)).join().unwrap(), DType::F16);
}

#[test]
fn captured_state_can_be_entered_after_the_region() {
    let state = {
        let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
        ThreadState::capture()
    };
    assert_eq!(product_dtype(Device::CPU), DType::F32);
    assert_eq!(thread::spawn(move || state.run(|| product_dtype(Device::CPU))).join().unwrap(), DType::F16);
}

#[test]
fn a_guard_that_excludes_the_key_disables_autocast() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    let _excluded = guard::exclude(KeySet::layers_of(Autocast));
    assert_eq!(product_dtype(Device::CPU), DType::F32);
}

#[test]
fn inference_tensors_are_cast() {
    let _inference = guard::inference_mode();
    let _on = autocast::enable(Device::CPU, None).unwrap();
    assert_eq!(product_dtype(Device::CPU), DType::BF16);
}

#[test]
fn an_unsupported_dtype_is_an_error() {
    for dtype in [DType::F32, DType::F64, DType::I32, DType::C64] {
        let error = autocast::enable(Device::CPU, dtype).unwrap_err().to_string();
        assert!(error.contains("`dtype`") && error.contains(dtype.name()), "{error}");
        assert!(error.contains("float16 or bfloat16"), "{error}");
        assert!(!autocast::is_enabled(Device::CPU), "autocast is off if `enable` fails");
    }
}

#[test]
fn explaining_a_call_shows_the_layer_and_its_policy() {
    let x = matrix(Device::CPU);
    let explain = || aten::mm::operator().explain(&[(&x).into(), (&x).into()]).to_string();
    assert!(explain().contains("runs CPU `mm`"), "{}", explain());
    let _on = autocast::enable(Device::CPU, None).unwrap();
    assert!(explain().contains("runs Autocast `lower`"), "{}", explain());
}
