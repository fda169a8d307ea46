//! One exported program in this framework. `torch_peer.py` is the same for PyTorch.
//!
//! `load` and `map` print the seconds of loading, and `check` the deviations from eager PyTorch in 64 bits, ours and PyTorch's in 32 bits.
//! `memory` prints the bytes that the process holds after the first forward pass, and after the fourth, besides those after loading.
//! `run` prints `ready`, and reads lines: a number of calls, answered with the seconds that they take, or `memory`, answered with the peak
//! memory in bytes. `profile` prints the times of operators.

use std::error::Error;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use dispatch_pt2::{Archive, Program};
use measure::Result;
use opdispatch::files::load_safetensors;
use opdispatch::modes::{self, Profiler};
use opdispatch::optim::{Optimizer, SGD, SGDOptions};
use opdispatch::prelude::*;
use opdispatch::{autograd, set_num_threads};

const LEARNING_RATE: f64 = 0.01;
/// The calls before a measurement, and the calls of a profile.
const WARM_UP_CALLS: u32 = 3;
const PROFILED_CALLS: u32 = 5;

/// What is measured of a model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// The forward pass in evaluation mode.
    Forward,
    /// A training step: forward, the mean of the squared outputs, backward, and gradient descent.
    Step,
}

impl Pass {
    /// Returns the word for the pass in names of files.
    pub(crate) const fn mode(self) -> &'static str {
        match self {
            Self::Forward => "eval",
            Self::Step => "train",
        }
    }
}

impl FromStr for Pass {
    type Err = String;

    fn from_str(mode: &str) -> Result<Self, String> {
        [Self::Forward, Self::Step]
            .into_iter()
            .find(|pass| pass.mode() == mode)
            .ok_or_else(|| format!("`{mode}` is neither `eval` nor `train`"))
    }
}

pub(crate) fn run_command(command: &str, folder: &Path, name: &str, pass: Pass, threads: usize) -> Result<()> {
    set_num_threads(threads);
    let path = folder.join(format!("{name}.{}.pt2", pass.mode()));
    match command {
        "load" => print_load_time(|| Program::load(&path))?,
        // SAFETY: no process changes the files of a benchmark while it runs.
        "map" => print_load_time(|| unsafe { Program::map(&path) })?,
        "check" => {
            let [ours, theirs] = Model::load(&path)?.deviations(pass)?;
            println!("{ours} {theirs}");
        }
        "memory" => print_memory_of_calls(&Archive::open(&path)?)?,
        "run" => serve(&mut Model::load(&path)?, pass)?,
        "profile" => {
            let mut model = Model::load(&path)?;
            (0..WARM_UP_CALLS).try_for_each(|_| model.call(pass).map(drop))?;
            let profiler = modes::enter(Profiler::new());
            (0..PROFILED_CALLS).try_for_each(|_| model.call(pass).map(drop))?;
            println!("{}", *profiler);
        }
        _ => return Err(format!("`{command}` is none of `load`, `map`, `check`, `memory`, `run` and `profile`").into()),
    }
    Ok(())
}

fn print_load_time<E: Error + 'static>(load: impl FnOnce() -> Result<Program, E>) -> Result<()> {
    let start = Instant::now();
    let program = load()?;
    println!("{}", start.elapsed().as_secs_f64());
    drop(program);
    Ok(())
}

fn print_memory_of_calls(archive: &Archive) -> Result<()> {
    let program = archive.program("model")?;
    let example = archive.sample_inputs("model")?.ok_or("there is no example")?;
    let _no_grad = autograd::no_grad();
    let loaded = memory("VmRSS:")?;
    program.run(example.clone())?;
    let first = memory("VmRSS:")?;
    (0..WARM_UP_CALLS).try_for_each(|_| program.run(example.clone()).map(drop))?;
    println!("{} {}", first.saturating_sub(loaded), memory("VmRSS:")?.saturating_sub(loaded));
    Ok(())
}

/// Answers requests for measurements until the input ends.
fn serve(model: &mut Model, pass: Pass) -> Result<()> {
    (0..WARM_UP_CALLS).try_for_each(|_| model.call(pass).map(drop))?;
    println!("ready");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if line == "memory" {
            println!("{}", memory("VmHWM:")?);
            continue;
        }
        let calls: u32 = line.parse()?;
        let start = Instant::now();
        (0..calls).try_for_each(|_| model.call(pass).map(drop))?;
        println!("{}", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Returns a figure of the resident memory of this process in bytes: `VmRSS:` at the moment, or `VmHWM:` at its peak.
fn memory(figure: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix(figure)).ok_or(format!("the system has no {figure}"))?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// A program with its example, and its optimiser.
struct Model {
    program: Program,
    optimizer: SGD,
    example: Tensor,
    recorded: PathBuf,
}

impl Model {
    fn load(path: &Path) -> Result<Self> {
        let program = Program::load(path)?;
        let recorded = path.with_extension("safetensors");
        let example = load_safetensors(&recorded)?.remove("input").ok_or("there is no recorded input")?;
        let optimizer = SGD::new(program.parameters(), SGDOptions { lr: LEARNING_RATE, ..Default::default() })?;
        Ok(Self { program, optimizer, example, recorded })
    }

    /// Makes one forward pass and returns the output, or makes one training step and returns the loss.
    fn call(&mut self, pass: Pass) -> Result<Tensor> {
        match pass {
            Pass::Forward => {
                let _no_grad = autograd::no_grad();
                self.output()
            }
            Pass::Step => {
                let loss = self.output()?.square()?.mean()?;
                loss.backward()?;
                self.optimizer.step()?;
                self.optimizer.zero_grad();
                Ok(loss)
            }
        }
    }

    fn output(&self) -> Result<Tensor> {
        let output = self.program.run(&self.example)?;
        Ok(output.as_tensor().ok_or("the program returns no tensor")?.clone())
    }

    /// Returns the results that PyTorch has recorded: an output, or the losses of steps.
    fn results(&mut self, pass: Pass, recorded: &Tensor) -> Result<Tensor> {
        if pass == Pass::Forward {
            return self.call(pass);
        }
        let losses = (0..recorded.numel()).map(|_| self.call(pass)).collect::<Result<Vec<_>>>()?;
        Ok(aten::stack(&losses, 0)?)
    }

    /// Returns our deviation from PyTorch in 64 bits, and that of PyTorch in 32 bits.
    fn deviations(&mut self, pass: Pass) -> Result<[f64; 2]> {
        let recorded = load_safetensors(&self.recorded)?;
        let find = |name: &str| recorded.get(name).ok_or(format!("`{name}` is not recorded"));
        let (theirs, exact) = (find("results")?, find("exact_results")?);
        let ours = self.results(pass, theirs)?;
        Ok([deviation(&ours, exact)?, deviation(theirs, exact)?])
    }
}

/// Returns the largest difference, divided by the largest value.
fn deviation(results: &Tensor, exact: &Tensor) -> Result<f64> {
    let difference = (results.to(DType::F64)? - exact)?.abs()?.amax()?;
    Ok((difference / exact.abs()?.amax()?)?.item::<f64>()?)
}
