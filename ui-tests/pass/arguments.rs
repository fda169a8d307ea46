//! Tests every type of the schema language as an argument and as a result, in typed and boxed calls.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]
#![allow(clippy::many_single_char_names, reason = "one argument for each type")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, Layout, MemoryFormat};

/// Calls an operator boxed with the same arguments as a typed call, and compares the results.
macro_rules! assert_boxed_equals_typed {
    ($operator:ident($($argument:expr),* $(,)?)) => {{
        let typed = Value::from($operator($($argument),*)?);
        let boxed = $operator::operator().call([$(Value::from($argument)),*])?;
        assert_eq!(format!("{boxed:?}"), format!("[{typed:?}]"));
    }};
}

#[op_def("echo_int(int x) -> int")]
fn echo_int(x: i64) -> Result<i64>;

#[op_impl(echo_int)]
fn echo_int_kernel(x: i64) -> i64 {
    x
}

#[op_def("echo_symint(SymInt x) -> SymInt")]
fn echo_symint(x: i64) -> Result<i64>;

#[op_impl(echo_symint)]
fn echo_symint_kernel(x: i64) -> Result<i64> {
    Ok(x)
}

#[op_def("echo_float(float x) -> float")]
fn echo_float(x: f64) -> Result<f64>;

#[op_impl(echo_float)]
fn echo_float_kernel(x: f64) -> f64 {
    x
}

#[op_def("echo_bool(bool x) -> bool")]
fn echo_bool(x: bool) -> Result<bool>;

#[op_impl(echo_bool)]
fn echo_bool_kernel(x: bool) -> bool {
    x
}

#[op_def("echo_scalar(Scalar x) -> Scalar")]
fn echo_scalar(x: Scalar) -> Result<Scalar>;

#[op_impl(echo_scalar)]
fn echo_scalar_kernel(x: Scalar) -> Scalar {
    x
}

#[op_def("echo_complex(complex x) -> complex")]
fn echo_complex(x: Complex64) -> Result<Complex64>;

#[op_impl(echo_complex)]
fn echo_complex_kernel(x: Complex64) -> Complex64 {
    x
}

#[op_def("echo_text(str x) -> str")]
fn echo_text(x: &str) -> Result<Str>;

#[op_impl(echo_text)]
fn echo_text_kernel(x: &str) -> Str {
    x.into()
}

#[op_def("echo_enums(ScalarType a, Layout b, Device c, MemoryFormat d) -> (ScalarType, Layout, Device, MemoryFormat)")]
fn echo_enums(a: DType, b: Layout, c: Device, d: MemoryFormat) -> Result<(DType, Layout, Device, MemoryFormat)>;

#[op_impl(echo_enums)]
fn echo_enums_kernel(a: DType, b: Layout, c: Device, d: MemoryFormat) -> (DType, Layout, Device, MemoryFormat) {
    (a, b, c, d)
}

#[op_def("echo_generator(Generator x) -> Generator")]
fn echo_generator(x: &Generator) -> Result<Generator>;

#[op_impl(echo_generator)]
fn echo_generator_kernel(x: &Generator) -> Generator {
    x.clone()
}

#[op_def("total_list_length(int[] a, SymInt[2] b, float[] c, bool[3] d, Scalar[] e, str[] f) -> int")]
fn total_list_length(a: &[i64], b: &[i64], c: &[f64], d: &[bool], e: &[Scalar], f: &[Str]) -> Result<i64>;

#[op_impl(total_list_length)]
fn total_list_length_kernel(a: &[i64], b: &[i64], c: &[f64], d: &[bool], e: &[Scalar], f: &[Str]) -> Result<i64> {
    Ok(i64::try_from(a.len() + b.len() + c.len() + d.len() + e.len() + f.len()).unwrap_or(0))
}

#[op_def("return_vectors() -> (int[], float[], bool[])")]
fn return_vectors() -> Result<(Vec<i64>, Vec<f64>, Vec<bool>)>;

#[op_impl(return_vectors)]
fn return_vectors_kernel() -> (Vec<i64>, Vec<f64>, Vec<bool>) {
    (vec![1], vec![2.0], vec![true])
}

