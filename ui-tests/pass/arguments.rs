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

#[op_def("int_(int x) -> int")]
fn int_(x: i64) -> Result<i64>;

#[op_impl(int_)]
fn int_any(x: i64) -> i64 {
    x
}

#[op_def("symint(SymInt x) -> SymInt")]
fn symint(x: i64) -> Result<i64>;

#[op_impl(symint)]
fn symint_any(x: i64) -> Result<i64> {
    Ok(x)
}

#[op_def("float_(float x) -> float")]
fn float_(x: f64) -> Result<f64>;

#[op_impl(float_)]
fn float_any(x: f64) -> f64 {
    x
}

#[op_def("bool_(bool x) -> bool")]
fn bool_(x: bool) -> Result<bool>;

#[op_impl(bool_)]
fn bool_any(x: bool) -> bool {
    x
}

#[op_def("scalar(Scalar x) -> Scalar")]
fn scalar(x: Scalar) -> Result<Scalar>;

#[op_impl(scalar)]
fn scalar_any(x: Scalar) -> Scalar {
    x
}

#[op_def("complex_(complex x) -> complex")]
fn complex_(x: Complex64) -> Result<Complex64>;

#[op_impl(complex_)]
fn complex_any(x: Complex64) -> Complex64 {
    x
}

#[op_def("text(str x) -> str")]
fn text(x: &str) -> Result<Str>;

#[op_impl(text)]
fn text_any(x: &str) -> Str {
    x.into()
}

#[op_def("words(ScalarType a, Layout b, Device c, MemoryFormat d) -> (ScalarType, Layout, Device, MemoryFormat)")]
fn words(a: DType, b: Layout, c: Device, d: MemoryFormat) -> Result<(DType, Layout, Device, MemoryFormat)>;

#[op_impl(words)]
fn words_any(a: DType, b: Layout, c: Device, d: MemoryFormat) -> (DType, Layout, Device, MemoryFormat) {
    (a, b, c, d)
}

#[op_def("generator(Generator x) -> Generator")]
fn generator(x: &Generator) -> Result<Generator>;

#[op_impl(generator)]
fn generator_any(x: &Generator) -> Generator {
    x.clone()
}

#[op_def("lists(int[] a, SymInt[2] b, float[] c, bool[3] d, Scalar[] e, str[] f) -> int")]
fn lists(a: &[i64], b: &[i64], c: &[f64], d: &[bool], e: &[Scalar], f: &[Str]) -> Result<i64>;

#[op_impl(lists)]
fn lists_any(a: &[i64], b: &[i64], c: &[f64], d: &[bool], e: &[Scalar], f: &[Str]) -> Result<i64> {
    Ok(i64::try_from(a.len() + b.len() + c.len() + d.len() + e.len() + f.len()).unwrap_or(0))
}

#[op_def("vectors() -> (int[], float[], bool[])")]
fn vectors() -> Result<(Vec<i64>, Vec<f64>, Vec<bool>)>;

#[op_impl(vectors)]
fn vectors_any() -> (Vec<i64>, Vec<f64>, Vec<bool>) {
    (vec![1], vec![2.0], vec![true])
}

#[op_def("options(int? a, float? b, bool? c, str? d, Tensor? e, int[]? f, ScalarType? g, Generator? h) -> int?")]
fn options(
    a: Option<i64>,
    b: Option<f64>,
    c: Option<bool>,
    d: Option<&str>,
    e: Option<&Tensor>,
    f: Option<&[i64]>,
    g: Option<DType>,
    h: Option<&Generator>,
) -> Result<Option<i64>>;

#[op_impl(options)]
#[expect(clippy::too_many_arguments)]
fn options_any(
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

#[op_def("tensors(Tensor a, Tensor[] b, Tensor?[] c) -> (Tensor, Tensor[], Tensor?)")]
fn tensors(a: &Tensor, b: &[Tensor], c: &[Option<Tensor>]) -> Result<(Tensor, Vec<Tensor>, Option<Tensor>)>;

#[op_impl(tensors)]
fn tensors_any(a: &Tensor, b: &[Tensor], c: &[Option<Tensor>]) -> (Tensor, Vec<Tensor>, Option<Tensor>) {
    (a.clone(), b.to_vec(), c.first().cloned().flatten())
}

#[op_def("copy_each(Tensor(a!) self, Tensor(b!)[] rest, Tensor? weight=None) -> Tensor(a!)")]
fn copy_each(this: &mut Tensor, rest: &mut [Tensor], weight: Option<&Tensor>) -> Result<()>;

#[op_impl(copy_each)]
fn write_any(this: &mut Tensor, rest: &mut [Tensor], _weight: Option<&Tensor>) -> Result<()> {
    for tensor in rest {
        this.write::<f32>()?.copy_from_slice(&tensor.read::<f32>()?);
    }
    Ok(())
}

#[op_def("view(Tensor(a) self) -> Tensor(a)")]
fn view(this: &Tensor) -> Result<Tensor>;

#[op_impl(view)]
fn view_any(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("anything(Any x, Dict(str, int) y) -> Any")]
fn anything(x: &Value, y: &Value) -> Result<Value>;

#[op_impl(anything)]
fn anything_any(x: &Value, _: &Value) -> Value {
    x.clone()
}

#[op_def("nothing(int x) -> ()")]
fn nothing(x: i64) -> Result<()>;

#[op_impl(nothing)]
fn nothing_any(_: i64) {}

/// A kernel that names the lifetime of its first argument; the other lifetimes are inferred.
#[op_impl(text, CUDA)]
fn text_cuda<'a>(x: &'a str) -> Result<Str> {
    let kept: &'a str = x;
    Ok(kept.into())
}

