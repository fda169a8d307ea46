//! Times of training steps.

use measure::Result;

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::row::{Row, Unit};
use crate::running_program::RunningProgram;
use crate::timing::time_alternately;
use crate::workloads::NO_TARGET;

/// The networks, with our minimum speed relative to PyTorch and to candle. A name's ending is a variant of PyTorch: its fused optimiser is
/// replaced with the one of `foreach` operators, or the model is compiled.
pub(crate) const TRAINING_WORKLOADS: [(&str, [f64; 2]); 6] = [
    ("train mlp64", [3.0, 1.2]),
    ("train mlp784", [0.95, 1.0]),
    ("train resnet", [0.95, 1.0]),
    ("train gpt", [1.34, 1.0]),
    ("train gpt, foreach", [1.34, 1.0]),
    ("train gpt, compiled", [NO_TARGET, 1.0]),
];

/// Measures the training steps for each number of threads.
pub(crate) fn measure_training(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let workloads: Vec<_> =
        TRAINING_WORKLOADS.into_iter().filter(|(workload, _)| options.selects_line(&[workload, "threads"])).collect();
    for &threads in options.threads.iter().filter(|_| !workloads.is_empty()) {
        let others = peers_that_train(programs);
        let all = [&programs.ours].into_iter().chain(others.iter().map(|(_, program)| *program));
        let mut running = all.map(|program| RunningProgram::start(program, threads)).collect::<Result<Vec<_>>>()?;
        for (workload, targets) in &workloads {
            eprintln!("{workload}");
            let times = time_alternately(&mut running, workload, threads)?;
            let Some(ours) = times[0] else { continue };
            for (theirs, (target_index, program)) in times[1..].iter().zip(&others) {
                let row = |theirs| {
                    Row::new(
                        workload,
                        &Row::thread_count_text(threads),
                        &program.name,
                        [ours, theirs],
                        Unit::Seconds,
                        targets[*target_index],
                    )
                };
                rows.extend(theirs.map(row));
            }
        }
    }
    Ok(rows)
}

/// Returns the other programs that train, each with the index of its target.
pub(crate) fn peers_that_train(programs: &Programs) -> Vec<(usize, &Program)> {
    let all = [programs.pytorch.as_ref(), Some(&programs.candle)];
    all.into_iter().enumerate().filter_map(|(index, program)| Some((index, program?))).collect()
}
