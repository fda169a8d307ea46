//! One suite that every backend of opdispatch is held to.
//!
//! The ground truth is a recording of calls that PyTorch made: arguments, results, and written arguments afterwards. The suite makes
//! the same calls through the boxed door, on any device, and holds the outcome to the recording (values within the tolerances of
//! `torch.testing`, dtypes, sizes and strides) and to the operator's own schema (what shares memory, what is written).
//!
//! ```no_run
//! let report = conformance::run(dispatch_runtime::Device::CPU)?;
//! for failed in report.failed() {
//!     println!("{failed}");
//! }
//! # Ok::<(), conformance::Error>(())
//! ```
//!
//! An operator that no crate of the program defines, or that has no kernel for the device, is not implemented, which is no failure.
//! The recordings are part of this crate; the variable `DISPATCH_GOLDEN` names a folder with others.
#![forbid(unsafe_code)]

mod aliasing;
mod array;
mod batches;
mod case;
mod compare;
mod datum;
mod decode;
mod derive;
mod error;
pub mod fuzz;
mod gradients;
pub mod large;
mod meta;
mod numbers;
mod recording;
mod report;
mod storage_offset;
mod suite;
mod tensors;
mod ties;
mod trace;
mod unrecorded;
mod verdict;

pub use array::Array;
pub use compare::{Difference, Tolerance, compare};
pub use datum::Datum;
pub use decode::{arguments, results};
pub use error::{Error, Result};
pub use recording::{Call, core_operators, recorded_calls};
pub use report::{Check, Failed, Report, Row, State, Tally, UnknownCheck};
pub use suite::Suite;
pub use verdict::{Failure, Verdict};

use dispatch_runtime::Device;

// Their operators are under test, and nothing here names one.
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
/// Where the recordings cannot be read.
pub fn run(device: Device) -> Result<Report> {
    Suite::new(device).run()
}

/// The chapter of the guide about this crate, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/src/checking.md")]
struct Checking;
