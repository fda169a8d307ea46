//! CUDA kernels of `searchsorted`, `bucketize` and `isin`.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::result_dtype;

use crate::engine::sort_select::SortInput;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, with their counts. Indices of a sorter are checked where they are read.
    static SEARCH_KERNEL = unsafe { Kernel::new("search", include_str!("../../../kernels/indexing/search.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["searchsorted", "isin"], &[DType::F32, DType::F64, DType::I64]);
    }) };
}

define_parameters! {
    /// The kernels' `struct ElementRows`: the address, dtype and width of rows.
    struct ElementRows {
        elements: DevicePointer,
        dtype: i32,
        width: i64,
    }
}

impl ElementRows {
    fn from_tensor(launch: Launch, packed: &Tensor) -> Result<Self> {
        let width = packed.sizes().last().copied().unwrap_or(1);
        Ok(Self { elements: launch.pointer(packed)?, dtype: packed.dtype() as i32, width })
    }
}

/// Returns the type that elements of two tensors are compared in.
fn comparison_dtype(tensors: [&Tensor; 2]) -> DType {
    match result_dtype(tensors) {
        DType::F64 => DType::F64,
        dtype if dtype.is_floating() => DType::F32,
        _ => DType::I64,
    }
}

#[op_impl(aten::searchsorted, CUDA)]
fn searchsorted(plan: &bool, out: &mut Tensor, _: ...) -> Result<()> {
    launch_searchsorted(out, sorted_sequence, this, *plan, sorter)
}

#[op_impl(aten::bucketize, CUDA)]
fn bucketize(plan: &bool, out: &mut Tensor, this: &Tensor, boundaries: &Tensor) -> Result<()> {
    launch_searchsorted(out, boundaries, this, *plan, None)
}

fn launch_searchsorted(
    out: &mut Tensor,
    boundaries: &Tensor,
    wanted: &Tensor,
    right: bool,
    sorter: Option<&Tensor>,
) -> Result<()> {
    let each = match (boundaries.sizes(), wanted.sizes().last()) {
        ([_, _, ..], Some(&each)) => each,
        _ => i64::MAX,
    };
    let (launch, computed) = (Launch::on_device_of(out)?, comparison_dtype([boundaries, wanted]));
    let wanted = to_device(wanted, boundaries.device())?;
    let (among, wanted) = (contiguous(boundaries, boundaries.dtype())?, contiguous(&wanted, wanted.dtype())?);
    let order = sorter.map(|sorter| contiguous(sorter, DType::I64)).transpose()?;
    let (site, count) = (fault_site!("aten::searchsorted", "sorter"), out.geometry().count());
    let sides = (ElementRows::from_tensor(launch, &wanted)?, ElementRows::from_tensor(launch, &among)?);
    let narrow = out.dtype() == DType::I32;
    let arguments = (count, sides.0, sides.1, each, right, order.as_ref(), &*out, narrow, site, launch.fault_record());
    launch.run_per_element(&SEARCH_KERNEL, "searchsorted", &[computed], count, arguments)
}

#[op_impl(aten::isin_tensor_tensor, CUDA)]
fn isin(_plan: &(), out: &mut Tensor, elements: &Tensor, test_elements: &Tensor, invert: bool) -> Result<()> {
    let both = [elements, test_elements];
    // If only one tensor is floating, double precision keeps all digits of the integers that it can.
    let computed = match comparison_dtype(both) {
        DType::F32 if !both.iter().all(|tensor| tensor.dtype().is_floating()) => DType::F64,
        other => other,
    };
    let [elements, tests] = both.map(|tensor| to_device(tensor, out.device()));
    let (elements, tests) = (elements?, contiguous(&tests?, computed)?);
    let elements = contiguous(&elements, elements.dtype())?;
    let launch = Launch::on_device_of(out)?;
    let (sorted, _) = SortInput::from_single_line(&tests).sort()?;
    let (count, size) = (out.geometry().count(), tests.geometry().count());
    let arguments = (count, ElementRows::from_tensor(launch, &elements)?, &sorted, size, invert, out);
    launch.run_per_element(&SEARCH_KERNEL, "isin", &[computed], count, arguments)
}
