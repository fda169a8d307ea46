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
fn product(device: Device) -> DType {
    let x = matrix(device);
    aten::mm(&x, &x).unwrap().dtype()
}

#[test]
fn it_is_off_until_a_region_begins_and_after_it_ends() {
    assert_eq!(product(Device::CPU), DType::F32);
    {
        let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
        assert_eq!(product(Device::CPU), DType::F16);
    }
    assert_eq!(product(Device::CPU), DType::F32);
    assert!(guard::excluded().has(Autocast));
}

#[test]
fn without_a_name_the_dtype_is_the_backends_default() {
    let cuda = Device::new(CUDA).unwrap();
    let _on = (autocast::enable(Device::CPU, None).unwrap(), autocast::enable(cuda, None).unwrap());
    assert_eq!((autocast::dtype(Device::CPU), autocast::dtype(cuda)), (Some(DType::BF16), Some(DType::F16)));
}

#[test]
fn the_default_of_every_backend_is_pytorchs() {
    let bf16 = ["cpu", "xla", "hpu", "maia"].map(|name| autocast::default_dtype(name.parse().unwrap()));
    let f16 =
        ["cuda", "xpu", "mps", "mtia", "ipu", "privateuse1"].map(|name| autocast::default_dtype(name.parse().unwrap()));
    assert_eq!((bf16, f16), ([DType::BF16; 4], [DType::F16; 6]));
}

#[test]
fn the_innermost_region_counts_and_the_outer_one_comes_back() {
    let _outer = autocast::enable(Device::CPU, DType::BF16).unwrap();
    {
        let _inner = autocast::enable(Device::CPU, DType::F16).unwrap();
        assert_eq!(product(Device::CPU), DType::F16);
    }
    assert_eq!(product(Device::CPU), DType::BF16);
}

#[test]
fn a_part_of_a_region_can_be_off_and_a_part_of_that_on_again() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    {
        let _off = autocast::disable(Device::CPU);
        assert!(!autocast::is_enabled(Device::CPU));
        assert_eq!(product(Device::CPU), DType::F32);
        {
            let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
            assert_eq!(product(Device::CPU), DType::F16);
        }
        assert_eq!(product(Device::CPU), DType::F32);
    }
    assert_eq!(product(Device::CPU), DType::BF16);
}

#[test]
fn one_backend_is_on_while_another_is_off() {
    let _on = autocast::enable(Device::META, DType::F16).unwrap();
    assert_eq!((product(Device::META), product(Device::CPU)), (DType::F16, DType::F32));
    let _both = autocast::enable(Device::CPU, DType::BF16).unwrap();
    assert_eq!((product(Device::META), product(Device::CPU)), (DType::F16, DType::BF16));
    let _off = autocast::disable(Device::META);
    assert_eq!((product(Device::META), product(Device::CPU)), (DType::F32, DType::BF16));
}

#[test]
fn the_number_of_a_device_does_not_matter() {
    let first = Device::CPU.with_index(0).unwrap();
    let _on = autocast::enable(first, DType::F16).unwrap();
    assert_eq!(autocast::dtype(Device::CPU), Some(DType::F16));
    assert_eq!(product(Device::CPU), DType::F16);
}

#[test]
fn regions_that_end_out_of_order_leave_no_trace() {
    let first = autocast::enable(Device::CPU, DType::BF16).unwrap();
    let second = autocast::enable(Device::META, DType::F16).unwrap();
    drop(first);
    assert_eq!((product(Device::META), product(Device::CPU)), (DType::F16, DType::F32));
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
fn a_plain_thread_knows_nothing_of_it() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    assert_eq!(thread::spawn(|| product(Device::CPU)).join().unwrap(), DType::F32);
}

#[test]
fn a_thread_with_captured_state_casts_to_the_same_dtype() {
    let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
    assert_eq!(guard::spawn(|| product(Device::CPU)).join().unwrap(), DType::F16);
}

#[test]
fn captured_state_outlives_the_region() {
    let state = {
        let _on = autocast::enable(Device::CPU, DType::F16).unwrap();
        ThreadState::capture()
    };
    assert_eq!(product(Device::CPU), DType::F32);
    assert_eq!(thread::spawn(move || state.run(|| product(Device::CPU))).join().unwrap(), DType::F16);
}

#[test]
fn a_guard_that_excludes_the_key_keeps_every_region_out() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    let _excluded = guard::exclude(KeySet::layers_of(Autocast));
    assert_eq!(product(Device::CPU), DType::F32);
}

#[test]
fn inference_tensors_are_cast_as_others_are() {
    let _inference = guard::inference_mode();
    let _on = autocast::enable(Device::CPU, None).unwrap();
    assert_eq!(product(Device::CPU), DType::BF16);
}

#[test]
fn a_dtype_that_saves_nothing_is_refused_by_name() {
    for dtype in [DType::F32, DType::F64, DType::I32, DType::C64] {
        let error = autocast::enable(Device::CPU, dtype).unwrap_err().to_string();
        assert!(error.contains("`dtype`") && error.contains(dtype.name()), "{error}");
        assert!(error.contains("float16 or bfloat16"), "{error}");
        assert!(!autocast::is_enabled(Device::CPU), "what failed to begin is not on");
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
