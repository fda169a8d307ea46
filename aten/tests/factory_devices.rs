//! Tests of factories: they create tensors on the device that the call names.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aten::prelude::*;
use dispatch_runtime::keys::{BackendSelect, CPU, CUDA};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Backend, Buffer, ErrorKind, Layout, Spec, Storage, backend};
// Links the CPU kernels.
use kernels_cpu as _;

/// A simulated backend with two devices and few kernels.
#[dispatch_key(backend)]
static NPU: Key;

fn npu_device() -> Device {
    Device::new(NPU).unwrap()
}

struct HostBuffer {
    device: Device,
    bytes: Mutex<Vec<u8>>,
}

impl HostBuffer {
    fn lock_bytes(storage: &Storage) -> Result<MutexGuard<'_, Vec<u8>>> {
        let bytes = storage.buffer::<Self>().ok_or("the storage is not of this backend")?;
        Ok(bytes.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Buffer for HostBuffer {
    fn device(&self) -> Device {
        self.device
    }

    fn size(&self) -> usize {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

struct SimulatedBackend;

impl Backend for SimulatedBackend {
    fn allocate(&self, device: Device, size: usize) -> Result<Storage> {
        Ok(Storage::new(HostBuffer { device, bytes: vec![0; size].into() }))
    }

    fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()> {
        HostBuffer::lock_bytes(to)?.copy_from_slice(from);
        Ok(())
    }

    fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()> {
        to.copy_from_slice(&HostBuffer::lock_bytes(from)?);
        Ok(())
    }

    fn device_count(&self) -> usize {
        2
    }
}

backend!(NPU, SimulatedBackend);

#[op_impl(aten::full, NPU)]
fn full_npu(
    size: &[i64],
    fill_value: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    let here = aten::full(size, fill_value, dtype, layout, None, pin_memory)?;
    let there = Spec::contiguous(here.dtype(), size).on(device.unwrap_or_else(npu_device))?;
    SimulatedBackend.copy_in(
        &here.to(DType::F32)?.read::<f32>()?.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
        there.storage(),
    )?;
    Ok(there)
}

#[op_impl(aten::empty_memory_format, NPU)]
#[op_impl(aten::empty_strided, NPU)]
fn empty_npu(_plan: &(), _out: &mut Tensor) -> Result<()> {
    Ok(())
}

/// A factory defined by the user.
#[op_def("ramp(int n, *, Device? device=None) -> Tensor")]
fn ramp(n: i64, device: Option<Device>) -> Result<Tensor>;

#[op_impl(ramp, CPU)]
fn ramp_cpu(n: i64, _device: Option<Device>) -> Result<Tensor> {
    Tensor::arange(0..n, DType::F32)
}

#[op_impl(ramp, NPU)]
fn ramp_npu(n: i64, device: Option<Device>) -> Result<Tensor> {
    Spec::contiguous(DType::F32, &[n]).on(device.unwrap_or_else(npu_device))
}

type Factory = fn(Option<Device>) -> Result<Tensor>;

#[test]
fn factories_use_the_given_device() {
    let factories: [(&str, Factory); 18] = [
        ("empty", |device| aten::empty_memory_format(&[2], None, None, device, None, None)),
        ("empty_strided", |device| aten::empty_strided(&[2], &[1], None, None, device, None)),
        ("full", |device| aten::full(&[2], 1.into(), None, None, device, None)),
        ("scalar_tensor", |device| aten::scalar_tensor(1.into(), None, None, device, None)),
        ("zeros", |device| aten::zeros(&[2], None, None, device, None)),
        ("ones", |device| aten::ones(&[2], None, None, device, None)),
        ("eye", |device| aten::eye(2, None, None, device, None)),
        ("eye.m", |device| aten::eye_m(2, 3, None, None, device, None)),
        ("arange", |device| aten::arange(2.into(), None, None, device, None)),
        ("arange.start", |device| aten::arange_start(0.into(), 2.into(), None, None, device, None)),
        ("linspace", |device| aten::linspace(0.into(), 1.into(), 3, None, None, device, None)),
        ("rand", |device| aten::rand(&[2], None, None, device, None)),
        ("randn", |device| aten::randn(&[2], None, None, device, None)),
        ("randint", |device| aten::randint(5, &[2], None, None, device, None)),
        ("randint.low", |device| aten::randint_low(1, 5, &[2], None, None, device, None)),
        ("randperm", |device| aten::randperm(3, None, None, device, None)),
        ("tril_indices", |device| aten::tril_indices(2, 2, 0, None, None, device, None)),
        ("triu_indices", |device| aten::triu_indices(2, 2, 0, None, None, device, None)),
    ];
    for (name, factory) in factories {
        for device in [Device::CPU, Device::META] {
            assert_eq!(factory(Some(device)).unwrap().device(), device, "{name}");
        }
        assert_eq!(factory(None).unwrap().device(), Device::CPU, "{name}");
        let unlinked = factory(Device::new(CUDA)).unwrap_err().to_string();
        assert!(unlinked.contains("linked devices: cpu, meta, npu"), "{name}: {unlinked}");
    }
}

#[test]
fn like_factories_use_the_given_device_or_that_of_the_tensor() {
    type LikeFactory = fn(&Tensor, Option<Device>) -> Result<Tensor>;
    let factories: [(&str, LikeFactory); 9] = [
        ("empty_like", |x, device| aten::empty_like(x, None, None, device, None, None)),
        ("full_like", |x, device| aten::full_like(x, 1.into(), None, None, device, None, None)),
        ("zeros_like", |x, device| aten::zeros_like(x, None, None, device, None, None)),
        ("ones_like", |x, device| aten::ones_like(x, None, None, device, None, None)),
        ("new_empty", |x, device| aten::new_empty(x, &[2], None, None, device, None)),
        ("new_full", |x, device| aten::new_full(x, &[2], 1.into(), None, None, device, None)),
        ("new_zeros", |x, device| aten::new_zeros(x, &[2], None, None, device, None)),
        ("new_ones", |x, device| aten::new_ones(x, &[2], None, None, device, None)),
        ("new_empty_strided", |x, device| aten::new_empty_strided(x, &[2], &[1], None, None, device, None)),
    ];
    let devices = [Device::CPU, Device::META, npu_device()];
    for (name, like) in factories {
        for from in devices {
            let x = Tensor::zeros(2, from).unwrap();
            for to in devices {
                assert_eq!(like(&x, Some(to)).unwrap().device(), to, "{name} from {from}");
            }
            assert_eq!(like(&x, None).unwrap().device(), from, "{name}");
        }
    }
    let random: [LikeFactory; 2] = [
        |x, device| aten::rand_like(x, None, None, device, None, None),
        |x, device| aten::randn_like(x, None, None, device, None, None),
    ];
    for like in random {
        let x = Tensor::zeros(2, Device::META).unwrap();
        assert_eq!(like(&x, Some(Device::CPU)).unwrap().device(), Device::CPU);
        assert_eq!(like(&like(&x, Some(Device::CPU)).unwrap(), Some(Device::META)).unwrap().device(), Device::META);
    }
}

#[test]
fn boxed_factory_calls_use_the_given_device() {
    let zeros = |device: Value| {
        aten::zeros::operator().call([vec![2_i64].into(), Value::None, Value::None, device, Value::None])
    };
    for device in [Device::CPU, Device::META, npu_device()] {
        assert_eq!(zeros(device.into()).unwrap()[0].as_tensor().unwrap().device(), device);
    }
    assert_eq!(zeros(Value::None).unwrap()[0].as_tensor().unwrap().device(), Device::CPU);
    let error = zeros(Device::new(CUDA).unwrap().into()).unwrap_err().to_string();
    assert!(error.contains("linked devices: cpu, meta, npu"), "{error}");
    let error = zeros("cpu".into()).unwrap_err().to_string();
    assert_eq!(error, "argument `device` (number 4) of `aten::zeros` must be Device, found str");
}

#[test]
fn error_for_an_unlinked_device_lists_the_linked_devices() {
    let cuda = Device::new(CUDA).unwrap();
    let error = Tensor::full(2, 1.0, cuda).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoKernel(_)));
    let text = error.to_string();
    assert!(text.starts_with("no kernel of `aten::full` for CUDA"), "{text}");
    assert!(text.contains("device -> {CUDA}"), "the source of the key: {text}");
    assert!(
        text.contains("linked devices: cpu, meta, npu. If a crate provides that backend, link it: `use my_cuda as _;`"),
        "{text}"
    );
    let error = Tensor::from([1.0]).to(cuda).unwrap_err();
    let ErrorKind::NoBackend { device, linked_devices } = error.kind() else { panic!("{error}") };
    assert_eq!((*device, &linked_devices[..]), (cuda, &[Device::CPU, Device::META, npu_device()][..]));
}

#[test]
fn error_for_a_missing_kernel_of_a_linked_backend_suggests_op_impl() {
    let error = Tensor::eye(2, npu_device()).unwrap_err().to_string();
    assert!(error.contains("for NPU") && error.contains("Write one with `#[op_impl(aten::"), "{error}");
    assert!(!error.contains("linked"), "{error}");
}

#[test]
fn device_index_selects_a_device_of_the_backend() {
    let [first, last, beyond] = [0, 1, 2].map(|number| npu_device().with_index(number).unwrap());
    for device in [first, last] {
        assert_eq!(Tensor::ones(2, device).unwrap().device(), device);
    }
    let error = Tensor::ones(2, beyond).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoDevice { count: 2, .. }), "{error}");
    let text = "there is no device npu:2: its backend has 2 devices, numbered from 0; linked devices: cpu, meta, npu";
    assert!(error.to_string().starts_with(text), "{error}");
}

