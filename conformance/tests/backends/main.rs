//! Tests of the backends against recordings and against each other. They are one program, so that they run at the same time, and kernels for
//! the emulator are loaded once.

mod batch_rules;
mod contracts;
mod cpu;
mod cuda;
mod devices;
mod fuzz_found;
mod gradients;
mod large;
mod large_cuda;
mod numbers;
mod recordings;
mod schemas;

use conformance::Report;
// Links the backends under test.
use {kernels_cpu as _, kernels_cuda as _};

/// Panics with all failed checks of a report if there are any.
#[track_caller]
fn assert_no_failures(report: &Report) {
    let failed: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
}
