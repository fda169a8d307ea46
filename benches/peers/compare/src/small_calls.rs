//! The cost of calls on tensors of one element, without the loop around them.

use measure::{Result, single_step};

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::row::{Row, Unit};
use crate::running_program::RunningProgram;
use crate::timing::time_alternately;

/// For each call: its name, PyTorch 2.15's published instructions, our maximum number of instructions, and our maximum fraction of
/// PyTorch's time.
const SMALL_CALL_TARGETS: [(&str, f64, f64, f64); 8] = [
    ("add", 5312.0, 500.0, 0.3),
    ("add out=", 4222.0, 300.0, 0.3),
    ("add_", 3767.0, 300.0, 0.3),
    ("add, recorded", 9230.0, 1200.0, 0.4),
    ("relu", 5144.0, 450.0, 0.3),
    ("mm 1x1", 5597.0, 800.0, 0.3),
    ("empty({1})", 2800.0, 250.0, 0.3),
    ("view", 2673.0, 250.0, 0.3),
];
/// The maximum number of instructions that linking autograd may add to a call that autograd does not record.
const MAX_LINKED_AUTOGRAD_OVERHEAD: f64 = 60.0;
/// The workload that does nothing. It is subtracted, so that the loop is not counted.
const EMPTY_WORKLOAD: &str = "empty function";
/// Computes the minimum ratio of times from the maximum fraction of PyTorch's time.
type FractionToRatioFn = fn(f64) -> f64;
/// The targets for times: well ahead of PyTorch, by the given fraction, and ahead of candle and burn.
const MIN_TIME_RATIOS: [FractionToRatioFn; 3] = [|fraction| 1.0 / fraction, |_| 1.0 / 0.9, |_| 1.0];

/// Counts instructions of calls exactly, by single-stepping the programs.
pub(crate) fn measure_instructions(programs: &Programs, options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for (workload, published, max_instructions, _) in SMALL_CALL_TARGETS {
        if !options.selects_line(&[workload, "instructions"]) {
            continue;
        }
        eprintln!("{workload}: instructions");
        let Some(ours) = count_instructions(&programs.ours, workload) else { continue };
        let pytorch = programs.pytorch_calls.as_ref().and_then(|program| count_instructions(program, workload));
        let pytorch = pytorch.map_or(("PyTorch, published", Some(published)), |counted| ("PyTorch", Some(counted)));
        let [candle, burn, without_autograd] = [&programs.candle, &programs.burn, &programs.without_autograd]
            .map(|program| (program.name.as_str(), count_instructions(program, workload)));
        let min_ratio = without_autograd
            .1
            .map_or(1.0, |without_autograd| without_autograd / (without_autograd + MAX_LINKED_AUTOGRAD_OVERHEAD));
        for ((peer, theirs), target) in [pytorch, candle, burn, without_autograd].into_iter().zip([
            published / max_instructions,
            1.0,
            1.0,
            min_ratio,
        ]) {
            rows.extend(
                theirs
                    .map(|theirs| Row::new(workload, "instructions", peer, [ours, theirs], Unit::Instructions, target)),
            );
        }
    }
    rows
}

/// Measures wall-clock times of calls.
pub(crate) fn measure_times(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let pytorch = programs.pytorch_calls.as_ref().or(programs.pytorch.as_ref());
    let others: Vec<(&Program, FractionToRatioFn)> = [pytorch, Some(&programs.candle), Some(&programs.burn)]
        .into_iter()
        .zip(MIN_TIME_RATIOS)
        .filter_map(|(program, target)| Some((program?, target)))
        .collect();
    let mut running = vec![RunningProgram::start(&programs.ours, 1)?];
    for (program, _) in &others {
        running.push(RunningProgram::start(program, 1)?);
    }
    let mut rows = Vec::new();
    let mut loop_times = None;
    for (workload, _, _, fraction) in SMALL_CALL_TARGETS {
        if !options.selects_line(&[workload, "time"]) {
            continue;
        }
        eprintln!("{workload}: time");
        if loop_times.is_none() {
            loop_times = Some(time_alternately(&mut running, EMPTY_WORKLOAD, 1)?);
        }
        let Some(loop_times) = &loop_times else { continue };
        let times = time_alternately(&mut running, workload, 1)?;
        let without_loop: Vec<Option<f64>> =
            times.iter().zip(loop_times).map(|(time, empty)| Some((*time)? - (*empty)?)).collect();
        let Some(ours) = without_loop[0] else { continue };
        for (theirs, (program, target)) in without_loop[1..].iter().zip(&others) {
            rows.extend(theirs.map(|theirs| {
                Row::new(workload, "time", &program.name, [ours, theirs], Unit::Seconds, target(fraction))
            }));
        }
    }
    Ok(rows)
}

/// Counts the instructions of one call. Returns `None` if the program does not know the workload, or must not be traced.
fn count_instructions(program: &Program, workload: &str) -> Option<f64> {
    let count =
        |workload: &str| single_step::instructions_per_call(program.command(1).args(["count", workload]), 10).ok();
    Some(count(workload)? - count(EMPTY_WORKLOAD)?)
}
