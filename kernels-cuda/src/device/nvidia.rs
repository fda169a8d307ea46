//! NVIDIA's driver, as an implementation of the `DeviceDriver` trait.
//!
//! The libraries are loaded at their first use. cudarc panics if one is missing, so each use checks for the library first.
#![expect(unsafe_code, reason = "functions of the driver")]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, OnceLock};
use std::time::Duration;

use cudarc::driver::sys::CUdevice_attribute_enum::{
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as SHARED,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS,
};
use cudarc::driver::sys::{self, CUresult};

use crate::compile::nvrtc::{self, Code};
use crate::compile::source::Source;
use crate::device::driver::{
    DeviceAddress, DeviceDriver, DeviceProperties, EntryPoint, EventHandle, FunctionHandle, Grid, Module,
    RecordingHandle, StreamHandle,
};
use crate::device::recent_launches;
use crate::error::{CudaError, MissingRequirement};
use crate::lock::lock_ignoring_poison;

/// A device, used through the driver's primary context, which other libraries of the process share.
pub(crate) struct Nvidia {
    properties: DeviceProperties,
    device: sys::CUdevice,
    context: usize,
    pool: usize,
    /// The dynamic shared memory in bytes that was permitted to each kernel, if above the default limit.
    shared_memory_limits: Mutex<HashMap<FunctionHandle, u32>>,
    recorded_streams: Mutex<Vec<StreamHandle>>,
}

static DRIVER_IS_PRESENT: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: it loads the driver's library, whose initialisers may be run.
    unsafe { sys::is_culib_present() }
});

/// Initialises the driver once. A failed attempt is repeated at the next call.
fn initialize_driver() -> Result<(), CudaError> {
    static DRIVER_IS_INITIALIZED: OnceLock<()> = OnceLock::new();
    if DRIVER_IS_INITIALIZED.get().is_none() {
        if !*DRIVER_IS_PRESENT {
            return Err(MissingRequirement::Driver.into());
        }
        // SAFETY: the function has no preconditions.
        check_result("cuInit", unsafe { sys::cuInit(0) })?;
        _ = DRIVER_IS_INITIALIZED.set(());
    }
    Ok(())
}

/// Returns the driver's number of devices.
pub(crate) fn device_count() -> Result<usize, CudaError> {
    initialize_driver()?;
    let mut count = 0;
    // SAFETY: the driver is initialised, and it writes only to `count`.
    check_result("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn check_result(call: &'static str, result: CUresult) -> Result<(), CudaError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let message = format!("{result:?}");
    Err(if CRASH_ERRORS.contains(&result) {
        CudaError::KernelCrashed { message, launched: recent_launches::recent_kernels() }
    } else {
        CudaError::Driver { call, message }
    })
}

/// The driver's errors that a crashed kernel causes. The next call of the driver returns them.
const CRASH_ERRORS: [CUresult; 8] = [
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
];

/// Calls a function of the driver. An error has the function's name.
macro_rules! call_driver {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: handles come from this driver and are never destroyed while they are in use; the driver writes only to variables of the
        // caller. For a launch, the caller of `DeviceDriver::launch` promises the rest.
        check_result(stringify!($function), unsafe { sys::$function($($argument),*) })
    };
}

impl Nvidia {
    pub(crate) fn open(index: u8) -> Result<Self, CudaError> {
        let count = device_count()?;
        if usize::from(index) >= count {
            return Err(MissingRequirement::Device { requested: index, count }.into());
        }
        let (mut device, mut memory) = (0, 0);
        call_driver!(cuDeviceGet(&raw mut device, index.into()))?;
        let mut context = std::ptr::null_mut();
        call_driver!(cuDevicePrimaryCtxRetain(&raw mut context, device))?;
        call_driver!(cuDeviceTotalMem_v2(&raw mut memory, device))?;
        let mut name = [0_u8; 128];
        call_driver!(cuDeviceGetName(name.as_mut_ptr().cast(), 127, device))?;
        let name = name.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
        let attribute = |which| {
            let mut value = 0;
            call_driver!(cuDeviceGetAttribute(&raw mut value, which, device))?;
            Ok::<u32, CudaError>(u32::try_from(value).unwrap_or(0))
        };
        let architecture = attribute(MAJOR)? * 10 + attribute(MINOR)?;
        if architecture < 80 {
            return Err(MissingRequirement::Architecture { found: architecture }.into());
        }
        let (multiprocessors, shared_memory) = (attribute(MULTIPROCESSORS)?, attribute(SHARED)?);
        let properties = DeviceProperties { name, architecture, multiprocessors, memory, shared_memory };
        let (pool, shared_memory_limits, recorded_streams) =
            (configure_memory_pool(device)?, Mutex::default(), Mutex::default());
        Ok(Self { properties, device, context: context.addr(), pool, shared_memory_limits, recorded_streams })
    }