#[test]
fn device_index_of_cpu_and_meta_is_ignored() {
    for (device, plain) in [("cpu:5", Device::CPU), ("meta:1", Device::META)] {
        let tensor = Tensor::zeros(2, device.parse::<Device>().unwrap()).unwrap();
        assert_eq!((tensor.device(), tensor.storage().device()), (plain, plain));
    }
}

#[test]
fn error_for_an_unknown_device_text_lists_the_linked_devices() {
    let error = |text: &str| text.parse::<Device>().unwrap_err().to_string();
    assert_eq!(error("npuu:0"), "unknown device `npuu:0`; did you mean `npu`? Linked devices: cpu, meta, npu");
    assert!(error("gramophone").ends_with("Linked devices: cpu, meta, npu"), "{}", error("gramophone"));
    assert_eq!("npu:1".parse(), Ok(npu_device().with_index(1).unwrap()));
}

#[test]
fn pinned_memory_and_sparse_layouts_are_refused() {
    let zeros = |layout, pinned| aten::zeros(&[2], None, layout, None, pinned);
    assert!(zeros(None, Some(false)).is_ok() && zeros(Some(Layout::Strided), None).is_ok());
    let pinned = zeros(None, Some(true)).unwrap_err().to_string();
    assert!(pinned.contains("`pin_memory` is true") && pinned.contains("must be false"), "{pinned}");
    let sparse = zeros(Some(Layout::Sparse), None).unwrap_err().to_string();
    assert!(sparse.contains("`layout`"), "{sparse}");
}

