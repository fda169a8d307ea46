//! `Print`, the mode that prints calls.

use std::io::{self, Stdout, Write};
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{Error, Explanation, Result};

use crate::call::Call;
use crate::mode::Mode;

/// Prints every call before it runs: its arguments, its keys, and the kernel that computes it. Calls inside of a call are indented.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Print, enter};
/// use dispatch_runtime::{Result, Tensor};
///
/// # fn main() -> Result<()> {
/// let mut trace = Vec::new();
/// # let path = std::env::temp_dir().join(format!("trace-{}", std::process::id()));
/// # let file = std::fs::File::create(&path).unwrap();
/// {
///     let _on = enter(Print::with_writer(file));
///     let x = Tensor::from([[1.0, 2.0]]);
///     aten::linear(&x, &x, None)?;
/// }
/// # trace.extend(std::fs::read(&path).unwrap());
/// # std::fs::remove_file(&path).unwrap();
/// let trace = String::from_utf8(trace).unwrap();
/// let names: Vec<&str> = trace.lines().filter_map(|line| line.split('(').next()).collect();
/// assert_eq!(names[..2], ["aten::linear", "  aten::t"]);
/// assert!(trace.contains("CPU `mm` (kernels-cpu/products/src/"), "{trace}");
/// # Ok(())
/// # }
/// ```
pub struct Print<W = Stdout> {
    writer: Mutex<W>,
}

impl Print {
    /// Creates a mode that prints to the standard output.
    #[must_use]
    pub fn new() -> Self {
        Self::with_writer(io::stdout())
    }
}

impl Default for Print {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Write + Send> Print<W> {
    /// Creates a mode that prints to a writer. If writing fails, the call fails.
    pub fn with_writer(writer: W) -> Self {
        Self { writer: Mutex::new(writer) }
    }
}

impl<W: Write + Send> Mode for Print<W> {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let (name, arguments) = (call.operator().name(), call.arguments());
        let arguments: Vec<String> = arguments.iter().map(|argument| format!("{argument:?}")).collect();
        let (indent, arguments) = (2 * call.nesting_depth(), arguments.join(", "));
        let line =
            format!("{:indent$}{name}({arguments})  {}  {}\n", "", call.keys(), format_kernels(&call.explain_kernel()));
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()).map_err(Error::kernel)?;
        call.pass_on()
    }
}

/// Returns the kernel that computes the call, or all candidates if it is not known.
fn format_kernels(explanation: &Explanation) -> String {
    let sites = explanation.winner.iter().chain(explanation.candidates.iter().map(|(site, _)| site));
    let sites: Vec<String> = sites.map(ToString::to_string).collect();
    if sites.is_empty() { "no kernel".to_owned() } else { sites.join(" or ") }
}
