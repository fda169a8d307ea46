//! `transformers::grouped_mm_fallback`: the matrix products of groups of rows, as mixtures of experts compute them.

use std::ops::Range;

use aten::prelude::*;
use dispatch_autograd::{Gradient, op_grad};
use dispatch_runtime::{BadArgument, Spec, prelude::*};

/// Multiplies each group of rows of `input` by its matrix in `weight`. `offs` has the end of each group, so group `i` is the rows from
/// `offs[i - 1]` to `offs[i]`. Rows after the last group are zero.
///
/// It differs from `aten::_grouped_mm` in its arguments: each dtype of a product, offsets of 64 bits, and errors for wrong offsets.
#[op_def(
    "transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
    plan,
    body = CompositeExplicitAutograd
)]
fn grouped_mm_fallback(_: ...) -> Result<Tensor> {
    let Plan { outputs: [spec], .. } = grouped_mm_fallback::plan(input, weight, offs)?;
    let groups = group_ranges(offs, input.sizes()[0])?;
    let mut result = spec.on(input.device())?;
    aten::zero_(&mut result)?;
    for (rows, matrix) in groups.into_iter().zip(0..) {
        let mut target = rows_of(&result, &rows)?;
        aten::mm_out(&rows_of(input, &rows)?, &weight.select(0, matrix)?, &mut target)?;
    }
    Ok(result)
}

#[op_plan(grouped_mm_fallback)]
fn grouped_mm_fallback_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    let &[rows, inner] = input.sizes() else {
        return Err(BadArgument::rank("input", input.sizes().len(), 2));
    };
    let &[count, weight_rows, columns] = weight.sizes() else {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 3));
    };
    if weight_rows != inner {
        return Err(BadArgument::size("weight", weight.sizes(), 1, inner).like_dim("input", 1));
    }
    if weight.dtype() != input.dtype() {
        return Err(BadArgument::dtype("weight", weight.dtype(), input.dtype()).like("input"));
    }
    if !matches!(offs.dtype(), DType::I32 | DType::I64) {
        return Err(BadArgument::dtype("offs", offs.dtype(), &[DType::I32, DType::I64]));
    }
    if offs.sizes() != [count] {
        return Err(BadArgument::sizes("offs", offs.sizes(), [count].as_slice())
            .because("`weight` has a matrix for each group"));
    }
    Ok(Plan::new((), [Spec::contiguous(input.dtype(), &[rows, columns])]))
}

/// The gradient of a group's rows is that of a product, so it is the same operator; the gradient of its matrix is a product of its rows.
#[op_grad(grouped_mm_fallback, not_differentiable(offs))]
fn grouped_mm_fallback_grad(
    grad: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    offs: &Tensor,
) -> (impl Gradient, impl Gradient) {
    (
        move || grouped_mm_fallback(grad, &weight.transpose(1, 2)?, offs),
        move || {
            let product = |rows: Range<i64>| rows_of(input, &rows)?.t()?.mm(&rows_of(grad, &rows)?);
            let products =
                group_ranges(offs, input.sizes()[0])?.into_iter().map(product).collect::<Result<Vec<_>>>()?;
            if products.is_empty() { weight.zeros_like() } else { aten::stack(&products, 0) }
        },
    )
}

/// Returns the rows of each group, from the ends of the groups. Returns [`BadArgument`] if they decrease or exceed the number of rows.
fn group_ranges(offs: &Tensor, row_count: i64) -> Result<Vec<Range<i64>>> {
    let mut start = 0;
    let range = |(group, end): (usize, i64)| {
        let range = start..end;
        start = end;
        if (range.start..=row_count).contains(&end) {
            return Ok(range);
        }
        let expected = format!(
            "{} or more, the end of the group before, and at most {row_count}, the number of rows",
            range.start
        );
        Err(BadArgument::value("offs", format!("{end} for group {group}"), expected).into())
    };
    let ends = offs.to((Device::CPU, DType::I64))?.to_vec::<i64>()?;
    ends.into_iter().enumerate().map(range).collect()
}

