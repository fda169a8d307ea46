//! Tests of operators that give a tensor other memory or other sizes.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, MemoryFormat, Spec};

fn range(count: i64) -> Tensor {
    Tensor::arange(0..count, DType::F32).unwrap()
}

#[test]
fn set_binds_the_handle_to_memory_of_the_source() {
    let source = range(6);
    let (mut x, storage) = (range(2), Value::Storage(source.storage().clone()));
    let before = x.clone();
    aten::set__source_tensor(&mut x, &source).unwrap();
    assert!(x.storage().same(source.storage()) && x.sizes() == [6] && before.sizes() == [2]);
    aten::set__source_storage_storage_offset(&mut x, &storage, 1, &[2, 2], &[3, 1]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0, 4.0, 5.0]);
    aten::set__source_storage(&mut x, &storage).unwrap();
    assert_eq!(x.sizes(), [6]);
    let narrow = source.narrow(0, 1, 3).unwrap();
    aten::set__source_tensor_storage_offset(&mut x, &narrow, 1, &[2], &[]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [2.0, 3.0]);
    aten::set_(&mut x).unwrap();
    assert_eq!(x.sizes(), [0]);
    assert_eq!(aten::set_source_storage(&before, &storage).unwrap().sizes(), [6]);
}

#[test]
fn set_refuses_other_elements_and_places_outside_of_the_memory() {
    let source = range(6);
    let storage = Value::Storage(source.storage().clone());
    let mut x = range(2);
    let meta = Spec::contiguous(DType::F32, &[2]).on(Device::META).unwrap();
    assert!(aten::set__source_tensor(&mut x, &Tensor::from([1.0])).unwrap_err().to_string().contains("`source`"));
    assert!(aten::set__source_tensor(&mut x, &meta).is_err());
    assert!(aten::set__source_storage(&mut x, &Value::Int(3)).unwrap_err().to_string().contains("a storage"));
    for (offset, size, stride) in [
        (3, &[2, 2][..], &[][..]),
        (-1, &[2], &[]),
        (0, &[-2], &[]),
        (0, &[2], &[1, 1]),
        (i64::MAX, &[2], &[1]),
        (0, &[i64::MAX, i64::MAX], &[]),
        (0, &[2], &[i64::MAX]),
    ] {
        assert!(aten::set__source_storage_storage_offset(&mut x, &storage, offset, size, stride).is_err(), "{size:?}");
        assert!(aten::set__source_tensor_storage_offset(&mut x, &source, offset, size, stride).is_err(), "{size:?}");
    }
    assert!(
        aten::set__source_tensor_storage_offset(&mut x, &aten::slice(&source, 0, None, None, 2).unwrap(), 0, &[1], &[])
            .is_err()
    );
    assert_eq!(x.sizes(), [2]);
}

#[test]
fn resize_keeps_the_memory_or_copies_it_to_larger_memory() {
    let whole = range(6);
    let mut x = whole.narrow(0, 1, 2).unwrap();
    aten::resize_(&mut x, &[2, 2], None).unwrap();
    assert!(x.storage().same(whole.storage()));
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    aten::resize_(&mut x, &[3, 4], None).unwrap();
    assert!(!x.storage().same(whole.storage()));
    assert_eq!(x.to_vec::<f32>().unwrap()[..5], [1.0, 2.0, 3.0, 4.0, 5.0]);
    let mut image = range(8);
    aten::resize_(&mut image, &[1, 2, 2, 2], Some(MemoryFormat::ChannelsLast)).unwrap();
    assert_eq!(image.strides(), [8, 1, 4, 2]);
    let mut gaps = range(6).restride(Geometry::strided(&[3], &[2], 0).unwrap()).unwrap();
    aten::resize_(&mut gaps, &[3], None).unwrap();
    assert_eq!(gaps.strides(), [2]);
}

#[test]
fn resize_refuses_impossible_sizes() {
    for size in [&[-1][..], &[i64::MAX], &[i64::MAX, 4], &[1 << 40, 1 << 40]] {
        let mut x = range(2);
        assert!(aten::resize_(&mut x, size, None).is_err(), "{size:?}");
        assert!(aten::resize(&x, size, None).is_err() && aten::_resize_output(&x, size, Device::CPU).is_err());
    }
    let mut x = range(2);
    for format in [MemoryFormat::Preserve, MemoryFormat::ChannelsLast] {
        assert!(aten::resize_(&mut x, &[2], Some(format)).unwrap_err().to_string().contains("memory_format"));
    }
    assert!(aten::_resize_output(&x, &[2], Device::META).is_err());
    assert_eq!(aten::_resize_output(&range(4), &[2, 1], Device::CPU).unwrap().to_vec::<f32>().unwrap(), [0.0, 1.0]);
}

#[test]
fn set_data_binds_the_handle_and_keeps_the_gradient_requirement() {
    let mut x = range(2);
    aten::set_data(&mut x, &Tensor::from([[1.0, 2.0, 3.0]])).unwrap();
    assert_eq!((x.dtype(), x.sizes()), (DType::F64, &[1, 3][..]));
    aten::shallow_copy_data_(&mut x, &range(4)).unwrap();
    assert_eq!(x.sizes(), [4]);
    let meta = Spec::contiguous(DType::F32, &[2]).on(Device::META).unwrap();
    assert!(aten::set_data(&mut x, &meta).unwrap_err().to_string().contains("new_data"));
}
