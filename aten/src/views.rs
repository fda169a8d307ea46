//! Tensors that show the memory of another.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry};

/// The same elements in other sizes, one of which may be -1.
#[op_def("view(Tensor(a) self, SymInt[] size) -> Tensor(a)")]
pub fn view(this: &Tensor, size: &[i64]) -> Result<Tensor>;

#[op_impl(view, CompositeExplicitAutograd)]
fn view_any(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    let geometry = this.geometry();
    let size = infer_size(size, geometry.count())?;
    let viewed = if geometry.is_contiguous() {
        Some(Geometry::contiguous(&size).at(geometry.offset()))
    } else {
        view_strides(geometry, &size)
    };
    match viewed {
        Some(viewed) => Ok(this.restride(viewed)?),
        None => Err(BadArgument::sizes(
            "size",
            &size,
            format!(
                "sizes that walk as the tensor does (sizes {:?}, strides {:?}); call `contiguous` first",
                geometry.sizes(),
                geometry.strides()
            ),
        )
        .into()),
    }
}

/// These sizes with the one that is -1 found out.
fn infer_size(size: &[i64], count: i64) -> Result<Dims, BadArgument> {
    let mut sizes = Dims::from_slice(size);
    let mut unknown = None;
    let mut known: i64 = 1;
    for (dim, &size) in size.iter().enumerate() {
        match size {
            -1 if unknown.is_none() => unknown = Some(dim),
            0.. => known = known.saturating_mul(size),
            _ => return Err(BadArgument::sizes("size", &sizes, "sizes of zero or more, and -1 at most once")),
        }
    }
    match unknown {
        Some(dim) if known != 0 && count % known == 0 => sizes[dim] = count / known,
        None if known == count => {}
        _ => {
            return Err(BadArgument::sizes(
                "size",
                &sizes,
                format!("sizes that multiply to {count}, the number of elements"),
            ));
        }
    }
    Ok(sizes)
}

/// The strides with which sizes walk through the same elements in the same order; none where that takes a copy.
fn view_strides(geometry: &Geometry, size: &[i64]) -> Option<Geometry> {
    let mut strides = Dims::from_elem(0, size.len());
    if geometry.count() == 0 {
        return None;
    }
    let mut next = size.len();
    let (mut chunk_stride, mut chunk, mut viewed) = (geometry.strides().last().copied().unwrap_or(1), 1_i64, 1_i64);
    for dim in (0..geometry.rank()).rev() {
        chunk *= geometry.sizes()[dim];
        let ends = dim == 0 || (geometry.sizes()[dim - 1] != 1 && geometry.strides()[dim - 1] != chunk * chunk_stride);
        if !ends {
            continue;
        }
        while next > 0 && (viewed < chunk || size[next - 1] == 1) {
            next -= 1;
            strides[next] = viewed * chunk_stride;
            viewed *= size[next];
        }
        if viewed != chunk {
            return None;
        }
        if dim > 0 {
            (chunk_stride, chunk, viewed) = (geometry.strides()[dim - 1], 1, 1);
        }
    }
    if next == 0 || geometry.rank() == 0 { Geometry::strided(size, &strides, geometry.offset()) } else { None }
}
