//! The choice of an instruction set at run time.
#![expect(unsafe_code, reason = "code for instructions that not every machine has")]

use dispatch_runtime::{DType, Element};
use pulp::Arch;

/// Runs `work` compiled for the widest instruction set of this machine.
///
/// What is to be wide must be inlined into `work`: a function that it calls keeps the instructions it was compiled
/// with. Write the loop in the closure itself and mark the closure `#[inline(always)]`: a long one is not inlined
/// otherwise.
///
/// ```
/// use kernels_cpu::math::{Real, vectorised};
///
/// let mut values = [0.0_f32, 1.0, 2.0];
/// vectorised(#[inline(always)] || values.iter_mut().for_each(|x| *x = Real::exp2(*x)));
/// assert_eq!(values, [1.0, 2.0, 4.0]);
/// ```
// Not `Arch::dispatch`: it wraps every closure in ten functions, which a compiler that sees thousands of closures must read.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    dispatched::<true, R>(work)
}

/// The same for a loop over elements of `T`: AVX-512 gains for floating-point numbers alone, and each instruction set is compiled.
#[inline]
pub(crate) fn vectorised_for<T: Element, R>(work: impl FnOnce() -> R) -> R {
    if const { matches!(T::DTYPE, DType::F32 | DType::F64) } {
        dispatched::<true, R>(work)
    } else {
        dispatched::<false, R>(work)
    }
}

/// `WIDE` is whether there is code for AVX-512.
#[inline(always)]
fn dispatched<const WIDE: bool, R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        let arch = Arch::new();
        if WIDE && let Arch::V4(_) = arch {
            // SAFETY: this machine has the instructions of `V4`.
            return unsafe { for_v4(work) };
        }
        if let Arch::V3(_) | Arch::V4(_) = arch {
            // SAFETY: this machine has the instructions of `V3`, which are among those of `V4`.
            return unsafe { for_v3(work) };
        }
    }
    work()
}

/// # Safety
///
/// The machine has the instructions of [`pulp::x86::V4`].
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi1,bmi2,fma,lzcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
)]
unsafe fn for_v4<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
///
/// The machine has the instructions of [`pulp::x86::V3`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi1,bmi2,fma,lzcnt")]
unsafe fn for_v3<R>(work: impl FnOnce() -> R) -> R {
    work()
}
