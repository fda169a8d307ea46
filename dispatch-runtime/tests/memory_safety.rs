//! Tests of mistakes in safe code of a backend, a layer or a caller, and of the errors that they cause.
#![expect(unsafe_code, reason = "an operator that is written by hand")]

use std::sync::Mutex;

use dispatch_runtime::__private::{Definition, Owned, Record, Sig, Signature, TableHeader, TableRef};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    Backend, BadArgument, Buffer, ErrorKind, Geometry, KernelRecord, KeySet, Location, MemoryFormat, Operator,
    OutOfStorage, Spec, Storage, Value, backend, guard, register, verify,
};

#[dispatch_key(backend)]
static PREPARED: Key;

/// A backend that returns a prepared storage for every requested size.
struct PreparedBackend;

static NEXT_STORAGE: Mutex<Option<Storage>> = Mutex::new(None);

struct FakeBuffer(usize);

impl Buffer for FakeBuffer {
    fn device(&self) -> Device {
        Device::new(PREPARED).unwrap()
    }
    fn size(&self) -> usize {
        self.0
    }
}

impl Backend for PreparedBackend {
    fn allocate(&self, _: Device, _: usize) -> Result<Storage> {
        NEXT_STORAGE.lock().unwrap().take().ok_or_else(|| "nothing is left".into())
    }
    fn copy_in(&self, _: &[u8], _: &Storage) -> Result<()> {
        Ok(())
    }
    fn copy_out(&self, _: &Storage, _: &mut [u8]) -> Result<()> {
        Ok(())
    }
}
backend!(PREPARED, PreparedBackend);

#[test]
fn the_error_for_a_wrong_storage_names_device_and_size() {
    let device = Device::new(PREPARED).unwrap();
    let make = |storage: Storage| {
        *NEXT_STORAGE.lock().unwrap() = Some(storage);
        Spec::contiguous(DType::F32, &[4]).on(device)
    };
    assert_eq!(make(Storage::new(FakeBuffer(16))).unwrap().device(), device);
    for wrong in [Storage::new(FakeBuffer(15)), Storage::new_host(8), Storage::new_host(16), Storage::new_meta(16)] {
        let (found, available) = (wrong.device(), wrong.size());
        let error = make(wrong).unwrap_err();
        let ErrorKind::WrongAllocation { size: 16, .. } = error.kind() else { panic!("{error}") };
        let words = error.to_string();
        assert!(
            words.contains("asked for 16 bytes") && words.contains(&format!("allocated {available} bytes on {found}")),
            "{words}"
        );
    }
}

#[test]
fn specs_with_an_offset_or_impossible_strides_are_errors() {
    let on = |geometry: Geometry, device| Spec { dtype: DType::F32, geometry }.on(device);
    for device in [Device::CPU, Device::META] {
        for offset in [1, -1, i64::MAX] {
            let error = on(Geometry::contiguous(&[2, 3]).with_offset(offset), device).unwrap_err();
            let source = std::error::Error::source(&error).unwrap();
            assert_eq!(source.downcast_ref::<BadArgument>().unwrap().argument, "storage_offset");
        }
        for (sizes, strides) in [
            (&[2, 3][..], &[-3, 1][..]),
            (&[1, 3], &[i64::MAX, 1]),
            (&[1 << 40, 1 << 40], &[1 << 40, 1]),
            (&[i64::MAX, 2], &[2, 1]),
            (&[2, 2], &[1 << 62, 1]),
        ] {
            let error = on(Geometry::strided(sizes, strides, 0).unwrap(), device).unwrap_err();
            let source = std::error::Error::source(&error).unwrap();
            assert!(source.downcast_ref::<OutOfStorage>().is_some(), "{sizes:?} {strides:?}: {error}");
        }
        assert!(on(Geometry::contiguous(&[2, -1]), device).is_err());
        let gaps = on(Geometry::strided(&[2, 3], &[5, 1], 0).unwrap(), device).unwrap();
        assert_eq!(gaps.storage().size(), 8 * 4);
        assert_eq!(
            on(Geometry::in_format(&[1, 2, 2, 2], MemoryFormat::ChannelsLast).unwrap(), device)
                .unwrap()
                .storage()
                .size(),
            32
        );
    }
}

#[op_def("memory_safety::endless_redispatch(Tensor self) -> Tensor")]
fn endless_redispatch(this: &Tensor) -> Result<Tensor>;

