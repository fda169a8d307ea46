//! Tests generic kernels for many dtypes.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;

#[op_def("element_type_name(Tensor self, Tensor other) -> str")]
fn element_type_name(this: &Tensor, other: &Tensor) -> Result<Str>;

#[op_impl(element_type_name, CPU, dtypes(floating, i64, floating))]
fn element_type_name_cpu<T: Number>(_: &Tensor, _: &Tensor) -> Str {
    std::any::type_name::<T>().into()
}

#[op_impl(element_type_name, CUDA, dtypes(all), by = other)]
fn element_type_name_cuda<T>(this: &Tensor, other: &Tensor) -> Result<Str>
where
    T: Element + 'static,
{
    assert_eq!((this.dtype(), other.dtype()), (DType::F32, DType::I64));
    Ok(std::any::type_name::<T>().into())
}

#[op_def("dtype_argument_name(int[] size, ScalarType dtype, Tensor? like=None, Tensor[]? rest=None) -> str")]
fn dtype_argument_name(size: &[i64], dtype: DType, like: Option<&Tensor>, rest: Option<&[Tensor]>) -> Result<Str>;

#[op_impl(dtype_argument_name, CompositeExplicitAutograd, dtypes(integral, f32, bool, complex), by = dtype)]
fn dtype_argument_name_kernel<'a, Item: Element>(
    size: &'a [i64],
    dtype: DType,
    _: Option<&'a Tensor>,
    _: Option<&[Tensor]>,
    keys: KeySet,
) -> Str {
    assert!(size.is_empty() && !keys.has(keys::Tracer));
    let _ = dtype;
    std::any::type_name::<Item>().into()
}

#[op_def("write_one_(Tensor(a!) self) -> Tensor(a!)")]
fn write_one_(this: &mut Tensor) -> Result<()>;

/// A user's trait, as the bound of a generic kernel.
trait HasOne: Element {
    const ONE: Self;
}

impl HasOne for f32 {
    const ONE: Self = 1.0;
}

impl HasOne for i64 {
    const ONE: Self = 1;
}

#[op_impl(write_one_, CPU, dtypes(f32, i64))]
fn write_one_cpu<T: HasOne>(this: &mut Tensor) -> Result<()> {
    this.write::<T>()?[0] = T::ONE;
    Ok(())
}

#[test]
fn the_first_tensor_selects_the_dtype_unless_by_names_another_argument() -> Result<()> {
    let (x, y) = (Tensor::from_slice(&[1.0_f32]), Tensor::from_slice(&[1_i64]));
    assert_eq!(&*element_type_name(&x, &y)?, "f32");
    assert_eq!(&*element_type_name::call_for(keys::CUDA, &x, &y)?, "i64");
    assert_eq!(&*dtype_argument_name(&[], DType::U8, None, None)?, "u8");
    assert_eq!(&*dtype_argument_name!(&[], DType::I16)?, "i16");
    assert!(dtype_argument_name!(&[], DType::F64).unwrap_err().to_string().contains("float64"));
    Ok(())
}

#[test]
fn a_kernel_may_have_a_trait_of_the_user_as_bound() -> Result<()> {
    let mut x = Tensor::from_slice(&[0_i64]);
    write_one_(&mut x)?;
    assert_eq!(&*x.read::<i64>()?, [1]);
    Ok(())
}
