//! A check for integer division by zero.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::scalars::{is_cpu_scalar, round_to_dtype};
use crate::prelude::*;

kernel! {
    // SAFETY: the divisor is packed and has `count` elements, which are only read; the kernel writes only to the fault.
    static CHECK_DIVISOR_KERNEL = unsafe { Kernel::new("check_divisor", r#"
#include "opdispatch.cuh"
template <class T> __global__ void __launch_bounds__(256) check_divisor(const T *elements, i64 count, Fault *fault, u32 site) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count && elements[at] == T(0)) report_fault(fault, site, DIVISION_BY_ZERO, at, count);
}
"#, |instances| instances.add_for_each_dtype("check_divisor", &INTEGER_DTYPES)) };
}

const INTEGER_DTYPES: [DType; 6] = [DType::I64, DType::I32, DType::I16, DType::I8, DType::U8, DType::Bool];

/// Checks that integers are not divided by zero in the dtype `computed`. A CPU scalar is checked at once; the elements of a tensor are
/// checked on the device, and the error comes at the next wait for it.
pub(crate) fn check_divisor(divisor: &Tensor, computed: DType) -> Result<()> {
    if is_cpu_scalar(divisor) {
        return match round_to_dtype(divisor.to_scalar()?, computed) {
            Scalar::Int(0) | Scalar::Bool(false) => Err(BadArgument::new("other", Problem::DivisionByZero).into()),
            _ => Ok(()),
        };
    }
    // Values that do not fit into the dtype wrap, and may become zero.
    let narrows = divisor.dtype().promote(computed) != computed;
    let divisor = contiguous(divisor, if narrows { computed } else { divisor.dtype() })?;
    let (launch, count) = (Launch::on_device_of(&divisor)?, divisor.geometry().count());
    let arguments = (&divisor, count, launch.fault_record(), FaultSite::for_argument("aten::div", "other"));
    launch.run_per_element(&CHECK_DIVISOR_KERNEL, "check_divisor", &[divisor.dtype()], count, arguments)
}
