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

mod aliasing;
mod array;
mod as_strided_offset;
mod batches;
mod case;
#[cfg(feature = "command-line")]
pub mod command_line;
mod compare;
mod datum;
mod decode;
mod derived_calls;
mod error;
pub mod fuzz;
mod gradients;
pub mod large;
mod meta;
mod reconstruction;
mod recording;
mod report;
mod scalar_calls;
mod suite;
mod tensors;
mod ties;
mod trace;
mod unrecorded;
mod verdict;

pub use array::Array;
pub use compare::{Difference, Tolerance, compare};
pub use datum::Datum;
pub use decode::{decode_arguments, decode_results};
pub use error::{Error, Result};
pub use recording::{Call, core_operators, recorded_calls};
pub use report::{Check, FailedCheck, OperatorRow, OperatorState, Report, Tally, UnknownCheck};
pub use suite::{Progress, Suite};
pub use verdict::{Failure, Verdict};

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

/// The guide's chapter about this crate: its examples are compiled and run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/src/checking.md")]
struct CheckingChapter;
