//! Elements picked by their positions.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Spec};

use crate::copying::packed;
use crate::fault::Site;
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::machine::Grid;
use crate::mask::nonzero_positions;
use crate::moves::Side;
use crate::picks::{List, Lists, gathered, site};
use crate::prefix::known;

kernel! {
    // SAFETY: all tensors are packed or made here, with their counts, and `starts` has one for each of `size` rows.
    static INDEX = unsafe { Kernel::new("index", include_str!("../kernels/index.cu"), |instances| {
        instances.one("largest", &[]);
        instances.one("one_hot", &[]);
        instances.each("checked", &[DType::I32, DType::I64]);
        instances.each("repeated", &[DType::I32, DType::I64]);
    }) };
}

/// A tensor through `rank` dimensions, of which it does not step along one.
pub(crate) fn beside(launch: Launch, tensor: &Tensor, rank: usize, except: Option<usize>) -> Result<Side> {
    let element = i64::try_from(tensor.dtype().size()).unwrap_or(1);
    let stride = |dim: usize| tensor.strides().get(dim).filter(|_| Some(dim) != except).copied().unwrap_or(0);
    Ok(Side { at: launch.place(tensor)?, steps: (0..rank).map(|dim| stride(dim) * element).collect() })
}

/// How large a dimension is, and how many bytes one step along it is. A tensor without dimensions has one of one.
pub(crate) fn extent(tensor: &Tensor, dim: usize) -> (i64, i64) {
    let element = i64::try_from(tensor.dtype().size()).unwrap_or(1);
    let at = |all: &[i64]| all.get(dim).copied().unwrap_or(1);
    (at(tensor.sizes()), at(tensor.strides()) * element)
}

#[op_impl(aten::gather, CUDA)]
fn gather(this: &Tensor, dim: i64, index: &Tensor, _sparse_grad: bool) -> Result<Tensor> {
    let (spec, at) = aten::gather_spec(this, dim, index)?;
    let out = spec.on(this.device())?;
    let (launch, sizes) = (Launch::on(&out)?, out.sizes());
    let lists = Lists::one(List::of(index, sizes, extent(this, at)), false, site!("aten::gather", "index"));
    let from = beside(launch, this, sizes.len(), Some(at))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, &out, sizes)?, &from, lists)?;
    Ok(out)
}

#[op_impl(aten::index_select, CUDA)]
fn index_select(this: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let (spec, at) = aten::index_select_spec(this, dim, index)?;
    let out = spec.on(this.device())?;
    let (launch, sizes) = (Launch::on(&out)?, out.sizes());
    let list = List::along(index, sizes.len(), at, extent(this, at));
    let lists = Lists::one(list, false, site!("aten::index_select", "index"));
    let from = beside(launch, this, sizes.len(), Some(at))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, &out, sizes)?, &from, lists)?;
    Ok(out)
}

#[op_impl(aten::take, CUDA)]
fn take(this: &Tensor, index: &Tensor) -> Result<Tensor> {
    let out = aten::take_spec(this, index)?.on(this.device())?;
    let (launch, row) = (Launch::on(&out)?, packed(this, this.dtype())?);
    let (sizes, element) = (out.sizes(), i64::try_from(this.dtype().size()).unwrap_or(1));
    let list = List::of(index, sizes, (row.geometry().count(), element));
    let from = Side { at: launch.place(&row)?, steps: Dims::from_elem(0, sizes.len()) };
    let lists = Lists::one(list, true, site!("aten::take", "index"));
    gathered(launch, this.dtype(), sizes, &Side::of(launch, &out, sizes)?, &from, lists)?;
    Ok(out)
}

/// Indices of which none is a mask any more, and what indexing with them gives.
pub(crate) struct Indices {
    pub(crate) indexed: aten::Indexed,
    /// For each dimension that has one.
    lists: Vec<Tensor>,
}

