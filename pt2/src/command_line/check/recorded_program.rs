//! A program with its recording, and the comparison of its outputs.

use std::path::Path;

use dispatch_nn::{ModulePath, Param, Part, Visit as _};
use dispatch_pt2::{Finding, Program, RecordedValue};
use dispatch_runtime::{DType, Tensor, Value, guard};

use super::comparison::{Tolerances, compare_outlines, compare_values};
use super::recording::{RecordedRun, Recording};
use crate::difference::default_tolerance;

/// The dialect of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// What `torch.export.export` returns: high-level operators, which write in place.
    Raw,
    /// After `run_decompositions`: functional operators of Core `ATen`.
    Core,
}

impl Dialect {
    pub(super) const ALL: [Self; 2] = [Self::Raw, Self::Core];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Core => "core",
        }
    }
}

/// A file with the recording of its program.
#[derive(Clone, Copy)]
pub(super) struct RecordedProgram<'a> {
    pub(super) path: &'a Path,
    pub(super) dialect: Dialect,
    pub(super) recording: &'a Recording,
}

impl RecordedProgram<'_> {
    pub(super) fn load(&self) -> Result<Program, String> {
        Program::load(self.path).map_err(|error| error.to_string())
    }

    /// Compares the shapes and dtypes of all nodes with the recorded ones.
    pub(super) fn check(&self) -> Result<(), String> {
        let report = self.load()?.check().map_err(|error| error.to_string())?;
        let Some(first) = report.findings.first() else { return Ok(()) };
        let Finding { node, target, value, recorded, computed, .. } = first;
        let count = report.findings.len();
        Err(format!("{count} findings; at `{node}` ({target}), `{value}` is {computed} in place of {recorded}"))
    }

    /// Runs the program without gradients, and returns the largest difference as a part of its tolerance.
    pub(super) fn compare_outputs(&self) -> Result<f64, String> {
        let mut largest = 0.0_f64;
        self.for_each_run(|program, run| {
            let _no_grad = guard::no_grad();
            let inputs = self.recording.inputs(run)?;
            let outputs = program.run_leaves(inputs.clone());
            if run.refused.is_some() {
                return outputs.map_or(Ok(()), |_| Err("it runs, and PyTorch refuses it".to_owned()));
            }
            let outputs = outputs.map_err(|error| error.to_string())?;
            largest = largest.max(self.compare_results(program, run, &inputs, &outputs)?);
            Ok(())
        })?;
        Ok(largest)
    }

    /// Calls a function for each run, with the program in the state that the run starts from.
    pub(super) fn for_each_run(
        &self,
        mut compare: impl FnMut(&Program, &RecordedRun) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut program = None;
        for (at, run) in self.recording.runs.iter().enumerate() {
            let program = match &mut program {
                Some(program) if self.recording.stateful => program,
                other => other.insert(self.load()?),
            };
            compare(program, run).map_err(|reason| format!("run {at}: {reason}"))?;
        }
        Ok(())
    }

    /// Compares outputs, written inputs and buffers after a run. Returns the largest difference as a part of its tolerance.
    pub(super) fn compare_results(
        &self,
        program: &Program,
        run: &RecordedRun,
        inputs: &[Value],
        outputs: &[Value],
    ) -> Result<f64, String> {
        if outputs.len() != run.outputs.len() {
            return Err(format!("{} outputs in place of {}", outputs.len(), run.outputs.len()));
        }
        let tolerance = self.tolerances(program, run)?.outputs;
        let mut largest = 0.0_f64;
        let mut add = |what: String, difference: Result<f64, String>| {
            let difference = difference.map_err(|reason| format!("{what}: {reason}"))?;
            largest = largest.max(difference / tolerance);
            if difference <= tolerance { Ok(()) } else { Err(too_large(&what, difference, tolerance)) }
        };
        for (at, (actual, expected)) in outputs.iter().zip(&run.outputs).enumerate() {
            let expected = self.recording.value(expected)?;
            let difference = if self.recording.is_random() {
                compare_outlines(actual, &expected).map(|()| 0.0)
            } else {
                compare_values(actual, &expected)
            };
            add(format!("output {at}"), difference)?;
        }
        for (&at, key) in &run.inputs_after {
            let actual = inputs.get(at).ok_or_else(|| format!("there is no input {at}"))?;
            let expected = self.recording.tensor(key)?.clone().into();
            add(format!("input {at} after the run"), compare_values(actual, &expected))?;
        }
        let state = state(program);
        for (name, key) in &run.buffers {
            let actual = state.iter().find_map(|(known, part)| (known == name).then(|| part.tensor()));
            let actual = actual.ok_or_else(|| format!("there is no buffer `{name}`"))?;
            let expected = self.recording.tensor(key)?.clone().into();
            add(format!("buffer `{name}`"), compare_values(&actual.into(), &expected))?;
        }
        Ok(largest)
    }

    /// Returns the tolerances of a run. The coarsest dtype is that of any value in the program.
    pub(super) fn tolerances(&self, program: &Program, run: &RecordedRun) -> Result<Tolerances, String> {
        let mut dtypes: Vec<DType> = state(program).iter().map(|(_, part)| part.tensor().dtype()).collect();
        for recorded in run.inputs.iter().chain(&run.outputs) {
            if let Value::Tensor(tensor) = self.recording.value(recorded)? {
                dtypes.push(tensor.dtype());
            }
        }
        for node in program.nodes() {
            dtypes.extend(node.results.iter().filter_map(|result| match result.recorded {
                RecordedValue::Tensor { dtype, .. } => *dtype,
                _ => None,
            }));
        }
        let coarsest = dtypes.into_iter().max_by(|a, b| default_tolerance(*a).total_cmp(&default_tolerance(*b)));
        Ok(Tolerances::new(run.noise, coarsest))
    }
}

pub(super) fn too_large(what: &str, difference: f64, tolerance: f64) -> String {
    format!("{what}: the relative difference is {difference:.3e}, and the tolerance {tolerance:.3e}")
}

/// A parameter or a buffer.
pub(super) enum StatePart {
    Param(Param),
    Buffer(Tensor),
}

impl StatePart {
    pub(super) fn tensor(&self) -> Tensor {
        match self {
            Self::Param(param) => param.tensor(),
            Self::Buffer(tensor) => tensor.clone(),
        }
    }
}

/// Returns the parameters and the buffers of a program. A tied parameter is there under each of its names.
pub(super) fn state(program: &Program) -> Vec<(String, StatePart)> {
    let mut state = Vec::new();
    program.visit(&ModulePath::ROOT, &mut |path, part| {
        state.extend(match part {
            Part::Param(param) => Some((path.to_string(), StatePart::Param(param.clone()))),
            Part::Buffer(buffer) => Some((path.to_string(), StatePart::Buffer(Tensor::clone(buffer)))),
            _ => None,
        });
    });
    state
}