#[op_def("keywords(int type, int ref, int x) -> int")]
fn keywords(r#type: i64, r#ref: i64, x: i64) -> Result<i64>;

#[op_impl(keywords)]
fn keywords_any(r#type: i64, r#ref: i64, _: i64) -> i64 {
    r#type - r#ref
}

#[op_impl(keywords, CPU)]
fn keywords_unused(_type: i64, _: i64, _x: i64) -> i64 {
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

#[op_impl(clashing_names, when(*stack_is_positive(&stack)), priority = 1)]
#[expect(non_snake_case, clippy::too_many_arguments, reason = "an argument's own name")]
fn clash_any(
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

fn stack_is_positive(stack: &i64) -> &bool {
    if *stack > 0 { &true } else { &false }
}

fn tensor(values: &[f32]) -> Tensor {
    Tensor::from_slice(values)
}

#[test]
fn values_of_each_type_pass_through_calls() -> Result<()> {
    assert_boxed_equals_typed!(int_(7));
    assert_boxed_equals_typed!(symint(7));
    assert_boxed_equals_typed!(float_(1.5));
    assert_boxed_equals_typed!(bool_(true));
    assert_boxed_equals_typed!(scalar(Scalar::Float(2.0)));
    assert_boxed_equals_typed!(complex_(Complex64::new(1.0, 2.0)));
    assert_boxed_equals_typed!(text("t"));
    assert_eq!(words(DType::F32, Layout::Strided, Device::CPU, MemoryFormat::Contiguous)?.0, DType::F32);
    assert_eq!(vectors()?, (vec![1], vec![2.0], vec![true]));
    assert_eq!(lists(&[1], &[1, 2], &[1.0], &[true; 3], &[Scalar::Int(1)], &["s".into()])?, 9);
    nothing(1)
}

#[test]
fn optional_arguments_may_be_none() -> Result<()> {
    assert_eq!(options(None, None, None, None, None, None, None, None)?, None);
    assert_eq!(options(None, None, None, Some("d"), None, None, None, None)?, Some(7));
    assert_eq!(format!("{:?}", options::operator().call(vec![Value::None; 8])?), "[None]");
    Ok(())
}

#[test]
fn tensors_pass_through_calls() -> Result<()> {
    let x = tensor(&[1.0]);
    let (a, b, c) = tensors(&x, &[x.clone(), x.clone()], &[None, Some(x.clone())])?;
    assert_eq!((a.sizes(), b.len(), c.is_none()), (&[1][..], 2, true));
    let mut y = tensor(&[0.0]);
    copy_each(&mut y, &mut [x.clone()], None)?;
    assert_eq!(&*y.read::<f32>()?, [1.0]);
    assert_eq!(view(&x)?.sizes(), [1]);
    Ok(())
}

#[test]
fn argument_names_do_not_clash_with_generated_names() -> Result<()> {
    assert_eq!(clashing_names(&tensor(&[1.0]), 1, 2, 3, 4, 5, 6, 7)?, 28);
    assert_eq!(
        clashing_names!(
            &tensor(&[1.0]),
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
    assert_eq!(keywords(5, 3, 0)?, 2);
    assert_eq!(keywords!(r#type = 5, r#ref = 3, x = 0)?, 2);
    assert_eq!(keywords!(type = 5, ref = 3, x = 0)?, 2);
    Ok(())
}

#[test]
fn any_and_dict_arguments_are_values() -> Result<()> {
    assert_eq!(format!("{:?}", anything(&7_i64.into(), &Value::None)?), format!("{:?}", Value::from(7_i64)));
    Ok(())
}

#[test]
fn generators_pass_through_calls() -> Result<()> {
    let x = Generator::new(Device::CPU, 0);
    generator(&x)?;
    Ok(())
}
