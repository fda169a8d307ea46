//! Tests of kernels that other crates declare: their launches and their instances.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{Grid, Kernel, Launch, kernel};

use crate::{ReverseThreadOrderGuard, copy_to_device, lock_first_device};

kernel! {
    // SAFETY: the test below launches it, with tensors of 256 elements and as many threads.
    static BLOCK_SUM_KERNEL = unsafe { Kernel::new("sums", r#"
    #include "block.cuh"
    template <class T> __global__ void sums(T *out, const T *in) {
        __shared__ T scratch[32];
        u32 at = blockIdx.x * blockDim.x + threadIdx.x;
        T all = reduce_block(in[at], Plus(), scratch);
        out[at] = all + T(__shfl_sync(~0u, i32(threadIdx.x), 3));
    }"#,
    |instances| instances.add_for_each_dtype("sums", &[DType::I32])) };
}

#[test]
fn barriers_work_in_any_order_of_threads() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&(0..256).collect::<Vec<i32>>()), cuda);
    let run = || {
        let out = Spec::contiguous(DType::I32, &[256]).on(cuda).unwrap();
        let launch = Launch::on_device_of(&out).unwrap();
        let arguments = (launch.pointer(&out).unwrap(), launch.pointer(&x).unwrap());
        launch.run(&BLOCK_SUM_KERNEL, "sums", &[DType::I32], Grid::new(2, 128), arguments).unwrap();
        copy_to_device(&out, Device::CPU).to_vec::<i32>().unwrap()
    };
    let expected: Vec<i32> = (0..256).map(|at| if at < 128 { 8128 } else { 24_512 } + at % 128 / 32 * 32 + 3).collect();
    assert_eq!(run(), expected);
    let _reversed = ReverseThreadOrderGuard::set(true);
    assert_eq!(run(), expected);
}

kernel! {
    // SAFETY: the test below launches it, with a tensor of four elements and as many threads.
    static FILL_KERNEL = unsafe { Kernel::new("filled", r#"
    #include "opdispatch.cuh"
    template <class T> __global__ void filled(T *out, u8 value) { out[threadIdx.x] = T(value); }"#,
    |instances| instances.add_for_each_dtype("filled", &[DType::F32, DType::I64])) };
}

#[test]
fn instances_that_are_not_listed_are_compiled_at_their_launch() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let fill = |dtype: DType, value: u8| {
        let out = Spec::contiguous(dtype, &[4]).on(cuda).unwrap();
        let launch = Launch::on_device_of(&out).unwrap();
        let filled =
            launch.run(&FILL_KERNEL, "filled", &[dtype], Grid::new(1, 4), (launch.pointer(&out).unwrap(), value));
        filled.map(|()| {
            copy_to_device(&aten::to_dtype!(&out, dtype = DType::F64).unwrap(), Device::CPU).to_vec::<f64>().unwrap()
        })
    };
    assert_eq!(fill(DType::F32, 3).unwrap(), [3.0; 4]);
    assert_eq!(fill(DType::I64, 4).unwrap(), [4.0; 4]);
    assert_eq!(fill(DType::U8, 5).unwrap(), [5.0; 4]);
    assert_eq!(fill(DType::I64, 6).unwrap(), [6.0; 4]);
    let error = fill(DType::C64, 0).unwrap_err().to_string();
    assert!(error.contains("`filled` has no instance"), "{error}");
}
