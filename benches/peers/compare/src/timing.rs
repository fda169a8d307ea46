//! Times several programs in alternating short rounds, so that a disturbance affects all of them. The best round of each counts.

use std::thread::sleep;
use std::time::{Duration, Instant};

use measure::Result;

use crate::running_program::RunningProgram;

const MAX_ROUNDS: u32 = 25;
/// The number of rounds that are always made, also after the time limit.
const MIN_ROUNDS: u32 = 6;
/// After this time, no further round begins if there were `MIN_ROUNDS`.
const TIME_LIMIT: Duration = Duration::from_secs(4);
/// The length of a round in seconds, unless one call takes longer.
const ROUND_SECONDS: f64 = 0.01;
/// A pause between rounds, in which idle threads of the last program stop spinning.
const PAUSE_BETWEEN_ROUNDS: Duration = Duration::from_millis(25);

/// Returns the seconds of one call for each program, or `None` if the program does not know the workload.
pub(crate) fn time_alternately(
    programs: &mut [RunningProgram],
    workload: &str,
    threads: usize,
) -> Result<Vec<Option<f64>>> {
    let mut calls = Vec::new();
    for program in &mut *programs {
        calls.push(calls_per_round(program, workload)?);
    }
    let mut best = vec![None; programs.len()];
    let start = Instant::now();
    for round in 0..MAX_ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() > TIME_LIMIT {
            break;
        }
        for ((program, calls), best) in programs.iter_mut().zip(&calls).zip(&mut best) {
            let Some(calls) = *calls else { continue };
            if threads > 1 {
                sleep(PAUSE_BETWEEN_ROUNDS);
            }
            #[expect(clippy::cast_precision_loss)]
            let seconds = program.time_calls(workload, calls)?.map(|seconds| seconds / calls as f64);
            *best = seconds.into_iter().chain(*best).reduce(f64::min);
        }
    }
    Ok(best)
}

/// Finds the number of calls in a round. Returns `None` if the program does not know the workload.
fn calls_per_round(program: &mut RunningProgram, workload: &str) -> Result<Option<u64>> {
    // The first call takes longer than the others.
    if program.time_calls(workload, 1)?.is_none() {
        return Ok(None);
    }
    let mut calls = 1;
    loop {
        let seconds = program.time_calls(workload, calls)?.unwrap_or(ROUND_SECONDS);
        if seconds >= ROUND_SECONDS / 2.0 {
            return Ok(Some(calls));
        }
        calls *= 2;
    }
}
