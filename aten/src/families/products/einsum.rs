//! `einsum`: sums of products of tensors, described by letters for dimensions.
//!
//! Two operands at a time are contracted to one. A letter that neither the output nor another operand needs is summed over: by `bmm` if
//! both operands have it, or before the product if only one has it. An ellipsis stands for unnamed dimensions, which are aligned from the
//! last.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem, element_count};

use crate::{bmm, diagonal, mul, permute, reshape, squeeze_dim, sum_dim_intlist};

/// Multiplies tensors and sums over dimensions, as an equation of letters says: `ij,jk->ik` is the matrix product.
///
/// `path` has a pair of indices for each contraction: the two operands in the list of remaining operands. The result is appended to the
/// list.
#[op_def("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")]
pub fn einsum(equation: &str, tensors: &[Tensor], path: Option<&[i64]>) -> Result<Tensor> {
    let (mut operands, output) = parse_equation(equation, tensors)?;
    let mut pairs = parse_contraction_path(path, operands.len())?.into_iter();
    while operands.len() > 1 {
        let (first, second) = pairs.next().unwrap_or((0, 1));
        let right = operands.remove(first.max(second));
        let left = operands.remove(first.min(second));
        let needed =
            |label: &Label| output.contains(label) || operands.iter().any(|operand| operand.labels.contains(label));
        let product = contract_pair(left, right, &output, needed)?;
        // Without a path, the operands are contracted in the order of the equation.
        operands.insert(if path.is_some() { operands.len() } else { 0 }, product);
    }
    let Some(last) = operands.pop() else { return Err(BadArgument::new("tensors", Problem::NoTensors).into()) };
    last.sum_dims_except(|label| output.contains(label))?.permute_to_labels(&output)
}

/// The label of a dimension: a letter, or the distance to the last dimension of the ellipsis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Label {
    EllipsisDim(std::cmp::Reverse<usize>),
    Letter(char),
}

/// A tensor with a label for each dimension.
struct Operand {
    tensor: Tensor,
    labels: Vec<Label>,
}

impl Operand {
    fn size_of_label(&self, label: Label) -> Option<i64> {
        self.labels.iter().position(|own| *own == label).map(|at| self.tensor.sizes()[at])
    }

    /// Makes an operand in which each label occurs once. Of dimensions with the same label, it takes the diagonal.
    fn with_unique_labels(mut tensor: Tensor, mut labels: Vec<Label>) -> Result<Self> {
        while let Some((first, again)) = find_repeated_label(&labels) {
            let (size, other) = (tensor.sizes()[first], tensor.sizes()[again]);
            if size != other {
                let expected = format!("equal sizes for a repeated letter, not {size} and {other}");
                return Err(BadArgument::sizes("tensors", tensor.sizes(), expected).into());
            }
            tensor = diagonal(&tensor, 0, dim_to_i64(first), dim_to_i64(again))?;
            labels.remove(again);
            let label = labels.remove(first);
            labels.push(label);
        }
        Ok(Self { tensor, labels })
    }

    /// Sums over all dimensions except those whose label `is_kept` accepts.
    fn sum_dims_except(mut self, is_kept: impl Fn(&Label) -> bool) -> Result<Self> {
        let summed_dims: Dims =
            (0..self.labels.len()).filter(|&at| !is_kept(&self.labels[at])).map(dim_to_i64).collect();
        if !summed_dims.is_empty() {
            self.tensor = sum_dim_intlist(&self.tensor, Some(&summed_dims), false, None)?;
            self.labels.retain(is_kept);
        }
        Ok(self)
    }

    /// Removes each dimension of size 1 whose label the other operand has too. It would only be broadcast.
    fn squeeze_broadcast_dims(mut self, other: &Self) -> Result<Self> {
        for at in (0..self.labels.len()).rev() {
            if self.tensor.sizes()[at] == 1 && other.labels.contains(&self.labels[at]) {
                self.tensor = squeeze_dim(&self.tensor, dim_to_i64(at))?;
                self.labels.remove(at);
            }
        }
        Ok(self)
    }

    /// Permutes the dimensions to the order of these labels. The operand must have each label.
    fn permute_to_labels(&self, labels: &[Label]) -> Result<Tensor> {
        let dims = labels.iter().filter_map(|label| self.labels.iter().position(|own| own == label)).map(dim_to_i64);
        let dims: Dims = dims.collect();
        if dims.iter().enumerate().all(|(at, &dim)| dim_to_i64(at) == dim) {
            return Ok(self.tensor.clone());
        }
        permute(&self.tensor, &dims)
    }

