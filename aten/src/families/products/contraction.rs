//! Contractions of tensors of any rank, composed of matrix products: `matmul`, `linear`, `tensordot` and others.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, broadcast, element_count, wrap_dim};

use crate::{bmm, dot, expand, mm, mv, permute, reshape, sum_dim_intlist, unsqueeze};

/// The product of the matrices in the last two dimensions; a tensor of one dimension is a row on the left and a column on the right.
#[op_def(
    "matmul(Tensor self, Tensor other) -> Tensor",
    out = "out",
    check = crate::check_matmul_operands([("self", this), ("other", other)])
)]
pub fn matmul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    match (this.sizes(), other.sizes()) {
        ([], _) => Err(BadArgument::rank("self", 0, 1..).into()),
        (_, []) => Err(BadArgument::rank("other", 0, 1..).into()),
        ([_], [_]) => dot(this, other),
        ([_, _], [_]) => mv(this, other),
        ([_], [_, _]) => {
            let row = mm(&unsqueeze(this, 0)?, other)?;
            reshape(&row, &row.sizes()[1..])
        }
        ([_, _], [_, _]) => mm(this, other),
        // One product of all rows. It copies rows that cannot be viewed as one dimension, which costs less than a product for each matrix, and
        // less than a gradient of `other` for each matrix.
        (rows @ [.., inner], [_] | [_, _]) => {
            let tall = reshape(this, &[element_count(&rows[..rows.len() - 1]), *inner])?;
            let mut sizes = Dims::from_slice(&rows[..rows.len() - 1]);
            sizes.extend(other.sizes()[1..].iter().copied());
            let product = if other.sizes().len() == 1 { mv(&tall, other)? } else { mm(&tall, other)? };
            crate::_unsafe_view(&product, &sizes)
        }
        _ => matmul_by_bmm(this, other),
    }
}

/// Computes the product by one `bmm`, with both operands expanded to common batch dimensions.
fn matmul_by_bmm(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let rows = if this.sizes().len() == 1 { unsqueeze(this, 0)? } else { this.clone() };
    let columns = if other.sizes().len() == 1 { unsqueeze(other, 1)? } else { other.clone() };
    let ([first @ .., height, inner], [second @ .., others, width]) = (rows.sizes(), columns.sizes()) else {
        return Err(BadArgument::rank("self", this.sizes().len(), 1..).into());
    };
    if inner != others {
        let [at, own] = [other.sizes().len().saturating_sub(2), this.sizes().len() - 1];
        return Err(BadArgument::size("other", other.sizes(), at, *inner).like_dim("self", own).into());
    }
    let mut sizes = broadcast([first, second])?;
    let items = element_count(&sizes);
    let expand_batch = |side: &Tensor, [down, across]: [i64; 2]| {
        let mut all = sizes.clone();
        all.extend([down, across]);
        reshape(&expand(side, &all, false)?, &[items, down, across])
    };
    let product = bmm(&expand_batch(&rows, [*height, *inner])?, &expand_batch(&columns, [*others, *width])?)?;
    if this.sizes().len() > 1 {
        sizes.push(*height);
    }
    if other.sizes().len() > 1 {
        sizes.push(*width);
    }
    crate::_unsafe_view(&product, &sizes)
}

/// Another name of [`matmul`].
#[op_def("linalg_matmul(Tensor self, Tensor other) -> Tensor", out = "out", calls = matmul)]
pub fn linalg_matmul(_: ...) -> Result<Tensor>;

/// `input weight^T + bias`
#[op_def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", out = "out", check = check_linear(input, weight, bias))]
pub fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let (rank, across) = (input.sizes().len(), crate::t(weight)?);
    let Some(bias) = bias else { return matmul(input, &across) };
    let one = || Scalar::Int(1);
    match (input.sizes(), weight.sizes()) {
        ([_, _], [_, _]) => crate::addmm(bias, input, &across, one(), one()),
        ([rows @ .., inner], [out, _]) if rank > 2 && bias.sizes().len() == 1 => {
            let sum = crate::addmm(bias, &reshape(input, &[element_count(rows), *inner])?, &across, one(), one())?;
            let mut sizes = Dims::from_slice(rows);
            sizes.push(*out);
            crate::_unsafe_view(&sum, &sizes)
        }
        _ => crate::add(&matmul(input, &across)?, bias, one()),
    }
}

