//! Compares this framework with PyTorch, candle and burn, on one machine and in one run.
//!
//! A ratio is the peer's cost divided by ours, so above one we are better. `--only NAME` selects the lines whose workload, kind or peer
//! begins with the name. `--threads N` measures large tensors on N threads. Both options may be repeated.

mod bandwidth;
mod memory;
mod options;
mod program;
mod row;
mod running_program;
mod small_calls;
mod throughput;
mod timing;
mod training;
mod workloads;

use std::process::ExitCode;

use measure::{Result, table};

use options::Options;
use program::Programs;
use row::Row;

fn main() -> ExitCode {
    match run_comparison() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_comparison() -> Result<()> {
    let options = Options::parse(std::env::args().skip(1))?;
    let programs = Programs::build()?;
    let mut rows = small_calls::measure_instructions(&programs, &options);
    rows.extend(small_calls::measure_times(&programs, &options)?);
    rows.extend(throughput::measure_throughput(&programs, &options)?);
    rows.extend(training::measure_training(&programs, &options)?);
    rows.extend(memory::measure_memory(&programs, &options)?);
    println!();
    table::print_table(Row::HEADER, &rows.iter().map(Row::cells).collect::<Vec<_>>());
    let missed = rows.iter().filter(|row| row.misses_target()).count();
    println!("{missed} of {} lines miss their target.", rows.len());
    for note in programs.notes() {
        println!("{note}");
    }
    Ok(())
}