    /// Makes the device's context current on this thread. Other libraries also change the current context, so it is queried each
    /// time: 15 nanoseconds.
    #[inline]
    fn set_current_context(&self) -> Result<(), CudaError> {
        let mut current = std::ptr::null_mut();
        call_driver!(cuCtxGetCurrent(&raw mut current))?;
        if current.addr() != self.context {
            call_driver!(cuCtxSetCurrent(self.context as sys::CUcontext))?;
        }
        Ok(())
    }

    /// Records an event at the end of a stream's work so far.
    fn record_new_event(&self, stream: StreamHandle, kind: sys::CUevent_flags_enum) -> Result<EventHandle, CudaError> {
        self.set_current_context()?;
        let mut created = std::ptr::null_mut();
        call_driver!(cuEventCreate(&raw mut created, kind as u32))?;
        let event = created.addr();
        call_driver!(cuEventRecord(created, stream as sys::CUstream)).inspect_err(|_| self.destroy_event(event))?;
        Ok(event)
    }
}

/// Makes the driver's memory pool keep freed memory, rather than return it to the system at each synchronisation.
fn configure_memory_pool(device: sys::CUdevice) -> Result<usize, CudaError> {
    let mut pool = std::ptr::null_mut();
    call_driver!(cuDeviceGetDefaultMemPool(&raw mut pool, device))?;
    let mut threshold = u64::MAX;
    let attribute = sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    call_driver!(cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast()))?;
    Ok(pool.addr())
}

impl DeviceDriver for Nvidia {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn supports_vendor_libraries(&self) -> bool {
        true
    }

    fn make_current(&self) -> Result<(), CudaError> {
        self.set_current_context()
    }

    fn create_stream(&self) -> Result<StreamHandle, CudaError> {
        self.set_current_context()?;
        let mut stream = std::ptr::null_mut();
        let kind = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING;
        call_driver!(cuStreamCreate(&raw mut stream, kind as u32))?;
        Ok(stream.addr())
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<(), CudaError> {
        self.set_current_context()?;
        // The driver would also refuse to wait for a recording, and would end the recording.
        if lock_ignoring_poison(&self.recorded_streams).contains(&stream) {
            return Err(CudaError::Driver {
                call: "cuStreamSynchronize",
                message: "this call cannot be recorded in a graph".to_owned(),
            });
        }
        call_driver!(cuStreamSynchronize(stream as sys::CUstream))
    }

    fn make_stream_wait(&self, first: StreamHandle, then: StreamHandle) -> Result<(), CudaError> {
        // No work runs in a stream that is being recorded, and a stream that waited for it would become part of the recording.
        let recorded = lock_ignoring_poison(&self.recorded_streams);
        if recorded.contains(&first) {
            return Ok(());
        }
        let event = self.record_event(first)?;
        drop(recorded);
        let ordered = call_driver!(cuStreamWaitEvent(then as sys::CUstream, event as sys::CUevent, 0));
        // The driver keeps a destroyed event alive while a stream waits for it.
        self.destroy_event(event);
        ordered
    }

    fn allocate(&self, bytes: usize, stream: StreamHandle) -> Result<DeviceAddress, CudaError> {
        self.set_current_context()?;
        let mut address = 0;
        // SAFETY: the stream is a stream of this driver, and the driver writes only to `address`.
        match unsafe { sys::cuMemAllocAsync(&raw mut address, bytes, stream as sys::CUstream) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(CudaError::OutOfMemory { requested: bytes, total: self.properties.memory })
            }
            result => check_result("cuMemAllocAsync", result).map(|()| address),
        }
    }

    fn free(&self, address: DeviceAddress, stream: StreamHandle) {
        // At the end of a process the driver may be gone already, and all memory with it, so errors are ignored.
        _ = self.set_current_context().and_then(|()| call_driver!(cuMemFreeAsync(address, stream as sys::CUstream)));
    }

