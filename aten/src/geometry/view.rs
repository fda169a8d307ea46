//! Geometries of views: other sizes and strides for the same elements.

use dispatch_runtime::{BadArgument, Dims, Geometry, Result, Tensor};

/// Returns a view of the tensor's storage with the given sizes, strides and offset.
pub(crate) fn strided_view(this: &Tensor, size: &[i64], stride: &[i64], offset: i64) -> Result<Tensor> {
    if let Some(size) = size.iter().find(|&&size| size < 0) {
        return Err(BadArgument::value("size", size, "zero or more in each dimension").into());
    }
    let geometry = Geometry::strided(size, stride, offset)
        .ok_or_else(|| BadArgument::length("stride", stride.len(), size.len()).like("size"))?;
    Ok(this.restride(geometry)?)
}

/// Returns the geometry of a view that has the sizes `size`, of which one may be -1, and the elements of `geometry` in the same order.
#[inline]
pub(crate) fn view_geometry(geometry: &Geometry, size: &[i64]) -> Result<Geometry, BadArgument> {
    let packed = Geometry::contiguous(size);
    if geometry.is_canonical() && packed.count() == geometry.count() && packed.count() > 0 {
        return Ok(packed.with_offset(geometry.offset()));
    }
    view_geometry_slow_path(geometry, size)
}

/// Computes [`view_geometry`] if its fast path does not apply: for a geometry that is not canonical, a size of -1, or no elements.
fn view_geometry_slow_path(geometry: &Geometry, size: &[i64]) -> Result<Geometry, BadArgument> {
    let size = infer_size("size", size, geometry.count())?;
    if size[..] == *geometry.sizes() {
        return Ok(geometry.clone());
    }
    if geometry.is_contiguous() {
        return Ok(Geometry::contiguous(&size).with_offset(geometry.offset()));
    }
    try_view_geometry(geometry, &size).ok_or_else(|| {
        BadArgument::sizes(
            "size",
            &size,
            format!(
                "sizes that a view of the tensor can have (sizes {:?}, strides {:?}); call `reshape` instead",
                geometry.sizes(),
                geometry.strides()
            ),
        )
    })
}

/// Replaces the size -1, if there is one, such that the sizes multiply to `count`.
pub(crate) fn infer_size(argument: &'static str, size: &[i64], count: i64) -> Result<Dims, BadArgument> {
    let mut sizes = Dims::from_slice(size);
    let mut unknown = None;
    let mut known: i64 = 1;
    for (dim, &size) in size.iter().enumerate() {
        match size {
            -1 if unknown.is_none() => unknown = Some(dim),
            0.. => known = known.saturating_mul(size),
            _ => return Err(BadArgument::sizes(argument, &sizes, "sizes of zero or more, and -1 at most once")),
        }
    }
    match unknown {
        Some(dim) if known != 0 && count % known == 0 => sizes[dim] = count / known,
        None if known == count => {}
        _ => {
            return Err(BadArgument::sizes(
                argument,
                &sizes,
                format!("sizes that multiply to {count}, the number of elements"),
            ));
        }
    }
    Ok(sizes)
}

/// Returns the geometry of a view with the sizes `size` and the same elements in the same order. Returns `None` if this needs a copy.
pub(crate) fn try_view_geometry(geometry: &Geometry, size: &[i64]) -> Option<Geometry> {
    let mut strides = Dims::from_elem(0, size.len());
    if geometry.count() == 0 {
        return None;
    }
    let mut next = size.len();
    let (mut chunk_stride, mut chunk, mut viewed) = (geometry.strides().last().copied().unwrap_or(1), 1_i64, 1_i64);
    for dim in (0..geometry.rank()).rev() {
        chunk = chunk.checked_mul(geometry.sizes()[dim])?;
        let ends = dim == 0
            || (geometry.sizes()[dim - 1] != 1 && Some(geometry.strides()[dim - 1]) != chunk.checked_mul(chunk_stride));
        if !ends {
            continue;
        }
        while next > 0 && (viewed < chunk || size[next - 1] == 1) {
            next -= 1;
            strides[next] = viewed.checked_mul(chunk_stride)?;
            viewed = viewed.checked_mul(size[next])?;
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
