//! CUDA kernels of `embedding_bag`: sums, means and maxima of bags of rows.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::BagMode;

use crate::engine::gather::{IndexList, IndexLists, combine_dtype};
use crate::families::indexing::index_add::{RowLayout, SortedRows};
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, of sizes that `aten` checked. Offsets are clamped and indices checked where they
    // are read.
    static EMBEDDING_BAG_KERNEL = unsafe { Kernel::new("embedding_bag", include_str!("../../../kernels/indexing/embedding_bag.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["reduce_bags", "index_weights"], &[DType::F32, DType::F64]);
        instances.add("bag_indices", &[]);
        instances.add("max_positions", &[]);
    }) };
}

define_parameters! {
    /// The kernels' `struct IndexVector`: a vector of indices of 32 or 64 bits.
    struct IndexVector {
        indices: DevicePointer,
        count: i64,
        is_32_bit: bool,
    }
}

impl IndexVector {
    fn from_tensor(launch: Launch, packed: &Tensor) -> Result<Self> {
        let (indices, count) = (launch.pointer(packed)?, packed.geometry().count());
        Ok(Self { indices, count, is_32_bit: packed.dtype() == DType::I32 })
    }
}

define_parameters! {
    /// The kernels' `struct Bags`: the indices, the offset of each bag, and the numbers of bags and of weight rows.
    struct Bags {
        indices: IndexVector,
        offsets: IndexVector,
        count: i64,
        rows: i64,
        padding: i64,
        sites: [FaultSite; 2],
        fault: DevicePointer,
    }
}

#[op_impl(aten::_embedding_bag, CUDA)]
#[op_impl(aten::_embedding_bag_forward_only, CUDA)]
fn embedding_bag(plan: &BagMode, [out, of_places, counts, most]: [&mut Tensor; 4], _: ...) -> Result<()> {
    let [weight, indices, offsets] = [weight, indices, offsets].map(|tensor| contiguous(tensor, tensor.dtype()));
    let (weight, indices, offsets) = (weight?, indices?, offsets?);
    let shares = per_sample_weights.map(|shares| contiguous(shares, shares.dtype())).transpose()?;
    let (launch, dtype) = (Launch::on_device_of(out)?, weight.dtype());
    let sites = [fault_site!("aten::_embedding_bag", "indices"), fault_site!("aten::_embedding_bag", "offsets")];
    let bags = Bags {
        indices: IndexVector::from_tensor(launch, &indices)?,
        offsets: IndexVector::from_tensor(launch, &offsets)?,
        count: out.sizes()[0],
        rows: weight.sizes()[0],
        padding: padding_idx,
        sites,
        fault: launch.fault_record(),
    };
    let (width, narrow) = (weight.sizes()[1], counts.dtype() == DType::I32);
    if *plan == BagMode::Sum {
        copy_into(counts, &Tensor::number(0.into()))?;
        copy_into(most, &Tensor::number(0.into()))?;
    }
    let (dtype_number, mode) = (dtype as i32, *plan as i32);
    let arguments = (bags, width, &weight, dtype_number, shares.as_ref(), mode, out, counts, most, narrow);
    launch.run_per_element(
        &EMBEDDING_BAG_KERNEL,
        "reduce_bags",
        &[combine_dtype(dtype)],
        bags.count * width.max(1),
        arguments,
    )?;
    let (spots, narrow) = (of_places.geometry().count(), of_places.dtype() == DType::I32);
    launch.run_per_element(&EMBEDDING_BAG_KERNEL, "bag_indices", &[], spots, (bags, of_places, narrow))
}

#[op_impl(aten::_embedding_bag_dense_backward, CUDA)]
fn _embedding_bag_dense_backward(plan: &BagMode, out: &mut Tensor, _: ...) -> Result<()> {
    copy_into(out, &Tensor::number(0.into()))?;
    let (mode, launch, grad) = (*plan, Launch::on_device_of(out)?, contiguous(grad, grad.dtype())?);
    let (dtype, computed) = (grad.dtype(), combine_dtype(grad.dtype()));
    let (element, width) = (element_size(&grad), grad.sizes()[1]);
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let counts = contiguous(bag_size, DType::I64)?;
    if mode == BagMode::Max {
        let most = contiguous(maximum_indices, maximum_indices.dtype())?;
        let keys = Spec::contiguous(DType::I64, grad.sizes()).on(grad.device())?;
        let (count, site) =
            (keys.geometry().count(), fault_site!("aten::_embedding_bag_dense_backward", "maximum_indices"));
        let most = IndexVector::from_tensor(launch, &most)?;
        let arguments = (count, width, &keys, most, &counts, num_weights, site, launch.fault_record());
        launch.run_per_element(&EMBEDDING_BAG_KERNEL, "max_positions", &[], count, arguments)?;
        let column = |tensor: &Tensor| {
            Ok::<_, Error>(RowLayout {
                address: launch.pointer(tensor)?,
                row_stride: element,
                byte_strides: [0].into_iter().collect(),
            })
        };
        let sorted = SortedRows::new(&keys, num_weights * width, -1)?;
        return sorted.add_to_targets(dtype, &[1], &column(out)?, &column(&grad)?, None, None);
    }
    let list = IndexList::from_tensor(indices, indices.sizes(), (num_weights, 1));
    let lists = IndexLists::from_list(list, false, fault_site!("aten::_embedding_bag_dense_backward", "indices"));
    let sorted = SortedRows::new(&lists.byte_offsets(launch, indices.sizes(), num_weights)?, num_weights, padding_idx)?;
    let bags = contiguous(offset2bag, DType::I64)?;
    let weights = per_sample_weights.map(|shares| contiguous(shares, shares.dtype())).transpose()?;
    let mut shares = None;
    if weights.is_some() || mode == BagMode::Mean {
        let index_count = indices.geometry().count();
        let weighed = Spec::contiguous(computed, &[index_count]).on(grad.device())?;
        let counts = (mode == BagMode::Mean).then_some(&counts);
        let arguments = (index_count, &weighed, weights.as_ref(), dtype as i32, &bags, counts, grad.sizes()[0]);
        launch.run_per_element(&EMBEDDING_BAG_KERNEL, "index_weights", &[computed], index_count, arguments)?;
        shares = Some(weighed);
    }
    if scale_grad_by_freq {
        shares = Some(sorted.scales_over_count(shares, computed)?);
    }
    let rows = Some((&bags, grad.sizes()[0]));
    sorted.add_to_targets(
        dtype,
        &[width],
        &RowLayout::from_matrix(launch, out)?,
        &RowLayout::from_matrix(launch, &grad)?,
        rows,
        shares.as_ref(),
    )
}
