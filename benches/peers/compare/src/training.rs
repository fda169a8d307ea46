//! Times of training steps.

use measure::Result;

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

/// The networks, with our minimum speed relative to PyTorch and to candle.
pub(crate) const WORKS: [(&str, [f64; 2]); 3] =
    [("train mlp64", [3.0, 1.2]), ("train mlp784", [0.95, 1.0]), ("train resnet", [0.95, 1.0])];

/// Measures the training steps for each number of threads.
pub(crate) fn times(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let works: Vec<_> = WORKS.into_iter().filter(|(work, _)| options.want(&[work, "threads"])).collect();
    for &threads in options.threads.iter().filter(|_| !works.is_empty()) {
        let others = others(programs);
        let all = [&programs.ours].into_iter().chain(others.iter().map(|(_, program)| *program));
        let mut sides = all.map(|program| Side::start(program, threads)).collect::<Result<Vec<_>>>()?;
        for (work, targets) in &works {
            eprintln!("{work}");
            let times = race(&mut sides, work, threads)?;
            let Some(ours) = times[0] else { continue };
            for (theirs, (peer, program)) in times[1..].iter().zip(&others) {
                let row = |theirs| {
                    Row::new(work, &Row::on(threads), &program.name, [ours, theirs], Unit::Seconds, targets[*peer])
                };
                rows.extend(theirs.map(row));
            }
        }
    }
    Ok(rows)
}

/// Returns the other programs that train, each with the index of its target.
pub(crate) fn others(programs: &Programs) -> Vec<(usize, &Program)> {
    let all = [programs.pytorch.as_ref(), Some(&programs.candle)];
    all.into_iter().enumerate().filter_map(|(place, program)| Some((place, program?))).collect()
}
