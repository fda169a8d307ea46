//! A crate that depends on the facade alone, and uses every macro where the usual names mean something else.
//!
//! So expansions find all that they use in the facade, by absolute paths.
#![forbid(unsafe_code)]
#![allow(
    non_camel_case_types,
    dead_code,
    unused_imports,
    unused_macros,
    clippy::unnecessary_wraps,
    reason = "the names are there only to be in the way"
)]

/// Replaces macros of the standard library.
macro_rules! hide_macros {
    ($($name:ident)*) => {$(
        macro_rules! $name {
            ($anything:tt) => { this expansion uses a macro without its path };
        }
    )*};
}

hide_macros! { assert concat file format line module_path panic stringify unreachable vec }

/// Types, values and modules with the names that expansions might use.
mod other_meanings {
    macro_rules! hide_names {
        ($($name:ident)*) => { $(pub(crate) struct $name;)* };
    }

    hide_names! {
        Err None Ok Some
        Box Clone Copy Default Drop From Fn FnOnce Into Iterator Option Result Send Sized String Sync Vec
        bool f32 f64 i64 str u64 u8 usize
        Backend DType Derivative Device Error FallbackRecord Kernel KernelRecord KeySet Location Mapped Operation Operator Plan
        PlanList Planned Record RuleRecord Scalar Spec Stack TableRef Tensor Value
    }

    pub(crate) mod core {}
    pub(crate) mod std {}
    pub(crate) mod dispatch_runtime {}
    pub(crate) mod __private {}
}

mod backends_and_layers;
mod operators;

pub use operators::{describe, doubled, halved, product, repeated, shifted, sum_all, total};

#[cfg(test)]
mod tests {
    use opdispatch::backend::{guard, verify};
    use opdispatch::prelude::*;

    use super::backends_and_layers::{TPU, Watcher};
    use super::operators::{ROW, call_by_name};

    #[test]
    fn registrations_are_sound() {
        let findings = verify();
        std::assert!(findings.is_empty(), "{findings:#?}");
    }

    #[test]
    fn forms_derivatives_and_batch_rules_work() -> Result<()> {
        let x = Tensor::from([1.0, 2.0]).requires_grad_(true)?;
        super::doubled(&x)?.sum()?.backward()?;
        assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [2.0, 2.0]);
        let rows = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(opdispatch::vmap::vmap(super::doubled, &rows)?.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(super::product(&rows, &rows)?.to_vec::<f64>()?, [7.0, 10.0, 15.0, 22.0]);
        assert_eq!(super::sum_all!(&rows, dim = 0)?.to_vec::<f64>()?, [4.0, 6.0]);
        let mut list = [Tensor::from([1.0])];
        super::operators::total_(&mut list)?;
        assert_eq!(list[0].to_vec::<f64>()?, [2.0]);
        let mut out = Tensor::from([0.0; 4]);
        super::operators::repeated_out(&Tensor::from([1.0, 2.0]), 2, &mut out)?;
        assert_eq!(out.to_vec::<f64>()?, [1.0, 2.0, 1.0, 2.0]);
        assert_eq!(super::halved(&rows)?.to_vec::<f64>()?, [0.5]);
        assert_eq!(super::halved(&rows.to(Device::META)?)?.sizes(), [1]);
        Ok(())
    }

    #[test]
    fn named_calls_and_policies_work() -> Result<()> {
        assert_eq!(&*call_by_name()?, "mean -inf 0+1i Some([0.5])");
        assert_eq!(ROW, "doubled");
        let _on = opdispatch::autocast::enable(Device::CPU, DType::BF16)?;
        let x = Tensor::from([[1.0_f32]]);
        assert_eq!(super::product(&x, &x)?.dtype(), DType::BF16);
        std::assert!(super::halved(&x).unwrap_err().to_string().contains("use `doubled`"));
        Ok(())
    }

    #[test]
    fn keys_services_and_fallbacks_are_registered() -> Result<()> {
        let device = Device::new(TPU).unwrap();
        std::assert!(device.task_runner().is_some() && device.fuser().is_some());
        std::assert!(Tensor::from([1.0]).to(device).unwrap_err().to_string().contains("this device has no memory"));
        let _watching = guard::include(Watcher.into());
        assert_eq!(super::repeated(&Tensor::from([1.0]), 2)?.sizes(), [2]);
        Ok(())
    }
}
