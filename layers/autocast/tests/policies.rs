//! Tests of each policy, on operators that a user's crate defines.

use aten::prelude::*;
use dispatch_autocast::{self as autocast, Banned, autocast};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{ErrorKind, Stack};
// Links the CPU kernels.
use kernels_cpu as _;

use DType::{BF16, F16, F32, F64, I64};

/// Returns the dtypes of all tensors that its kernel receives, in order.
#[op_def("seen_lower(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int e) -> str")]
fn seen_lower(a: &Tensor, b: Option<&Tensor>, c: &[Tensor], d: &[Option<Tensor>], _e: i64) -> Result<Str> {
    Ok(names([a].into_iter().chain(b).chain(c).chain(d.iter().flatten())))
}

#[op_def("seen_fp32(Tensor a, Tensor b) -> str")]
fn seen_fp32(a: &Tensor, b: &Tensor) -> Result<Str> {
    Ok(names([a, b]))
}

#[op_def("seen_widest(Tensor a, Tensor[] b) -> str")]
fn seen_widest(a: &Tensor, b: &[Tensor]) -> Result<Str> {
    Ok(names([a].into_iter().chain(b)))
}

#[op_def("summed(Tensor self, *, ScalarType? dtype=None) -> Tensor")]
fn summed(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    aten::sum(this, dtype)
}

#[op_def("size_of(Tensor self) -> Tensor")]
fn size_of(this: &Tensor) -> Result<Tensor> {
    aten::sum(this, None)
}

#[op_def("size_of.dtype(Tensor self, *, ScalarType dtype) -> Tensor")]
fn size_of_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
    aten::sum(this, Some(dtype))
}

#[op_def("lossy(Tensor self) -> Tensor")]
fn lossy(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("gather_into_(Tensor(a!) self, Tensor source) -> Tensor(a!)")]
fn gather_into_(this: &mut Tensor, source: &Tensor) -> Result<()> {
    assert_eq!((this.dtype(), source.dtype()), (F32, BF16));
    aten::copy_(this, source, false)
}

/// Returns a product of products, or an error if `fails`.
#[op_def("composed(Tensor self, bool fails) -> Tensor")]
fn composed(this: &Tensor, fails: bool) -> Result<Tensor> {
    assert!(!autocast::is_enabled(Device::CPU), "what a call is made of is not cast again");
    if fails { Err(Error::kernel("as asked")) } else { aten::mm(&aten::mm(this, this)?, this) }
}

#[op_def("only_here(Tensor self) -> Tensor")]
fn only_here(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(lower: seen_lower, gather_into_, composed);
autocast!(fp32: seen_fp32);
autocast!(promote: seen_widest);
autocast!(set_dtype: summed);
autocast!(append_dtype: size_of => size_of_dtype);
autocast!(banned: lossy => "call `careful`");
autocast!(lower: only_here);
autocast!(untouched on Meta: only_here);

fn names<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Str {
    tensors.into_iter().map(|tensor| tensor.dtype().short_name()).collect::<Vec<_>>().join(" ").into()
}

fn of(dtype: DType) -> Tensor {
    Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]).to(dtype).unwrap()
}

#[test]
fn lower_casts_tensors_in_lists_and_options_and_nothing_else() {
    let call = || seen_lower(&of(F32), Some(&of(F16)), &[of(F32), of(I64)], &[None, Some(of(F32)), Some(of(F64))], 1);
    assert_eq!(&*call().unwrap(), "f32 f16 f32 i64 f32 f64");
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(&*call().unwrap(), "bf16 bf16 bf16 i64 bf16 f64");
}

#[test]
fn tensors_of_other_backends_stay_as_they_are() {
    let elsewhere = dispatch_runtime::Spec::contiguous(F32, &[2]).on(Device::META).unwrap();
    let _on = autocast::enable(Device::META, F16).unwrap();
    assert_eq!(&*seen_lower(&elsewhere, Some(&of(F32)), &[], &[], 0).unwrap(), "f16 f32");
}

#[test]
fn a_call_across_backends_belongs_to_the_highest() {
    let elsewhere = dispatch_runtime::Spec::contiguous(F32, &[2]).on(Device::META).unwrap();
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(&*seen_lower(&elsewhere, Some(&of(F32)), &[], &[], 0).unwrap(), "f32 f32");
    assert_eq!(&*seen_lower(&of(F32), None, &[], &[], 0).unwrap(), "bf16");
}

