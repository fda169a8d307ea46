//! Measures the speed of the CUDA backend, relative to the card's copy bandwidth and to PyTorch on the same card, in one run.
//!
//! `--device cuda:0` selects the device, and `--only matmul` the lines whose names contain the word. `--small` makes all inputs small, to
//! try the program. `--emulate` runs the kernels on the CPU, which tells nothing about speed. PyTorch is run by `python3`, or by the
//! program that `PYTHON` names; without it there are no ratios.

mod benchmarks;
mod network;
mod pytorch;

use std::process::ExitCode;
use std::time::Instant;

use dispatch_runtime::prelude::*;

use benchmarks::{Benchmark, BenchmarkSuite, Metric};
use kernels_cuda::{Event, Stream};

fn main() -> ExitCode {
    match run_benchmarks() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_benchmarks() -> Result<()> {
    let (mut device, mut small, mut only) = ("cuda:0".to_owned(), false, String::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--small" => small = true,
            "--only" => only = words.next().unwrap_or_default(),
            "--device" => device = words.next().unwrap_or_default(),
            #[cfg(feature = "emulator")]
            "--emulate" => {
                if !kernels_cuda::emulate() {
                    return Err("there is no C++ compiler to emulate a device".into());
                }
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let device: Device = device.parse().map_err(|error| format!("{error}"))?;
    let properties = kernels_cuda::device_properties(device.index().unwrap_or(0))?;
    println!("{}, sm_{}, {} multiprocessors", properties.name, properties.architecture, properties.multiprocessors);
    let theirs = pytorch::PytorchTimes::measure(small, &only);
    println!("{}\n", theirs.version());
    println!("{:<52} {:>12} {:>12} {:>8}", "", "time", "GB/s, TF/s", "ratio");
    let mut bandwidth = None;
    let mut measure = |benchmark: &Benchmark| -> Result<()> {
        if !benchmark.name.contains(&only) {
            return Ok(());
        }
        let seconds = measure_seconds(device, benchmark)?;
        let rate = benchmark.amount / seconds;
        let (rate, ratio) = match benchmark.metric {
            Metric::CopyBandwidth => {
                bandwidth = Some(rate);
                (format!("{:.0}", rate / 1e9), String::new())
            }
            Metric::Bandwidth => (
                format!("{:.0}", rate / 1e9),
                bandwidth.map_or_else(String::new, |copied| format!("{:.2} of copy", rate / copied)),
            ),
            Metric::ArithmeticRate => (format!("{:.1}", rate / 1e12), String::new()),
            Metric::DeviceTime | Metric::HostTime => (String::new(), String::new()),
        };
        let speed_of_pytorch = theirs
            .seconds_of_benchmark(&benchmark.name)
            .map_or_else(String::new, |theirs| format!("{:.2} of PyTorch's speed", theirs / seconds));
        println!("{:<52} {:>9.1} us {rate:>12} {ratio:>14} {speed_of_pytorch}", benchmark.name, seconds * 1e6);
        Ok(())
    };
    BenchmarkSuite { device, small }.measure_all(&mut measure)?;
    println!("\n{}, which is not included in these times", kernels_cuda::compile_statistics());
    Ok(())
}

/// Returns the time of a benchmark's work in seconds: the median of several rounds.
fn measure_seconds(device: Device, benchmark: &Benchmark) -> Result<f64> {
    let stream = Stream::current(device)?;
    let round = |times: u32| -> Result<f64> {
        device.synchronize()?;
        let (host_time, start) = (Instant::now(), Event::record(stream)?);
        for _ in 0..times {
            (benchmark.work)()?;
        }
        let host_time = host_time.elapsed();
        let device_time = Event::record(stream)?.elapsed_since(&start)?;
        let time = if matches!(benchmark.metric, Metric::HostTime) { host_time } else { device_time };
        Ok(time.as_secs_f64() / f64::from(times))
    };
    round(2)?;
    // A round takes a few milliseconds: a shorter one is noise, and the host runs far enough ahead of the device.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between one and a hundred")]
    let times =
        if matches!(benchmark.metric, Metric::HostTime) { 1 } else { (4e-3 / round(1)?).clamp(1.0, 100.0) as u32 };
    let mut rounds = (0..7).map(|_| round(times)).collect::<Result<Vec<f64>>>()?;
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[rounds.len() / 2] / benchmark.calls)
}
