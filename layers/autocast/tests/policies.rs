//! Tests of each policy, on operators that a user's crate defines.

use aten::prelude::*;
use dispatch_autocast::{self as autocast, BannedOperator, autocast};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{ErrorKind, Stack};
// Links the CPU kernels.
use kernels_cpu as _;

use DType::{BF16, F16, F32, F64, I64};

/// Returns the dtypes of all tensors that its kernel receives, in order.
#[op_def("return_dtypes_lower(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int e) -> str")]
fn return_dtypes_lower(a: &Tensor, b: Option<&Tensor>, c: &[Tensor], d: &[Option<Tensor>], _e: i64) -> Result<Str> {
    Ok(dtype_names([a].into_iter().chain(b).chain(c).chain(d.iter().flatten())))
}

#[op_def("return_dtypes_fp32(Tensor a, Tensor b) -> str")]
fn return_dtypes_fp32(a: &Tensor, b: &Tensor) -> Result<Str> {
    Ok(dtype_names([a, b]))
}

#[op_def("return_dtypes_promote(Tensor a, Tensor[] b) -> str")]
fn return_dtypes_promote(a: &Tensor, b: &[Tensor]) -> Result<Str> {
    Ok(dtype_names([a].into_iter().chain(b)))
}

#[op_def("sum_with_dtype(Tensor self, *, ScalarType? dtype=None) -> Tensor")]
fn sum_with_dtype(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    aten::sum(this, dtype)
}

#[op_def("sum_all(Tensor self) -> Tensor")]
fn sum_all(this: &Tensor) -> Result<Tensor> {
    aten::sum(this, None)
}

#[op_def("sum_all.dtype(Tensor self, *, ScalarType dtype) -> Tensor")]
fn sum_all_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
    aten::sum(this, Some(dtype))
}

#[op_def("banned_operator(Tensor self) -> Tensor")]
fn banned_operator(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("copy_into_(Tensor(a!) self, Tensor source) -> Tensor(a!)")]
fn copy_into_(this: &mut Tensor, source: &Tensor) -> Result<()> {
    assert_eq!((this.dtype(), source.dtype()), (F32, BF16));
    aten::copy_(this, source, false)
}

/// Multiplies a matrix twice by itself, or returns an error if `fails`.
#[op_def("composite_product(Tensor self, bool fails) -> Tensor")]
fn composite_product(this: &Tensor, fails: bool) -> Result<Tensor> {
    assert!(!autocast::is_enabled(Device::CPU), "the calls of a composite are not cast again");
    if fails { Err(Error::kernel("as asked")) } else { aten::mm(&aten::mm(this, this)?, this) }
}

#[op_def("lower_except_on_meta(Tensor self) -> Tensor")]
fn lower_except_on_meta(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(lower: return_dtypes_lower, copy_into_, composite_product);
autocast!(fp32: return_dtypes_fp32);
autocast!(promote: return_dtypes_promote);
autocast!(set_dtype: sum_with_dtype);
autocast!(append_dtype: sum_all => sum_all_dtype);
autocast!(banned: banned_operator => "call `careful`");
autocast!(lower: lower_except_on_meta);
autocast!(untouched on Meta: lower_except_on_meta);

fn dtype_names<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Str {
    tensors.into_iter().map(|tensor| tensor.dtype().short_name()).collect::<Vec<_>>().join(" ").into()
}

fn matrix_of_dtype(dtype: DType) -> Tensor {
    Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]).to(dtype).unwrap()
}

#[test]
fn lower_casts_tensors_in_lists_and_options_and_nothing_else() {
    let call = || {
        return_dtypes_lower(
            &matrix_of_dtype(F32),
            Some(&matrix_of_dtype(F16)),
            &[matrix_of_dtype(F32), matrix_of_dtype(I64)],
            &[None, Some(matrix_of_dtype(F32)), Some(matrix_of_dtype(F64))],
            1,
        )
    };
    assert_eq!(&*call().unwrap(), "f32 f16 f32 i64 f32 f64");
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(&*call().unwrap(), "bf16 bf16 bf16 i64 bf16 f64");
}

