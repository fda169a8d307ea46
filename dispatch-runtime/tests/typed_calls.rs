//! Tests of operators and kernels that the attribute macros define.

use dispatch_runtime::{Complex64, prelude::*};

#[op_def("mymul(Tensor self, Tensor other) -> Tensor", operator = Mul)]
fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_def("square(Tensor self) -> Tensor")]
fn square(this: &Tensor) -> Result<Tensor> {
    mymul(this, this)
}

#[op_impl(mymul, CPU)]
fn mymul_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (a, b) = (this.read::<f32>()?, other.read::<f32>()?);
    Ok(Tensor::from_slice(&a.iter().zip(&*b).map(|(a, b)| a * b).collect::<Vec<f32>>()))
}

#[op_impl(scale_, CPU)]
fn scale_cpu(this: &mut Tensor, by: f64, keys: KeySet) -> Result<()> {
    assert!(keys.has(keys::CPU));
    #[expect(clippy::cast_possible_truncation)]
    this.write::<f32>()?.iter_mut().for_each(|x| *x *= by as f32);
    Ok(())
}

#[op_def("scale_(Tensor(a!) self, float by=2) -> Tensor(a!)")]
fn scale_(this: &mut Tensor, by: f64) -> Result<()>;

#[op_def]
fn count_plus_weights(tensors: &[Tensor], weights: Option<&[f64]>) -> Result<f64>;

#[op_impl(count_plus_weights)]
fn count_plus_weights_catch_all(tensors: &[Tensor], weights: Option<&[f64]>) -> f64 {
    #[expect(clippy::cast_precision_loss)]
    let count = tensors.len() as f64;
    count + weights.map_or(0.0, |weights| weights.iter().sum())
}

#[op_def(with_defaults(Tensor self, int[1]? dim=None, *, bool keepdim=False, Scalar alpha=1, int[2] stride=1) -> (str, int))]
fn with_defaults(
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    alpha: Scalar,
    stride: &[i64],
) -> Result<(Str, i64)>;

#[op_impl(with_defaults, CPU)]
fn with_defaults_cpu(_: &Tensor, dim: Option<&[i64]>, keepdim: bool, alpha: Scalar, stride: &[i64]) -> (Str, i64) {
    (format!("{dim:?} {keepdim} {alpha} {stride:?}").into(), 7)
}

#[op_def(with_number_defaults(Tensor self, int count=0x2FFFFFF, int[2] pad=-0X10, *, float? correction=1, complex? by=2, complex? to=2.5) -> str)]
fn with_number_defaults(
    this: &Tensor,
    count: i64,
    pad: &[i64],
    correction: Option<f64>,
    by: Option<Complex64>,
    to: Option<Complex64>,
) -> Result<Str>;

#[op_impl(with_number_defaults, CPU)]
fn with_number_defaults_cpu(
    _: &Tensor,
    count: i64,
    pad: &[i64],
    correction: Option<f64>,
    by: Option<Complex64>,
    to: Option<Complex64>,
) -> Str {
    format!("{count} {pad:?} {correction:?} {by:?} {to:?}").into()
}

#[op_def("describe_length(Tensor self) -> str")]
fn describe_length(this: &Tensor) -> Result<Str>;

#[op_impl(describe_length, CPU, when(this.sizes()[0] > 2), priority = 1)]
fn describe_length_long(this: &Tensor) -> Str {
    format!("long {}", this.sizes()[0]).into()
}

#[op_impl(describe_length, CPU, when(this.sizes()[0] == 1), priority = 2)]
fn describe_length_one(_: &Tensor) -> Str {
    "one".into()
}

#[op_def("element_type_name(Tensor self) -> str")]
fn element_type_name(this: &Tensor) -> Result<Str>;

#[op_impl(element_type_name, CPU, dtypes(floating, i64))]
fn element_type_name_cpu<T: Number>(_: &Tensor) -> Str {
    std::any::type_name::<T>().into()
}

#[dispatch_key(layer, above = Autograd)]
static Audit: Key;

thread_local! {
    static AUDITED_CALLS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[op_fallback(Audit)]
fn audit_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    AUDITED_CALLS.with_borrow_mut(|seen| seen.push(format!("{op}{}", stack.display_args(op))));
    op.redispatch_boxed(keys.below(Audit), stack)
}

fn float_vector(values: &[f32]) -> Tensor {
    Tensor::from_slice(values)
}

#[test]
fn a_call_reaches_the_kernel_of_its_backend() -> Result<()> {
    let product = mymul(&float_vector(&[1.0, 2.0]), &float_vector(&[3.0, 4.0]))?;
    assert_eq!(&*product.read::<f32>()?, [3.0, 8.0]);
    assert_eq!(&*square(&float_vector(&[3.0]))?.read::<f32>()?, [9.0]);
    let product = (&float_vector(&[2.0]) * &float_vector(&[4.0]))?;
    assert_eq!(&*product.read::<f32>()?, [8.0]);
    Ok(())
}

#[test]
fn a_written_argument_is_written_in_place() -> Result<()> {
    let mut x = float_vector(&[1.0, 2.0]);
    let alias = x.clone();
    scale_(&mut x, 3.0)?;
    assert_eq!(&*alias.read::<f32>()?, [3.0, 6.0]);
    scale_!(&mut x)?;
    assert_eq!(&*alias.read::<f32>()?, [6.0, 12.0]);
    Ok(())
}

#[test]
fn boxed_and_typed_calls_return_the_same_results() -> Result<()> {
    let mut stack = Stack::new();
    stack.push(1_i64);
    stack.push(float_vector(&[5.0]));
    stack.push(2.0);
    scale_::operator().call_boxed(&mut stack)?;
    assert_eq!(stack.len(), 2);
    assert_eq!(&*stack.values()[1].as_tensor().unwrap().read::<f32>()?, [10.0]);

    let results = count_plus_weights::operator().call([vec![float_vector(&[0.0])].into(), vec![0.5, 0.25].into()])?;
    assert_eq!(format!("{results:?}"), "[1.75]");
    Ok(())
}

