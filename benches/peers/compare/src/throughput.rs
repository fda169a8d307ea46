//! Large tensors, against PyTorch, on one thread and more.

use measure::Result;

use crate::options::Options;
use crate::program::Programs;
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

/// With the least that we want of PyTorch's speed.
const WORKS: [(&str, f64); 33] = [
    ("matmul 256x256", 0.97),
    ("matmul 512x512", 0.97),
    ("matmul 1024x1024", 0.97),
    ("matmul 2048x2048", 0.97),
    ("bmm 32x128x128", 0.95),
    ("softmax 1024x1024", 1.0),
    ("softmax 64x32000", 1.0),
    ("layer_norm 1024x1024", 1.0),
    ("layer_norm 64x32000", 1.0),
    ("exp 1024x1024", 1.0),
    ("exp 4096x4096", 1.0),
    ("gelu 1024x1024", 1.0),
    ("gelu 4096x4096", 1.0),
    ("add 1024x1024", 0.95),
    ("add 4096x4096", 0.95),
    ("mul 1024x1024", 0.95),
    ("mul 4096x4096", 0.95),
    ("add, every second 1024x1024", 0.95),
    ("add, every second 4096x4096", 0.95),
    ("add, transposed 1024x1024", 0.95),
    ("add, transposed 4096x4096", 0.95),
    ("add a row 1024x1024", 0.95),
    ("add a row 4096x4096", 0.95),
    ("add a column 1024x1024", 0.95),
    ("add a column 4096x4096", 0.95),
    ("sum, rows 1024x1024", 0.95),
    ("sum, rows 4096x4096", 0.95),
    ("sum, columns 1024x1024", 0.95),
    ("sum, columns 4096x4096", 0.95),
    ("max, rows 1024x1024", 0.95),
    ("max, rows 4096x4096", 0.95),
    ("max, columns 1024x1024", 0.95),
    ("max, columns 4096x4096", 0.95),
];
/// Speed-ups of less than this apart are alike.
const SPEEDUP_TARGET: f64 = 0.95;

/// Times on so many threads, and then how much the larger numbers of threads bring.
pub(crate) fn rows(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let Some(pytorch) = &programs.pytorch else { return Ok(Vec::new()) };
    let works: Vec<(&str, f64)> = WORKS.into_iter().filter(|(work, _)| options.want(&[work, "threads"])).collect();
    let (mut rows, mut speedups) = (Vec::new(), Vec::new());
    if works.is_empty() {
        return Ok(rows);
    }
    let mut all = Vec::new();
    for threads in &options.threads {
        all.push((*threads, [Side::start(&programs.ours, *threads)?, Side::start(pytorch, *threads)?]));
    }
    for (work, target) in works {
        eprintln!("{work}");
        let mut first: Option<(usize, [f64; 2])> = None;
        for (threads, sides) in &mut all {
            let [Some(ours), Some(theirs)] = race(sides, work, *threads)?[..] else { continue };
            let row = |measure: &str, pair, unit, target| Row::new(work, measure, &pytorch.name, pair, unit, target);
            rows.push(row(&Row::on(*threads), [ours, theirs], Unit::Seconds, target));
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
