//! Tests operators in modules, behind re-exports, in functions, and with similar names.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;
use myops::{self as operators, mymul as times, square};

/// Operators in modules, with re-exports.
pub mod outer {
    /// A nested module.
    pub mod inner {
        use dispatch_runtime::prelude::*;

        // The kernel comes before the definition: the order does not matter.
        #[op_impl(doubled, CPU)]
        fn doubled_cpu(this: &Tensor, _: i64) -> Result<Tensor> {
            Ok(this.clone())
        }

        /// Doubles a tensor.
        #[op_def("doubled(Tensor self, int times=2) -> Tensor")]
        pub fn doubled(this: &Tensor, times: i64) -> Result<Tensor>;

        #[op_def("visible_in_outer(Tensor self) -> Tensor")]
        pub(super) fn visible_in_outer(this: &Tensor) -> Result<Tensor>;

        #[op_impl(self::visible_in_outer, CPU)]
        fn hidden_cpu(this: &Tensor) -> Result<Tensor> {
            Ok(this.clone())
        }
    }

    #[op_impl(inner::visible_in_outer, CUDA)]
    fn hidden_cuda(this: &dispatch_runtime::Tensor) -> dispatch_runtime::Result<dispatch_runtime::Tensor> {
        Ok(this.clone())
    }

    use dispatch_runtime::op_impl;
    pub use inner::doubled as twice;

    /// Calls an operator that only this module sees.
    ///
    /// # Errors
    ///
    /// Returns an error if the operator does.
    pub fn visible_in_outer(x: &dispatch_runtime::Tensor) -> dispatch_runtime::Result<dispatch_runtime::Tensor> {
        use inner::visible_in_outer;
        visible_in_outer!(x)
    }
}

pub use outer::inner::doubled;

#[op_impl(times, CPU)]
fn mymul_cpu(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(operators::scale_, CPU)]
fn scale_cpu(_: &mut Tensor, _: f64) {}

#[op_impl(::myops::total, CPU)]
fn total_cpu(tensors: &[Tensor], _: Option<&[f64]>) -> Tensor {
    tensors[0].clone()
}

#[op_impl(crate::outer::twice, CUDA)]
fn doubled_cuda(this: &Tensor, _times: i64) -> Result<Tensor> {
    Ok(this.clone())
}

/// A kernel with the name of its operator.
#[op_impl(myops::weighted, CPU)]
fn weighted(this: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
    assert!(weight.is_some());
    Ok(this.clone())
}

#[op_def("crate_private(Tensor self) -> Tensor")]
fn crate_private(this: &Tensor) -> Result<Tensor>;

#[op_impl(crate_private, CPU)]
fn crate_private_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("type(int type) -> int")]
fn r#type(r#type: i64) -> Result<i64>;

#[op_impl(r#type)]
fn type_any(r#type: i64) -> i64 {
    r#type
}

/// Operators whose names differ only in dots and colons.
pub mod dots {
    /// An operator with the whole name in its base name.
    pub mod name_in_base {
        use dispatch_runtime::prelude::*;

        /// Sums over dimensions, in name only.
        #[op_def("sum_dim.IntList() -> int")]
        pub fn sum_dim_intlist() -> Result<i64> {
            Ok(1)
        }

        /// An operator of another namespace.
        #[op_def("naming_sum::dim.IntList() -> int")]
        pub fn dim_intlist() -> Result<i64> {
            Ok(2)
        }
    }

    /// An operator with part of the name in its overload.
    pub mod name_in_overload {
        use dispatch_runtime::prelude::*;

        /// Sums over dimensions, in name only.
        #[op_def("sum.dim_IntList() -> int")]
        pub fn sum_dim_intlist() -> Result<i64> {
            Ok(3)
        }
    }
}

fn one_element_tensor() -> Tensor {
    Tensor::from_slice(&[1.0_f32])
}