#[test]
fn the_named_form_fills_in_defaults() -> Result<()> {
    let x = float_vector(&[1.0]);
    assert_eq!(&*with_defaults!(&x)?.0, "None false 1 [1, 1]");
    assert_eq!(
        &*with_defaults!(&x, dim = [0, -1], keepdim = true, alpha = 0.5, stride = 3)?.0,
        "Some([0, -1]) true 0.5 [3, 3]"
    );
    assert_eq!(&*with_defaults!(&x, None, stride = [1, 2])?.0, "None false 1 [1, 2]");
    let dims = [4];
    assert_eq!(&*with_defaults!(&x, dim = &dims[..])?.0, "Some([4]) false 1 [1, 1]");
    Ok(())
}

#[test]
fn defaults_convert_to_the_types_of_their_arguments() -> Result<()> {
    let x = float_vector(&[1.0]);
    let expected =
        "50331647 [-16, -16] Some(1.0) Some(Complex { re: 2.0, im: 0.0 }) Some(Complex { re: 2.5, im: 0.0 })";
    assert_eq!(&*with_number_defaults!(&x)?, expected);

    let schema = with_number_defaults::operator().schema();
    assert_eq!(
        schema.to_string().split_once("with_number_defaults").unwrap().1,
        "(Tensor self, int count=50331647, int[2] pad=-16, *, float? correction=1, complex? by=2, complex? to=2.5) -> str"
    );
    let arguments = [Value::from(x)].into_iter();
    let arguments = arguments.chain(schema.arguments[1..].iter().map(|it| Value::default_of(it).unwrap()));
    let results = with_number_defaults::operator().call(arguments)?;
    assert_eq!(format!("{results:?}"), format!("[{expected:?}]"));
    Ok(())
}

#[test]
fn the_first_kernel_whose_condition_holds_runs() -> Result<()> {
    assert_eq!(&*describe_length(&float_vector(&[0.0; 3]))?, "long 3");
    assert_eq!(&*describe_length(&float_vector(&[0.0]))?, "one");
    let error = describe_length(&float_vector(&[0.0; 2])).unwrap_err().to_string();
    assert!(error.contains("when this.sizes()[0] > 2"), "{error}");
    assert!(error.contains("when this.sizes()[0] == 1"), "{error}");
    Ok(())
}

#[test]
fn a_generic_kernel_runs_for_the_dtypes_it_names() -> Result<()> {
    assert_eq!(&*element_type_name(&float_vector(&[0.0]))?, "f32");
    assert_eq!(&*element_type_name(&Tensor::from_slice(&[1_i64]))?, "i64");
    let error = element_type_name(&Tensor::from_slice(&[1_u8])).unwrap_err().to_string();
    assert_eq!(
        error,
        "this kernel of `typed_calls::element_type_name` does not support `argument 1` of uint8; it supports float16, bfloat16, float32, \
         float64, int64"
    );
    Ok(())
}

#[test]
fn a_layer_sees_every_call() -> Result<()> {
    let _auditing = dispatch_runtime::guard::include(Audit.into());
    let x = float_vector(&[2.0]);
    let y = square(&x)?;
    assert_eq!(&*y.read::<f32>()?, [4.0]);
    let mut z = y.clone();
    scale_(&mut z, 2.0)?;
    let seen = AUDITED_CALLS.take();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(seen[0], "typed_calls::square(Tensor(float32 [1] on cpu))");
    Ok(())
}

#[test]
fn redispatch_uses_the_keys_it_is_given() -> Result<()> {
    let x = float_vector(&[2.0]);
    let y = mymul::redispatch(keys::CPU.into(), &x, &x)?;
    assert_eq!(&*y.read::<f32>()?, [4.0]);
    let error = mymul::call_for(keys::CUDA, &x, &x).unwrap_err();
    assert!(error.to_string().starts_with("no kernel of `typed_calls::mymul` for CUDA"), "{error}");
    println!("{error}\n{}", mymul::operator().explain(&[(&x).into(), (&x).into()]));
    println!("{}\n{}", mymul::operator().dump(), mymul::operator().dump_table());
    Ok(())
}

#[test]
fn the_registrations_of_this_file_have_no_findings() {
    let findings = dispatch_runtime::verify();
    assert!(findings.is_empty(), "{findings:?}");
}

#[op_def("with_body(Tensor self, int n) -> str", body = CompositeExplicitAutograd)]
fn with_body(_: &Tensor, _: i64) -> Result<Str> {
    Ok("body".into())
}

#[op_impl(with_body, CPU, when(n > 9))]
fn with_body_large_n_cpu(_: &Tensor, n: i64) -> Str {
    format!("large {n}").into()
}

#[test]
fn the_body_is_the_default_of_kernels_with_conditions() {
    let x = Tensor::from_slice(&[1.0_f32]);
    assert_eq!(&*with_body(&x, 10).unwrap(), "large 10");
    assert_eq!(&*with_body(&x, 1).unwrap(), "body");
    let boxed = with_body::operator().call([(&x).into(), 1_i64.into()]).unwrap();
    assert_eq!(format!("{boxed:?}"), "[\"body\"]");
    let account = with_body::operator().explain(&[(&x).into(), 1_i64.into()]);
    let candidates: Vec<_> = account.candidates.iter().map(|(site, condition)| (site.key, *condition)).collect();
    assert_eq!(candidates, [(keys::CPU, Some("n > 9")), (keys::CompositeExplicitAutograd, None)]);
}
