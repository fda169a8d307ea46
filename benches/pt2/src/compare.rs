//! The comparison: all programs take turns in short rounds, so that a disturbance affects all of them. The best round of each counts.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use measure::{Result, table};

use crate::peer::Pass;
use crate::running_peer::{RunningPeer, Side, Workload};

const MODELS: [&str; 9] = [
    "resnet50",
    "vit_b_16",
    "mobilenet_v3_large",
    "efficientnet_b0",
    "convnext_tiny",
    "swin_t",
    "gpt2",
    "llama",
    "bert_base",
];

const MIN_ROUNDS: u32 = 5;
const MAX_ROUNDS: u32 = 40;
/// After this time, no further round begins if there were `MIN_ROUNDS`.
const TIME_LIMIT: Duration = Duration::from_secs(8);
/// A pause between rounds, in which idle threads of the last program stop spinning.
const PAUSE_BETWEEN_ROUNDS: Duration = Duration::from_millis(25);
/// The largest relative deviation of a correct program, if that of PyTorch in 32 bits is not larger. A batch normalisation over two images
/// makes rounding large.
const MAX_DEVIATION: f64 = 1e-3;

const HEADER: [&str; 12] = [
    "model",
    "pass",
    "threads",
    "ours",
    "eager",
    "compiled",
    "of eager",
    "of compiled",
    "memory",
    "eager's",
    "deviation",
    "eager's",
];

/// Measures the selected models, and prints the table.
pub(crate) fn compare(folder: &Path, options: &[&str]) -> Result<()> {
    let (mut only, mut thread_counts) = (Vec::new(), Vec::new());
    for option in options.chunks(2) {
        match *option {
            ["--only", name] => only.push(name),
            ["--threads", count] => thread_counts.push(count.parse()?),
            _ => return Err(format!("{option:?} is no option; the options are --only and --threads").into()),
        }
    }
    if thread_counts.is_empty() {
        thread_counts = vec![1, 2];
    }
    let models: Vec<_> =
        MODELS.into_iter().filter(|name| only.is_empty() || only.iter().any(|only| name.starts_with(only))).collect();
    let (mut rows, mut load_rows) = (Vec::new(), Vec::new());
    for name in &models {
        for &threads in &thread_counts {
            for pass in [Pass::Forward, Pass::Step] {
                let cells = measure_row(Workload { folder, name, pass, threads })?;
                eprintln!("{}", cells.join("  "));
                rows.push(cells);
            }
        }
        let workload = Workload { folder, name, pass: Pass::Forward, threads: 1 };
        load_rows.push(measure_load_row(workload)?);
    }
    println!();
    table::print_table(HEADER, &rows);
    println!("Times to load the program of the forward pass, from a file in the system's cache:\n");
    table::print_table(["model", "file", "`load`", "`map`", "`map`, per 100 MB", "torch.export.load"], &load_rows);
    Ok(())
}

/// Measures one row. The processes of all sides run at once, and take turns.
fn measure_row(workload: Workload<'_>) -> Result<[String; 12]> {
    let [deviation, deviation_of_eager] = workload.measure_once(Side::Ours, "check")?;
    let is_correct = deviation <= MAX_DEVIATION.max(2.0 * deviation_of_eager);
    let mut peers = [workload.start(Side::Ours)?, workload.start(Side::Eager)?, workload.start(Side::Compiled)?];
    let [ours, eager, compiled] = time_alternately(&mut peers)?;
    let [memory, memory_of_eager] = [peers[0].peak_memory()?, peers[1].peak_memory()?];
    Ok([
        workload.name.to_owned(),
        match workload.pass {
            Pass::Forward => "forward".to_owned(),
            Pass::Step => "step".to_owned(),
        },
        workload.threads.to_string(),
        milliseconds(ours),
        milliseconds(eager),
        milliseconds(compiled),
        format!("{:.2}", eager / ours),
        format!("{:.2}", compiled / ours),
        megabytes(memory),
        megabytes(memory_of_eager),
        format!("{deviation:.0e}{}", if is_correct { "" } else { " WRONG" }),
        format!("{deviation_of_eager:.0e}"),
    ])
}

/// Returns the seconds of the fastest call of each process.
fn time_alternately(peers: &mut [RunningPeer; 3]) -> Result<[f64; 3]> {
    let mut best = [f64::INFINITY; 3];
    let start = Instant::now();
    for round in 0..MAX_ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() > TIME_LIMIT {
            break;
        }
        for (peer, best) in peers.iter_mut().zip(&mut best) {
            sleep(PAUSE_BETWEEN_ROUNDS);
            // The first call of a round finds cold caches.
            peer.time_calls(1)?;
            *best = best.min(peer.time_calls(1)?);
        }
    }
    Ok(best)
}

/// Measures the times to load a program.
fn measure_load_row(workload: Workload<'_>) -> Result<[String; 6]> {
    let size = fs::metadata(workload.folder.join(format!("{}.{}.pt2", workload.name, workload.pass.mode())))?.len();
    let megabytes = f64::from(u32::try_from(size / 1_000_000)?);
    let load = best_load_time(workload, Side::Ours, "load")?;
    let map = best_load_time(workload, Side::Ours, "map")?;
    let theirs = best_load_time(workload, Side::Eager, "load")?;
    Ok([
        workload.name.to_owned(),
        format!("{megabytes} MB"),
        milliseconds(load),
        milliseconds(map),
        milliseconds(map / megabytes * 100.0),
        milliseconds(theirs),
    ])
}

fn best_load_time(workload: Workload<'_>, side: Side, command: &str) -> Result<f64> {
    let times = (0..3).map(|_| workload.measure_once(side, command)).collect::<Result<Vec<[f64; 1]>>>()?;
    Ok(times.into_iter().flatten().fold(f64::INFINITY, f64::min))
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1e3)
}

fn megabytes(bytes: f64) -> String {
    format!("{:.0} MB", bytes * 1e-6)
}