#[op_def(
    "seven_if_any_given(int? a, float? b, bool? c, str? d, Tensor? e, int[]? f, ScalarType? g, Generator? h) -> int?"
)]
fn seven_if_any_given(
    a: Option<i64>,
    b: Option<f64>,
    c: Option<bool>,
    d: Option<&str>,
    e: Option<&Tensor>,
    f: Option<&[i64]>,
    g: Option<DType>,
    h: Option<&Generator>,
) -> Result<Option<i64>>;

#[op_impl(seven_if_any_given)]
#[expect(clippy::too_many_arguments)]
fn seven_if_any_given_kernel(
    a: Option<i64>,
    b: Option<f64>,
    c: Option<bool>,
    d: Option<&str>,
    e: Option<&Tensor>,
    f: Option<&[i64]>,
    g: Option<DType>,
    h: Option<&Generator>,
) -> Option<i64> {
    let given =
        [a.is_some(), b.is_some(), c.is_some(), d.is_some(), e.is_some(), f.is_some(), g.is_some(), h.is_some()];
    given.contains(&true).then_some(7)
}

#[op_def("echo_tensors(Tensor a, Tensor[] b, Tensor?[] c) -> (Tensor, Tensor[], Tensor?)")]
fn echo_tensors(a: &Tensor, b: &[Tensor], c: &[Option<Tensor>]) -> Result<(Tensor, Vec<Tensor>, Option<Tensor>)>;

#[op_impl(echo_tensors)]
fn echo_tensors_kernel(a: &Tensor, b: &[Tensor], c: &[Option<Tensor>]) -> (Tensor, Vec<Tensor>, Option<Tensor>) {
    (a.clone(), b.to_vec(), c.first().cloned().flatten())
}

#[op_def("copy_each(Tensor(a!) self, Tensor(b!)[] rest, Tensor? weight=None) -> Tensor(a!)")]
fn copy_each(this: &mut Tensor, rest: &mut [Tensor], weight: Option<&Tensor>) -> Result<()>;

#[op_impl(copy_each)]
fn copy_each_kernel(this: &mut Tensor, rest: &mut [Tensor], _weight: Option<&Tensor>) -> Result<()> {
    for tensor in rest {
        this.write::<f32>()?.copy_from_slice(&tensor.read::<f32>()?);
    }
    Ok(())
}

#[op_def("return_alias(Tensor(a) self) -> Tensor(a)")]
fn return_alias(this: &Tensor) -> Result<Tensor>;

#[op_impl(return_alias)]
fn return_alias_kernel(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("echo_any(Any x, Dict(str, int) y) -> Any")]
fn echo_any(x: &Value, y: &Value) -> Result<Value>;

#[op_impl(echo_any)]
fn echo_any_kernel(x: &Value, _: &Value) -> Value {
    x.clone()
}

#[op_def("return_nothing(int x) -> ()")]
fn return_nothing(x: i64) -> Result<()>;

#[op_impl(return_nothing)]
fn return_nothing_kernel(_: i64) {}

/// A kernel that names the lifetime of its first argument; the other lifetimes are inferred.
#[op_impl(echo_text, CUDA)]
fn echo_text_cuda<'a>(x: &'a str) -> Result<Str> {
    let kept: &'a str = x;
    Ok(kept.into())
}

#[op_def("subtract_keyword_arguments(int type, int ref, int x) -> int")]
fn subtract_keyword_arguments(r#type: i64, r#ref: i64, x: i64) -> Result<i64>;

#[op_impl(subtract_keyword_arguments)]
fn subtract_keyword_arguments_kernel(r#type: i64, r#ref: i64, _: i64) -> i64 {
    r#type - r#ref
}

#[op_impl(subtract_keyword_arguments, CPU)]
fn unused_keyword_arguments_cpu(_type: i64, _: i64, _x: i64) -> i64 {
    0
}

/// An operator whose argument names also occur in generated code.
#[op_def(
    "clashing_names(Tensor keys, int stack, int kernel, int __keys, int __stack, int body, int KEYS, int __kernel) -> int"
)]
fn clashing_names(
    keys: &Tensor,
    stack: i64,
    kernel: i64,
    __keys: i64,
    __stack: i64,
    body: i64,
    KEYS: i64,
    __kernel: i64,
) -> Result<i64>;

