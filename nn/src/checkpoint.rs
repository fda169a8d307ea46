//! Checkpoints: the whole state of a training run in one file.
//!
//! A checkpoint has the states of the given parts, and the seed and position of the default generators. The file is a safetensors file: tensors
//! as they are, under the names `part.name`, and all other values in its metadata.
//!
//! ```
//! # use kernels_cpu as _;
//! use dispatch_nn::{Linear, checkpoint, data::{DataLoader, Items}};
//!
//! # fn main() -> dispatch_runtime::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("checkpoint-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let path = folder.join("run.safetensors");
//! let (mut model, mut loader) = (Linear::new(2, 3)?, DataLoader::new(Items(vec![1_i64, 2, 3]), 2)?);
//! for batch in &loader {
//!     let _train_on = batch?;
//!     checkpoint::save(&path, &[("model", &model), ("data", &loader)])?;
//! }
//! // Later, in another process:
//! checkpoint::load(&path, &mut [("model", &mut model), ("data", &mut loader)])?;
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(())
//! # }
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{error, fmt};

use aten::prelude::*;
use dispatch_files::{load_safetensors_with_metadata, save_safetensors_with_metadata};
use dispatch_runtime::{Device, Error, Generator, Result, Tensor};

use crate::state::{State, StateProblem, Stateful};

/// The version of the format. A reader refuses other versions.
const VERSION: &str = "1";
/// The entries of the metadata that are no values of parts.
const VERSION_KEY: &str = "opdispatch_checkpoint";
const PARTS_KEY: &str = "parts";
const GENERATORS_KEY: &str = "generators";

/// Saves the states of the parts of a training run, and those of the default generators of all devices that the parts use. A file of this name
/// is replaced as a whole.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, checkpoint};
/// # let path = std::env::temp_dir().join(format!("save-{}.safetensors", std::process::id()));
/// checkpoint::save(&path, &[("model", &Linear::new(2, 3)?)])?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`CheckpointError`] if two parts have the same name, or if a name is empty or has a point, and
/// [`FileError`](dispatch_files::FileError) if the file cannot be written.
pub fn save(path: impl AsRef<Path>, parts: &[(&str, &dyn Stateful)]) -> Result<()> {
    let path = path.as_ref();
    check_names(path, parts.iter().map(|(name, _)| *name))?;
    let mut run = State::default();
    for (name, part) in parts {
        run.insert(name, part.state()?);
    }
    let devices: BTreeSet<String> =
        run.tensors.values().map(Tensor::device).chain([Device::CPU]).map(|device| device.to_string()).collect();
    let mut metadata = run.values;
    metadata.insert(VERSION_KEY.to_owned(), VERSION.to_owned());
    metadata.insert(PARTS_KEY.to_owned(), parts.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(","));
    metadata.insert(GENERATORS_KEY.to_owned(), generators(&devices)?);
    let on_host = |(name, tensor): (String, Tensor)| Ok((name, tensor.to(Device::CPU)?));
    let tensors: BTreeMap<String, Tensor> = run.tensors.into_iter().map(on_host).collect::<Result<_>>()?;
    Ok(save_safetensors_with_metadata(path, &tensors, metadata)?)
}

/// Loads the states of parts that [`save`] saved, and those of the default generators. Parts of the file that are not asked for are left out.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, checkpoint};
/// # let path = std::env::temp_dir().join(format!("load-{}.safetensors", std::process::id()));
/// checkpoint::save(&path, &[("model", &Linear::new(2, 3)?)])?;
/// checkpoint::load(&path, &mut [("model", &mut Linear::new(2, 3)?)])?;
/// let error = checkpoint::load(&path, &mut [("model", &mut Linear::new(2, 4)?)]).unwrap_err().to_string();
/// assert!(error.contains("tensor `model.weight` has the shape [3, 2], and [4, 2] in the object"), "{error}");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`CheckpointError`] if the file is no checkpoint, has another version, or does not fit: the error lists everything that is missing,
/// unexpected or of the wrong shape, in all parts. Then no part has changed.
pub fn load(path: impl AsRef<Path>, parts: &mut [(&str, &mut dyn Stateful)]) -> Result<()> {
    let path = path.as_ref();
    let refuse = |problem| CheckpointError { path: path.to_owned(), problem };
    check_names(path, parts.iter().map(|(name, _)| *name))?;
    let (tensors, mut values) = load_safetensors_with_metadata(path)?;
    match values.remove(VERSION_KEY) {
        None => return Err(refuse(CheckpointProblem::NotACheckpoint).into()),
        Some(found) if found != VERSION => return Err(refuse(CheckpointProblem::Version { found }).into()),
        Some(_) => {}
    }
    let saved_parts = values.remove(PARTS_KEY).unwrap_or_default();
    let damaged = || refuse(CheckpointProblem::Damaged { entry: GENERATORS_KEY });
    let generators = parse_generators(&values.remove(GENERATORS_KEY).unwrap_or_default()).ok_or_else(damaged)?;

    let run = State { tensors, values };
    let (mut missing, mut problems, mut states) = (Vec::new(), Vec::new(), Vec::new());
    for (name, part) in parts.iter() {
        let state = run.part(name);
        if saved_parts.split(',').any(|saved| saved == *name) {
            problems.extend(part.check_state(&state)?.into_iter().map(|problem| problem.within(name)));
        } else {
            missing.push((*name).to_owned());
        }
        states.push(state);
    }
    if !missing.is_empty() || !problems.is_empty() {
        return Err(refuse(CheckpointProblem::DoesNotFit { missing_parts: missing, problems }).into());
    }
    for ((_, part), state) in parts.iter_mut().zip(&states) {
        part.load_state(state)?;
    }
    for (device, seed, position) in generators {
        let generator = Generator::default_for(device);
        generator.set_seed(seed);
        generator.seek(position);
    }
    Ok(())
}

