//! Tests of the text of tensors on other devices.

use std::sync::Mutex;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Backend, Buffer, Geometry, Storage, backend};

/// A backend whose memory can be read.
#[dispatch_key(backend)]
pub static TPU: Key;

/// A backend without memory functions.
#[dispatch_key(backend)]
pub static Bare: Key;

struct ByteBuffer(&'static Key, Mutex<Vec<u8>>);

impl Buffer for ByteBuffer {
    fn device(&self) -> Device {
        Device::new(*self.0).unwrap()
    }

    fn size(&self) -> usize {
        self.1.lock().unwrap().len()
    }
}

struct SimulatedBackend;

impl Backend for SimulatedBackend {
    fn allocate(&self, _: Device, size: usize) -> Result<Storage> {
        Ok(Storage::new(ByteBuffer(&TPU, vec![0; size].into())))
    }

    fn copy_in(&self, _: &[u8], _: &Storage) -> Result<()> {
        Ok(())
    }

    fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()> {
        let bytes = from.buffer::<ByteBuffer>().ok_or("not of this backend")?.1.lock().unwrap();
        if bytes[0] == 0 {
            return Err("the device has\nfallen asleep".into());
        }
        to.copy_from_slice(&bytes);
        Ok(())
    }
}

backend!(TPU, SimulatedBackend);

fn device_tensor(key: &'static Key, first: i32) -> Tensor {
    let bytes = [first, -2, 30].iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    Tensor::new(Storage::new(ByteBuffer(key, bytes.into())), DType::I32, Geometry::contiguous(&[3])).unwrap()
}

#[test]
fn elements_are_copied_from_the_device() {
    assert_eq!(device_tensor(&TPU, 1).to_string(), "tensor([ 1, -2, 30], device=tpu, dtype=int32)");
    let part = device_tensor(&TPU, 1).restride(Geometry::strided(&[2], &[2], 0).unwrap()).unwrap();
    assert_eq!(part.to_string(), "tensor([ 1, 30], device=tpu, dtype=int32)");
}

#[test]
fn the_text_of_a_failed_copy_has_the_error() {
    let text = device_tensor(&TPU, 0).to_string();
    let expected = "tensor(<cannot be copied: the device has>, device=tpu, size=[3], dtype=int32)";
    assert_eq!(text, expected);
}

#[test]
fn the_text_names_a_device_without_memory_functions() {
    let text = device_tensor(&Bare, 1).to_string();
    assert!(text.starts_with("tensor(<cannot be copied: no linked backend can allocate memory on bare"), "{text}");
    assert!(text.contains("device=bare") && text.contains("size=[3]"), "{text}");
}