    fn release_free_memory(&self) -> Result<(), CudaError> {
        self.set_current_context()?;
        // Graphs allocate from their own pool.
        call_driver!(cuDeviceGraphMemTrim(self.device))?;
        call_driver!(cuMemPoolTrimTo(self.pool as sys::CUmemoryPool, 0))
    }

    fn reserved_bytes(&self) -> usize {
        let (mut bytes, mut recordings) = (0_u64, 0_u64);
        let attribute = sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
        let of_recordings = sys::CUgraphMem_attribute_enum::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT;
        let pool = self.pool as sys::CUmemoryPool;
        let queried = self
            .set_current_context()
            .and_then(|()| call_driver!(cuMemPoolGetAttribute(pool, attribute, (&raw mut bytes).cast())))
            .and_then(|()| {
                call_driver!(cuDeviceGetGraphMemAttribute(self.device, of_recordings, (&raw mut recordings).cast()))
            });
        queried.ok().and_then(|()| usize::try_from(bytes + recordings).ok()).unwrap_or(0)
    }

    fn copy_host_to_device(
        &self,
        from: NonNull<u8>,
        to: DeviceAddress,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        self.set_current_context()?;
        call_driver!(cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), bytes, stream as sys::CUstream))
    }

    fn copy_device_to_host(
        &self,
        from: DeviceAddress,
        to: NonNull<u8>,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        self.set_current_context()?;
        call_driver!(cuMemcpyDtoHAsync_v2(to.as_ptr().cast(), from, bytes, stream as sys::CUstream))
    }

    fn copy_on_device(
        &self,
        from: DeviceAddress,
        to: DeviceAddress,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        self.set_current_context()?;
        call_driver!(cuMemcpyDtoDAsync_v2(to, from, bytes, stream as sys::CUstream))
    }

    fn fill_bytes(&self, to: DeviceAddress, byte: u8, bytes: usize, stream: StreamHandle) -> Result<(), CudaError> {
        self.set_current_context()?;
        call_driver!(cuMemsetD8Async(to, byte, bytes, stream as sys::CUstream))
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<NonNull<u8>, CudaError> {
        self.set_current_context()?;
        let mut start = std::ptr::null_mut();
        call_driver!(cuMemHostAlloc(&raw mut start, bytes, sys::CU_MEMHOSTALLOC_PORTABLE))?;
        NonNull::new(start.cast()).ok_or(CudaError::OutOfMemory { requested: bytes, total: 0 })
    }

    fn record_event(&self, stream: StreamHandle) -> Result<EventHandle, CudaError> {
        self.record_new_event(stream, sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING)
    }

    fn record_timed_event(&self, stream: StreamHandle) -> Result<EventHandle, CudaError> {
        self.record_new_event(stream, sys::CUevent_flags_enum::CU_EVENT_DEFAULT)
    }

    fn elapsed_time(&self, first: EventHandle, last: EventHandle) -> Result<Duration, CudaError> {
        self.set_current_context()?;
        let mut milliseconds = 0.0;
        for event in [first, last] {
            call_driver!(cuEventSynchronize(event as sys::CUevent))?;
        }
        call_driver!(cuEventElapsedTime_v2(&raw mut milliseconds, first as sys::CUevent, last as sys::CUevent))?;
        Ok(Duration::from_secs_f32(milliseconds.max(0.0) / 1e3))
    }

    fn record_events(&self, streams: &[StreamHandle]) -> Result<Vec<EventHandle>, CudaError> {
        // The lock is held, so that no recording begins meanwhile.
        let recorded = lock_ignoring_poison(&self.recorded_streams);
        streams.iter().filter(|stream| !recorded.contains(stream)).map(|stream| self.record_event(*stream)).collect()
    }

    fn is_event_complete(&self, event: EventHandle) -> bool {
        self.set_current_context().and_then(|()| call_driver!(cuEventQuery(event as sys::CUevent))).is_ok()
    }

    fn wait_for_event(&self, event: EventHandle) {
        // A failed device runs nothing more, and the next call that needs its result returns the error.
        _ = self.set_current_context().and_then(|()| call_driver!(cuEventSynchronize(event as sys::CUevent)));
    }

    fn destroy_event(&self, event: EventHandle) {
        _ = self.set_current_context().and_then(|()| call_driver!(cuEventDestroy_v2(event as sys::CUevent)));
    }

    fn load_modules(&self, source: &Source, expressions: &[String]) -> Result<Vec<Module>, CudaError> {
        self.set_current_context()?;
        let load = |code: Code| {
            let mut module = std::ptr::null_mut();
            call_driver!(cuModuleLoadData(&raw mut module, code.bytes.as_ptr().cast::<c_void>()))?;
            Ok(Module { code: module.addr(), names: code.expressions.into_iter().zip(code.names).collect() })
        };
        nvrtc::load_or_compile(source, expressions, self.properties.architecture)?.into_iter().map(load).collect()
    }

    fn prefers_compiling_all(&self) -> bool {
        false
    }

    fn entry_point(&self, code: usize, name: &str) -> Result<EntryPoint, CudaError> {
        self.set_current_context()?;
        let name = CString::new(name).unwrap_or_default();
        let mut function = std::ptr::null_mut();
        call_driver!(cuModuleGetFunction(&raw mut function, code as sys::CUmodule, name.as_ptr()))?;
        let (mut parameters, mut offset, mut size) = (Vec::new(), 0, 0);
        // The driver returns an error for the index after the last parameter.
        while call_driver!(cuFuncGetParamInfo(function, parameters.len(), &raw mut offset, &raw mut size)).is_ok() {
            parameters.push(size);
        }
        Ok(EntryPoint { function: function.addr(), parameters: parameters.into() })
    }

    #[inline]
    unsafe fn launch(
        &self,
        entry: &EntryPoint,
        grid: Grid,
        parameters: &mut [*mut c_void],
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        // A stream determines its context, so none has to be made current.
        let (blocks, threads) = (grid.blocks, grid.threads);
        let (function, stream) = (entry.function as sys::CUfunction, stream as sys::CUstream);
        let nothing_else = std::ptr::null_mut();
        call_driver!(cuLaunchKernel(
            function,
            blocks[0],
            blocks[1],
            blocks[2],
            threads[0],
            threads[1],
            threads[2],
            grid.shared_memory,
            stream,
            parameters.as_mut_ptr(),
            nothing_else,
        ))
    }

    fn allow_shared_memory(&self, function: FunctionHandle, bytes: u32) -> Result<(), CudaError> {
        let mut shared = lock_ignoring_poison(&self.shared_memory_limits);
        let most = shared.entry(function).or_default();
        if bytes > *most {
            self.set_current_context()?;
            let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let value = i32::try_from(bytes).unwrap_or(i32::MAX);
            call_driver!(cuFuncSetAttribute(function as sys::CUfunction, attribute, value))?;
            *most = bytes;
        }
        Ok(())
    }

    fn begin_recording(&self, stream: StreamHandle) -> Result<(), CudaError> {
        self.set_current_context()?;
        // The calls of this crate do not disturb a recording, and the other modes forbid to query whether an event has passed.
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED;
        let mut recorded = lock_ignoring_poison(&self.recorded_streams);
        call_driver!(cuStreamBeginCapture_v2(stream as sys::CUstream, mode))?;
        recorded.push(stream);
        Ok(())
    }

    fn end_recording(&self, stream: StreamHandle) -> Result<RecordingHandle, CudaError> {
        self.set_current_context()?;
        let (mut graph, mut executable) = (std::ptr::null_mut(), MaybeUninit::uninit());
        let ended = call_driver!(cuStreamEndCapture(stream as sys::CUstream, &raw mut graph));
        lock_ignoring_poison(&self.recorded_streams).retain(|recorded| *recorded != stream);
        ended?;
        // With this flag, memory that a recording allocates and keeps is freed before each replay.
        let flag = sys::CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let made = call_driver!(cuGraphInstantiateWithFlags(executable.as_mut_ptr(), graph, flag.0.into()));
        call_driver!(cuGraphDestroy(graph)).and(made)?;
        // SAFETY: the call succeeded, so it has written the value.
        Ok(unsafe { executable.assume_init() }.addr())
    }

    fn replay(&self, recording: RecordingHandle, stream: StreamHandle) -> Result<(), CudaError> {
        self.set_current_context()?;
        call_driver!(cuGraphLaunch(recording as sys::CUgraphExec, stream as sys::CUstream))
    }

    fn destroy_recording(&self, recording: RecordingHandle) {
        _ = self.set_current_context().and_then(|()| call_driver!(cuGraphExecDestroy(recording as sys::CUgraphExec)));
    }
}
