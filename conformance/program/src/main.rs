//! The program `conformance`: compares a backend with the recordings, and prints a table.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use conformance::{State, Suite};
use dispatch_runtime::{DType, Device, keys};

// Links the CPU kernels, which are under test and compute expected results for other devices.
use kernels_cpu as _;

const USAGE: &str = "\
usage: conformance [--device cpu|cuda:0] [--emulate] [--without DTYPE]... [--only OPERATOR]... [--call NUMBER] [--check NAME]... [--part NUMBER/PARTS] [--failures] [--left-out] [--missing]
  --emulate    the CPU runs what CUDA would
  --without    no call with tensors of this dtype; of CUDA, none with complex ones
  --part       one of so many parts of the operators, counted from 0: 0/2 and 1/2 are all of them
  --failures   every failure, with how to run it alone, in place of the table
  --left-out   what the checks say nothing about, and why
  --missing    what could not be called or differentiated, and what is not there";

fn main() -> ExitCode {
    match options(std::env::args().skip(1)) {
        Ok(options) => report(&options),
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

struct Options {
    device: Device,
    suite: Suite,
    failures: bool,
    left_out: bool,
    missing: bool,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut device = Device::CPU;
    let (mut failures, mut left_out, mut missing) = (false, false, false);
    let mut narrow: Vec<Box<dyn FnOnce(Suite) -> Suite>> = Vec::new();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--device" => device = value()?.parse().map_err(|error| format!("{error}"))?,
            "--only" => {
                let operator = value()?;
                narrow.push(Box::new(|suite| suite.only(operator)));
            }
            "--call" => {
                let number = value()?.parse().map_err(|error| format!("{word}: {error}"))?;
                narrow.push(Box::new(move |suite| suite.call(number)));
            }
            "--check" => {
                let check = value()?.parse().map_err(|error| format!("{error}"))?;
                narrow.push(Box::new(move |suite| suite.check(check)));
            }
            "--emulate" => {
                if !kernels_cuda::emulate() {
                    return Err("there is no C++ compiler to emulate a device with".to_owned());
                }
            }
            "--without" => {
                let dtype = value()?.parse().map_err(|error| format!("{error}"))?;
                narrow.push(Box::new(move |suite| suite.without(dtype)));
            }
            "--part" => {
                let (part, parts) = part(&value()?)?;
                narrow.push(Box::new(move |suite| suite.part(part, parts)));
            }
            "--failures" => failures = true,
            "--left-out" => left_out = true,
            "--missing" => missing = true,
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if device.key() == keys::CUDA {
        narrow.push(Box::new(as_cuda));
    }
    let suite = narrow.into_iter().fold(Suite::new(device), |suite, narrow| narrow(suite));
    Ok(Options { device, suite, failures, left_out, missing })
}

/// Restricts the suite to dtypes of CUDA, and accepts results of PyTorch's devices. PyTorch resizes images of bytes only on the CPU.
fn as_cuda(suite: Suite) -> Suite {
    let suite = suite.without(DType::C64).without(DType::C128).device_differences().sampled();
    suite.without_call("upsample_bilinear2d", DType::U8).without_call("upsample_bicubic2d", DType::U8)
}

/// Parses a part of the operators: `0/2` is the first half.
fn part(word: &str) -> Result<(usize, usize), String> {
    let numbers = word.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    let within = numbers.filter(|(part, parts)| part < parts);
    within.ok_or_else(|| format!("--part takes a number and how many parts there are, such as 0/2, not {word}"))
}

fn report(options: &Options) -> ExitCode {
    // The report has the message of a panic, so it is not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let report = match options.suite.run() {
        Ok(report) => report,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if options.device.key() == keys::CUDA {
        eprintln!("{}", kernels_cuda::compile_statistics());
    }
    if options.failures {
        report.failed().iter().for_each(|failed| println!("{failed}"));
    }
    if options.left_out {
        report.left_out().iter().for_each(|(operator, check, why)| println!("{operator}, {check}: left out, {why}"));
    }
    if options.missing {
        report.missing().iter().for_each(|(operator, check, what)| println!("{operator}, {check}: {what}"));
    }
    if !(options.failures || options.left_out || options.missing) {
        println!("{report}");
    }
    if report.count(State::Failed) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
