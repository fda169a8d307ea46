//! Selection of an instruction set at run time.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "code for instructions that not every machine has"))]

#[cfg(target_arch = "x86_64")]
use dispatch_runtime::DType;
use dispatch_runtime::Element;
use pulp::Arch;

/// Runs `work` compiled for the widest instruction set of this machine.
///
/// Code that should use vector instructions must be inlined into `work`: a function that it calls keeps the instructions that it was
/// compiled with. Write the loop in the closure itself and mark the closure `#[inline(always)]`, because a long closure is not inlined
/// otherwise.
///
/// ```
/// use kernels_cpu::math::{Real, vectorised};
///
/// let mut values = [0.0_f32, 1.0, 2.0];
/// vectorised(#[inline(always)] || values.iter_mut().for_each(|x| *x = Real::exp2(*x)));
/// assert_eq!(values, [1.0, 2.0, 4.0]);
/// ```
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// Runs the loop of an operator, over elements of `T`, compiled for the widest instruction set that is useful for `T`. AVX-512 is used for
/// floating-point numbers only.
///
/// [`vectorised`] would pass a closure in registers, and would generate ten functions for it. There are a thousand such loops. So this
/// function passes the operands explicitly, and `work` captures nothing.
#[inline]
pub(crate) fn vectorised_loop<T: Element, F, I>(
    f: &F,
    out: *mut u8,
    inputs: I,
    count: usize,
    work: impl Fn(&F, *mut u8, I, usize),
) {
    #[cfg(target_arch = "x86_64")]
    {
        let arch = Arch::new();
        if const { matches!(T::DTYPE, DType::F32 | DType::F64) }
            && let Arch::V4(_) = arch
        {
            // SAFETY: this machine has the instructions of `V4`.
            return unsafe { run_with_v4(f, out, inputs, count, work) };
        }
        if let Arch::V3(_) | Arch::V4(_) = arch {
            // SAFETY: this machine has the instructions of `V3`, which are among those of `V4`.
            return unsafe { run_with_v3(f, out, inputs, count, work) };
        }
    }
    work(f, out, inputs, count);
}

/// # Safety
///
/// The machine has the instructions of [`pulp::x86::V4`].
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi1,bmi2,fma,lzcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
)]
unsafe fn run_with_v4<F, I>(f: &F, out: *mut u8, inputs: I, count: usize, work: impl Fn(&F, *mut u8, I, usize)) {
    work(f, out, inputs, count);
}

/// # Safety
///
/// The machine has the instructions of [`pulp::x86::V3`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi1,bmi2,fma,lzcnt")]
unsafe fn run_with_v3<F, I>(f: &F, out: *mut u8, inputs: I, count: usize, work: impl Fn(&F, *mut u8, I, usize)) {
    work(f, out, inputs, count);
}
