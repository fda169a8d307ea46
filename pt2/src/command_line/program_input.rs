//! The program of a command line, and the tensors that it runs on.

use std::path::PathBuf;

use aten::prelude::*;
use dispatch_pt2::{Archive, Program};
use dispatch_runtime::{Result, Value};

use crate::Outcome;

/// A file, and its inputs.
#[derive(clap::Args)]
pub(crate) struct ProgramInput {
    /// The program.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The inputs: safetensors files with tensors under the names of inputs, or .npy files in the order of the inputs. Other inputs are those of
    /// the example that the program was exported with.
    #[arg(value_name = "INPUTS")]
    inputs: Vec<PathBuf>,
    /// The name of the program, if the file has several.
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
}

impl ProgramInput {
    /// Loads the program and a value for each of its inputs.
    pub(crate) fn load(&self) -> Outcome<(Program, Vec<Value>)> {
        let archive = self.open()?;
        let program = self.program(&archive)?;
        let leaves = input_leaves(&archive, &program, &self.inputs)?;
        Ok((program, leaves))
    }

    pub(crate) fn open(&self) -> Outcome<Archive> {
        Ok(Archive::open(&self.file)?)
    }

    /// Loads the program of an archive that the command line names, or the only one.
    pub(crate) fn program(&self, archive: &Archive) -> Outcome<Program> {
        let names: Vec<&str> = archive.program_names().collect();
        match (self.program.as_deref(), names.as_slice()) {
            (None, [_, _, ..]) if !names.contains(&"model") => {
                Err(format!("the file has the programs {}: choose one with --program", names.join(", ")).into())
            }
            (None, [only]) => Ok(archive.program(only)?),
            (name, _) => Ok(archive.program(name.unwrap_or("model"))?),
        }
    }

    /// Returns a value for each input, or nothing if the archive has no example and no inputs are given.
    pub(crate) fn leaves_if_any(&self, archive: &Archive, program: &Program) -> Outcome<Option<Vec<Value>>> {
        if self.inputs.is_empty() && archive.sample_inputs(program.name())?.is_none() {
            return Ok(None);
        }
        input_leaves(archive, program, &self.inputs).map(Some)
    }
}

/// Returns a value for each input of a program: from the files, or else from the example.
fn input_leaves(archive: &Archive, program: &Program, files: &[PathBuf]) -> Outcome<Vec<Value>> {
    let sample = archive.sample_inputs(program.name())?;
    let is_complete = sample.is_some();
    let mut leaves = match sample {
        Some(sample) => program.leaves(sample)?,
        None => vec![Value::None; program.input_names().len()],
    };
    let mut given = vec![is_complete; leaves.len()];
    let mut next_array = 0;
    for file in files {
        if file.extension().is_some_and(|extension| extension == "npy") {
            let leaf = leaves.get_mut(next_array).zip(given.get_mut(next_array));
            let (leaf, given) = leaf.ok_or_else(|| too_many(program))?;
            (*leaf, *given) = (dispatch_files::load_npy(file)?.into(), true);
            next_array += 1;
        } else {
            for (name, tensor) in dispatch_files::load_safetensors(file)? {
                let at = program.input_names().iter().position(|known| *known == name);
                let at = at.ok_or_else(|| {
                    let names = program.input_names().join(", ");
                    format!("`{}` has a tensor `{name}`, which is no input. The inputs are: {names}", file.display())
                })?;
                if let Some((leaf, given)) = leaves.get_mut(at).zip(given.get_mut(at)) {
                    (*leaf, *given) = (tensor.into(), true);
                }
            }
        }
    }
    let missing: Vec<&str> = program
        .input_names()
        .iter()
        .zip(given)
        .filter_map(|(name, is_given)| (!is_given).then_some(name.as_str()))
        .collect();
    if missing.is_empty() {
        Ok(leaves)
    } else {
        Err(format!("the file has no example, so these inputs are needed: {}", missing.join(", ")).into())
    }
}

fn too_many(program: &Program) -> String {
    let names = program.input_names();
    format!("there are more .npy files than inputs, which are: {}", names.join(", "))
}

/// Returns the inputs for another run. Tensors are copies, because a program may write to its inputs.
pub(crate) fn copy_inputs(leaves: &[Value]) -> Result<Vec<Value>> {
    let copy = |leaf: &Value| {
        Ok(match leaf {
            Value::Tensor(tensor) => tensor.deep_clone()?.into(),
            other => other.clone(),
        })
    };
    leaves.iter().map(copy).collect()
}