#[test]
fn an_operator_may_be_imported_under_another_name() -> Result<()> {
    times(&one_element_tensor(), &one_element_tensor())?;
    times!(&one_element_tensor(), other = &one_element_tensor())?;
    square(&one_element_tensor())?;
    operators::scale_!(&mut one_element_tensor())?;
    assert_eq!(times::operator().name().to_string(), "myops::mymul");
    myops::total!(&[one_element_tensor()])?;
    myops::weighted(&one_element_tensor(), Some(&one_element_tensor()))?;
    Ok(())
}

#[test]
fn modules_are_not_part_of_operator_names() -> Result<()> {
    doubled(&one_element_tensor(), 1)?;
    outer::twice!(&one_element_tensor())?;
    outer::inner::doubled!(&one_element_tensor(), times = 3)?;
    outer::visible_in_outer(&one_element_tensor())?;
    assert_eq!(outer::twice::operator().name().to_string(), "naming::doubled");
    crate_private!(&one_element_tensor())?;
    assert_eq!(r#type!(7)?, 7);
    Ok(())
}

#[test]
fn operator_names_that_differ_only_in_dots_do_not_clash() -> Result<()> {
    let called = [
        dots::name_in_base::sum_dim_intlist()?,
        dots::name_in_base::dim_intlist()?,
        dots::name_in_overload::sum_dim_intlist()?,
    ];
    assert_eq!(called, [1, 2, 3]);
    Ok(())
}

#[test]
fn an_operator_may_be_defined_in_a_function() -> Result<()> {
    #[op_impl(local, CPU)]
    fn local_cpu(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    #[op_def("local(Tensor self) -> Tensor")]
    fn local(this: &Tensor) -> Result<Tensor>;

    #[op_def("local_square(Tensor self) -> Tensor")]
    fn local_square(this: &Tensor) -> Result<Tensor> {
        local(this)
    }

    local(&one_element_tensor())?;
    local!(&one_element_tensor())?;
    local_square!(&one_element_tensor())?;
    local::call_for(keys::CPU, &one_element_tensor())?;
    Ok(())
}

mod private_module {
    pub(crate) mod nested {
        use dispatch_runtime::prelude::*;

        #[op_def("private_operator(Tensor self, int n=4) -> int")]
        pub(crate) fn private_operator(_this: &Tensor, n: i64) -> Result<i64> {
            Ok(n)
        }

        #[op_def("public_operator(Tensor self, int n=5) -> int")]
        pub fn public_operator(_this: &Tensor, n: i64) -> Result<i64> {
            Ok(n)
        }
    }

    pub(crate) use nested::private_operator as reexported;
}

#[test]
fn the_named_form_works_in_private_modules_and_under_other_names() -> Result<()> {
    use private_module::nested::public_operator as imported;
    assert_eq!(private_module::nested::private_operator!(&one_element_tensor())?, 4);
    assert_eq!(private_module::reexported!(&one_element_tensor(), n = 6)?, 6);
    assert_eq!(imported!(&one_element_tensor())?, 5);
    Ok(())
}

/// An operator beside imports of all names of the crate, which include its exported macro.
pub mod beside_imports_of_all_names {
    use crate::*;

    /// Copies a tensor.
    #[op_def("beside_imports(Tensor self, int n=6) -> int")]
    pub fn beside_imports(_this: &Tensor, n: i64) -> Result<i64> {
        Ok(n)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[op_def("nested_beside_imports(Tensor self, int n=7) -> int")]
        pub(super) fn nested_beside_imports(_this: &Tensor, n: i64) -> Result<i64> {
            Ok(n)
        }

        #[test]
        fn the_named_form_works_beside_imports_of_all_names() -> Result<()> {
            assert_eq!(beside_imports!(&one_element_tensor())?, 6);
            assert_eq!(nested_beside_imports!(&one_element_tensor())?, 7);
            Ok(())
        }
    }
}
