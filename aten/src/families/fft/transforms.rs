//! The three transforms that all others call: complex to complex, real to complex, and complex to real.
//!
//! The argument `normalization` is PyTorch's code: 0 leaves the sum unchanged, 1 divides it by the square root of the number of transformed
//! elements, and 2 divides it by that number.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, DimOrder, Dims, Geometry, Problem, Spec, wrap_dim};

/// The discrete Fourier transform over dimensions of a complex tensor, or its inverse if `forward` is false.
#[op_def("_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor", plan, out = "out")]
pub fn _fft_c2c(_: ...) -> Result<Tensor>;

/// The discrete Fourier transform over dimensions of a real tensor. With `onesided`, the last transformed dimension keeps only the first
/// half of the frequencies, because the others are conjugates of these.
#[op_def("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", plan, out = "out")]
pub fn _fft_r2c(_: ...) -> Result<Tensor>;

/// The inverse of [`_fft_r2c`] with `onesided`. The last transformed dimension of the result has the size `last_dim_size`.
#[op_def("_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor", plan, out = "out")]
pub fn _fft_c2r(_: ...) -> Result<Tensor>;

/// The plan of a transform.
pub struct FftPlan {
    /// The dimensions of the result from the outermost to the innermost in memory. The last one is the last transformed dimension.
    pub memory_order: DimOrder,
    /// The transformed dimensions.
    pub dims: DimOrder,
    /// The factor of the result that follows from the normalisation.
    pub scale: f64,
}

#[op_plan(_fft_c2c)]
fn fft_c2c_plan(this: &Tensor, dim: &[i64], normalization: i64) -> Result<Plan<FftPlan>, BadArgument> {
    check_complex(this)?;
    let dims = by_stride(&transformed_dims(this, dim)?, this.strides());
    let scale = scale(normalization, &dims, this.sizes())?;
    let memory_order = memory_order(this.strides(), &dims);
    let spec = match dims[..] {
        [] => Spec::like(this, this.dtype()),
        _ => dense_spec(this.dtype(), this.sizes(), &memory_order),
    };
    Ok(Plan::new(FftPlan { memory_order, dims, scale }, [spec]))
}

#[op_plan(_fft_r2c)]
fn fft_r2c_plan(this: &Tensor, dim: &[i64], normalization: i64, onesided: bool) -> Result<Plan<FftPlan>, BadArgument> {
    let dtype = match this.dtype() {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        other => return Err(BadArgument::dtype("self", other, &[DType::F32, DType::F64])),
    };
    let (others, last) = last_transformed_dim(this, dim)?;
    let mut dims = by_stride(&others, this.strides());
    dims.push(last);
    let mut sizes = Dims::from_slice(this.sizes());
    let scale = scale(normalization, &dims, &sizes)?;
    if sizes[last] == 0 {
        return Err(BadArgument::size("self", &sizes, last, 1..).because("this dimension is transformed"));
    }
    if onesided {
        sizes[last] = sizes[last] / 2 + 1;
    }
    let memory_order = memory_order(this.strides(), &dims);
    let spec = dense_spec(dtype, &sizes, &memory_order);
    Ok(Plan::new(FftPlan { memory_order, dims, scale }, [spec]))
}

#[op_plan(_fft_c2r)]
fn fft_c2r_plan(
    this: &Tensor,
    dim: &[i64],
    normalization: i64,
    last_dim_size: i64,
) -> Result<Plan<FftPlan>, BadArgument> {
    check_complex(this)?;
    let (others, last) = last_transformed_dim(this, dim)?;
    let mut sizes = Dims::from_slice(this.sizes());
    if last_dim_size < 1 {
        return Err(BadArgument::number("last_dim_size", last_dim_size, 1..));
    }
    if sizes[last] != last_dim_size / 2 + 1 {
        return Err(BadArgument::size("self", &sizes, last, last_dim_size / 2 + 1)
            .because(format!("`last_dim_size` is {last_dim_size}")));
    }
    let mut dims = by_stride(&others, this.strides());
    // PyTorch transforms the other dimensions first. Then the strides of that intermediate tensor decide the order.
    let between = dense_spec(this.dtype(), &sizes, &memory_order(this.strides(), &dims)).geometry;
    let strides = if dims.is_empty() { this.strides() } else { between.strides() };
    let memory_order = memory_order(strides, &[last]);
    dims.push(last);
    sizes[last] = last_dim_size;
    let scale = scale(normalization, &dims, &sizes)?;
    let spec = dense_spec(this.dtype().to_real(), &sizes, &memory_order);
    Ok(Plan::new(FftPlan { memory_order, dims, scale }, [spec]))
}

