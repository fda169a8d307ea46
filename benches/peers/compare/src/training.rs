//! Steps of training: how long they take.

use measure::Result;

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

/// With the least that we want of the speed of PyTorch, and of candle.
pub(crate) const WORKS: [(&str, [f64; 2]); 3] =
    [("train mlp64", [3.0, 1.2]), ("train mlp784", [0.95, 1.0]), ("train resnet", [0.95, 1.0])];

/// On so many threads.
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

/// Those that train beside us, each with the place of its target.
pub(crate) fn others(programs: &Programs) -> Vec<(usize, &Program)> {
    let all = [programs.pytorch.as_ref(), Some(&programs.candle)];
    all.into_iter().enumerate().filter_map(|(place, program)| Some((place, program?))).collect()
}
