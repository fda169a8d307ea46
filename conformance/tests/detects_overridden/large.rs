//! Tests that the check of large calls finds kernels that are correct only for few elements.

use conformance::{Check, Suite};
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

/// Counts modulo 256, as a counter of eight bits does.
#[op_impl(aten::count_nonzero, CPU, override)]
fn count_nonzero_modulo_256(this: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let dims = dim.map_or_else(|| (0..).take(this.sizes().len()).collect(), |dim| vec![dim]);
    let is_set = aten::ne_scalar(this, Scalar::Int(0))?;
    let counts = aten::sum_dim_intlist(&is_set, Some(&dims), false, Some(DType::I64))?;
    aten::remainder_scalar(&counts, Scalar::Int(256))
}

/// Refuses `U8`, which PyTorch supports.
#[op_impl(aten::amin, CPU, override)]
fn amin_refusing_u8(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    if this.dtype() == DType::U8 {
        return Err(BadArgument::dtype("self", this.dtype(), "anything else").into());
    }
    aten::neg(&aten::amax(&aten::neg(this)?, dim, keepdim)?)
}

#[test]
fn a_refused_dtype_is_found_if_a_recorded_call_has_it() {
    let report = Suite::new(Device::CPU).only_operator("aten::amin").only_check(Check::Large).run().unwrap();
    let found: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    let of_bytes = |text: &&String| text.contains("uint8") && text.contains("anything else");
    assert_eq!(found.iter().filter(of_bytes).count(), 1, "{found:#?}");
}

fn count_nonzero_failures(check: Check) -> Vec<String> {
    let report = Suite::new(Device::CPU).only_operator("aten::count_nonzero").only_check(check).run().unwrap();
    assert!(report.tally(check).passed + report.failed_checks().len() > 0, "{report}");
    report.failed_checks().iter().map(ToString::to_string).collect()
}

#[test]
fn an_overflowing_counter_is_found_only_by_large_calls() {
    assert_eq!(count_nonzero_failures(Check::Values), Vec::<String>::new());
    let found = count_nonzero_failures(Check::Large);
    assert!(found.len() > 12, "{found:#?}");
    let text = &found[0];
    assert!(text.contains("float32: along 1 of [3, 23417]") && text.contains("has 81 at 0, expected 4177"), "{text}");
}
