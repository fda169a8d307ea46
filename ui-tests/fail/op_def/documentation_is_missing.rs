//! An operator without docs.
#![deny(missing_docs)]

use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
