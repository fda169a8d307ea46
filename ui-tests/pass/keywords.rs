//! Tests operators and arguments whose names are Rust keywords.
#![forbid(unsafe_code)]
#![deny(warnings)]

use dispatch_runtime::prelude::*;

/// An operator whose name is a keyword.
#[op_def("type(Tensor self, *, Generator? gen=None, int r=1, bool async=False) -> Tensor")]
pub fn r#type(this: &Tensor, r#gen: Option<&Generator>, r: i64, r#async: bool) -> Result<Tensor>;

#[op_impl(r#type, CPU)]
fn type_cpu(this: &Tensor, r#gen: Option<&Generator>, r: i64, r#async: bool) -> Tensor {
    assert!(r#gen.is_none() && r == 2 && r#async);
    this.clone()
}

/// An operator whose name is a keyword.
#[op_def]
pub fn r#match(this: &Tensor, r#fn: i64) -> Result<Tensor> {
    r#type!(this, r#async = r#fn == 3, r = 2)
}

/// An operator whose name is a keyword.
#[op_def("yield.type(Tensor self) -> Tensor")]
pub fn yield_type(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// An operator whose name is a keyword.
#[op_def("r.loop(Tensor self) -> Tensor")]
pub fn r_loop(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[test]
fn keywords_are_operator_and_argument_names() -> Result<()> {
    let x = Tensor::from_slice(&[1.0_f32]);
    r#type!(&x, gen = None, r = 2, async = true)?;
    r#type!(&x, r#async = true, r#gen = None, r = 2)?;
    r#match!(&x, fn = 3)?;
    yield_type!(&x)?;
    r_loop(&x)?;
    Ok(())
}
