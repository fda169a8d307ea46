//! The CUDA kernel of `mymul`, and its launch.
#![expect(unsafe_code, reason = "a kernel is native code")]

use dispatch_runtime::prelude::*;
use kernels_cuda::{Grid, Kernel, Launch, kernel};

kernel! {
    // SAFETY: `mymul` below is the only launch. All three tensors are contiguous and have `count` elements of this dtype.
    static MUL = unsafe { Kernel::new("mymul", r#"
    #include "opdispatch.cuh"
    template <class T> __global__ void mymul(T *out, const T *a, const T *b, i64 count) {
        i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
        if (i < count) out[i] = a[i] * b[i];
    }"#, |instances| instances.add_for_each_dtype("mymul", &[DType::F32, DType::F64, DType::F16, DType::BF16])) };
}

#[op_impl(myops::mymul, CUDA)]
fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    if other.sizes() != this.sizes()
        || other.dtype() != this.dtype()
        || !this.geometry().is_contiguous()
        || !other.geometry().is_contiguous()
    {
        return Err(Error::kernel("`mymul` needs two contiguous tensors of the same sizes and dtype"));
    }
    let (out, count) = (this.allocate_like(this.dtype())?, this.geometry().count());
    let launch = Launch::on_device_of(&out)?;
    let arguments = (launch.pointer(&out)?, launch.pointer(this)?, launch.pointer(other)?, count);
    launch.run(&MUL, "mymul", &[this.dtype()], Grid::for_elements(count), arguments)?;
    Ok(out)
}