#[test]
fn user_defined_factory_uses_the_given_device() {
    assert_eq!(ramp(3, None).unwrap().to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0]);
    assert_eq!(ramp(3, Some(npu_device())).unwrap().device(), npu_device());
    assert_eq!(ramp!(3, device = npu_device()).unwrap().device(), npu_device());
    let boxed = ramp::operator().call([3_i64.into(), npu_device().into()]).unwrap();
    assert_eq!(boxed[0].as_tensor().unwrap().device(), npu_device());
    let error = ramp(3, Some(Device::META)).unwrap_err().to_string();
    assert!(error.contains("`factory_devices::ramp` for Meta"), "{error}");
}

#[test]
fn explanation_of_a_factory_shows_the_key_of_its_device() {
    let account = ramp::operator().explain(&[3_i64.into(), npu_device().into()]);
    assert_eq!(account.arguments, [("device".to_owned(), KeySet::from(NPU))]);
    assert_eq!((account.key, account.winner.unwrap().kernel), (Some(NPU), "ramp_npu"));
    assert_eq!(ramp::operator().explain(&[3_i64.into(), Value::None]).key, Some(CPU));
}

thread_local! {
    static CHOSEN_DEVICE: Cell<Option<Device>> = const { Cell::new(None) };
}

/// A factory with a kernel for `BackendSelect`, which chooses the device.
#[op_def("zeros_on_chosen_device(int n, *, Device? device=None) -> Tensor")]
fn zeros_on_chosen_device(n: i64, device: Option<Device>) -> Result<Tensor>;

#[op_impl(zeros_on_chosen_device, BackendSelect)]
fn zeros_on_chosen_device_backend_select(n: i64, device: Option<Device>, keys: KeySet) -> Result<Tensor> {
    match CHOSEN_DEVICE.get() {
        Some(chosen) if device.is_none() => zeros_on_chosen_device(n, Some(chosen)),
        _ => zeros_on_chosen_device::redispatch(keys.below(BackendSelect), n, device),
    }
}

#[op_impl(zeros_on_chosen_device, CompositeExplicitAutograd)]
fn zeros_on_chosen_device_composite(n: i64, device: Option<Device>) -> Result<Tensor> {
    Tensor::zeros(n, device.unwrap_or(Device::CPU))
}

#[test]
fn user_kernel_for_backend_select_runs_before_backend_kernels() {
    assert_eq!(zeros_on_chosen_device(1, None).unwrap().device(), Device::CPU);
    CHOSEN_DEVICE.set(Some(npu_device()));
    assert_eq!(zeros_on_chosen_device(1, None).unwrap().device(), npu_device());
    assert_eq!(zeros_on_chosen_device(1, Some(Device::META)).unwrap().device(), Device::META);
    let boxed = zeros_on_chosen_device::operator().call([1_i64.into(), Value::None]).unwrap();
    assert_eq!(boxed[0].as_tensor().unwrap().device(), npu_device());
    CHOSEN_DEVICE.set(None);
}