#[test]
fn tensors_of_other_backends_are_not_cast() {
    let elsewhere = dispatch_runtime::Spec::contiguous(F32, &[2]).on(Device::META).unwrap();
    let _on = autocast::enable(Device::META, F16).unwrap();
    assert_eq!(&*return_dtypes_lower(&elsewhere, Some(&matrix_of_dtype(F32)), &[], &[], 0).unwrap(), "f16 f32");
}

#[test]
fn the_highest_backend_of_the_arguments_decides() {
    let elsewhere = dispatch_runtime::Spec::contiguous(F32, &[2]).on(Device::META).unwrap();
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(&*return_dtypes_lower(&elsewhere, Some(&matrix_of_dtype(F32)), &[], &[], 0).unwrap(), "f32 f32");
    assert_eq!(&*return_dtypes_lower(&matrix_of_dtype(F32), None, &[], &[], 0).unwrap(), "bf16");
}

#[test]
fn fp32_casts_lower_dtypes_and_leaves_float64() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(&*return_dtypes_fp32(&matrix_of_dtype(BF16), &matrix_of_dtype(F16)).unwrap(), "f32 f32");
    assert_eq!(&*return_dtypes_fp32(&matrix_of_dtype(F64), &matrix_of_dtype(BF16)).unwrap(), "f64 f32");
    assert_eq!(&*return_dtypes_fp32(&matrix_of_dtype(I64), &matrix_of_dtype(BF16)).unwrap(), "i64 f32");
}

#[test]
fn promote_casts_to_float32_unless_all_have_the_dtype_of_the_region() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let cases = [
        (BF16, [BF16, BF16], "bf16 bf16 bf16"),
        (BF16, [BF16, F32], "f32 f32 f32"),
        (F32, [BF16, BF16], "f32 f32 f32"),
        (BF16, [I64, BF16], "bf16 i64 bf16"),
        // A `float64` tensor neither decides the dtype nor is cast.
        (BF16, [F64, BF16], "bf16 f64 bf16"),
        (F64, [BF16, F32], "f64 f32 f32"),
        (F64, [F64, F64], "f64 f64 f64"),
        // The half-precision dtype here is not that of the region: only `float32` holds both.
        (BF16, [F16, BF16], "f32 f32 f32"),
        (F16, [F16, F16], "f32 f32 f32"),
    ];
    for (first, rest, expected) in cases {
        assert_eq!(&*return_dtypes_promote(&matrix_of_dtype(first), &rest.map(matrix_of_dtype)).unwrap(), expected);
    }
}

#[test]
fn set_dtype_sets_only_a_missing_dtype() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let dtype = |this, dtype| sum_with_dtype(&matrix_of_dtype(this), dtype).unwrap().dtype();
    assert_eq!(dtype(BF16, None), F32);
    assert_eq!(dtype(F16, None), F32);
    assert_eq!(dtype(BF16, Some(BF16)), BF16);
    assert_eq!((dtype(F64, None), dtype(I64, None)), (F64, I64));
}

#[test]
fn append_dtype_passes_float32_or_the_dtype_of_the_first_tensor() {
    assert_eq!(sum_all(&matrix_of_dtype(BF16)).unwrap().dtype(), BF16);
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(sum_all(&matrix_of_dtype(BF16)).unwrap().dtype(), F32);
    assert_eq!(sum_all(&matrix_of_dtype(F64)).unwrap().dtype(), F64);
}

#[test]
fn a_banned_operator_is_an_error_only_under_autocast() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let error = banned_operator(&matrix_of_dtype(F32)).unwrap_err();
    let text = "`policies::banned_operator`: unsafe under autocast, which is on for cpu: call `careful`; or switch it off for this call";
    assert_eq!(error.to_string(), text);
    let ErrorKind::Kernel { source, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(source.downcast_ref(), Some(&BannedOperator { device: Device::CPU, advice: "call `careful`" }));
    let _off = autocast::disable(Device::CPU);
    assert!(banned_operator(&matrix_of_dtype(F32)).is_ok());
}

