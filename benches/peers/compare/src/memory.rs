//! Peak memory of a workload.

use std::process::Stdio;

use measure::Result;

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::row::{Row, Unit};
use crate::training;
use crate::workloads::workloads_with_targets;

/// A small workload that runs before each measurement, so that one-time allocations are not counted.
const WARM_UP_WORKLOAD: &str = "train mlp64";

/// Measures the peak memory of each workload, without the memory that the program has after the warm-up.
pub(crate) fn measure_memory(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let training_steps = training::TRAINING_WORKLOADS
        .iter()
        .map(|(workload, _)| (*workload).to_owned())
        .filter(|workload| workload != WARM_UP_WORKLOAD);
    let workloads = training_steps.chain(workloads_with_targets().map(|(workload, _)| workload));
    for workload in workloads.filter(|workload| options.selects_line(&[workload, "memory"])) {
        for &threads in &options.threads {
            let Some(ours) = measure_peak_memory_of_workload(&programs.ours, &workload, threads)? else { continue };
            for (_, program) in training::peers_that_train(programs) {
                let theirs = measure_peak_memory_of_workload(program, &workload, threads)?;
                let measure = format!("memory, {}", Row::thread_count_text(threads));
                rows.extend(theirs.map(|theirs| {
                    Row::new(&workload, &measure, &program.name, [ours, theirs], Unit::Bytes, 1.0).print_to_stderr()
                }));
            }
        }
    }
    Ok(rows)
}

/// Returns the peak memory in bytes, or `None` if the program does not know the workload or cannot measure it.
fn measure_peak_memory_of_workload(program: &Program, workload: &str, threads: usize) -> Result<Option<f64>> {
    let output =
        program.command(threads).args(["memory", WARM_UP_WORKLOAD, workload]).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{} failed to measure the memory of `{workload}`", program.name).into());
    }
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(if answer == "-" { None } else { Some(answer.parse()?) })
}
