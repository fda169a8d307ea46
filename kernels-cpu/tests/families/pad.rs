//! Tests of padding.

use dispatch_runtime::BadArgument;
use dispatch_runtime::{Result, Tensor};

fn row_of_three() -> Tensor {
    aten::view(&Tensor::from_slice(&[0.0_f32, 1.0, 2.0]), &[1, 1, 3]).unwrap()
}

fn padded_row(pad: &[i64], mode: &str) -> Vec<f32> {
    let result = aten::pad(&row_of_three(), pad, mode, None).unwrap();
    aten::alias_copy(&result).unwrap().to_vec::<f32>().unwrap()
}

fn argument_of_error(result: Result<Tensor>) -> String {
    let error = result.err().unwrap();
    std::error::Error::source(&error).unwrap().downcast_ref::<BadArgument>().unwrap().argument.to_string()
}

#[test]
fn all_padding_modes_equal_pytorch() {
    assert_eq!(padded_row(&[1, 2], "constant"), [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
    assert_eq!(padded_row(&[2, 1], "reflect"), [2.0, 1.0, 0.0, 1.0, 2.0, 1.0]);
    assert_eq!(padded_row(&[2, 1], "replicate"), [0.0, 0.0, 0.0, 1.0, 2.0, 2.0]);
    assert_eq!(padded_row(&[3, 2], "circular"), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]);
}

#[test]
fn negative_paddings_crop() {
    assert_eq!(padded_row(&[-2, 1], "constant"), [2.0, 0.0]);
    assert_eq!(padded_row(&[2, -4], "reflect"), [2.0]);
    assert_eq!(padded_row(&[-4, 6], "replicate"), [2.0; 5]);
    assert_eq!(padded_row(&[2, -1], "circular"), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(padded_row(&[-1, 2], "circular"), [1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn invalid_paddings_are_refused() {
    assert_eq!(argument_of_error(aten::pad(&row_of_three(), &[1], "constant", None)), "pad");
    assert_eq!(argument_of_error(aten::pad(&row_of_three(), &[-2, -2], "constant", None)), "pad");
    assert_eq!(argument_of_error(aten::pad(&row_of_three(), &[i64::MAX, i64::MAX], "constant", None)), "pad");
    assert_eq!(argument_of_error(aten::pad(&row_of_three(), &[4, 0], "circular", None)), "pad");
    assert_eq!(argument_of_error(aten::pad(&row_of_three(), &[1, 1], "wrap", None)), "mode");
    assert_eq!(argument_of_error(aten::pad(&row_of_three(), &[1, 1], "reflect", Some(1.0))), "value");
    assert_eq!(argument_of_error(aten::reflection_pad1d(&row_of_three(), &[3, 0])), "padding");
    assert_eq!(argument_of_error(aten::replication_pad1d(&row_of_three(), &[-2, -1])), "padding");
    assert_eq!(argument_of_error(aten::replication_pad1d(&row_of_three(), &[i64::MIN, i64::MIN])), "padding");
    assert_eq!(argument_of_error(aten::replication_pad2d(&row_of_three(), &[1, 1])), "padding");
}