    /// Returns the tensor with one dimension for each of these labels. A label that the operand lacks becomes a dimension of size 1.
    fn reshape_to_labels(&self, labels: &[Label]) -> Result<Tensor> {
        let sizes: Dims = labels.iter().map(|&label| self.size_of_label(label).unwrap_or(1)).collect();
        reshape(&self.permute_to_labels(labels)?, &sizes)
    }
}

fn dim_to_i64(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

fn find_repeated_label(labels: &[Label]) -> Option<(usize, usize)> {
    let again = (0..labels.len()).find(|&at| labels[..at].contains(&labels[at]))?;
    labels.iter().position(|label| *label == labels[again]).map(|first| (first, again))
}

/// Contracts two operands: multiplies them, and sums over the labels that neither the output nor another operand has.
///
/// The dimensions are in the order of the final output if possible, so that a permutation at the end is seldom needed.
fn contract_pair(left: Operand, right: Operand, output: &[Label], needed: impl Fn(&Label) -> bool) -> Result<Operand> {
    let left = left.squeeze_broadcast_dims(&right)?;
    let right = right.squeeze_broadcast_dims(&left)?;
    let left = left.sum_dims_except(|label| needed(label) || right.labels.contains(label))?;
    let right = right.sum_dims_except(|label| needed(label) || left.labels.contains(label))?;
    let only = |one: &Operand, other: &Operand| {
        labels_in_output_order(output, &one.labels, |label| !other.labels.contains(label))
    };
    let (rows, columns) = (only(&left, &right), only(&right, &left));
    let at = |labels: &[Label]| labels.first().and_then(|first| output.iter().position(|label| label == first));
    if matches!((at(&rows), at(&columns)), (Some(row), Some(column)) if column < row) {
        return contract_pair(right, left, output, needed);
    }
    let both = labels_in_output_order(output, &left.labels, |label| right.labels.contains(label));
    let (batch, inner): (Vec<Label>, Vec<Label>) = both.into_iter().partition(&needed);
    let labels = [&batch[..], &rows, &columns].concat();
    if inner.is_empty() {
        let tensor = mul(&left.reshape_to_labels(&labels)?, &right.reshape_to_labels(&labels)?)?;
        return Ok(Operand { tensor, labels });
    }
    let sizes: Dims =
        labels.iter().filter_map(|&label| left.size_of_label(label).or_else(|| right.size_of_label(label))).collect();
    let inner_sizes: Dims = inner.iter().filter_map(|&label| left.size_of_label(label)).collect();
    let (rows_end, inner_count) = (batch.len() + rows.len(), element_count(&inner_sizes));
    let items = element_count(&sizes[..batch.len()]);
    let height = element_count(&sizes[batch.len()..rows_end]);
    let width = element_count(&sizes[rows_end..]);
    let down = left.permute_to_labels(&[&batch[..], &rows, &inner].concat())?;
    let across = right.permute_to_labels(&[&batch[..], &inner, &columns].concat())?;
    let product =
        bmm(&reshape(&down, &[items, height, inner_count])?, &reshape(&across, &[items, inner_count, width])?)?;
    Ok(Operand { tensor: reshape(&product, &sizes)?, labels })
}

/// Returns the labels that `fits` accepts: first those of `output`, in its order, and then the others.
fn labels_in_output_order(output: &[Label], labels: &[Label], fits: impl Fn(&Label) -> bool) -> Vec<Label> {
    let mut found: Vec<Label> = labels.iter().copied().filter(fits).collect();
    found.sort_by_key(|label| output.iter().position(|other| other == label).unwrap_or(output.len()));
    found
}

/// Parses `path` into pairs of operand indices. Returns an empty list if there is no path.
fn parse_contraction_path(path: Option<&[i64]>, operands: usize) -> Result<Vec<(usize, usize)>, BadArgument> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let bad_argument = |expected: String| BadArgument::value("path", format!("{path:?}"), expected);
    let expected = if operands == 1 { 1 } else { 2 * (operands - 1) };
    if path.len() != expected {
        return Err(bad_argument(format!("a list of {expected} operand indices, two for each product")));
    }
    let mut pairs = Vec::with_capacity(operands);
    for (done, pair) in path.chunks_exact(2).enumerate() {
        let left = operands - done;
        match [usize::try_from(pair[0]), usize::try_from(pair[1])] {
            [Ok(first), Ok(second)] if first != second && first < left && second < left => pairs.push((first, second)),
            _ => {
                return Err(bad_argument(format!(
                    "a list with two different operand indices below {left} for each product"
                )));
            }
        }
    }
    Ok(pairs)
}

