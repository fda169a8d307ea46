//! CPU kernels of `myops`. The crate depends only on the operators and the runtime.
#![forbid(unsafe_code)]

use dispatch_runtime::prelude::*;

#[op_impl(myops::mymul, CPU, dtypes(floating, integral))]
fn mymul<T: Number>(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (a, b) = (this.read::<T>()?, other.read::<T>()?);
    if a.len() != b.len() {
        return Err(Error::kernel(format!("sizes differ: {:?} and {:?}", this.sizes(), other.sizes())));
    }
    Ok(Tensor::from_slice(&a.iter().zip(&*b).map(|(a, b)| a.times(*b)).collect::<Vec<T>>()))
}

#[op_impl(myops::scale_, CPU)]
fn scale_in_place(this: &mut Tensor, by: Scalar) -> Result<()> {
    let by = by.to_f64().ok_or_else(|| Error::kernel("`scale_` needs a real number"))?;
    #[expect(clippy::cast_possible_truncation, reason = "the elements have single precision")]
    this.write::<f32>()?.iter_mut().for_each(|x| *x *= by as f32);
    Ok(())
}

/// The kernel of `normalize_rows`, `normalize_rows_` and `normalize_rows.out`. It copies all elements before it writes one,
/// so `out` may be `this`.
#[op_impl(myops::normalize_rows, CPU, in_place)]
fn normalize_rows(plan: &myops::NormalizeRowsPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let from = this.to_vec::<f32>()?;
    let mut to = out.write::<f32>()?;
    for (to, from) in to.chunks_mut(plan.columns.max(1)).zip(from.chunks(plan.columns.max(1))) {
        let sum: f32 = from.iter().sum();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from / sum);
    }
    Ok(())
}
