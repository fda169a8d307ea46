//! Peak memory of a work.

use std::process::Stdio;

use measure::Result;

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::row::{Row, Unit};
use crate::training;
use crate::works::works;

/// A small work that runs before each measurement, so that one-time allocations are not counted.
const WARM_UP: &str = "train mlp64";

/// Measures the peak memory of each work, without the memory that the program has after the warm-up.
pub(crate) fn rows(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let steps = training::WORKS.iter().map(|(work, _)| (*work).to_owned()).filter(|work| work != WARM_UP);
    let works = steps.chain(works().map(|(work, _)| work));
    for work in works.filter(|work| options.want(&[work, "memory"])) {
        for &threads in &options.threads {
            let Some(ours) = most(&programs.ours, &work, threads)? else { continue };
            for (_, program) in training::others(programs) {
                let theirs = most(program, &work, threads)?;
                let measure = format!("memory, {}", Row::on(threads));
                rows.extend(theirs.map(|theirs| {
                    Row::new(&work, &measure, &program.name, [ours, theirs], Unit::Bytes, 1.0).announced()
                }));
            }
        }
    }
    Ok(rows)
}

/// Returns the peak memory in bytes, or `None` if the program does not know the work or cannot measure it.
fn most(program: &Program, work: &str, threads: usize) -> Result<Option<f64>> {
    let output = program.command(threads).args(["memory", WARM_UP, work]).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{} did not say how much memory `{work}` takes", program.name).into());
    }
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(if answer == "-" { None } else { Some(answer.parse()?) })
}
