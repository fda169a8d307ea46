//! Times several programs in alternating short rounds, so that a disturbance affects all of them. The best round of each counts.

use std::thread::sleep;
use std::time::{Duration, Instant};

use measure::Result;

use crate::side::Side;

const ROUNDS: u32 = 25;
/// The number of rounds if a round takes long.
const FEW_ROUNDS: u32 = 6;
const ENOUGH: Duration = Duration::from_secs(4);
/// The length of a round in seconds, unless one call takes longer.
const ROUND: f64 = 0.01;
/// A pause between rounds, in which idle threads of the last program stop spinning.
const PAUSE: Duration = Duration::from_millis(25);

/// Returns the seconds of one call for each side, or `None` if the side does not know the work.
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

/// Finds the number of calls in a round. Returns `None` if the side does not know the work.
fn calibrate(side: &mut Side, work: &str) -> Result<Option<u64>> {
    // The first call takes longer than the others.
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
