//! Large tensors, against PyTorch, on one thread and more.

use measure::Result;

use crate::options::Options;
use crate::program::Programs;
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

const WORKS: [&str; 33] = [
    "matmul 256x256",
    "matmul 512x512",
    "matmul 1024x1024",
    "matmul 2048x2048",
    "bmm 32x128x128",
    "softmax 1024x1024",
    "softmax 64x32000",
    "layer_norm 1024x1024",
    "layer_norm 64x32000",
    "exp 1024x1024",
    "exp 4096x4096",
    "gelu 1024x1024",
    "gelu 4096x4096",
    "add 1024x1024",
    "add 4096x4096",
    "mul 1024x1024",
    "mul 4096x4096",
    "add, every second 1024x1024",
    "add, every second 4096x4096",
    "add, transposed 1024x1024",
    "add, transposed 4096x4096",
    "add a row 1024x1024",
    "add a row 4096x4096",
    "add a column 1024x1024",
    "add a column 4096x4096",
    "sum, rows 1024x1024",
    "sum, rows 4096x4096",
    "sum, columns 1024x1024",
    "sum, columns 4096x4096",
    "max, rows 1024x1024",
    "max, rows 4096x4096",
    "max, columns 1024x1024",
    "max, columns 4096x4096",
];
/// As fast as PyTorch.
const TARGET: f64 = 1.0;
/// Speed-ups of less than this apart are alike.
const SPEEDUP_TARGET: f64 = 0.95;

/// Times on so many threads, and then how much the larger numbers of threads bring.
pub(crate) fn rows(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let Some(pytorch) = &programs.pytorch else { return Ok(Vec::new()) };
    let works: Vec<&str> = WORKS.into_iter().filter(|work| options.want(&[work, "threads"])).collect();
    let (mut rows, mut speedups) = (Vec::new(), Vec::new());
    if works.is_empty() {
        return Ok(rows);
    }
    let mut all = Vec::new();
    for threads in &options.threads {
        all.push((*threads, [Side::start(&programs.ours, *threads)?, Side::start(pytorch, *threads)?]));
    }
    for work in works {
        eprintln!("{work}");
        let mut first: Option<(usize, [f64; 2])> = None;
        for (threads, sides) in &mut all {
            let [Some(ours), Some(theirs)] = race(sides, work, *threads)?[..] else { continue };
            let row = |measure: String, ours, theirs, unit, target| {
                let (work, peer) = (work.to_owned(), pytorch.name.clone());
                Row { work, measure, peer, ours, theirs, unit, target }
            };
            let plural = if *threads == 1 { "" } else { "s" };
            rows.push(row(format!("{threads} thread{plural}"), ours, theirs, Unit::Seconds, TARGET));
            match first {
                None => first = Some((*threads, [ours, theirs])),
                Some((one, [our_first, their_first])) => {
                    let (ours, theirs) = (our_first / ours, their_first / theirs);
                    speedups.push(row(
                        format!("speed-up {one} to {threads}"),
                        ours,
                        theirs,
                        Unit::Speedup,
                        SPEEDUP_TARGET,
                    ));
                }
            }
        }
    }
    rows.extend(speedups);
    Ok(rows)
}
