//! The macro `autocast!`, which gives operators their autocast policies.

/// Gives operators of any crate a policy: what autocast does to their calls.
///
/// A tensor is *eligible* if it is on the backend of the call and of a floating dtype other than `float64`. Autocast casts no other tensor,
/// and no argument that the operator writes.
///
/// | policy | effect on a call |
/// |---|---|
/// | `lower` | eligible tensors are cast to the dtype of the region |
/// | `fp32` | eligible tensors are cast to `float32` |
/// | `set_dtype` | no casts; if the first tensor is eligible, and the call gives no `dtype`, the `dtype` is `float32` |
/// | `append_dtype` | as `set_dtype`, for an operator whose `dtype` is in another overload: `norm_scalar => norm_scalaropt_dtype` |
/// | `promote` | eligible tensors are cast to `float32`, unless all of them have the dtype of the region |
/// | `banned` | `lossy => "use another"`: the call returns an error with this advice |
/// | `untouched` | autocast does not change the call, even if the operator has a policy for all backends |
///
/// A policy is for all backends. `on` a backend, it is for that backend only, and replaces the policy for all backends there.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_autocast::{self as autocast, autocast};
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("affine(Tensor x, Tensor weight, Tensor bias) -> Tensor")]
/// pub fn affine(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
///     assert_eq!(x.dtype(), DType::F16);
///     aten::addmm(bias, x, weight, 1.into(), 1.into())
/// }
///
/// autocast!(lower: affine);
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
/// let _on = autocast::enable(Device::CPU, DType::F16)?;
/// assert_eq!(affine(&x, &x, &x)?.dtype(), DType::F16);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! autocast {
    ($policy:ident on $backend:path: $($operators:tt)+) => {
        $crate::__private::__autocast! { (Autocast.on($backend)) $policy $($operators)+ }
    };
    ($policy:ident: $($operators:tt)+) => {
        $crate::__private::__autocast! { (Autocast) $policy $($operators)+ }
    };
}

/// Registers the policy as an autocast kernel of each operator. Not public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __autocast {
    ($key:tt append_dtype $($operator:path => $with_dtype:path),+ $(,)?) => {
        $($crate::__private::__autocast! { @ $key boxed::<$operator>(
            |operator, keys, stack| $crate::__private::append_dtype(operator, keys, stack, <$with_dtype>::operator()),
            "append_dtype"
        ) })+
    };
    ($key:tt banned $($operator:path => $advice:literal),+ $(,)?) => {
        $($crate::__private::__autocast! { @ $key boxed::<$operator>(
            |operator, keys, stack| $crate::__private::banned(operator, keys, stack, $advice),
            "banned"
        ) })+
    };
    ($key:tt untouched $($operator:path),+ $(,)?) => {
        $($crate::__private::__autocast! { @ $key fallthrough::<$operator>() })+
    };
    ($key:tt lower $($operator:path),+ $(,)?) => { $crate::__private::__autocast! { @@ $key lower $($operator)+ } };
    ($key:tt fp32 $($operator:path),+ $(,)?) => { $crate::__private::__autocast! { @@ $key fp32 $($operator)+ } };
    ($key:tt promote $($operator:path),+ $(,)?) => { $crate::__private::__autocast! { @@ $key promote $($operator)+ } };
    ($key:tt set_dtype $($operator:path),+ $(,)?) => { $crate::__private::__autocast! { @@ $key set_dtype $($operator)+ } };
    (@@ $key:tt $policy:ident $($operator:path)+) => {
        $($crate::__private::__autocast! { @ $key boxed::<$operator>($crate::__private::$policy, ::core::stringify!($policy)) })+
    };
    (@ $key:tt $kind:ident::<$operator:path>($($kernel:expr, $name:expr)?)) => {
        const _: () = {
            use $crate::__private::runtime::{self as __runtime, keys::*};
            static __KEYS: [&__runtime::Key; 1] = [&$key];
            static __KERNEL: __runtime::KernelRecord = __runtime::KernelRecord::$kind::<$operator>(
                $($kernel,)?
                &__KEYS,
                $($name,)?
                __runtime::Location::new(::core::file!(), ::core::line!()),
            );
            __runtime::__submit! { __runtime::Record::Kernel(&__KERNEL) }
        };
    };
    ($key:tt $policy:ident $($anything:tt)*) => {
        $crate::__private::__unknown_policy! {
            $policy:
            "lower: operator", "fp32: operator", "promote: operator", "set_dtype: operator",
            "append_dtype: operator => operator_with_dtype", "banned: operator => \"advice\"", "untouched: operator"
        }
    };
}
