//! Tests of scalar arguments at the limits of dtypes, against PyTorch's results.

use std::error::Error as _;

use conformance::{Check, Suite};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Bool};

use crate::assert_no_failures;

#[test]
fn golden_scalars_out_of_range_are_refused_and_others_are_converted() {
    let report = Suite::new(Device::CPU).only_check(Check::Numbers).run_on_devices(&[Device::CPU; 2]).unwrap();
    assert_no_failures(&report);
    let tally = report.tally(Check::Numbers);
    assert!(tally.passed > 4000, "{report}");
    assert_eq!(tally.not_implemented, 0, "{report}");
}

#[test]
fn the_error_names_argument_scalar_and_dtype() {
    let error = aten::full(&[1], 300.into(), Some(DType::U8), None, None, None).unwrap_err();
    let refused: &BadArgument = error.source().and_then(|source| source.downcast_ref()).unwrap();
    assert_eq!(*refused, BadArgument::overflow("fill_value", Scalar::Int(300), DType::U8));
}

#[test]
fn a_refused_scalar_writes_nothing() -> Result<()> {
    let mut x = Tensor::from_slice(&[1_u8, 2]);
    let version = x.storage().version();
    assert!(aten::fill__scalar(&mut x, 300.into()).is_err());
    assert!(aten::masked_fill__scalar(&mut x, &Tensor::from_slice(&[Bool::from(true); 2]), 300.into()).is_err());
    assert_eq!((x.read::<u8>()?.to_vec(), x.storage().version()), (vec![1, 2], version));
    Ok(())
}

#[test]
fn a_cast_of_a_tensor_wraps() -> Result<()> {
    let wrapped = aten::to_dtype(&Tensor::from_slice(&[300_i64]), DType::U8, false, false, None)?;
    assert_eq!(wrapped.read::<u8>()?[..], [44]);
    Ok(())
}
