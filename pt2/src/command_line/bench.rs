//! The command `bench`: measures the time of runs.

use std::io::Write;
use std::time::{Duration, Instant};

use dispatch_pt2::Program;
use dispatch_runtime::{Value, guard};
use kernels_cpu::thread_pool::{num_threads, set_num_threads};

use crate::program_input::{ProgramInput, copy_inputs};
use crate::progress_bar::DelayedProgressBar;
use crate::text_table::write_table;
use crate::{Outcome, Verdict};

/// The smallest number of runs that are timed.
const FEWEST_RUNS: usize = 5;

/// Measures the time of runs without gradients.
#[derive(clap::Args)]
pub(crate) struct BenchOptions {
    #[command(flatten)]
    input: ProgramInput,
    /// The numbers of threads, such as `1,2`. Without it, that of the system.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    threads: Vec<usize>,
    /// The time for each number of threads.
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = parse_seconds)]
    seconds: f64,
    /// The milliseconds of the same run in PyTorch, one for each number of threads.
    #[arg(long, value_name = "MILLISECONDS", value_delimiter = ',')]
    torch_ms: Vec<f64>,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "it is a number of seconds, at most a day".to_owned())
}

pub(crate) fn run(options: &BenchOptions, out: &mut dyn Write) -> Outcome<Verdict> {
    let threads = if options.threads.is_empty() { vec![num_threads()] } else { options.threads.clone() };
    if !options.torch_ms.is_empty() && options.torch_ms.len() != threads.len() {
        let (torch, threads) = (options.torch_ms.len(), threads.len());
        return Err(format!("--torch-ms has {torch} figures, and there are {threads} numbers of threads").into());
    }
    let start = Instant::now();
    let (program, leaves) = options.input.load()?;
    writeln!(out, "loaded in {:.1} ms", 1e3 * start.elapsed().as_secs_f64())?;
    let _no_grad = guard::no_grad();
    let mut rows = Vec::new();
    for (at, &threads) in threads.iter().enumerate() {
        set_num_threads(threads);
        let times = measure_runs(&program, &leaves, Duration::from_secs_f64(options.seconds))?;
        rows.push(row(threads, &times, options.torch_ms.get(at).copied()));
    }
    let header = ["threads", "runs", "median ms", "quartiles ms", "fastest ms", "PyTorch ms", "PyTorch / this"];
    write_table(out, header, &rows, 0)?;
    Ok(Verdict::Good)
}

/// Returns the milliseconds of runs, in ascending order. The first run is not among them: it makes tables and fills caches.
fn measure_runs(program: &Program, leaves: &[Value], time: Duration) -> Outcome<Vec<f64>> {
    program.run_leaves(copy_inputs(leaves)?)?;
    let mut bar = DelayedProgressBar::new(usize::try_from(time.as_millis())?);
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < FEWEST_RUNS || start.elapsed() < time {
        let inputs = copy_inputs(leaves)?;
        let before = Instant::now();
        let outputs = program.run_leaves(inputs)?;
        times.push(1e3 * before.elapsed().as_secs_f64());
        drop(outputs);
        bar.set(usize::try_from(start.elapsed().as_millis())?, "ms");
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Returns a row of the table from times in ascending order.
fn row(threads: usize, times: &[f64], torch: Option<f64>) -> [String; 7] {
    let quantile = |quarter: usize| times.get(quarter * times.len().saturating_sub(1) / 4).copied().unwrap_or(0.0);
    let median = quantile(2);
    [
        threads.to_string(),
        times.len().to_string(),
        format!("{median:.4}"),
        format!("{:.4} - {:.4}", quantile(1), quantile(3)),
        format!("{:.4}", quantile(0)),
        torch.map_or(String::new(), |torch| format!("{torch:.3}")),
        torch.map_or(String::new(), |torch| format!("{:.2}", torch / median)),
    ]
}
