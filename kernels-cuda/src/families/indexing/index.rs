//! Elements picked by their positions.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Indexed;

use crate::engine::data_movement::Side;
use crate::engine::gather::{List, Lists, gathered};
use crate::engine::prefix_sum::known;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or made here, with their counts, and `starts` has one for each of `size` rows.
    static INDEX = unsafe { Kernel::new("index", include_str!("../../../kernels/indexing/index.cu"), |instances| {
        instances.one("largest", &[]);
        instances.one("one_hot", &[]);
        instances.all(&["checked", "repeated"], &[DType::I32, DType::I64]);
    }) };
}

/// A tensor through `rank` dimensions, of which it does not step along one.
pub(crate) fn beside(launch: Launch, tensor: &Tensor, rank: usize, except: Option<usize>) -> Result<Side> {
    let stride = |dim: usize| tensor.strides().get(dim).filter(|_| Some(dim) != except).copied().unwrap_or(0);
    Ok(Side { at: launch.place(tensor)?, steps: (0..rank).map(|dim| stride(dim) * element_size(tensor)).collect() })
}

/// How large a dimension is, and how many bytes one step along it is. A tensor without dimensions has one of one.
pub(crate) fn extent(tensor: &Tensor, dim: usize) -> (i64, i64) {
    let at = |all: &[i64]| all.get(dim).copied().unwrap_or(1);
    (at(tensor.sizes()), at(tensor.strides()) * element_size(tensor))
}

#[op_impl(aten::gather, CUDA)]
fn gather(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, sizes, at) = (Launch::on(out)?, out.sizes(), *plan);
    let lists = Lists::one(List::of(index, sizes, extent(this, at)), false, site!("aten::gather", "index"));
    let from = beside(launch, this, sizes.len(), Some(at))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::index_select, CUDA)]
fn index_select(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, sizes, at) = (Launch::on(out)?, out.sizes(), *plan);
    let list = List::along(index, sizes.len(), at, extent(this, at));
    let lists = Lists::one(list, false, site!("aten::index_select", "index"));
    let from = beside(launch, this, sizes.len(), Some(at))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::take, CUDA)]
fn take(_plan: &(), out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, row) = (Launch::on(out)?, packed(this, this.dtype())?);
    let (sizes, element) = (out.sizes(), element_size(this));
    let list = List::of(index, sizes, (row.geometry().count(), element));
    let from = Side { at: launch.place(&row)?, steps: Dims::from_elem(0, sizes.len()) };
    let lists = Lists::one(list, true, site!("aten::take", "index"));
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

/// `tensor`, which has the sizes of what is indexed, through the sizes of the result, and the lists that say where in it elements are.
pub(crate) fn through(indexed: &Indexed, launch: Launch, tensor: &Tensor, site: Site) -> Result<(Side, Lists)> {
    let Indexed { sizes, index_sizes, at, dims, lists } = indexed;
    let whole = (0..tensor.sizes().len()).filter(|dim| !dims.contains(dim));
    let mut steps: Dims = whole.map(|dim| tensor.strides()[dim] * element_size(tensor)).collect();
    steps.insert_many(*at, index_sizes.iter().map(|_| 0));
    let all = dims.iter().zip(lists).map(|(&dim, index)| {
        let index = brought(index, tensor.device())?;
        // Dimensions of the result behind those of the indices are no index's.
        let mut wide = Dims::from_slice(index.sizes());
        let mut strides = Dims::from_slice(index.strides());
        let behind = sizes.len() - at - index_sizes.len();
        wide.extend(std::iter::repeat_n(1, behind));
        strides.extend(std::iter::repeat_n(0, behind));
        let index = match Geometry::strided(&wide, &strides, index.geometry().offset()) {
            Some(geometry) => index.restride(geometry)?,
            None => index,
        };
        Ok(List::of(&index, sizes, extent(tensor, dim)))
    });
    let lists = Lists { all: all.collect::<Result<_>>()?, wraps: true, site };
    Ok((Side { at: launch.place(tensor)?, steps }, lists))
}

#[op_impl(aten::index, CUDA)]
fn index(plan: &Indexed, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let (launch, sizes) = (Launch::on(out)?, &plan.sizes);
    let (from, lists) = through(plan, launch, this, site!("aten::index.Tensor", "indices"))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::one_hot, CUDA)]
fn one_hot(_plan: &(), this: &Tensor, num_classes: i64) -> Result<Tensor> {
    let classes = packed(this, DType::I64)?;
    let launch = Launch::on(&classes)?;
    let all = classes.geometry().count();
    let count = if num_classes == -1 {
        let mut largest = Spec::contiguous(DType::I64, &[1]).on(this.device())?;
        write(&mut largest, &Tensor::number(0.into()))?;
        launch.cover(&INDEX, "largest", &[], all, (all, &classes, &largest))?;
        known(launch, &largest)?.saturating_add(1)
    } else {
        num_classes
    };
    let mut sizes = Dims::from_slice(this.sizes());
    sizes.push(count);
    let out = Spec::contiguous(DType::I64, &sizes).on(this.device())?;
    let spots = out.geometry().count();
    let (site, fault) = (site!("aten::one_hot", "self"), launch.faults());
    launch.cover(&INDEX, "one_hot", &[], spots, (spots, &out, &classes, count, site, fault))?;
    Ok(out)
}

#[op_impl(aten::repeat_interleave, CUDA)]
fn repeat_interleave(_plan: &(), repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    let (dtype, count) = (repeats.dtype(), repeats.geometry().count());
    if !matches!(dtype, DType::I32 | DType::I64) {
        let converted = |from: &Tensor, dtype| aten::to_dtype(from, dtype, false, false, None);
        return converted(&aten::repeat_interleave(&converted(repeats, DType::I64)?, output_size)?, dtype);
    }
    let repeats = packed(repeats, dtype)?;
    let launch = Launch::on(&repeats)?;
    let starts = Spec::contiguous(DType::I64, &[count]).on(repeats.device())?;
    let site = site!("aten::repeat_interleave", "repeats");
    let arguments = (count, &repeats, &starts, site, launch.faults());
    launch.cover(&INDEX, "checked", &[dtype], count, arguments)?;
    let total = known(launch, &crate::engine::prefix_sum::prefixed(launch, &starts)?)?;
    if let Some(wanted) = output_size.filter(|wanted| *wanted != total) {
        return Err(BadArgument::number("output_size", wanted, total).because("the sum of `repeats` is").into());
    }
    let out = Spec::contiguous(dtype, &[total]).on(repeats.device())?;
    launch.cover(&INDEX, "repeated", &[dtype], total, (total, &out, count, &starts))?;
    Ok(out)
}