#[test]
fn fp32_raises_what_is_lower_and_leaves_doubles() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(&*seen_fp32(&of(BF16), &of(F16)).unwrap(), "f32 f32");
    assert_eq!(&*seen_fp32(&of(F64), &of(BF16)).unwrap(), "f64 f32");
    assert_eq!(&*seen_fp32(&of(I64), &of(BF16)).unwrap(), "i64 f32");
}

#[test]
fn promotion_keeps_what_is_low_together_and_raises_a_mixture() {
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
        assert_eq!(&*seen_widest(&of(first), &rest.map(of)).unwrap(), expected);
    }
}

#[test]
fn a_dtype_that_was_not_given_is_set_and_one_that_was_is_respected() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let dtype = |this, dtype| summed(&of(this), dtype).unwrap().dtype();
    assert_eq!(dtype(BF16, None), F32);
    assert_eq!(dtype(F16, None), F32);
    assert_eq!(dtype(BF16, Some(BF16)), BF16);
    assert_eq!((dtype(F64, None), dtype(I64, None)), (F64, I64));
}

#[test]
fn a_dtype_is_appended_as_float32_or_as_the_first_tensors_own() {
    assert_eq!(size_of(&of(BF16)).unwrap().dtype(), BF16);
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(size_of(&of(BF16)).unwrap().dtype(), F32);
    assert_eq!(size_of(&of(F64)).unwrap().dtype(), F64);
}

#[test]
fn a_banned_operator_says_what_to_do_and_works_where_autocast_is_off() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let error = lossy(&of(F32)).unwrap_err();
    let text =
        "`policies::lossy`: unsafe under autocast, which is on for cpu: call `careful`; or switch it off for this call";
    assert_eq!(error.to_string(), text);
    let ErrorKind::Kernel { source, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(source.downcast_ref(), Some(&Banned { device: Device::CPU, advice: "call `careful`" }));
    let _off = autocast::disable(Device::CPU);
    assert!(lossy(&of(F32)).is_ok());
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
fn what_is_written_is_never_cast() {
    let mut written = of(F32);
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    gather_into_(&mut written, &aten::mul_scalar(&of(F32), 2.into()).unwrap()).unwrap();
    assert_eq!(written.to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn in_place_and_out_forms_are_in_no_list() {
    let (x, mut out, mut this) = (of(F32), of(F32), of(F32));
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
fn inside_a_call_it_is_off_and_afterwards_on_again() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(composed(&of(F32), false).unwrap().dtype(), BF16);
    assert!(autocast::is_enabled(Device::CPU));
    assert!(composed(&of(F32), true).is_err());
    assert!(autocast::is_enabled(Device::CPU), "after an error, too");
}

#[test]
fn a_boxed_call_is_cast_as_a_typed_one() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    let mut stack: Stack = [of(F64), of(F32), of(F32)].iter().collect();
    aten::mm::operator().call_boxed(&mut stack).unwrap();
    assert_eq!(stack.len(), 2, "what lies below the arguments stays");
    assert_eq!(stack.pop().unwrap().as_tensor().unwrap().dtype(), BF16);
    assert_eq!(stack.pop().unwrap().as_tensor().unwrap().dtype(), F64);
}

#[test]
fn a_policy_for_one_backend_counts_there_and_nowhere_else() {
    let elsewhere = dispatch_runtime::Spec::contiguous(F32, &[2]).on(Device::META).unwrap();
    let _on = (autocast::enable(Device::CPU, None).unwrap(), autocast::enable(Device::META, None).unwrap());
    assert_eq!(only_here(&of(F32)).unwrap().dtype(), BF16);
    assert_eq!(only_here(&elsewhere).unwrap().dtype(), F32);
}

#[test]
fn operators_in_no_list_follow_promotion() {
    let _on = autocast::enable(Device::CPU, BF16).unwrap();
    assert_eq!(aten::add(&of(F32), &of(BF16), 1.into()).unwrap().dtype(), F32);
    assert_eq!((&of(BF16) * 2.5).unwrap().dtype(), BF16);
    assert_eq!(aten::relu(&of(BF16)).unwrap().dtype(), BF16);
}

#[test]
fn a_number_beside_a_tensor_stays_a_number() {
    let _on = autocast::enable(Device::META, F16).unwrap();
    let x = dispatch_runtime::Spec::contiguous(F16, &[2]).on(Device::META).unwrap();
    let number = Tensor::number(2.5.into());
    assert_eq!(aten::pow_tensor_tensor(&x, &number).unwrap().dtype(), F32);
}
