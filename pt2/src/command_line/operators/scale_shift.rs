//! `corpus::scale_shift`, an example of an operator of a user.

use dispatch_runtime::prelude::*;

/// Returns `x * scale + shift`, and its sum over the dimensions `dims`. Without dimensions, that is the sum of all elements.
///
/// It is a composite, so its derivative and its results on Meta are those of the operators that it calls.
#[op_def("corpus::scale_shift(Tensor x, float scale=2.0, *, Tensor? shift=None, int[] dims=[]) -> (Tensor, Tensor)")]
fn scale_shift(x: &Tensor, scale: f64, shift: Option<&Tensor>, dims: &[i64]) -> Result<(Tensor, Tensor)> {
    let scaled = (x * scale)?;
    let y = match shift {
        Some(shift) => (scaled + shift)?,
        None => scaled,
    };
    let sum = aten::sum_dim_intlist(&y, Some(dims), false, None)?;
    Ok((y, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    use aten::prelude::*;
    use dispatch_autograd::Differentiable;

    #[test]
    fn the_results_are_the_shifted_tensor_and_its_sum() -> Result<()> {
        let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let shift = Tensor::from([10.0, 20.0, 30.0]);
        let (y, sum) = scale_shift!(&x, scale = 3.0, shift = Some(&shift), dims = [1])?;
        assert_eq!(y.to_vec::<f64>()?, [13.0, 26.0, 39.0, 22.0, 35.0, 48.0]);
        assert_eq!(sum.to_vec::<f64>()?, [78.0, 105.0]);
        // The defaults: no shift, and the sum of all elements.
        let (y, sum) = scale_shift!(&x)?;
        assert_eq!(y.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!((sum.sizes(), sum.item::<f64>()?), (&[][..], 42.0));
        Ok(())
    }

    #[test]
    fn both_results_have_gradients() -> Result<()> {
        let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]).requires_grad_(true)?;
        let shift = Tensor::from([0.5, 0.25]).requires_grad_(true)?;
        let (y, sum) = scale_shift(&x, 3.0, Some(&shift), &[0])?;
        // The gradient of a column of `y` is 1 from `y`, and the column's factor from its sum.
        (y.sum()? + (sum * Tensor::from([10.0, 100.0]))?.sum()?)?.backward()?;
        let gradient = |of: &Tensor| of.grad().ok_or("no gradient")?.to_vec::<f64>();
        assert_eq!(gradient(&x)?, [33.0, 303.0, 33.0, 303.0]);
        assert_eq!(gradient(&shift)?, [22.0, 202.0]);
        Ok(())
    }

    #[test]
    fn shapes_are_known_without_elements() -> Result<()> {
        let (y, sum) = scale_shift(&Tensor::zeros((2, 3), Device::META)?, 1.0, None, &[-1])?;
        assert_eq!((y.sizes(), sum.sizes()), (&[2, 3][..], &[2][..]));
        Ok(())
    }
}