fn check_names<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> Result<(), CheckpointError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() || name.contains(['.', ',']) || !seen.insert(name) {
            let problem = CheckpointProblem::PartName { name: name.to_owned() };
            return Err(CheckpointError { path: path.to_owned(), problem });
        }
    }
    Ok(())
}

/// Returns the states of the default generators as text: `cpu 7 0, cuda:0 7 12`.
fn generators(devices: &BTreeSet<String>) -> Result<String> {
    let mut text = Vec::new();
    for name in devices {
        let generator = Generator::default_for(name.parse()?);
        text.push(format!("{name} {} {}", generator.seed(), generator.position()));
    }
    Ok(text.join(", "))
}

fn parse_generators(text: &str) -> Option<Vec<(Device, u64, u64)>> {
    let parse = |entry: &str| {
        let mut words = entry.split(' ');
        let parsed = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        words.next().is_none().then_some(parsed)
    };
    text.split(", ").map(parse).collect()
}

/// The error for a checkpoint that cannot be saved or loaded.
///
/// ```
/// # use kernels_cpu as _;
/// let error = dispatch_nn::checkpoint::save("run.safetensors", &[("a.b", &dispatch_nn::ReLU)]).unwrap_err().to_string();
/// assert!(error.starts_with("checkpoint `run.safetensors`: `a.b` cannot be the name of a part"), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub problem: CheckpointProblem,
}

/// The problem with a checkpoint.
///
/// ```
/// use dispatch_nn::checkpoint::CheckpointProblem;
/// let problem = CheckpointProblem::Version { found: "7".to_owned() };
/// assert_eq!(problem.to_string(), "it has version 7 of the format, and this program reads version 1");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The name of a part is empty, has a point or a comma, or is that of another part.
    PartName {
        /// The name.
        name: String,
    },
    /// The file was not written by [`save`].
    NotACheckpoint,
    /// The file has another version of the format.
    Version {
        /// The version.
        found: String,
    },
    /// An entry of the metadata is damaged.
    Damaged {
        /// The entry.
        entry: &'static str,
    },
    /// The file does not fit the parts.
    DoesNotFit {
        /// The parts that the file does not have.
        missing_parts: Vec<String>,
        /// Everything that does not fit in the other parts.
        problems: Vec<StateProblem>,
    },
}

impl fmt::Display for CheckpointProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartName { name } => write!(
                f,
                "`{name}` cannot be the name of a part; each part has a name of its own, without points and commas"
            ),
            Self::NotACheckpoint => f.write_str(
                "the file is no checkpoint; load weights with `files::load_safetensors` and `load_state_dict`",
            ),
            Self::Version { found } => {
                write!(f, "it has version {found} of the format, and this program reads version {VERSION}")
            }
            Self::Damaged { entry } => write!(f, "the entry `{entry}` of its metadata is damaged"),
            Self::DoesNotFit { missing_parts, problems } => {
                f.write_str("it does not fit, and nothing was loaded")?;
                missing_parts.iter().try_for_each(|part| write!(f, "\n  part `{part}` is missing"))?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "checkpoint `{}`: {}", self.path.display(), self.problem)
    }
}

impl error::Error for CheckpointError {}

impl From<CheckpointError> for Error {
    #[cold]
    fn from(error: CheckpointError) -> Self {
        Self::kernel(error)
    }
}