#[op_impl(endless_redispatch, CPU)]
fn redispatching_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(endless_redispatch, PreDispatch)]
fn redispatch_to_itself(this: &Tensor, keys: KeySet) -> Result<Tensor> {
    endless_redispatch::redispatch(keys, this)
}

#[op_def("memory_safety::boxed_endless_redispatch(Tensor self) -> Tensor")]
fn boxed_endless_redispatch(this: &Tensor) -> Result<Tensor>;

#[op_impl(boxed_endless_redispatch, CPU)]
fn boxed_redispatching_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(boxed_endless_redispatch, PreDispatch, boxed)]
fn boxed_redispatch_to_itself(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys, stack)
}

#[test]
fn a_layer_that_redispatches_to_itself_is_an_error_that_names_it() {
    let x = Tensor::from_slice(&[1.0_f32]);
    let layer = guard::include(KeySet::from(keys::PreDispatch));
    let calls: [&dyn Fn() -> Result<Tensor>; 3] =
        [&|| endless_redispatch(&x), &|| boxed_endless_redispatch(&x), &|| {
            Ok(boxed_endless_redispatch::operator().call([Value::from(&x)])?.remove(0).as_tensor().unwrap().clone())
        }];
    for call in calls {
        // The call is made twice, because the first error must leave no state behind.
        for _ in 0..2 {
            let error = call().unwrap_err();
            let ErrorKind::EndlessRedispatch { key, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(*key, Some(keys::PreDispatch));
            assert!(error.to_string().contains("keys.below"), "{error}");
        }
    }
    drop(layer);
    assert!(endless_redispatch(&x).unwrap().same(&x) && boxed_endless_redispatch(&x).unwrap().same(&x));
}

#[op_def("memory_safety::same_name(Tensor self) -> Tensor")]
fn same_name(this: &Tensor) -> Result<Tensor>;

mod unregistered {
    use super::*;

    /// An operator that is written by hand and never registered. It has the name of `same_name` and other types.
    pub(super) enum SameName {}

    pub(super) static OPERATOR: Operator = {
        static UNBOUND: TableHeader = TableHeader::unbound(Some(&OPERATOR), IntegerSignature::TYPED_ADAPTERS.slow_path);
        let definition = Definition {
            name: dispatch_runtime::Name { namespace: "memory_safety", base: "same_name", overload: "" },
            signature: "(int self) -> int",
            docs: "",
            location: Location::new("other.rs", 1),
            argument_count: 1,
            tensor_result_count: u8::MAX,
            key_arguments: 0,
            aliasing: false,
            returns_views: false,
            device_argument: None,
            shape: None,
            plan: None,
            data_dependent: false,
            functional: None,
            typed: None,
            function: None,
            kernels: &[],
        };
        // SAFETY: the definition has no types, and `unbound` has the type of `SameName`.
        unsafe { Operator::new(&UNBOUND, definition) }
    };

    type IntegerSignature = Sig<(Owned<i64>,), i64>;

    // SAFETY: the operator is always the same, and has no types.
    unsafe impl Operation for SameName {
        type Signature = IntegerSignature;

        fn operator() -> &'static Operator {
            &OPERATOR
        }
    }
}

#[test]
fn a_kernel_of_another_operator_of_the_same_name_is_never_called() {
    fn add_one(x: i64, _: KeySet, _: TableRef) -> Result<i64> {
        x.checked_add(1).ok_or_else(|| Error::kernel("it is the largest number"))
    }
    static RECORD: KernelRecord =
        KernelRecord::typed::<unregistered::SameName>(add_one, &[&keys::CPU], "number", Location::new("other.rs", 2));

    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(matches!(same_name(&x).unwrap_err().kind(), ErrorKind::NoKernel(_)));
    register(vec![Record::Kernel(&RECORD)].leak());
    let is_foreign = |error: &Error| matches!(error.kind(), ErrorKind::KernelOfOtherDefinition { kernels, .. } if kernels[0].0 == "number");
    let error = same_name(&x).unwrap_err();
    assert!(is_foreign(&error), "{error}");
    assert!(is_foreign(&same_name::operator().call([Value::from(&x)]).unwrap_err()));
    assert!(same_name::operator().kernels_for_key(keys::CPU).is_empty());
    assert!(verify().iter().any(|finding| finding.to_string().contains("compiled for another operator")));
}