/// Checks that the weight and the bias of [`linear`] agree with the input in sizes, dtype and device.
fn check_linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<(), BadArgument> {
    crate::check_same_device([("input", input), ("weight", weight), ("bias", bias.unwrap_or(weight))])?;
    let letters = if weight.sizes().len() == 1 { "k" } else { "nk" };
    crate::check_dims_by_letter(&[("input", Some(input), "*k"), ("weight", Some(weight), letters)])?;
    let Some(bias) = bias else {
        return crate::check_same_dtype([("input", Some(input)), ("weight", Some(weight))]);
    };
    let mut sizes = Dims::from_slice(input.sizes());
    sizes.pop();
    if let &[out, _] = weight.sizes() {
        if bias.sizes().last().is_some_and(|&size| size != out && size != 1) {
            let expected = format!("{out} in the last dimension, as `weight` has sizes {:?}", weight.sizes());
            return Err(BadArgument::sizes("bias", bias.sizes(), expected));
        }
        sizes.push(out);
    }
    broadcast([&sizes[..], bias.sizes()]).map_err(|error| BadArgument::new("bias", error.problem))?;
    crate::check_same_dtype([("input", Some(input)), ("weight", Some(weight)), ("bias", Some(bias))])
}

/// `input1^T weight[k] input2 + bias[k]` for each output feature `k`.
#[op_def("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", check = crate::check_dims_by_letter(&[
        ("weight", Some(weight), "orc"), ("input1", Some(input1), "*r"), ("input2", Some(input2), "*c"), ("bias", bias, "o")
    ]))]
pub fn bilinear(input1: &Tensor, input2: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let &[out, rows, columns] = weight.sizes() else {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 3).into());
    };
    let outer = match input1.sizes() {
        [outer @ .., last] if *last == rows => outer,
        sizes => {
            return Err(BadArgument::size("input1", sizes, sizes.len().saturating_sub(1), rows)
                .like_dim("weight", 1)
                .into());
        }
    };
    if input2.sizes() != [outer, &[columns]].concat() {
        let expected = [outer, &[columns]].concat();
        return Err(BadArgument::sizes("input2", input2.sizes(), &expected[..])
            .because("`input1` and `weight` have")
            .into());
    }
    let across = reshape(&permute(weight, &[1, 0, 2])?, &[rows, out.saturating_mul(columns)])?;
    let partial_product = reshape(&matmul(input1, &across)?, &[&[-1], &[out, columns][..]].concat())?;
    let result = bmm(&partial_product, &reshape(input2, &[-1, columns, 1])?)?;
    let result = reshape(&result, &[outer, &[out]].concat())?;
    match bias {
        None => Ok(result),
        Some(bias) if bias.sizes() == [out] => crate::add(&result, bias, Scalar::Int(1)),
        Some(bias) => Err(BadArgument::sizes("bias", bias.sizes(), &[out][..]).like_dim("weight", 0).into()),
    }
}

/// The product of three tensors, with dimensions of size 1 inserted (`expand1` to `expand3`), summed over the dimensions `sumdim`.
#[op_def(
    "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
    out = "out"
)]
pub fn _trilinear(_: ...) -> Result<Tensor> {
    let dtype = dispatch_runtime::result_dtype([i1, i2, i3]);
    let exact = crate::accumulate_dtype(dtype);
    let cast = |tensor: &Tensor, dtype| crate::to_dtype(tensor, dtype, false, false, None);
    let wide = |tensor: &Tensor, dims: &[i64]| {
        dims.iter().try_fold(cast(tensor, exact)?, |tensor, &dim| unsqueeze(&tensor, dim))
    };
    let product = crate::mul(&crate::mul(&wide(i1, expand1)?, &wide(i2, expand2)?)?, &wide(i3, expand3)?)?;
    let sum = if sumdim.is_empty() { product } else { sum_dim_intlist(&product, Some(sumdim), false, None)? };
    cast(&sum, dtype)
}

/// The outer product of two vectors: a matrix of the products of each pair of elements.
#[op_def("outer(Tensor self, Tensor vec2) -> Tensor", out = "out")]
pub fn outer(this: &Tensor, vec2: &Tensor) -> Result<Tensor> {
    for (name, vector) in [("self", this), ("vec2", vec2)] {
        if vector.sizes().len() != 1 {
            return Err(BadArgument::rank(name, vector.sizes().len(), 1).into());
        }
    }
    crate::mul(&unsqueeze(this, 1)?, vec2)
}

