//! How fast the CUDA backend is, beside the card's own copying and beside PyTorch on the same card, in one run.
//!
//! `--device cuda:0` says where; `--small` makes everything small, to try the program; `--emulate` lets the CPU run the kernels, which shows
//! nothing about speed. PyTorch is asked through `python3`, or whatever `PYTHON` names; without it there are no ratios.

mod lines;
mod network;
mod pytorch;

use std::process::ExitCode;
use std::time::Instant;

use dispatch_runtime::prelude::*;

use lines::{Kind, Line};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let (mut device, mut small) = ("cuda:0".to_owned(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--small" => small = true,
            "--device" => device = words.next().unwrap_or_default(),
            #[cfg(feature = "emulator")]
            "--emulate" => {
                if !kernels_cuda::emulate() {
                    return Err("there is no C++ compiler to emulate a device with".into());
                }
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let device: Device = device.parse().map_err(|error| format!("{error}"))?;
    let properties = kernels_cuda::properties(device.index().unwrap_or(0))?;
    println!("{}, sm_{}, {} multiprocessors", properties.name, properties.architecture, properties.multiprocessors);
    let theirs = pytorch::Times::measured(small);
    println!("{}\n", theirs.version());
    println!("{:<44} {:>12} {:>12} {:>8}", "", "time", "GB/s, TF/s", "ratio");
    let mut bandwidth = None;
    for line in lines::all(device, small)? {
        let seconds = seconds(device, &line)?;
        let rate = line.amount / seconds;
        let (rate, ratio) = match line.kind {
            Kind::Copied => {
                bandwidth = Some(rate);
                (format!("{:.0}", rate / 1e9), String::new())
            }
            Kind::Moved => (
                format!("{:.0}", rate / 1e9),
                bandwidth.map_or_else(String::new, |copied| format!("{:.2} of copy", rate / copied)),
            ),
            Kind::Computed => (format!("{:.1}", rate / 1e12), String::new()),
            Kind::Timed => (String::new(), String::new()),
        };
        let beside = theirs
            .of(&line.name)
            .map_or_else(String::new, |theirs| format!("{:.2} of PyTorch's speed", theirs / seconds));
        println!("{:<44} {:>9.1} us {rate:>12} {ratio:>14} {beside}", line.name, seconds * 1e6);
    }
    println!("\n{}, which is in none of these times", kernels_cuda::compiled());
    Ok(())
}

/// How long a line's work takes: the median of some rounds, each waited for once.
fn seconds(device: Device, line: &Line) -> Result<f64> {
    for _ in 0..2 {
        (line.work)()?;
    }
    device.synchronize()?;
    let mut rounds = Vec::new();
    for _ in 0..7 {
        let start = Instant::now();
        for _ in 0..line.times {
            (line.work)()?;
        }
        device.synchronize()?;
        rounds.push(start.elapsed().as_secs_f64() / f64::from(line.times) / line.calls);
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[rounds.len() / 2])
}