impl Indices {
    pub(crate) fn of(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Self> {
        let mut lists = Vec::with_capacity(indices.len());
        for index in indices {
            match index {
                Some(mask) if aten::is_mask(mask) => {
                    let covered = this.sizes().get(lists.len()..lists.len() + mask.sizes().len());
                    if covered != Some(mask.sizes()) {
                        let expected = format!("those of the dimensions that it covers, of {:?}", this.sizes());
                        return Err(BadArgument::sizes("indices", mask.sizes(), expected).into());
                    }
                    let rows = nonzero_positions(&here(mask, this)?)?;
                    for dim in 0..rows.sizes()[1] {
                        lists.push(Some(aten::select_int(&rows, 1, dim)?));
                    }
                }
                other => lists.push(other.as_ref().map(|index| here(index, this)).transpose()?),
            }
        }
        let indexed = aten::Indexed::of(this, &lists)?;
        let lists = indexed.dims.iter().filter_map(|&dim| lists[dim].take()).collect();
        Ok(Self { indexed, lists })
    }

    /// `tensor`, which has the sizes of what is indexed, through the sizes of the result, and the lists that say where in it elements are.
    pub(crate) fn through(&self, launch: Launch, tensor: &Tensor, site: Site) -> Result<(Side, Lists)> {
        let aten::Indexed { sizes, index_sizes, at, dims } = &self.indexed;
        let element = i64::try_from(tensor.dtype().size()).unwrap_or(1);
        let whole = (0..tensor.sizes().len()).filter(|dim| !dims.contains(dim));
        let mut steps: Dims = whole.map(|dim| tensor.strides()[dim] * element).collect();
        steps.insert_many(*at, index_sizes.iter().map(|_| 0));
        let all = dims.iter().zip(&self.lists).map(|(&dim, index)| {
            // Dimensions of the result behind those of the indices are no index's.
            let mut wide = Dims::from_slice(index.sizes());
            let mut strides = Dims::from_slice(index.strides());
            let behind = sizes.len() - at - index_sizes.len();
            wide.extend(std::iter::repeat_n(1, behind));
            strides.extend(std::iter::repeat_n(0, behind));
            let index = match Geometry::strided(&wide, &strides, index.geometry().offset()) {
                Some(geometry) => index.restride(geometry)?,
                None => index.clone(),
            };
            Ok(List::of(&index, sizes, extent(tensor, dim)))
        });
        let lists = Lists { all: all.collect::<Result<_>>()?, wraps: true, site };
        Ok((Side { at: launch.place(tensor)?, steps }, lists))
    }
}

/// An index, which may be on the CPU, where the tensor is.
pub(crate) fn here(index: &Tensor, this: &Tensor) -> Result<Tensor> {
    if index.device() == this.device() {
        return Ok(index.clone());
    }
    let mut here = Spec::contiguous(index.dtype(), index.sizes()).on(this.device())?;
    crate::copying::write(&mut here, index)?;
    Ok(here)
}

#[op_impl(aten::index, CUDA)]
fn index(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
    let indices = Indices::of(this, indices)?;
    let sizes = &indices.indexed.sizes;
    let out = Spec::contiguous(this.dtype(), sizes).on(this.device())?;
    let launch = Launch::on(&out)?;
    let (from, lists) = indices.through(launch, this, site!("aten::index.Tensor", "indices"))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, &out, sizes)?, &from, lists)?;
    Ok(out)
}

#[op_impl(aten::one_hot, CUDA)]
fn one_hot(this: &Tensor, num_classes: i64) -> Result<Tensor> {
    if this.dtype() != DType::I64 {
        return Err(BadArgument::dtype("self", this.dtype(), "int64").into());
    }
    let classes = packed(this, DType::I64)?;
    let launch = Launch::on(&classes)?;
    let (place, all) = (launch.place(&classes)?, classes.geometry().count());
    let count = match num_classes {
        -1 if all > 0 => {
            let mut largest = Spec::contiguous(DType::I64, &[1]).on(this.device())?;
            crate::copying::write(&mut largest, &Tensor::number(0.into()))?;
            launch.run(&INDEX, "largest", &[], Grid::cover(all), (all, place, launch.place(&largest)?))?;
            known(launch, &largest)?.saturating_add(1)
        }
        1.. => num_classes,
        _ => {
            return Err(
                BadArgument::value("num_classes", num_classes, "one or more, or -1 where `self` has elements").into()
            );
        }
    };
    let mut sizes = Dims::from_slice(this.sizes());
    sizes.push(count);
    let out = Spec::contiguous(DType::I64, &sizes).on(this.device())?;
    let spots = out.geometry().count();
    let (site, fault) = (site!("aten::one_hot", "self"), launch.faults());
    launch.run(&INDEX, "one_hot", &[], Grid::cover(spots), (spots, launch.place(&out)?, place, count, site, fault))?;
    Ok(out)
}

#[op_impl(aten::repeat_interleave, CUDA)]
fn repeat_interleave(repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    let &[count] = repeats.sizes() else {
        return Err(BadArgument::rank("repeats", repeats.sizes().len(), "1").into());
    };
    let dtype = repeats.dtype();
    if !dtype.is_integral() {
        return Err(BadArgument::dtype("repeats", dtype, "integral").into());
    }
    if !matches!(dtype, DType::I32 | DType::I64) {
        let converted = |from: &Tensor, dtype| aten::to_dtype(from, dtype, false, false, None);
        return converted(&repeat_interleave(&converted(repeats, DType::I64)?, output_size)?, dtype);
    }
    let repeats = packed(repeats, dtype)?;
    let launch = Launch::on(&repeats)?;
    let starts = Spec::contiguous(DType::I64, &[count]).on(repeats.device())?;
    let (place, site, fault) = (launch.place(&starts)?, site!("aten::repeat_interleave", "repeats"), launch.faults());
    let arguments = (count, launch.place(&repeats)?, place, site, fault);
    launch.run(&INDEX, "checked", &[dtype], Grid::cover(count), arguments)?;
    let total = known(launch, &crate::prefix::prefixed(launch, &starts)?)?;
    if let Some(wanted) = output_size.filter(|wanted| *wanted != total) {
        let expected = format!("{total}, the sum of `repeats`");
        return Err(BadArgument::value("output_size", wanted, expected).into());
    }
    let out = Spec::contiguous(dtype, &[total]).on(repeats.device())?;
    let arguments = (total, launch.place(&out)?, count, place);
    launch.run(&INDEX, "repeated", &[dtype], Grid::cover(total), arguments)?;
    Ok(out)
}
