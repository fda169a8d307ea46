//! CUDA kernels of `gather`, `index_select`, `take`, `index`, `index_put` and `put`.

use aten::{IndexPlan, ReductionType};

use super::index_add::{RowLayout, SortedRows};
use super::scatter::source_elements;
use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::StridedPointer;
use crate::engine::gather::{self, IndexList, IndexLists, ScatterSource};
use crate::engine::scalars::is_cpu_scalar;
use crate::prelude::*;

/// Returns a tensor's address and its strides in `rank` dimensions, with stride 0 in the indexed dimension `except`.
pub(crate) fn strided_pointer_except_dim(
    launch: Launch,
    tensor: &Tensor,
    rank: usize,
    except: Option<usize>,
) -> Result<StridedPointer> {
    let stride = |dim: usize| tensor.strides().get(dim).filter(|_| Some(dim) != except).copied().unwrap_or(0);
    Ok(StridedPointer {
        address: launch.pointer(tensor)?,
        byte_strides: (0..rank).map(|dim| stride(dim) * element_size(tensor)).collect(),
    })
}

/// Returns the size of a dimension and its stride in bytes. A tensor without dimensions has one of size one.
pub(crate) fn dim_size_and_byte_stride(tensor: &Tensor, dim: usize) -> (i64, i64) {
    let at = |all: &[i64]| all.get(dim).copied().unwrap_or(1);
    (at(tensor.sizes()), at(tensor.strides()) * element_size(tensor))
}

#[op_impl(aten::gather, CUDA)]
fn gather(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, sizes, at) = (Launch::on_device_of(out)?, out.sizes(), *plan);
    let lists = IndexLists::from_list(
        IndexList::from_tensor(index, sizes, dim_size_and_byte_stride(this, at)),
        false,
        fault_site!("aten::gather", "index"),
    );
    let from = strided_pointer_except_dim(launch, this, sizes.len(), Some(at))?;
    gather::gather(launch, this.dtype(), sizes, &StridedPointer::from_tensor(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::index_select, CUDA)]
fn index_select(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, sizes, at) = (Launch::on_device_of(out)?, out.sizes(), *plan);
    let list = IndexList::along_dim(index, sizes.len(), at, dim_size_and_byte_stride(this, at));
    let lists = IndexLists::from_list(list, false, fault_site!("aten::index_select", "index"));
    let from = strided_pointer_except_dim(launch, this, sizes.len(), Some(at))?;
    gather::gather(launch, this.dtype(), sizes, &StridedPointer::from_tensor(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::take, CUDA)]
fn take(_plan: &(), out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, row) = (Launch::on_device_of(out)?, contiguous(this, this.dtype())?);
    let (sizes, element) = (out.sizes(), element_size(this));
    let list = IndexList::from_tensor(index, sizes, (row.geometry().count(), element));
    let from = StridedPointer { address: launch.pointer(&row)?, byte_strides: Dims::from_elem(0, sizes.len()) };
    let lists = IndexLists::from_list(list, true, fault_site!("aten::take", "index"));
    gather::gather(launch, this.dtype(), sizes, &StridedPointer::from_tensor(launch, out, sizes)?, &from, lists)
}

/// Returns the strides by which the result's dimensions move through the indexed `tensor`, and the lists of indices into that tensor.
pub(crate) fn indexed_strides_and_lists(
    indexed: &IndexPlan,
    launch: Launch,
    tensor: &Tensor,
    site: FaultSite,
) -> Result<(StridedPointer, IndexLists)> {
    let IndexPlan { sizes, index_sizes, index_dim: at, dims, indices } = indexed;
    let whole = (0..tensor.sizes().len()).filter(|dim| !dims.contains(dim));
    let mut steps: Dims = whole.map(|dim| tensor.strides()[dim] * element_size(tensor)).collect();
    steps.insert_many(*at, index_sizes.iter().map(|_| 0));
    let all = dims.iter().zip(indices).map(|(&dim, index)| {
        let index = to_device(index, tensor.device())?;
        // The result's dimensions behind those of the indices have stride 0 in the indices.
        let mut wide = Dims::from_slice(index.sizes());
        let mut strides = Dims::from_slice(index.strides());
        let behind = sizes.len() - at - index_sizes.len();
        wide.extend(std::iter::repeat_n(1, behind));
        strides.extend(std::iter::repeat_n(0, behind));
        let index = match Geometry::strided(&wide, &strides, index.geometry().offset()) {
            Some(geometry) => index.restride(geometry)?,
            None => index,
        };
        Ok(IndexList::from_tensor(&index, sizes, dim_size_and_byte_stride(tensor, dim)))
    });
    let lists = IndexLists { all: all.collect::<Result<_>>()?, wraps_negative: true, site };
    Ok((StridedPointer { address: launch.pointer(tensor)?, byte_strides: steps }, lists))
}

