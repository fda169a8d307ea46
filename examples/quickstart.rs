//! An operator, a kernel, a composite and a call, in one file.

use opdispatch::prelude::*;

/// Multiplies two tensors elementwise.
#[op_def("mymul(Tensor self, Tensor other) -> Tensor")]
pub fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// An operator with a body is a composite: it works on every backend with kernels for the operators in the body.
#[op_def("power(Tensor self, int exponent=2) -> Tensor")]
pub fn power(this: &Tensor, exponent: i64) -> Result<Tensor> {
    (1..exponent).try_fold(this.clone(), |product, _| mymul(&product, this))
}

/// The CPU kernel of `mymul`, for every real dtype.
#[op_impl(mymul, CPU, dtypes(floating, integral))]
fn mymul_cpu<T: Number>(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (a, b) = (this.read::<T>()?, other.read::<T>()?);
    if a.len() != b.len() {
        return Err(Error::kernel(format!("sizes differ: {:?} and {:?}", this.sizes(), other.sizes())));
    }
    Ok(Tensor::from_slice(&a.iter().zip(&*b).map(|(a, b)| a.times(*b)).collect::<Vec<T>>()))
}

fn main() -> Result<()> {
    let a = Tensor::from([1.0_f32, 2.0, 3.0]);
    let b = Tensor::full(3, 2.0, &a)?;

    println!("mymul(a, b)          = {}", mymul(&a, &b)?);
    println!("power!(a)            = {}", power!(&a)?);
    println!("power!(a, 3)         = {}", power!(&a, exponent = 3)?);
    println!("(a * b).relu()[1..]  = {}", (&a * &b)?.relu()?.i(1..)?);

    let short = Tensor::from([1.0_f32]);
    println!("\nan error from a kernel:\n{}", mymul(&a, &short).unwrap_err());

    println!(
        "\nthe kernel of a call, and why it is selected:\n{}",
        mymul::operator().explain(&[(&a).into(), (&b).into()])
    );
    Ok(())
}