#[test]
fn binary_cross_entropy_is_banned_but_not_on_the_cpu() {
    let on = |device| {
        let x = Tensor::from([0.5_f32]).to(device)?;
        let _on = autocast::enable(device, None)?;
        aten::binary_cross_entropy(&x, &x, None, 1)
    };
    assert_eq!(on(Device::CPU).unwrap().dtype(), F32);
    let error = on(Device::META).unwrap_err().to_string();
    assert!(error.contains("aten::binary_cross_entropy") && error.contains("_with_logits"), "{error}");
}

#[test]
fn written_arguments_are_never_cast() {
    let mut written = matrix_of_dtype(F32);
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    copy_into_(&mut written, &aten::mul_scalar(&matrix_of_dtype(F32), 2.into()).unwrap()).unwrap();
    assert_eq!(written.to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn in_place_and_out_forms_are_in_no_list() {
    let (x, mut out, mut this) = (matrix_of_dtype(F32), matrix_of_dtype(F32), matrix_of_dtype(F32));
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    aten::mm_out(&x, &x, &mut out).unwrap();
    aten::addmm_(&mut this, &x, &x, 1.into(), 1.into()).unwrap();
    assert_eq!((out.dtype(), this.dtype()), (F32, F32));
    // The square has more bits than `bfloat16` holds.
    let x = Tensor::from([[1.0_f32 + 1.0 / 128.0]]);
    let mut square = Tensor::from([[0.0_f32]]);
    aten::mm_out(&x, &x, &mut square).unwrap();
    let lowered = aten::mm(&x, &x).unwrap().to(F32).unwrap();
    assert_eq!(square.to_vec::<f32>().unwrap(), [1.0 + 2.0 / 128.0 + 1.0 / 16384.0]);
    assert_eq!(lowered.to_vec::<f32>().unwrap(), [1.0 + 2.0 / 128.0]);
}

#[test]
fn autocast_is_off_inside_of_a_call_and_on_after_it() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(composite_product(&matrix_of_dtype(F32), false).unwrap().dtype(), BF16);
    assert!(autocast::is_enabled(Device::CPU));
    assert!(composite_product(&matrix_of_dtype(F32), true).is_err());
    assert!(autocast::is_enabled(Device::CPU), "autocast is on again after an error");
}

#[test]
fn boxed_and_typed_calls_are_cast_alike() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let mut stack: Stack = [matrix_of_dtype(F64), matrix_of_dtype(F32), matrix_of_dtype(F32)].iter().collect();
    aten::mm::operator().call_boxed(&mut stack).unwrap();
    assert_eq!(stack.len(), 2, "values below the arguments stay on the stack");
    assert_eq!(stack.pop().unwrap().as_tensor().unwrap().dtype(), BF16);
    assert_eq!(stack.pop().unwrap().as_tensor().unwrap().dtype(), F64);
}

#[test]
fn a_policy_for_one_backend_applies_only_there() {
    let elsewhere = dispatch_runtime::Spec::contiguous(F32, &[2]).on(Device::META).unwrap();
    let _on = (autocast::enable(Device::CPU, None).unwrap(), autocast::enable(Device::META, None).unwrap());
    assert_eq!(lower_except_on_meta(&matrix_of_dtype(F32)).unwrap().dtype(), BF16);
    assert_eq!(lower_except_on_meta(&elsewhere).unwrap().dtype(), F32);
}

#[test]
fn operators_without_a_policy_follow_type_promotion() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(aten::add(&matrix_of_dtype(F32), &matrix_of_dtype(BF16), 1.into()).unwrap().dtype(), F32);
    assert_eq!((&matrix_of_dtype(BF16) * 2.5).unwrap().dtype(), BF16);
    assert_eq!(aten::relu(&matrix_of_dtype(BF16)).unwrap().dtype(), BF16);
}

#[test]
fn number_tensors_are_not_cast() {
    let _on = autocast::enable(Device::META, F16).unwrap();
    let x = dispatch_runtime::Spec::contiguous(F16, &[2]).on(Device::META).unwrap();
    let number = Tensor::number(2.5.into());
    assert_eq!(aten::pow_tensor_tensor(&x, &number).unwrap().dtype(), F32);
}
