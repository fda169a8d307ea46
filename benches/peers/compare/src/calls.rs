//! What a call on tensors of one element costs, beyond the loop around it.

use measure::{Result, steps};

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

/// The calls, the instructions that were published for them and PyTorch 2.15, and those that we want to need at most.
const CALLS: [(&str, f64, f64); 7] = [
    ("add", 5312.0, 500.0),
    ("add out=", 4222.0, 300.0),
    ("add_", 3767.0, 300.0),
    ("relu", 5144.0, 450.0),
    ("mm 1x1", 5597.0, 800.0),
    ("empty({1})", 2800.0, 250.0),
    ("view", 2673.0, 250.0),
];
/// The loop by itself.
const NOTHING: &str = "nothing";
/// In time we want to be well ahead of PyTorch, and ahead of the others.
const TARGETS: [f64; 3] = [1.0 / 0.3, 1.0 / 0.9, 1.0];

/// Exact: programs run one instruction at a time.
pub(crate) fn instructions(programs: &Programs, options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for (work, published, most) in CALLS {
        if !options.want(&[work, "instructions"]) {
            continue;
        }
        eprintln!("{work}: instructions");
        let Some(ours) = count(&programs.ours, work) else { continue };
        let pytorch = programs.pytorch_calls.as_ref().and_then(|program| count(program, work));
        let pytorch = pytorch.map_or(("PyTorch, published", Some(published)), |counted| ("PyTorch", Some(counted)));
        let others = [&programs.candle, &programs.burn].map(|program| (program.name.as_str(), count(program, work)));
        for ((peer, theirs), target) in [pytorch].into_iter().chain(others).zip([published / most, 1.0, 1.0]) {
            rows.extend(
                theirs.map(|theirs| row(work, "instructions", peer, [ours, theirs], Unit::Instructions, target)),
            );
        }
    }
    rows
}

/// On the wall.
pub(crate) fn times(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let pytorch = programs.pytorch_calls.as_ref().or(programs.pytorch.as_ref());
    let others: Vec<(&Program, f64)> = [pytorch, Some(&programs.candle), Some(&programs.burn)]
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
    for (work, ..) in CALLS {
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
            rows.extend(theirs.map(|theirs| row(work, "time", &program.name, [ours, theirs], Unit::Seconds, *target)));
        }
    }
    Ok(rows)
}

fn row(work: &str, measure: &str, peer: &str, [ours, theirs]: [f64; 2], unit: Unit, target: f64) -> Row {
    Row { work: work.to_owned(), measure: measure.to_owned(), peer: peer.to_owned(), ours, theirs, unit, target }
}

/// Nothing where the program does not know the work, or may not be traced.
fn count(program: &Program, work: &str) -> Option<f64> {
    let count = |work: &str| steps::per_call(program.command(1).args(["count", work]), 10).ok();
    Some(count(work)? - count(NOTHING)?)
}
