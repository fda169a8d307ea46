//! Tests of `out=` forms: of factories, and of operators with several results or a list of results.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

#[test]
fn a_factory_makes_what_the_tensor_that_it_writes_to_is() {
    let mut counted = Tensor::empty(&[0], DType::F64).unwrap();
    aten::arange_start_out(1.into(), 4.into(), 1.into(), &mut counted).unwrap();
    assert_eq!(counted.to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0]);
    let mut whole = Tensor::empty(&[2], DType::I64).unwrap();
    aten::full_out(&[2], 7.into(), &mut whole).unwrap();
    assert_eq!(whole.to_vec::<i64>().unwrap(), [7, 7]);
    let mut far = Tensor::empty(&[0], (DType::F64, Device::META)).unwrap();
    aten::hann_window_out(5, &mut far).unwrap();
    assert_eq!((far.sizes(), far.dtype(), far.device()), (&[5][..], DType::F64, Device::META));
}

#[test]
fn several_results_go_to_tensors_under_names_of_their_own() {
    let x = Tensor::from([[1.0_f64, 5.0], [4.0, 2.0]]);
    let (mut largest, mut places) =
        (Tensor::empty(&[2], DType::F64).unwrap(), Tensor::empty(&[0], DType::I64).unwrap());
    aten::max_dim_max!(&x, 1, max = &mut largest, max_values = &mut places).unwrap();
    assert_eq!(largest.to_vec::<f64>().unwrap(), [5.0, 4.0]);
    assert_eq!(places.to_vec::<i64>().unwrap(), [1, 0]);
}

#[test]
fn a_list_of_results_goes_to_a_list_of_tensors_of_their_sizes() {
    let x = Tensor::from([1.0_f64, 2.0, 3.0]);
    let mut parts = [Tensor::zeros(&[2], DType::F64).unwrap(), Tensor::zeros(&[1], DType::F64).unwrap()];
    aten::split_copy_tensor_out(&x, 2, 0, &mut parts).unwrap();
    assert_eq!(parts[0].to_vec::<f64>().unwrap(), [1.0, 2.0]);
    assert_eq!(parts[1].to_vec::<f64>().unwrap(), [3.0]);
    let few = aten::split_copy_tensor_out(&x, 2, 0, &mut parts[..1]).unwrap_err().to_string();
    assert!(few.contains("out") && few.contains("has length 1, but must have 2"), "{few}");
    let small = aten::split_copy_tensor_out(&x, 1, 0, &mut parts.map(|part| part.repeat(&[1]).unwrap()));
    assert!(small.unwrap_err().to_string().contains("out"));
}