fn check_complex(this: &Tensor) -> Result<(), BadArgument> {
    if this.dtype().is_complex() { Ok(()) } else { Err(BadArgument::dtype("self", this.dtype(), DTypes::Complex)) }
}

/// Returns the dimensions to transform, which must be different.
fn transformed_dims(this: &Tensor, dim: &[i64]) -> Result<DimOrder, BadArgument> {
    let rank = this.sizes().len();
    if rank == 0 && !dim.is_empty() {
        return Err(BadArgument::rank("self", rank, 1..).because("`dim` names a dimension"));
    }
    let mut dims = DimOrder::new();
    for &dim in dim {
        let at = wrap_dim("dim", dim, rank)?;
        if dims.contains(&at) {
            return Err(BadArgument::new("dim", Problem::RepeatedDim { dim }));
        }
        dims.push(at);
    }
    Ok(dims)
}

/// Returns the dimensions to transform, at least one: all but the last, and the last.
fn last_transformed_dim(this: &Tensor, dim: &[i64]) -> Result<(DimOrder, usize), BadArgument> {
    let mut dims = transformed_dims(this, dim)?;
    match dims.pop() {
        Some(last) => Ok((dims, last)),
        None => Err(BadArgument::length("dim", 0, 1..)),
    }
}

/// Returns the dimensions in the order of their strides, the largest first.
fn by_stride(dims: &[usize], strides: &[i64]) -> DimOrder {
    let mut dims = DimOrder::from_slice(dims);
    dims.sort_by_key(|&dim| std::cmp::Reverse(strides[dim]));
    dims
}

/// Returns the order of dimensions in the memory of PyTorch's results: the other dimensions by stride, then these.
fn memory_order(strides: &[i64], last: &[usize]) -> DimOrder {
    let mut others: DimOrder = (0..strides.len()).collect();
    // PyTorch partitions the dimensions from both ends, which decides the order of dimensions with equal strides.
    let (mut start, mut end) = (0, others.len());
    loop {
        while start < end && !last.contains(&others[start]) {
            start += 1;
        }
        while start < end && last.contains(&others[end - 1]) {
            end -= 1;
        }
        if start >= end {
            break;
        }
        others.swap(start, end - 1);
    }
    others.truncate(start);
    let mut order = by_stride(&others, strides);
    order.extend_from_slice(last);
    order
}

/// Returns the spec of a result without gaps, with its dimensions in this order from the outermost to the innermost. A result without elements
/// has the strides of a new tensor.
fn dense_spec(dtype: DType, sizes: &[i64], order: &[usize]) -> Spec {
    if sizes.contains(&0) {
        return Spec::contiguous(dtype, sizes);
    }
    let geometry = Geometry::dense(sizes, order.iter().rev().copied());
    Spec { dtype, geometry: geometry.unwrap_or_else(|| Geometry::contiguous(sizes)) }
}

/// Returns the factor that PyTorch's code of a normalisation stands for.
fn scale(normalization: i64, dims: &[usize], sizes: &[i64]) -> Result<f64, BadArgument> {
    #[expect(clippy::cast_precision_loss, reason = "a factor is a float")]
    let count: f64 = dims.iter().map(|&dim| sizes[dim].max(1) as f64).product();
    match normalization {
        0 => Ok(1.0),
        1 => Ok(1.0 / count.sqrt()),
        2 => Ok(1.0 / count),
        _ => Err(BadArgument::number("normalization", normalization, 0..=2)),
    }
}