#[op_impl(clashing_names, when(*int_is_positive(&stack)), priority = 1)]
#[expect(non_snake_case, clippy::too_many_arguments, reason = "an argument's own name")]
fn clashing_names_kernel(
    keys: &Tensor,
    stack: i64,
    kernel: i64,
    __keys: i64,
    __stack: i64,
    body: i64,
    KEYS: i64,
    __kernel: i64,
    set: KeySet,
) -> Result<i64> {
    assert!(set.has(keys::CPU) && keys.keys().has(keys::CPU));
    Ok(stack + kernel + __keys + __stack + body + KEYS + __kernel)
}

fn int_is_positive(stack: &i64) -> &bool {
    if *stack > 0 { &true } else { &false }
}

fn tensor_from_values(values: &[f32]) -> Tensor {
    Tensor::from_slice(values)
}

#[test]
fn values_of_each_type_pass_through_calls() -> Result<()> {
    assert_boxed_equals_typed!(echo_int(7));
    assert_boxed_equals_typed!(echo_symint(7));
    assert_boxed_equals_typed!(echo_float(1.5));
    assert_boxed_equals_typed!(echo_bool(true));
    assert_boxed_equals_typed!(echo_scalar(Scalar::Float(2.0)));
    assert_boxed_equals_typed!(echo_complex(Complex64::new(1.0, 2.0)));
    assert_boxed_equals_typed!(echo_text("t"));
    assert_eq!(echo_enums(DType::F32, Layout::Strided, Device::CPU, MemoryFormat::Contiguous)?.0, DType::F32);
    assert_eq!(return_vectors()?, (vec![1], vec![2.0], vec![true]));
    assert_eq!(total_list_length(&[1], &[1, 2], &[1.0], &[true; 3], &[Scalar::Int(1)], &["s".into()])?, 9);
    return_nothing(1)
}

#[test]
fn optional_arguments_may_be_none() -> Result<()> {
    assert_eq!(seven_if_any_given(None, None, None, None, None, None, None, None)?, None);
    assert_eq!(seven_if_any_given(None, None, None, Some("d"), None, None, None, None)?, Some(7));
    assert_eq!(format!("{:?}", seven_if_any_given::operator().call(vec![Value::None; 8])?), "[None]");
    Ok(())
}

#[test]
fn tensors_pass_through_calls() -> Result<()> {
    let x = tensor_from_values(&[1.0]);
    let (a, b, c) = echo_tensors(&x, &[x.clone(), x.clone()], &[None, Some(x.clone())])?;
    assert_eq!((a.sizes(), b.len(), c.is_none()), (&[1][..], 2, true));
    let mut y = tensor_from_values(&[0.0]);
    copy_each(&mut y, &mut [x.clone()], None)?;
    assert_eq!(&*y.read::<f32>()?, [1.0]);
    assert_eq!(return_alias(&x)?.sizes(), [1]);
    Ok(())
}

#[test]
fn argument_names_do_not_clash_with_generated_names() -> Result<()> {
    assert_eq!(clashing_names(&tensor_from_values(&[1.0]), 1, 2, 3, 4, 5, 6, 7)?, 28);
    assert_eq!(
        clashing_names!(
            &tensor_from_values(&[1.0]),
            stack = 1,
            kernel = 2,
            __keys = 3,
            __stack = 4,
            body = 5,
            KEYS = 6,
            __kernel = 7
        )?,
        28
    );
    assert_eq!(subtract_keyword_arguments(5, 3, 0)?, 2);
    assert_eq!(subtract_keyword_arguments!(r#type = 5, r#ref = 3, x = 0)?, 2);
    assert_eq!(subtract_keyword_arguments!(type = 5, ref = 3, x = 0)?, 2);
    Ok(())
}

#[test]
fn any_and_dict_arguments_are_values() -> Result<()> {
    assert_eq!(format!("{:?}", echo_any(&7_i64.into(), &Value::None)?), format!("{:?}", Value::from(7_i64)));
    Ok(())
}

#[test]
fn generators_pass_through_calls() -> Result<()> {
    let x = Generator::new(Device::CPU, 0);
    echo_generator(&x)?;
    Ok(())
}