/// Parses an equation. Returns the operands with their labels, and the labels of the result.
fn parse_equation(equation: &str, tensors: &[Tensor]) -> Result<(Vec<Operand>, Vec<Label>)> {
    let bad_argument = |expected: String| BadArgument::value("equation", format!("`{equation}`"), expected);
    let (inputs, output) =
        equation.split_once("->").map_or((equation, None), |(inputs, output)| (inputs, Some(output)));
    let words: Vec<&str> = inputs.split(',').collect();
    if tensors.is_empty() {
        return Err(BadArgument::new("tensors", Problem::NoTensors).into());
    }
    if words.len() != tensors.len() {
        return Err(bad_argument(format!(
            "an equation with letters for each of the {} tensors, separated by commas",
            tensors.len()
        ))
        .into());
    }
    let mut operands = Vec::with_capacity(tensors.len());
    let (mut all, mut ellipsis_rank) = (Vec::new(), 0);
    for (word, tensor) in words.into_iter().zip(tensors) {
        let rank = tensor.sizes().len();
        let (labels, covered) =
            parse_labels(
                word,
                |named, ellipsis| {
                    if named == rank || (ellipsis && named < rank) { Some(rank - named) } else { None }
                },
            )
            .map_err(bad_argument)?;
        ellipsis_rank = ellipsis_rank.max(covered);
        all.extend_from_slice(&labels);
        operands.push(Operand::with_unique_labels(tensor.clone(), labels)?);
    }
    let output = match output {
        Some(word) => {
            parse_labels(word, |_, ellipsis| Some(if ellipsis { ellipsis_rank } else { 0 })).map_err(bad_argument)?.0
        }
        None => implicit_output_labels(&all),
    };
    if let Some((_, Label::Letter(letter))) = find_repeated_label(&output).map(|(at, _)| (at, output[at])) {
        return Err(bad_argument(format!(
            "an equation with each letter at most once in the result, but `{letter}` is repeated"
        ))
        .into());
    }
    if let Some(Label::Letter(letter)) = output.iter().find(|label| !all.contains(label)) {
        return Err(bad_argument(format!(
            "an equation with letters of the tensors in the result, but no tensor has `{letter}`"
        ))
        .into());
    }
    check_label_sizes(&operands)?;
    Ok((operands, output))
}

/// Returns the output labels of an equation without an arrow: the dimensions of the ellipsis, then the letters that occur once, in
/// alphabetical order.
fn implicit_output_labels(all: &[Label]) -> Vec<Label> {
    let once = |label: &Label| all.iter().filter(|other| *other == label).count() == 1;
    let mut output: Vec<Label> =
        all.iter().copied().filter(|label| matches!(label, Label::EllipsisDim(_)) || once(label)).collect();
    output.sort_unstable();
    output.dedup();
    output
}

/// Parses the labels of one operand. Returns them, and the number of dimensions of its ellipsis.
///
/// `covered` computes this number from the number of letters, and whether there is an ellipsis.
fn parse_labels(
    word: &str,
    covered: impl Fn(usize, bool) -> Option<usize>,
) -> std::result::Result<(Vec<Label>, usize), String> {
    let word: String = word.chars().filter(|letter| !letter.is_whitespace()).collect();
    let ellipsis = word.split_once("...");
    let (before, behind) = ellipsis.unwrap_or((&word, ""));
    let named = || before.chars().chain(behind.chars());
    if let Some(odd) = named().find(|letter| !letter.is_ascii_alphabetic()) {
        return Err(format!("an equation with letters and at most one `...` for each tensor, but it has `{odd}`"));
    }
    let named = named().count();
    let Some(covered) = covered(named, ellipsis.is_some()) else {
        return Err(format!("an equation with one letter for each dimension, unlike `{word}`"));
    };
    let ellipsis_rank = (0..covered).rev().map(|from_last| Label::EllipsisDim(std::cmp::Reverse(from_last)));
    let letters = before.chars().map(Label::Letter).chain(ellipsis_rank).chain(behind.chars().map(Label::Letter));
    Ok((letters.collect(), covered))
}

fn check_label_sizes(operands: &[Operand]) -> Result<(), BadArgument> {
    for (at, operand) in operands.iter().enumerate() {
        for &label in &operand.labels {
            let known = operands[..at].iter().filter_map(|other| other.size_of_label(label)).find(|&size| size != 1);
            match (known, operand.size_of_label(label)) {
                (Some(known), Some(size)) if size != 1 && size != known => {
                    let expected =
                        format!("{known} or 1 instead of {size}, as an earlier tensor has for the same letter");
                    return Err(BadArgument::sizes("tensors", operand.tensor.sizes(), expected));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