/// Another name of [`outer`].
#[op_def("ger(Tensor self, Tensor vec2) -> Tensor", out = "out", calls = outer)]
pub fn ger(_: ...) -> Result<Tensor>;

/// The sums of products over the last dimension of both tensors.
#[op_def("inner(Tensor self, Tensor other) -> Tensor", out = "out")]
pub fn inner(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    match (this.sizes(), other.sizes()) {
        ([], _) | (_, []) => crate::mul(this, other),
        ([.., own], [.., other_dim]) if own == other_dim => tensordot(this, other, &[-1], &[-1]),
        ([.., own], _) => {
            let [at, other_dim] = [this, other].map(|side| side.sizes().len() - 1);
            Err(BadArgument::size("other", other.sizes(), other_dim, *own).like_dim("self", at).into())
        }
    }
}

/// The sums of products over these dimensions of both tensors. The remaining dimensions of `self` come first in the result.
#[op_def("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", out = "out")]
pub fn tensordot(this: &Tensor, other: &Tensor, dims_self: &[i64], dims_other: &[i64]) -> Result<Tensor> {
    if dims_self.len() != dims_other.len() {
        return Err(BadArgument::length("dims_other", dims_other.len(), dims_self.len()).like("dims_self").into());
    }
    let (first, second) =
        (wrap_sum_dims("dims_self", this, dims_self)?, wrap_sum_dims("dims_other", other, dims_other)?);
    let (mut left, mut right) = (this.clone(), other.clone());
    for (&own, &other_dim) in first.iter().zip(&second) {
        // A dimension of size 1 is broadcast: the other operand is summed over its dimension first.
        match (this.sizes()[own], other.sizes()[other_dim]) {
            (own_size, other_size) if own_size == other_size => {}
            (_, 1) => left = sum_dim_intlist(&left, Some(&[dim_to_i64(own)]), true, None)?,
            (1, _) => right = sum_dim_intlist(&right, Some(&[dim_to_i64(other_dim)]), true, None)?,
            (size, _) => {
                return Err(BadArgument::size("other", other.sizes(), other_dim, size).like_dim("self", own).into());
            }
        }
    }
    let (kept_left, kept_right) = (unsummed_dims(&left, &first), unsummed_dims(&right, &second));
    let of = |tensor: &Tensor, dims: &[usize]| dims.iter().map(|&dim| tensor.sizes()[dim]).collect::<Dims>();
    let (rows, columns, inner) = (of(&left, &kept_left), of(&right, &kept_right), element_count(&of(&left, &first)));
    let left = permute(&left, &dims_to_i64(kept_left.iter().chain(&first)))?;
    let right = permute(&right, &dims_to_i64(second.iter().chain(&kept_right)))?;
    let product =
        mm(&reshape(&left, &[element_count(&rows), inner])?, &reshape(&right, &[inner, element_count(&columns)])?)?;
    let mut sizes = rows;
    sizes.extend(columns);
    reshape(&product, &sizes)
}

fn dim_to_i64(dim: usize) -> i64 {
    i64::try_from(dim).unwrap_or(i64::MAX)
}

fn dims_to_i64<'a>(dims: impl Iterator<Item = &'a usize>) -> Dims {
    dims.map(|&dim| dim_to_i64(dim)).collect()
}

fn unsummed_dims(tensor: &Tensor, summed: &[usize]) -> Vec<usize> {
    (0..tensor.sizes().len()).filter(|dim| !summed.contains(dim)).collect()
}

/// Wraps the dimensions to sum over. Refuses repeated dimensions.
fn wrap_sum_dims(argument: &'static str, tensor: &Tensor, dims: &[i64]) -> Result<Vec<usize>, BadArgument> {
    let mut found = Vec::new();
    for &dim in dims {
        let rank = tensor.sizes().len();
        let wrapped = wrap_dim(argument, dim, rank)?;
        if rank == 0 || found.contains(&wrapped) {
            return Err(BadArgument::value(argument, format!("{dims:?}"), "each dimension at most once"));
        }
        found.push(wrapped);
    }
    Ok(found)
}
