//! Times on large tensors, compared with PyTorch, on one thread and on several.

use measure::Result;

use crate::bandwidth::compare_bandwidths;
use crate::options::Options;
use crate::program::Programs;
use crate::row::{Row, Unit};
use crate::running_program::RunningProgram;
use crate::timing::time_alternately;
use crate::workloads::workloads_with_targets;

/// The minimum ratio of our speed-up from more threads to PyTorch's.
const SPEEDUP_TARGET: f64 = 0.95;

/// Measures times for each number of threads, and then the speed-ups over the first number.
pub(crate) fn measure_throughput(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let Some(pytorch) = &programs.pytorch else { return Ok(Vec::new()) };
    let workloads: Vec<_> =
        workloads_with_targets().filter(|(workload, _)| options.selects_line(&[workload, "threads"])).collect();
    let (mut rows, mut speedups) = (Vec::new(), Vec::new());
    if workloads.is_empty() {
        return Ok(rows);
    }
    let mut by_threads = Vec::new();
    for threads in &options.threads {
        by_threads.push((
            *threads,
            [RunningProgram::start(&programs.ours, *threads)?, RunningProgram::start(pytorch, *threads)?],
        ));
    }
    for (workload, target) in workloads {
        let mut first: Option<(usize, [f64; 2])> = None;
        for (threads, pair_of_programs) in &mut by_threads {
            let [Some(ours), Some(theirs)] = time_alternately(pair_of_programs, &workload, *threads)?[..] else {
                continue;
            };
            let row =
                |measure: &str, pair, unit, target| Row::new(&workload, measure, &pytorch.name, pair, unit, target);
            rows.push(row(&Row::thread_count_text(*threads), [ours, theirs], Unit::Seconds, target).print_to_stderr());
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
    rows.extend(compare_bandwidths(&rows));
    rows.extend(speedups);
    Ok(rows)
}
