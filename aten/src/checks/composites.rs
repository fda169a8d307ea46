//! Checks that composites make before they call other operators: the sizes, dtypes or batch dimensions of several arguments agree.
//!
//! A composite operator names such a check in `check = ..`. The check runs only if the body fails, so that the error has the argument names
//! and the sizes of the caller. It never refuses arguments that the body accepts.

use std::borrow::Cow;
use std::fmt::Display;

use dispatch_runtime::{BadArgument, Dims, Tensor, broadcast};

/// Refuses the first tensor whose sizes do not broadcast with those of the tensors before it.
pub(crate) fn check_broadcast<const N: usize>(tensors: [(&'static str, &Tensor); N]) -> Result<(), BadArgument> {
    let mut sizes = Dims::new();
    for (name, tensor) in tensors {
        sizes = broadcast([&sizes[..], tensor.sizes()]).map_err(|error| BadArgument::new(name, error.problem))?;
    }
    Ok(())
}

/// Refuses a tensor that does not broadcast to the sizes of another.
pub(crate) fn check_broadcasts_to_tensor(
    (name, tensor): (&'static str, &Tensor),
    (other, to): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    if broadcast([tensor.sizes(), to.sizes()]).is_ok_and(|sizes| sizes[..] == *to.sizes()) {
        return Ok(());
    }
    let expected = format!("sizes that broadcast to {:?}, as `{other}` has", to.sizes());
    Err(BadArgument::sizes(name, tensor.sizes(), expected))
}

/// Refuses a tensor whose dtype differs from the dtype of the first tensor.
pub(crate) fn check_same_dtype<const N: usize>(
    tensors: [(&'static str, Option<&Tensor>); N],
) -> Result<(), BadArgument> {
    let mut tensors = tensors.into_iter().filter_map(|(name, tensor)| Some((name, tensor?.dtype())));
    let Some((first, expected)) = tensors.next() else { return Ok(()) };
    match tensors.find(|&(_, dtype)| dtype != expected) {
        Some((name, found)) => Err(BadArgument::dtype(name, found, format!("{expected}, as `{first}` is"))),
        None => Ok(()),
    }
}

/// Checks the sizes of tensors against letters, one for each dimension: dimensions with the same letter must have the same size. `*` before
/// the letters stands for any number of other dimensions.
pub(crate) fn check_dims_by_letter<N>(tensors: &[(N, Option<&Tensor>, &str)]) -> Result<(), BadArgument>
where
    N: Copy + Display + Into<Cow<'static, str>>,
{
    let mut known: Vec<(char, i64, N, &[i64])> = Vec::new();
    for &(name, tensor, letters) in tensors {
        let Some(sizes) = tensor.map(Tensor::sizes) else { continue };
        let own = letters.trim_start_matches('*');
        let before = match sizes.len().checked_sub(own.len()) {
            Some(before) if before == 0 || own != letters => before,
            _ if own != letters => return Err(BadArgument::rank(name, sizes.len(), own.len()..)),
            _ => return Err(BadArgument::rank(name, sizes.len(), own.len())),
        };
        for (letter, (dim, &size)) in own.chars().zip(sizes.iter().enumerate().skip(before)) {
            match known.iter().find(|(other, ..)| *other == letter) {
                None => known.push((letter, size, name, sizes)),
                Some(&(_, expected, other, of)) if expected != size => {
                    let expected = format!("{expected} in dimension {dim}, as `{other}` has sizes {of:?}");
                    return Err(BadArgument::sizes(name, sizes, expected));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

/// Checks the two operands of `matmul`, vectors or batches of matrices: the inner sizes are equal, the batch dimensions broadcast, and the
/// dtypes are equal.
pub(crate) fn check_matmul_operands([left, right]: [(&'static str, &Tensor); 2]) -> Result<(), BadArgument> {
    let inner = if right.1.sizes().len() == 1 { "k" } else { "*kn" };
    check_dims_by_letter(&[(left.0, Some(left.1), "*k"), (right.0, Some(right.1), inner)])?;
    check_batch_dims_broadcast(left, right)?;
    check_same_dtype([(left.0, Some(left.1)), (right.0, Some(right.1))])
}

/// Refuses a second tensor whose dimensions before the last two do not broadcast with those of the first.
pub(crate) fn check_batch_dims_broadcast(
    (first, left): (&'static str, &Tensor),
    (second, right): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    let batch = |tensor: &Tensor| Dims::from_slice(&tensor.sizes()[..tensor.sizes().len().saturating_sub(2)]);
    if broadcast([&batch(left)[..], &batch(right)[..]]).is_ok() {
        return Ok(());
    }
    let expected = format!(
        "dimensions before the last two that broadcast with {:?}, as `{first}` has sizes {:?}",
        &batch(left)[..],
        left.sizes()
    );
    Err(BadArgument::sizes(second, right.sizes(), expected))
}
