//! Sides take turns in short rounds, so that whatever disturbs the machine disturbs all of them, and the best round of each counts.

use std::thread::sleep;
use std::time::{Duration, Instant};

use measure::Result;

use crate::side::Side;

const ROUNDS: u32 = 25;
/// For those whose rounds are long.
const FEW_ROUNDS: u32 = 6;
const ENOUGH: Duration = Duration::from_secs(4);
/// The seconds of a round, unless one call takes longer.
const ROUND: f64 = 0.01;
/// Threads that have run out of work may spin as long, and would take the next side's processor.
const PAUSE: Duration = Duration::from_millis(25);

/// The seconds of one call on each of the sides that know the work.
pub(crate) fn race(sides: &mut [Side], work: &str, threads: usize) -> Result<Vec<Option<f64>>> {
    let mut calls = Vec::new();
    for side in &mut *sides {
        calls.push(calibrate(side, work)?);
    }
    let mut best = vec![None; sides.len()];
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round >= FEW_ROUNDS && start.elapsed() > ENOUGH {
            break;
        }
        for ((side, calls), best) in sides.iter_mut().zip(&calls).zip(&mut best) {
            let Some(calls) = *calls else { continue };
            if threads > 1 {
                sleep(PAUSE);
            }
            #[expect(clippy::cast_precision_loss)]
            let seconds = side.time(work, calls)?.map(|seconds| seconds / calls as f64);
            *best = seconds.into_iter().chain(*best).reduce(f64::min);
        }
    }
    Ok(best)
}

/// How many calls make a round.
fn calibrate(side: &mut Side, work: &str) -> Result<Option<u64>> {
    // The first call is not like the others.
    if side.time(work, 1)?.is_none() {
        return Ok(None);
    }
    let mut calls = 1;
    loop {
        let seconds = side.time(work, calls)?.unwrap_or(ROUND);
        if seconds >= ROUND / 2.0 {
            return Ok(Some(calls));
        }
        calls *= 2;
    }
}
