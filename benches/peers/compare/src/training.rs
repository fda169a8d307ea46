//! Steps of training: how long they take, and how much memory.

use std::process::Stdio;

use measure::Result;

use crate::options::Options;
use crate::program::{Program, Programs};
use crate::race::race;
use crate::row::{Row, Unit};
use crate::side::Side;

/// With the least that we want of the speed of PyTorch, and of candle.
const WORKS: [(&str, [f64; 2]); 3] =
    [("train mlp64", [3.0, 1.2]), ("train mlp784", [0.95, 1.0]), ("train resnet", [0.95, 1.0])];
/// What is too small for its memory to be seen, and comes before the others' memory is counted.
const WARM_UP: &str = "train mlp64";

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

/// The most at once, beyond what a program has that has taken other steps before.
pub(crate) fn memory(programs: &Programs, options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (work, _) in WORKS.into_iter().filter(|(work, _)| *work != WARM_UP && options.want(&[work, "memory"])) {
        for &threads in &options.threads {
            eprintln!("{work}: memory");
            let Some(ours) = most(&programs.ours, work, threads)? else { continue };
            for (_, program) in others(programs) {
                let theirs = most(program, work, threads)?;
                let measure = format!("memory, {}", Row::on(threads));
                rows.extend(
                    theirs.map(|theirs| Row::new(work, &measure, &program.name, [ours, theirs], Unit::Bytes, 1.0)),
                );
            }
        }
    }
    Ok(rows)
}

/// Those that train beside us, each with the place of its target.
fn others(programs: &Programs) -> Vec<(usize, &Program)> {
    let all = [programs.pytorch.as_ref(), Some(&programs.candle)];
    all.into_iter().enumerate().filter_map(|(place, program)| Some((place, program?))).collect()
}

/// Bytes, where the program knows the work and can tell.
fn most(program: &Program, work: &str, threads: usize) -> Result<Option<f64>> {
    let output = program.command(threads).args(["memory", WARM_UP, work]).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{} did not say how much memory `{work}` takes", program.name).into());
    }
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(if answer == "-" { None } else { Some(answer.parse()?) })
}
