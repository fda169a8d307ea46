//! The conformance suite: compares every backend of opdispatch with calls that were recorded from PyTorch.
//!
//! A recording has the arguments and results of a call that PyTorch made, and the written arguments after the call. The suite makes the
//! same calls through the boxed interface, on any device. It compares dtypes, sizes, strides and values (within the tolerances of
//! `torch.testing`) with the recording. It compares shared memory and written arguments with the operator's own schema.
//!
//! ```no_run
//! let report = conformance::run(dispatch_runtime::Device::CPU)?;
//! for failed in report.failed_checks() {
//!     println!("{failed}");
//! }
//! # Ok::<(), conformance::Error>(())
//! ```
//!
//! An operator counts as not implemented, which is no failure, if no crate of the program defines it or it has no kernel for the device.
//! The recordings are part of this crate. The environment variable `DISPATCH_GOLDEN` names a folder with other recordings.
#![forbid(unsafe_code)]

mod as_strided_offset;
#[cfg(feature = "command-line")]
pub mod command_line;
mod decode;
mod error;
pub mod fuzz;
mod generated_calls;
pub mod large;
mod recorded_case;
mod recording;
mod report;
mod scalar_calls;
mod suite;
mod unrecorded;

pub use decode::{decode_arguments, decode_results};
pub use dispatch_checks::plumbing::{Array, Datum, Tolerance, compare};
pub use dispatch_checks::{Check, Difference, Failure, UnknownCheck, Verdict};
pub use error::{Error, Result};
pub use recording::{Call, core_operators, recorded_calls};
pub use report::{FailedCheck, OperatorRow, OperatorState, Report, Tally};
pub use suite::{Progress, Suite};

use dispatch_runtime::Device;

// Links the operators under test: nothing here names one.
use aten as _;

/// Runs every check of every recorded call on a device.
///
/// ```no_run
/// let report = conformance::run(dispatch_runtime::Device::CPU)?;
/// println!("{report}");
/// # Ok::<(), conformance::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the recordings cannot be read.
pub fn run(device: Device) -> Result<Report> {
    Suite::new(device).run()
}
