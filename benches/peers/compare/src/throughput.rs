//! Times on large tensors, compared with PyTorch, on one thread and on several.

use measure::Result;

use crate::options::Options;
use crate::program::Programs;
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;
use crate::works::works;

/// The minimum ratio of our speed-up from more threads to PyTorch's.
const SPEEDUP_TARGET: f64 = 0.95;

/// Measures times for each number of threads, and then the speed-ups over the first number.
pub(crate) fn rows(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let Some(pytorch) = &programs.pytorch else { return Ok(Vec::new()) };
    let works: Vec<_> = works().filter(|(work, _)| options.want(&[work, "threads"])).collect();
    let (mut rows, mut speedups) = (Vec::new(), Vec::new());
    if works.is_empty() {
        return Ok(rows);
    }
    let mut all = Vec::new();
    for threads in &options.threads {
        all.push((*threads, [Side::start(&programs.ours, *threads)?, Side::start(pytorch, *threads)?]));
    }
    for (work, target) in works {
        let mut first: Option<(usize, [f64; 2])> = None;
        for (threads, sides) in &mut all {
            let [Some(ours), Some(theirs)] = race(sides, &work, *threads)?[..] else { continue };
            let row = |measure: &str, pair, unit, target| Row::new(&work, measure, &pytorch.name, pair, unit, target);
            rows.push(row(&Row::on(*threads), [ours, theirs], Unit::Seconds, target).announced());
            match first {
                None => first = Some((*threads, [ours, theirs])),
                Some((one, [our_first, their_first])) => {
                    let pair = [our_first / ours, their_first / theirs];
                    let measure = format!("speed-up {one} to {threads}");
                    speedups.push(row(&measure, pair, Unit::Speedup, SPEEDUP_TARGET));
                }
            }
        }
    }
    rows.extend(speedups);
    Ok(rows)
}
