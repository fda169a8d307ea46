//! Tests of complex views: complex numbers share memory with their real and imaginary parts.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

fn tensor_of_pairs() -> Tensor {
    Tensor::from([[1.0, 2.0], [3.0, -4.0], [5.0, 0.0]])
}

#[test]
fn view_as_complex_and_view_as_real_share_memory() {
    let pairs = tensor_of_pairs();
    let z = pairs.view_as_complex().unwrap();
    assert_eq!((z.dtype(), z.sizes(), z.strides()), (DType::C128, &[3_i64][..], &[1_i64][..]));
    let back = aten::slice(&z, 0, Some(1), None, 1).unwrap().view_as_real().unwrap();
    assert_eq!(back.to_vec::<f64>().unwrap(), [3.0, -4.0, 5.0, 0.0]);
    aten::fill__scalar(&mut back.select(-1, 1).unwrap(), 7.into()).unwrap();
    assert_eq!(pairs.to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 7.0, 5.0, 7.0]);
}

#[test]
fn view_as_complex_refuses_other_layouts() {
    let whole = Tensor::arange(0..8, DType::F64).unwrap();
    for pairs in [
        // Refused layouts: no pairs, not contiguous, an odd offset, odd strides, integers, and no dimension.
        whole.view([2, 4]).unwrap(),
        whole.view([2, 4]).unwrap().t().unwrap(),
        whole.as_strided((3, 2), (2, 1), 1).unwrap(),
        whole.as_strided((2, 2), (3, 1), 0).unwrap(),
        Tensor::from([[1_i64, 2]]),
        Tensor::from(1.0),
    ] {
        let error = pairs.view_as_complex().unwrap_err().to_string();
        assert!(error.contains("`self`"), "{error}");
    }
    assert!(whole.view_as_real().unwrap_err().to_string().contains("complex"));
}

#[test]
fn parts_and_conjugates_are_views() {
    let mut z = tensor_of_pairs().view_as_complex().unwrap();
    let conjugate = z.conj().unwrap();
    let imag = conjugate.imag().unwrap();
    assert_eq!(imag.to_vec::<f64>().unwrap(), [-2.0, 4.0, 0.0]);
    assert!([&z.real().unwrap(), &conjugate, &imag].iter().all(|view| view.storage().same(z.storage())));
    aten::conj_physical_(&mut z).unwrap();
    assert_eq!(z.imag().unwrap().to_vec::<f64>().unwrap(), [-2.0, 4.0, 0.0]);
    assert_eq!(imag.to_vec::<f64>().unwrap(), [2.0, -4.0, 0.0]);
}

#[test]
fn real_and_conj_of_a_real_tensor_return_it() {
    let x = tensor_of_pairs();
    assert!(x.real().unwrap().same(&x) && x.conj().unwrap().same(&x));
    assert_eq!(aten::conj_physical(&x).unwrap().to_vec::<f64>().unwrap(), x.to_vec::<f64>().unwrap());
    assert!(x.imag().is_err());
}
