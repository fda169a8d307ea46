//! Tests of autocast on a backend that a user's crate defines.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_autocast::{self as autocast, autocast};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Backend, Buffer, Spec, Storage, backend};
// Links the kernels that compute the casts.
use kernels_cpu as _;

#[dispatch_key(backend)]
static NPU: Key;

fn npu_device() -> Device {
    Device::new(NPU).unwrap()
}

struct ByteBuffer(Mutex<Vec<u8>>);

impl ByteBuffer {
    fn lock(storage: &Storage) -> Result<MutexGuard<'_, Vec<u8>>> {
        let bytes = storage.buffer::<Self>().ok_or("not of this backend")?;
        Ok(bytes.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Buffer for ByteBuffer {
    fn device(&self) -> Device {
        npu_device()
    }

    fn size(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

struct NpuBackend;

impl Backend for NpuBackend {
    fn allocate(&self, _: Device, size: usize) -> Result<Storage> {
        Ok(Storage::new(ByteBuffer(vec![0; size].into())))
    }

    fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()> {
        ByteBuffer::lock(to)?.copy_from_slice(from);
        Ok(())
    }

    fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()> {
        to.copy_from_slice(&ByteBuffer::lock(from)?);
        Ok(())
    }
}

backend!(NPU, NpuBackend);

/// Copies between dtypes by way of the CPU. `src` covers all of its storage.
#[op_impl(aten::copy_, NPU)]
fn copy_npu(this: &mut Tensor, src: &Tensor, _non_blocking: bool) -> Result<()> {
    let elements: Vec<f32> = match src.dtype() {
        DType::F32 => {
            ByteBuffer::lock(src.storage())?.chunks(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
        }
        other => return Err(Error::kernel(format!("no copies of {other}"))),
    };
    let bytes: Vec<u8> = match this.dtype() {
        DType::F16 => elements.iter().flat_map(|&x| dispatch_runtime::f16::from_f32(x).to_le_bytes()).collect(),
        DType::F32 => elements.iter().flat_map(|x| x.to_le_bytes()).collect(),
        other => return Err(Error::kernel(format!("no copies to {other}"))),
    };
    NpuBackend.copy_in(&bytes, this.storage())
}

/// Multiplies matrices, in half precision only.
#[op_impl(aten::mm, NPU)]
fn mm_npu(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    if this.dtype() != DType::F16 {
        return Err(Error::kernel(format!("a product of {}", this.dtype())));
    }
    Spec::contiguous(DType::F16, &[this.sizes()[0], mat2.sizes()[1]]).on(npu_device())
}

#[op_def("fp32_on_npu(Tensor self) -> Tensor")]
fn fp32_on_npu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(untouched: fp32_on_npu);
autocast!(lower on NPU: fp32_on_npu);

fn npu_matrix() -> Tensor {
    Spec::contiguous(DType::F32, &[2, 2]).on(npu_device()).unwrap()
}

#[test]
fn a_new_backend_uses_the_common_lists() {
    assert_eq!(autocast::default_dtype(npu_device()), DType::F16);
    assert!(aten::mm(&npu_matrix(), &npu_matrix()).is_err());
    let _on = autocast::enable(npu_device(), None).unwrap();
    let product = aten::mm(&npu_matrix(), &npu_matrix()).unwrap();
    assert_eq!((product.dtype(), product.device()), (DType::F16, npu_device()));
}

#[test]
fn a_new_backend_can_have_a_policy_of_its_own() {
    let _on = (autocast::enable(npu_device(), None).unwrap(), autocast::enable(Device::CPU, None).unwrap());
    assert_eq!(fp32_on_npu(&npu_matrix()).unwrap().dtype(), DType::F16);
    assert_eq!(fp32_on_npu(&Tensor::from_slice(&[1.0_f32])).unwrap().dtype(), DType::F32);
}

#[test]
fn a_region_for_the_cpu_does_not_affect_another_backend() {
    let _on = autocast::enable(Device::CPU, None).unwrap();
    assert!(aten::mm(&npu_matrix(), &npu_matrix()).is_err());
}
