//! Tests of `out=` forms: of factories, and of operators with several results or a list of results.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

#[test]
fn factory_out_form_uses_dtype_and_device_of_out() {
    let mut counts = Tensor::empty(0, DType::F64).unwrap();
    aten::arange_start_out(1.into(), 4.into(), 1.into(), &mut counts).unwrap();
    assert_eq!(counts.to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0]);
    let mut sevens = Tensor::empty(2, DType::I64).unwrap();
    aten::full_out(&[2], 7.into(), &mut sevens).unwrap();
    assert_eq!(sevens.to_vec::<i64>().unwrap(), [7, 7]);
    let mut on_meta = Tensor::empty(0, (DType::F64, Device::META)).unwrap();
    aten::hann_window_out(5, &mut on_meta).unwrap();
    assert_eq!((on_meta.sizes(), on_meta.dtype(), on_meta.device()), (&[5][..], DType::F64, Device::META));
}

#[test]
fn out_form_of_several_results_takes_named_tensors() {
    let x = Tensor::from([[1.0_f64, 5.0], [4.0, 2.0]]);
    let (mut largest, mut indices) = (Tensor::empty(2, DType::F64).unwrap(), Tensor::empty(0, DType::I64).unwrap());
    aten::max_dim_max!(&x, 1, max = &mut largest, max_values = &mut indices).unwrap();
    assert_eq!(largest.to_vec::<f64>().unwrap(), [5.0, 4.0]);
    assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 0]);
}

#[test]
fn out_form_of_a_list_takes_a_list_of_tensors() {
    let x = Tensor::from([1.0_f64, 2.0, 3.0]);
    let mut parts = [Tensor::zeros(2, DType::F64).unwrap(), Tensor::zeros(1, DType::F64).unwrap()];
    aten::split_copy_tensor_out(&x, 2, 0, &mut parts).unwrap();
    assert_eq!(parts[0].to_vec::<f64>().unwrap(), [1.0, 2.0]);
    assert_eq!(parts[1].to_vec::<f64>().unwrap(), [3.0]);
    let few = aten::split_copy_tensor_out(&x, 2, 0, &mut parts[..1]).unwrap_err().to_string();
    assert!(few.contains("out") && few.contains("has length 1, but must have 2"), "{few}");
    let small = aten::split_copy_tensor_out(&x, 1, 0, &mut parts.map(|part| part.repeat(1).unwrap()));
    assert!(small.unwrap_err().to_string().contains("out"));
}
