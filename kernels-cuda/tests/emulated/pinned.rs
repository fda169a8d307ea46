//! Tests of asynchronous copies to and from pinned memory: the program waits for them when it accesses the memory.

use dispatch_runtime::prelude::*;

use crate::{copy_to_device, lock_first_device};

fn consecutive_numbers(count: u16) -> Tensor {
    Tensor::from_slice(&(0..count).map(f32::from).collect::<Vec<_>>())
}

fn copy_async(tensor: &Tensor, device: Device) -> Tensor {
    aten::to_device(tensor, device, tensor.dtype(), true, false, None).unwrap()
}

#[test]
fn pin_memory_keeps_elements_and_pins_once() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let plain = consecutive_numbers(100);
    let pinned = aten::pin_memory(&plain, Some(cuda)).unwrap();
    assert!(!aten::is_pinned(&plain, None).unwrap() && aten::is_pinned(&pinned, None).unwrap());
    assert_eq!(pinned.device(), Device::CPU);
    assert_eq!(pinned.to_vec::<f32>().unwrap(), plain.to_vec::<f32>().unwrap());
    let again = aten::pin_memory(&pinned, None).unwrap();
    assert!(again.storage().same(pinned.storage()));
    let turned = aten::t(&aten::view(&plain, &[10, 10]).unwrap()).unwrap();
    let pinned = aten::pin_memory(&turned, None).unwrap();
    assert_eq!(pinned.geometry().strides(), turned.geometry().strides());
    assert_eq!(pinned.to_vec::<f32>().unwrap(), turned.to_vec::<f32>().unwrap());
    let error = aten::pin_memory(&copy_to_device(&plain, cuda), None).unwrap_err().to_string();
    assert!(error.contains("`self` is cuda:0") && error.contains("on the CPU"), "{error}");
}

#[test]
fn a_source_may_be_written_or_dropped_during_its_copy() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut pinned = aten::pin_memory(&consecutive_numbers(1000), None).unwrap();
    let there = copy_async(&pinned, cuda);
    aten::fill__scalar(&mut pinned, 7.into()).unwrap();
    assert_eq!(
        copy_to_device(&there, Device::CPU).to_vec::<f32>().unwrap(),
        consecutive_numbers(1000).to_vec::<f32>().unwrap()
    );
    let there = copy_async(&pinned, cuda);
    pinned.write::<f32>().unwrap().fill(8.0);
    drop(pinned);
    let other = aten::pin_memory(&consecutive_numbers(1000), None).unwrap();
    assert_eq!(copy_to_device(&there, Device::CPU).to_vec::<f32>().unwrap(), [7.0; 1000]);
    let there = copy_async(&other, cuda);
    drop(other);
    // Another tensor is allocated in pinned memory of this size.
    drop(aten::pin_memory(&Tensor::from_slice(&[9.0_f32; 1000]), None).unwrap());
    assert_eq!(
        copy_to_device(&there, Device::CPU).to_vec::<f32>().unwrap(),
        consecutive_numbers(1000).to_vec::<f32>().unwrap()
    );
}

#[test]
fn reading_a_copy_from_the_device_waits_for_it() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let there = copy_to_device(&consecutive_numbers(300), cuda);
    let fetched = copy_async(&there, Device::CPU);
    assert!(aten::is_pinned(&fetched, Some(cuda)).unwrap());
    assert_eq!(fetched.to_vec::<f32>().unwrap(), consecutive_numbers(300).to_vec::<f32>().unwrap());
    let fetched = copy_async(&there, Device::CPU);
    let doubled = aten::add(&fetched, &fetched, 1.into()).unwrap();
    assert_eq!(doubled.to_vec::<f32>().unwrap()[298..], [596.0, 598.0]);
    // The target is a view of existing memory.
    let mut pinned = aten::pin_memory(&Tensor::from_slice(&[-1.0_f32; 400]), None).unwrap();
    let before = pinned.storage().version();
    let mut target = aten::narrow(&pinned, 0, 50, 300).unwrap();
    aten::copy_(&mut target, &there, true).unwrap();
    assert!(pinned.storage().version() > before);
    let all = pinned.to_vec::<f32>().unwrap();
    assert_eq!((&all[49..51], &all[349..351]), (&[-1.0, 0.0][..], &[299.0, -1.0][..]));
    aten::copy_(&mut target, &there, true).unwrap();
    aten::fill__scalar(&mut pinned, 3.into()).unwrap();
    assert_eq!(pinned.to_vec::<f32>().unwrap(), [3.0; 400]);
}

#[test]
fn an_asynchronous_copy_during_a_guard_is_an_error() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut pinned = aten::pin_memory(&consecutive_numbers(8), None).unwrap();
    let there = copy_to_device(&consecutive_numbers(8), cuda);
    let mut other = pinned.clone();
    let reading = pinned.read::<f32>().unwrap();
    let error = aten::copy_(&mut other, &there, true).unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");
    drop(reading);
    let writing = pinned.write::<f32>().unwrap();
    assert!(aten::to_device(&other, cuda, DType::F32, true, false, None).is_err());
    drop(writing);
    aten::copy_(&mut other, &there, true).unwrap();
}

#[test]
fn asynchronous_copies_convert_dtype_and_layout() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let pinned = aten::pin_memory(&aten::view(&consecutive_numbers(6), &[2, 3]).unwrap(), None).unwrap();
    let turned = aten::t(&pinned).unwrap();
    let there = aten::to_device(&turned, cuda, DType::F64, true, false, None).unwrap();
    let back = aten::to_device(&there, Device::CPU, DType::I32, true, false, None).unwrap();
    assert_eq!(back.sizes(), [3, 2]);
    assert_eq!(back.to_vec::<i32>().unwrap(), [0, 3, 1, 4, 2, 5]);
}
