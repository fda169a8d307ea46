//! The cost of calls on tensors of one element, without the loop around them.

use measure::{Result, steps};

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

/// For each call: its name, PyTorch 2.15's published instructions, our maximum number of instructions, and our maximum fraction of
/// PyTorch's time.
const CALLS: [(&str, f64, f64, f64); 8] = [
    ("add", 5312.0, 500.0, 0.3),
    ("add out=", 4222.0, 300.0, 0.3),
    ("add_", 3767.0, 300.0, 0.3),
    ("add, recorded", 9230.0, 1200.0, 0.4),
    ("relu", 5144.0, 450.0, 0.3),
    ("mm 1x1", 5597.0, 800.0, 0.3),
    ("empty({1})", 2800.0, 250.0, 0.3),
    ("view", 2673.0, 250.0, 0.3),
];
/// The maximum number of instructions that linking autograd may add to a call that is not recorded.
const BECAUSE_OF_AUTOGRAD: f64 = 60.0;
/// The name of the empty loop.
const NOTHING: &str = "nothing";
/// Computes the minimum ratio of times from the maximum fraction of PyTorch's time.
type Target = fn(f64) -> f64;
/// The targets for times: well ahead of PyTorch, by the given fraction, and ahead of candle and burn.
const TARGETS: [Target; 3] = [|share| 1.0 / share, |_| 1.0 / 0.9, |_| 1.0];

/// Counts instructions of calls exactly, by single-stepping the programs.
pub(crate) fn instructions(programs: &Programs, options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for (work, published, most, _) in CALLS {
        if !options.want(&[work, "instructions"]) {
            continue;
        }
        eprintln!("{work}: instructions");
        let Some(ours) = count(&programs.ours, work) else { continue };
        let pytorch = programs.pytorch_calls.as_ref().and_then(|program| count(program, work));
        let pytorch = pytorch.map_or(("PyTorch, published", Some(published)), |counted| ("PyTorch", Some(counted)));
        let [candle, burn, plain] = [&programs.candle, &programs.burn, &programs.plain]
            .map(|program| (program.name.as_str(), count(program, work)));
        let allowed = plain.1.map_or(1.0, |plain| plain / (plain + BECAUSE_OF_AUTOGRAD));
        for ((peer, theirs), target) in
            [pytorch, candle, burn, plain].into_iter().zip([published / most, 1.0, 1.0, allowed])
        {
            rows.extend(
                theirs.map(|theirs| Row::new(work, "instructions", peer, [ours, theirs], Unit::Instructions, target)),
            );
        }
    }
    rows
}

/// Measures wall-clock times of calls.
pub(crate) fn times(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let pytorch = programs.pytorch_calls.as_ref().or(programs.pytorch.as_ref());
    let others: Vec<(&Program, Target)> = [pytorch, Some(&programs.candle), Some(&programs.burn)]
        .into_iter()
        .zip(TARGETS)
        .filter_map(|(program, target)| Some((program?, target)))
        .collect();
    let mut sides = vec![Side::start(&programs.ours, 1)?];
    for (program, _) in &others {
        sides.push(Side::start(program, 1)?);
    }
    let mut rows = Vec::new();
    let mut loops = None;
    for (work, _, _, share) in CALLS {
        if !options.want(&[work, "time"]) {
            continue;
        }
        eprintln!("{work}: time");
        if loops.is_none() {
            loops = Some(race(&mut sides, NOTHING, 1)?);
        }
        let Some(loops) = &loops else { continue };
        let times = race(&mut sides, work, 1)?;
        let beyond: Vec<Option<f64>> =
            times.iter().zip(loops).map(|(time, empty)| Some((*time)? - (*empty)?)).collect();
        let Some(ours) = beyond[0] else { continue };
        for (theirs, (program, target)) in beyond[1..].iter().zip(&others) {
            rows.extend(
                theirs
                    .map(|theirs| Row::new(work, "time", &program.name, [ours, theirs], Unit::Seconds, target(share))),
            );
        }
    }
    Ok(rows)
}

/// Counts the instructions of one call. Returns `None` if the program does not know the work, or must not be traced.
fn count(program: &Program, work: &str) -> Option<f64> {
    let count = |work: &str| steps::per_call(program.command(1).args(["count", work]), 10).ok();
    Some(count(work)? - count(NOTHING)?)
}