#[op_impl(aten::index, CUDA)]
fn index(plan: &IndexPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let (launch, sizes) = (Launch::on_device_of(out)?, &plan.sizes);
    let (from, lists) = indexed_strides_and_lists(plan, launch, this, fault_site!("aten::index.Tensor", "indices"))?;
    gather::gather(launch, this.dtype(), sizes, &StridedPointer::from_tensor(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::index_put, CUDA)]
fn index_put(plan: &IndexPlan, out: &mut Tensor, this: &Tensor, values: &Tensor, accumulate: bool) -> Result<()> {
    let (launch, sizes, site) = (Launch::on_device_of(this)?, &plan.sizes, fault_site!("aten::index_put", "indices"));
    if accumulate {
        copy_into(out, this)?;
        let (to, lists) = indexed_strides_and_lists(plan, launch, out, site)?;
        return add_values_at_indices(launch, out, plan, &to, lists, values);
    }
    let source = if is_cpu_scalar(values) {
        ScatterSource::Scalar(values.to_scalar()?)
    } else {
        ScatterSource::Elements(StridedPointer::from_tensor(launch, values, sizes)?)
    };
    let lists = |launch, tensor: &Tensor| indexed_strides_and_lists(plan, launch, tensor, site);
    ScatterTarget { launch, sizes, lists: &lists }.scatter(out, this, &source)
}

/// Adds `values` to the indexed elements of `out`. Values for the same element are added in order.
fn add_values_at_indices(
    launch: Launch,
    out: &Tensor,
    indexed: &IndexPlan,
    to: &StridedPointer,
    lists: IndexLists,
    values: &Tensor,
) -> Result<()> {
    let IndexPlan { sizes, index_sizes, index_dim: at, .. } = indexed;
    let among = |dim: &usize| (*at..at + index_sizes.len()).contains(dim);
    let positions: Dims = (0..sizes.len()).map(|dim| if among(&dim) { sizes[dim] } else { 1 }).collect();
    let element = element_size(out);
    // Positions are byte offsets, and all are inside of the tensor.
    let bytes = out.geometry().count().saturating_mul(element);
    let sorted = SortedRows::new(&lists.byte_offsets(launch, &positions, bytes)?, bytes, -1)?;
    let mut all = Spec::contiguous(out.dtype(), sizes).on(out.device())?;
    copy_into(&mut all, values)?;
    let rest = |steps: &[i64]| (0..sizes.len()).filter(|dim| !among(dim)).map(|dim| steps[dim]).collect::<Dims>();
    let strides: Dims = all.strides().iter().map(|stride| stride * element).collect();
    let width: i64 = sizes[at + index_sizes.len()..].iter().product();
    let from = RowLayout { address: launch.pointer(&all)?, row_stride: width * element, byte_strides: rest(&strides) };
    sorted.add_to_targets(
        out.dtype(),
        &rest(sizes),
        &RowLayout { address: to.address, row_stride: 1, byte_strides: rest(&to.byte_strides) },
        &from,
        None,
        None,
    )
}

#[op_impl(aten::put, CUDA)]
fn put(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let source = contiguous(source, source.dtype())?;
    let source = source.restride(Geometry::contiguous(index.sizes()).with_offset(source.geometry().offset()))?;
    let (sizes, site) = (index.sizes(), fault_site!("aten::put", "index"));
    let lists = |launch: Launch, tensor: &Tensor| {
        let list = IndexList::from_tensor(index, sizes, (tensor.geometry().count(), element_size(tensor)));
        let to = StridedPointer { address: launch.pointer(tensor)?, byte_strides: Dims::from_elem(0, sizes.len()) };
        Ok((to, IndexLists::from_list(list, true, site)))
    };
    let target = ScatterTarget::for_tensor(this, sizes, &lists)?;
    let from = source_elements(&source, index)?;
    // `put` indexes elements in logical order, so the target must be contiguous.
    with_contiguous_output(out, this.dtype(), |row| {
        if accumulate {
            target.combine(row, this, &from, source.dtype(), ReductionType::Sum, true)
        } else {
            target.scatter(row, this, &from)
        }
    })
}
