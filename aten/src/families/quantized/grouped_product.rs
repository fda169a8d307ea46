//! Products of groups of matrices, whose sizes are data.

use std::ops::Range;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Spec};

use crate::prelude::*;

/// The bytes to which the rows of a result are aligned.
const ROW_ALIGNMENT: usize = 16;
/// The dtypes of operands.
const OPERAND_DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

/// The products of groups of matrices. A batch has the matrix of each group. A matrix is split into groups where `offs` says, which has the
/// end of each group: along the rows of `self`, along the columns of `mat2`, or along both inner dimensions if both are matrices.
///
/// Elements of no group are zero.
#[op_def(
    "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _grouped_mm(_: ...) -> Result<Tensor> {
    let Plan { value: split, outputs: [spec] } = _grouped_mm::plan(this, mat2, offs, bias, out_dtype)?;
    let mut result = spec.on(this.device())?;
    let (Some(split), Some(offs)) = (split, offs) else {
        crate::copy_(&mut result, &crate::bmm(this, mat2)?, false)?;
        return Ok(result);
    };
    crate::zero_(&mut result)?;
    for (group, part) in (0_i64..).zip(group_ranges(offs, split.size)?) {
        let part_of = |tensor: &Tensor, dim: i64| crate::narrow(tensor, dim, part.start, part.end - part.start);
        let item_of = |tensor: &Tensor| crate::select_int(tensor, 0, group);
        let (first, second, mut target) = match split.dimension {
            SplitDimension::Rows => (part_of(this, 0)?, item_of(mat2)?, part_of(&result, 0)?),
            SplitDimension::Columns => (item_of(this)?, part_of(mat2, 1)?, part_of(&result, 1)?),
            SplitDimension::Inner => (part_of(this, 1)?, part_of(mat2, 0)?, item_of(&result)?),
        };
        crate::copy_(&mut target, &crate::mm(&first, &second)?, false)?;
    }
    Ok(result)
}

/// The dimension along which a product is split into groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitDimension {
    /// The rows of the first operand.
    Rows,
    /// The columns of the second operand.
    Columns,
    /// The dimension over which products are summed.
    Inner,
}

/// The split of a product into groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupSplit {
    /// The dimension that is split.
    pub dimension: SplitDimension,
    /// The size of the dimension.
    pub size: i64,
}

#[op_plan(_grouped_mm)]
fn grouped_mm_plan(_: ...) -> Result<Plan<Option<GroupSplit>>, BadArgument> {
    if !OPERAND_DTYPES.contains(&this.dtype()) {
        return Err(BadArgument::dtype("self", this.dtype(), &OPERAND_DTYPES));
    }
    if mat2.dtype() != this.dtype() {
        return Err(BadArgument::dtype("mat2", mat2.dtype(), this.dtype()).like("self"));
    }
    if let Some(other) = out_dtype.filter(|dtype| *dtype != this.dtype()) {
        return Err(BadArgument::dtype("out_dtype", other, this.dtype()).like("self"));
    }
    if bias.is_some() {
        return Err(BadArgument::value("bias", "a tensor", "absent: the product of groups has no bias"));
    }
    let groups = check_offsets(offs)?;
    let (first, second) = (this.sizes(), mat2.sizes());
    let inner = |size: i64, expected: i64, dim: usize| {
        if size == expected {
            Ok(())
        } else {
            Err(BadArgument::size("mat2", second, dim, expected).like_dim("self", first.len() - 1))
        }
    };
    let (dimension, sizes) = match (first, second) {
        (&[items, rows, size], &[other, k, columns]) => {
            if groups.is_some() {
                return Err(BadArgument::value("offs", "a tensor", "absent, because batches have all groups"));
            }
            inner(k, size, 1)?;
            if other != items {
                return Err(BadArgument::size("mat2", second, 0, items).like_dim("self", 0));
            }
            (None, Dims::from_slice(&[items, rows, columns]))
        }
        (&[rows, size], &[items, k, columns]) => {
            inner(k, size, 1)?;
            check_group_count(groups, items)?;
            (Some(GroupSplit { dimension: SplitDimension::Rows, size: rows }), Dims::from_slice(&[rows, columns]))
        }
        (&[items, rows, size], &[k, columns]) => {
            inner(k, size, 0)?;
            check_group_count(groups, items)?;
            (Some(GroupSplit { dimension: SplitDimension::Columns, size: columns }), Dims::from_slice(&[rows, columns]))
        }
        (&[rows, size], &[k, columns]) => {
            inner(k, size, 0)?;
            let items = groups.ok_or_else(missing_offsets)?;
            (Some(GroupSplit { dimension: SplitDimension::Inner, size }), Dims::from_slice(&[items, rows, columns]))
        }
        (_, &[_, _] | &[_, _, _]) => return Err(BadArgument::rank("self", first.len(), &[2, 3])),
        _ => return Err(BadArgument::rank("mat2", second.len(), &[2, 3])),
    };
    Ok(Plan::new(dimension, [aligned_spec(this.dtype(), &sizes)]))
}

/// Returns the number of groups.
fn check_offsets(offs: Option<&Tensor>) -> Result<Option<i64>, BadArgument> {
    let Some(offs) = offs else { return Ok(None) };
    if offs.dtype() != DType::I32 {
        return Err(BadArgument::dtype("offs", offs.dtype(), DType::I32));
    }
    match *offs.sizes() {
        [groups] => Ok(Some(groups)),
        _ => Err(BadArgument::rank("offs", offs.sizes().len(), 1)),
    }
}

fn check_group_count(groups: Option<i64>, expected: i64) -> Result<(), BadArgument> {
    match groups {
        None => Err(missing_offsets()),
        Some(groups) if groups != expected => {
            Err(BadArgument::sizes("offs", &[groups], &[expected][..]).because("the batch has so many groups"))
        }
        Some(_) => Ok(()),
    }
}

fn missing_offsets() -> BadArgument {
    BadArgument::value("offs", "absent", "a tensor with the end of each group")
}

/// Returns the part of each group in a dimension of this size.
fn group_ranges(offs: &Tensor, size: i64) -> Result<Vec<Range<i64>>> {
    let ends =
        crate::contiguous(&offs.to(Device::CPU)?, dispatch_runtime::MemoryFormat::Contiguous)?.to_vec::<i32>()?;
    let mut start = 0;
    let parts = ends.iter().map(|&end| {
        let end = i64::from(end).clamp(0, size);
        // A group whose end is before its start is empty, but the next one starts there.
        let part = start..end.max(start);
        start = end;
        part
    });
    Ok(parts.collect())
}

/// Returns the spec of a result whose rows are aligned.
fn aligned_spec(dtype: DType, sizes: &Dims) -> Spec {
    let alignment = i64::try_from(ROW_ALIGNMENT / dtype.size()).unwrap_or(1);
    let mut padded = sizes.clone();
    if let Some(columns) = padded.last_mut() {
        *columns = columns.saturating_add(alignment - 1) / alignment * alignment;
    }
    let strides = Geometry::contiguous(&padded).strides().to_vec();
    let geometry = Geometry::strided(sizes, &strides, 0).unwrap_or_else(|| Geometry::contiguous(sizes));
    Spec { dtype, geometry }
}
