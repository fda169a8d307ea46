//! The arguments that Fourier transforms share: dtypes, lengths, dimensions, and the name of the normalisation.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Problem, wrap_dim};

/// The direction of a transform, as its documentation names it. The normalisation `backward` divides the result of the inverse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Inverse,
}

impl Direction {
    /// Returns PyTorch's code for the name of a normalisation.
    pub(super) fn normalization(self, norm: Option<&str>) -> Result<i64, BadArgument> {
        match (norm.unwrap_or("backward"), self) {
            ("backward", Self::Forward) | ("forward", Self::Inverse) => Ok(0),
            ("ortho", _) => Ok(1),
            ("backward", Self::Inverse) | ("forward", Self::Forward) => Ok(2),
            (other, _) => Err(BadArgument::keyword("norm", other, &["backward", "ortho", "forward"])),
        }
    }
}

/// Returns a tensor in a floating-point or complex dtype: integers become `float32`.
pub(super) fn promote(this: &Tensor) -> Result<Tensor> {
    match this.dtype() {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => Ok(this.clone()),
        dtype if dtype.is_floating() => {
            Err(BadArgument::dtype("self", dtype, DTypes::Text(SUPPORTED_DTYPES.into())).into())
        }
        _ => crate::to_dtype(this, DType::F32, false, false, None),
    }
}

/// The dtypes that a transform accepts.
const SUPPORTED_DTYPES: &str = "float32, float64, complex, or of integers";

/// Returns a tensor in a complex dtype.
pub(super) fn promote_to_complex(this: &Tensor) -> Result<Tensor> {
    let promoted = promote(this)?;
    match promoted.dtype() {
        DType::F32 => crate::to_dtype(&promoted, DType::C64, false, false, None),
        DType::F64 => crate::to_dtype(&promoted, DType::C128, false, false, None),
        _ => Ok(promoted),
    }
}

/// Returns a tensor in a real floating-point dtype, or an error if it is complex.
pub(super) fn promote_real(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).into());
    }
    promote(this)
}

/// Returns the index of a dimension. A tensor without dimensions has none.
pub(super) fn transformed_dim(this: &Tensor, dim: i64) -> Result<usize, BadArgument> {
    match this.sizes().len() {
        0 => Err(BadArgument::rank("self", 0, 1..)),
        rank => wrap_dim("dim", dim, rank),
    }
}

/// Refuses a transform of no elements.
pub(super) fn check_length(argument: &'static str, length: i64) -> Result<i64, BadArgument> {
    if length >= 1 { Ok(length) } else { Err(BadArgument::number(argument, length, 1..)) }
}

/// Cuts dimensions, or fills them with zeros, so that they have these lengths.
pub(super) fn resize_dims(this: &Tensor, dims: &[usize], lengths: &[i64]) -> Result<Tensor> {
    let mut resized = this.clone();
    let mut padding = vec![0; 2 * this.sizes().len()];
    let mut is_padded = false;
    for (&dim, &length) in dims.iter().zip(lengths) {
        let size = this.sizes()[dim];
        if size > length {
            resized = crate::narrow(&resized, i64::try_from(dim).unwrap_or(0), 0, length)?;
        } else if size < length {
            let last = padding.len() - 1;
            padding[last - 2 * dim] = length - size;
            is_padded = true;
        }
    }
    if is_padded { crate::constant_pad_nd(&resized, &padding, 0.into()) } else { Ok(resized) }
}

/// The dimensions of a transform, and the length of each.
pub(super) struct TransformedDims {
    pub(super) dims: Vec<usize>,
    pub(super) lengths: Vec<i64>,
}

impl TransformedDims {
    /// Reads the arguments `s` and `dim`. Without `dim`, the last dimensions are transformed, or all if `s` is missing, too.
    pub(super) fn new(this: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<Self, BadArgument> {
        let rank = this.sizes().len();
        let mut dims = Vec::new();
        if let Some(dim) = dim {
            for &dim in dim {
                let at = transformed_dim(this, dim)?;
                if dims.contains(&at) {
                    return Err(BadArgument::new("dim", Problem::RepeatedDim { dim }));
                }
                dims.push(at);
            }
            if let Some(s) = s.filter(|s| s.len() != dims.len()) {
                return Err(BadArgument::length("s", s.len(), dims.len()).like("dim"));
            }
        } else {
            let count = s.map_or(rank, <[i64]>::len);
            let first = rank.checked_sub(count).ok_or_else(|| {
                BadArgument::length("s", count, ..=rank).because("`self` has this number of dimensions")
            })?;
            dims.extend(first..rank);
        }
        let mut lengths: Vec<i64> = dims.iter().map(|&dim| this.sizes()[dim]).collect();
        for (length, &wanted) in lengths.iter_mut().zip(s.unwrap_or_default()) {
            if wanted != -1 {
                *length = check_length("s", wanted)?;
            }
        }
        if let Some((_, &dim)) = lengths.iter().zip(&dims).find(|(length, _)| **length < 1) {
            return Err(BadArgument::size("self", this.sizes(), dim, 1..).because("this dimension is transformed"));
        }
        Ok(Self { dims, lengths })
    }

    /// Reads the arguments of a transform between real and complex numbers, which needs a dimension.
    pub(super) fn at_least_one(this: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<Self, BadArgument> {
        let read = Self::new(this, s, dim)?;
        match (read.dims.len(), dim) {
            (1.., _) => Ok(read),
            (0, Some(_)) => Err(BadArgument::length("dim", 0, 1..)),
            (0, None) if s.is_some() => Err(BadArgument::length("s", 0, 1..)),
            (0, None) => Err(BadArgument::rank("self", 0, 1..)),
        }
    }

    /// Reads the arguments of a transform from one half of the frequencies to real numbers. Returns the last length of the result, too.
    pub(super) fn of_half(this: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<(Self, i64), BadArgument> {
        let mut read = Self::at_least_one(this, s, dim)?;
        let last = read.lengths.len() - 1;
        let is_given = s.and_then(<[i64]>::last).is_some_and(|&length| length != -1);
        let length = if is_given { read.lengths[last] } else { default_real_length(this, read.dims[last])? };
        read.lengths[last] = length / 2 + 1;
        Ok((read, length))
    }

    /// Returns the tensor with these lengths.
    pub(super) fn resize(&self, this: &Tensor) -> Result<Tensor> {
        resize_dims(this, &self.dims, &self.lengths)
    }

    /// Returns the dimensions as arguments of an operator.
    pub(super) fn to_arguments(&self) -> Dims {
        self.dims.iter().map(|&dim| i64::try_from(dim).unwrap_or(0)).collect()
    }
}

/// Returns the even length of the real numbers whose frequencies fill a dimension.
pub(super) fn default_real_length(this: &Tensor, dim: usize) -> Result<i64, BadArgument> {
    match this.sizes()[dim] {
        size @ 2.. => Ok(2 * (size - 1)),
        _ => Err(BadArgument::size("self", this.sizes(), dim, 2..).because("the result has the size 2 * (size - 1)")),
    }
}
