//! Tests of lazy conjugates and negatives: their keys, views of them, and writes through them.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, guard};

fn complex_vector() -> Tensor {
    Tensor::from([[1.0, 2.0], [3.0, -4.0]]).view_as_complex().unwrap()
}

fn elements(z: &Tensor) -> Vec<(f64, f64)> {
    z.to_vec::<Complex64>().unwrap().into_iter().map(|z| (z.re, z.im)).collect()
}

#[test]
fn a_conjugate_has_the_key_and_two_have_none() {
    let z = complex_vector();
    let conjugate = z.conj().unwrap();
    assert!(
        aten::is_conj(&conjugate).unwrap()
            && conjugate.keys().has(keys::Conjugate)
            && !aten::is_neg(&conjugate).unwrap()
    );
    assert!(!aten::is_conj(&conjugate.conj().unwrap()).unwrap());
    assert!(
        !aten::is_conj(&conjugate.resolve_conj().unwrap()).unwrap()
            && conjugate.resolve_neg().unwrap().same(&conjugate)
    );
    assert!(aten::is_neg(&conjugate.imag().unwrap()).unwrap() && !aten::is_neg(&conjugate.real().unwrap()).unwrap());
    assert_eq!(elements(&conjugate), [(1.0, -2.0), (3.0, 4.0)]);
    assert_eq!(conjugate.select(0, 0).unwrap().item::<Complex64>().unwrap(), Complex64::new(1.0, -2.0));
    assert_eq!(aten::item(&conjugate.imag().unwrap().select(0, 1).unwrap()).unwrap(), Scalar::Float(4.0));
    assert_eq!(conjugate.to_string(), "tensor([1.-2.j, 3.+4.j], dtype=complex128)");
}

#[test]
fn views_keep_the_bit_and_other_results_have_none() {
    let conjugate = complex_vector().conj().unwrap();
    for view in [conjugate.select(0, 1), conjugate.view([2, 1]), conjugate.detach(), conjugate.t(), conjugate.real()] {
        let view = view.unwrap();
        assert_eq!(aten::is_conj(&view).unwrap(), view.dtype().is_complex());
    }
    let sum = (&conjugate + &conjugate).unwrap();
    assert!(!aten::is_conj(&sum).unwrap());
    assert_eq!(elements(&sum), [(2.0, -4.0), (6.0, 8.0)]);
    assert_eq!(
        elements(&conjugate.view([2, 1]).unwrap().mm(&conjugate.view([1, 2]).unwrap()).unwrap())[3],
        (-7.0, 24.0)
    );
}

#[test]
fn writes_go_through_the_bit() {
    let z = complex_vector();
    let mut conjugate = z.conj().unwrap();
    conjugate.add_(Complex64::new(0.0, 1.0)).unwrap();
    assert!(aten::is_conj(&conjugate).unwrap());
    assert_eq!(elements(&z), [(1.0, 1.0), (3.0, -5.0)]);
    aten::mul_out(&z, &z, &mut conjugate).unwrap();
    assert_eq!(elements(&conjugate), [(0.0, 2.0), (-16.0, -30.0)]);
    conjugate.copy_(&Tensor::from([5.0, 6.0])).unwrap();
    aten::fill__scalar(&mut conjugate.imag().unwrap(), 7.into()).unwrap();
    assert_eq!(elements(&conjugate), [(5.0, 7.0), (6.0, 7.0)]);
    assert_eq!(elements(&z), [(5.0, -7.0), (6.0, -7.0)]);
}

#[test]
fn writes_to_a_part_go_through_the_bit() {
    let numbers: Vec<Complex64> = (0..6_u8).map(|i| Complex64::new(i.into(), 1.0)).collect();
    let z = Tensor::from_slice(&numbers).view([2, 3]).unwrap();
    let factor = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let part = z.conj().unwrap().narrow(1, 1, 2).unwrap();
    part.mul_(&factor).unwrap();
    let expected = [(0.0, 1.0), (1.0, 1.0), (4.0, 2.0), (3.0, 1.0), (12.0, 3.0), (20.0, 4.0)];
    assert_eq!(elements(&z), expected);
    part.t().unwrap().copy_(&factor).unwrap();
    assert_eq!(elements(&part), [(1.0, 0.0), (3.0, 0.0), (2.0, 0.0), (4.0, 0.0)]);
}

#[test]
fn a_tensor_can_be_copied_to_its_own_conjugate() {
    let z = complex_vector();
    let conjugate = z.conj().unwrap();
    z.copy_(&conjugate).unwrap();
    assert_eq!(elements(&z), [(1.0, -2.0), (3.0, 4.0)]);
}

#[test]
fn a_view_in_place_keeps_the_bit() {
    let mut conjugate = complex_vector().view([2, 1]).unwrap().conj().unwrap();
    aten::t_(&mut conjugate).unwrap();
    assert!(aten::is_conj(&conjugate).unwrap() && conjugate.sizes() == [1, 2]);
    aten::resize_(&mut conjugate, &[1], None).unwrap();
    assert_eq!(elements(&conjugate), [(1.0, -2.0)]);
}

#[test]
fn other_dtypes_are_no_views_of_lazy_tensors() {
    let conjugate = complex_vector().conj().unwrap();
    for result in [conjugate.view_as_real(), conjugate.view_dtype(DType::F64)] {
        assert!(result.unwrap_err().to_string().contains("resolve_conj"));
    }
    let negative = aten::_neg_view(&Tensor::from([1.0, 2.0])).unwrap();
    assert!(negative.view_dtype(DType::I64).unwrap_err().to_string().contains("resolve_neg"));
    assert!(aten::_conj(&negative).is_err() && aten::_neg_view(&Tensor::from([true])).is_err());
    let pairs = aten::_neg_view(&Tensor::from([[1.0, 2.0]])).unwrap();
    assert_eq!(elements(&pairs.view_as_complex().unwrap()), [(-1.0, -2.0)]);
}

#[test]
fn queries_in_inference_mode_see_the_bit() {
    let _inference = guard::inference_mode();
    let z = complex_vector();
    let last = z.narrow(0, 1, 1).unwrap().conj().unwrap();
    assert!(aten::is_conj(&last).unwrap());
    assert_eq!((aten::storage_offset(&last).unwrap(), aten::is_set_to(&last, &last).unwrap()), (1, true));
    assert_eq!(elements(&last), [(3.0, 4.0)]);
    assert_eq!((&last * &last).unwrap().to_vec::<Complex64>().unwrap(), [Complex64::new(-7.0, 24.0)]);
}

#[test]
fn booleans_ignore_the_sign() {
    let flags = Tensor::from([false, false]);
    flags.copy_(&aten::_neg_view(&Tensor::from([0.0, 2.0])).unwrap()).unwrap();
    assert_eq!(flags.to_string(), "tensor([false,  true])");
}