fn rows_of(tensor: &Tensor, rows: &Range<i64>) -> Result<Tensor> {
    tensor.narrow(0, rows.start, rows.end - rows.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    use dispatch_autograd::Differentiable;
    use dispatch_autograd::functional;

    /// Returns a tensor of these sizes whose elements are all different.
    fn sample(sizes: &[i64], phase: f64) -> Result<Tensor> {
        let count: i64 = sizes.iter().product();
        expr!(Tensor::arange(0..count, DType::F64)? * 0.7 + phase)?.sin()?.reshape(sizes)
    }

    /// The product by a plain loop.
    fn expected(input: &[f64], weight: &[f64], ends: &[usize], [rows, inner, columns]: [usize; 3]) -> Vec<f64> {
        let mut result = vec![0.0; rows * columns];
        let mut start = 0;
        for (group, &end) in ends.iter().enumerate() {
            for row in start..end {
                for column in 0..columns {
                    let factors =
                        (0..inner).map(|k| input[row * inner + k] * weight[(group * inner + k) * columns + column]);
                    result[row * columns + column] = factors.sum();
                }
            }
            start = end;
        }
        result
    }

    fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
        }
    }

    #[test]
    fn each_group_is_multiplied_by_its_matrix() -> Result<()> {
        let (input, weight) = (sample(&[7, 5], 0.0)?, sample(&[4, 3, 5], 1.0)?.transpose(1, 2)?);
        // Groups of all rows, empty groups, rows after the last group, and no rows.
        for ends in [[2, 3, 5, 7], [0, 4, 4, 7], [1, 2, 2, 5], [0, 0, 0, 0]] {
            let offs = Tensor::from_slice(&ends.map(|end: usize| i32::try_from(end).unwrap_or(0)));
            let expected = expected(&input.to_vec()?, &weight.contiguous()?.to_vec()?, &ends, [7, 5, 3]);
            for offs in [offs.to(DType::I64)?, offs] {
                let found = grouped_mm_fallback(&input, &weight, &offs)?;
                assert_eq!(found.sizes(), [7, 3]);
                assert_close(&found.to_vec()?, &expected, 1e-12);
            }
        }
        let nothing = grouped_mm_fallback(&sample(&[0, 5], 0.0)?, &weight, &Tensor::zeros(4, DType::I64)?)?;
        assert_eq!(nothing.sizes(), [0, 3]);
        Ok(())
    }

    #[test]
    fn gradients_agree_with_finite_differences() -> Result<()> {
        const STEP: f64 = 1e-6;
        let offs = Tensor::from([1, 4, 4, 6]);
        let cotangent = sample(&[7, 3], 2.0)?;
        let loss =
            |input: &Tensor, weight: &Tensor| (grouped_mm_fallback(input, weight, &offs)? * &cotangent)?.sin()?.sum();
        let (input, weight) = (sample(&[7, 2], 0.0)?, sample(&[4, 2, 3], 1.0)?);
        let leaves = [input.clone().requires_grad_(true)?, weight.clone().requires_grad_(true)?];
        loss(&leaves[0], &leaves[1])?.backward()?;
        for (at, leaf) in leaves.iter().enumerate() {
            let values = leaf.detach()?.to_vec::<f64>()?;
            let loss_at = |element: usize, step: f64| {
                let mut values = values.clone();
                values[element] += step;
                let moved = Tensor::from_vec(values, leaf.sizes())?;
                if at == 0 { loss(&moved, &weight) } else { loss(&input, &moved) }?.item::<f64>()
            };
            let slope = |element| Ok((loss_at(element, STEP)? - loss_at(element, -STEP)?) / (2.0 * STEP));
            let differences = (0..values.len()).map(slope).collect::<Result<Vec<_>>>()?;
            let gradient = leaf.grad().ok_or("no gradient")?;
            assert_close(&gradient.to_vec()?, &differences, 1e-8);
        }
        Ok(())
    }

    #[test]
    fn second_derivatives_exist() -> Result<()> {
        let (weight, offs) = (sample(&[2, 2, 2], 1.0)?, Tensor::from([1, 3]));
        let loss = |input: &Tensor| grouped_mm_fallback(input, &weight, &offs)?.square()?.sum();
        // The loss is quadratic, so its second derivative in one direction is twice the square of the product.
        let (input, direction) = (sample(&[3, 2], 0.0)?, sample(&[3, 2], 3.0)?);
        let directional = |input: &Tensor| (functional::grad(loss, input)? * &direction)?.sum();
        let second = (functional::grad(directional, &input)? * &direction)?.sum()?.item::<f64>()?;
        let expected = 2.0 * loss(&direction)?.item::<f64>()?;
        assert_close(&[second], &[expected], 1e-12);
        Ok(())
    }

    #[test]
    fn no_groups_give_zeros_and_a_gradient_without_elements() -> Result<()> {
        let weight = Tensor::zeros((0, 2, 3), DType::F64)?.requires_grad_(true)?;
        let result = grouped_mm_fallback(&sample(&[4, 2], 0.0)?, &weight, &Tensor::zeros(0, DType::I64)?)?;
        assert_eq!(result.to_vec::<f64>()?, [0.0; 12]);
        result.sum()?.backward()?;
        assert_eq!(weight.grad().ok_or("no gradient")?.sizes(), [0, 2, 3]);
        Ok(())
    }

    #[test]
    fn wrong_arguments_are_typed_errors() -> Result<()> {
        let (input, weight) = (sample(&[4, 2], 0.0)?, sample(&[2, 2, 3], 0.0)?);
        let error = |input: &Tensor, weight: &Tensor, offs: &Tensor| {
            grouped_mm_fallback(input, weight, offs).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let offs = Tensor::from([1, 2]);
        for (found, expected) in [
            (error(&input, &weight, &Tensor::from([3, 2])), "argument `offs` is 2 for group 1, but must be 3 or more"),
            (
                error(&input, &weight, &Tensor::from([-1, 2])),
                "argument `offs` is -1 for group 0, but must be 0 or more",
            ),
            (error(&input, &weight, &Tensor::from([1, 5])), "at most 4, the number of rows"),
            (error(&input, &weight, &Tensor::from([1, 2, 3])), "argument `offs`"),
            (error(&input, &weight, &Tensor::from([1.0, 2.0])), "argument `offs`"),
            (error(&input, &weight.to(DType::F32)?, &offs), "argument `weight`"),
            (error(&input.select(0, 0)?, &weight, &offs), "argument `input`"),
            (error(&input, &weight.select(0, 0)?, &offs), "argument `weight`"),
            (error(&input.t()?, &weight, &offs), "argument `weight`"),
        ] {
            assert!(found.contains(expected), "{found}");
        }
        Ok(())
    }

    #[test]
    fn shapes_are_known_without_elements() -> Result<()> {
        let meta = |sizes: &[i64], dtype| Tensor::zeros(sizes, (Device::META, dtype));
        let offs = meta(&[2], DType::I32)?;
        let result = grouped_mm_fallback(&meta(&[4, 2], DType::F16)?, &meta(&[2, 2, 3], DType::F16)?, &offs)?;
        assert_eq!((result.sizes(), result.dtype()), (&[4, 3][..], DType::F16));
        assert!(grouped_mm_fallback(&meta(&[4, 5], DType::F16)?, &meta(&[2, 2, 3], DType::F16)?, &offs).is_err());
        Ok(())
    }
}
