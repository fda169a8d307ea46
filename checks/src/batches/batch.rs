//! Builds a batch from slices, and takes slices out of a batch.

use dispatch_runtime::{Tensor, Value};

use crate::array::Array;
use crate::error::Result;
use crate::tensors::strided_view;

/// The batch dimensions of a tensor: one entry per vmap level, from the outermost to the innermost. An entry is the index of a dimension of
/// the tensor at that level, or `None` if all slices of the level share the tensor.
pub(super) type BatchDimsByLevel = Vec<Option<usize>>;

/// Builds the batch that has these slices, one for each index of the batch dimensions. With `interleaved`, the batch dimension has stride 1 and
/// the other strides are multiplied by the number of slices. Without it, each slice keeps its strides and follows the one before it.
pub(super) fn stack_slices(slices: &[Array], dims: &[Option<usize>], sizes: &[usize], interleaved: bool) -> Array {
    let (Some((dim, inner)), Some(&size)) = (dims.split_first(), sizes.first()) else { return slices[0].clone() };
    let each: Vec<Array> = slices
        .chunks(slices.len() / size)
        .map(|slices| stack_slices(slices, inner, &sizes[1..], interleaved))
        .collect();
    dim.map_or_else(|| each[0].clone(), |dim| stack_along_dim(&each, dim, interleaved))
}

fn stack_along_dim(slices: &[Array], dim: usize, interleaved: bool) -> Array {
    let first = &slices[0];
    let count = i64::try_from(slices.len()).unwrap_or(0);
    let (mut sizes, mut strides) = (first.sizes.clone(), first.strides.clone());
    let (mut step, mut offset) =
        (i64::try_from(first.required_element_count()).unwrap_or(0) - first.offset, first.offset);
    if interleaved {
        strides.iter_mut().chain([&mut offset]).for_each(|stride| *stride *= count);
        step = 1;
    }
    sizes.insert(dim, count);
    strides.insert(dim, step.max(1));
    let behind = first.sizes[dim..].iter().map(|&size| usize::try_from(size).unwrap_or(0)).product::<usize>();
    let runs: Vec<_> = slices.iter().map(|slice| slice.elements.chunks(behind.max(1)).collect::<Vec<_>>()).collect();
    let elements = (0..runs[0].len()).flat_map(|at| runs.iter().flat_map(move |runs| runs[at]).copied());
    Array { dtype: first.dtype, sizes, strides, offset, elements: elements.collect() }
}

/// Returns the slice of a value at index `place` of its batch dimensions. `dims` yields the batch dimensions of each tensor of the value.
pub(super) fn slice_value(
    value: &Value,
    dims: &mut dyn Iterator<Item = BatchDimsByLevel>,
    place: &[usize],
) -> Result<Value> {
    let mut slice = value.clone();
    for tensor in slice.tensors_mut() {
        *tensor = slice_tensor(tensor, &dims.next().unwrap_or_default(), place)?;
    }
    Ok(slice)
}

fn slice_tensor(tensor: &Tensor, dims: &[Option<usize>], place: &[usize]) -> Result<Tensor> {
    let geometry = tensor.geometry();
    let (mut sizes, mut strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
    let mut offset = geometry.offset();
    for (dim, &at) in dims.iter().zip(place) {
        let Some(dim) = *dim else { continue };
        sizes.remove(dim);
        offset += strides.remove(dim) * i64::try_from(at).unwrap_or(0);
    }
    strided_view(tensor, &sizes, &strides, offset)
}

#[cfg(test)]
mod tests {
    use dispatch_runtime::{DType, Scalar};

    use super::*;

    fn matrix_from(start: i64) -> Array {
        Array::new(DType::I64, &[2, 2], (start..start + 4).map(Scalar::from).collect())
    }

    #[test]
    fn a_slice_of_a_batch_has_the_elements_of_its_array() {
        for interleaved in [false, true] {
            for dim in 0..3 {
                let batch =
                    stack_slices(&[matrix_from(0), matrix_from(10), matrix_from(20)], &[Some(dim)], &[3], interleaved);
                let tensor = crate::tensors::to_tensor(&batch, dispatch_runtime::Device::CPU).unwrap();
                let slice = slice_tensor(&tensor, &[Some(dim)], &[1]).unwrap();
                assert_eq!(crate::tensors::to_array(&slice).unwrap().elements, matrix_from(10).elements);
            }
        }
    }
}
