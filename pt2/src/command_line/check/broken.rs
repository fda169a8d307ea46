//! Files that are damaged, or that look so.

use std::path::Path;

use dispatch_pt2::{Archive, Program, Pt2Error};
use serde::Deserialize;

use super::recording::load_json;

/// A file, and the stage at which it is refused.
#[derive(Deserialize)]
pub(super) struct BrokenFile {
    pub(super) file: String,
    stage: FailingStage,
    /// The defect. It also says if a reader may make up for it.
    says: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum FailingStage {
    /// The archive cannot be opened.
    Open,
    /// The archive opens, and its program cannot be loaded.
    Load,
    /// The program loads, and its run fails.
    Run,
    /// The program loads and runs.
    Ok,
}

/// Returns the entries of `broken/broken.json`, or none if the folder has no such file.
pub(super) fn entries(folder: &Path) -> Result<Vec<BrokenFile>, String> {
    let path = folder.join("broken").join("broken.json");
    if path.exists() { load_json(&path) } else { Ok(Vec::new()) }
}

impl BrokenFile {
    /// Returns an error if the file is not refused at its stage.
    pub(super) fn check(&self, folder: &Path) -> Result<(), String> {
        let archive = match Archive::open(folder.join("broken").join(&self.file)) {
            Ok(archive) => archive,
            Err(_) if self.stage == FailingStage::Open => return Ok(()),
            Err(error) => return Err(format!("it does not open: {error}")),
        };
        if self.stage == FailingStage::Open {
            return Err(format!("it opens, and must not: {}", self.says));
        }
        let program = match only_program(&archive) {
            Ok(program) => program,
            Err(_) if self.stage == FailingStage::Load => return Ok(()),
            Err(error) => return Err(format!("it does not load: {error}")),
        };
        if self.stage == FailingStage::Load && !self.may_load() {
            return Err(format!("it loads, and must not: {}", self.says));
        }
        let inputs =
            archive.sample_inputs(program.name()).map_err(|error| format!("its example cannot be read: {error}"))?;
        // A file may have no example, and then it is not run.
        match (inputs.map(|inputs| program.run(inputs)), self.stage) {
            (Some(Ok(_)), FailingStage::Run) => Err(format!("it runs, and must not: {}", self.says)),
            (None, FailingStage::Run) => Err("it has no example to run".to_owned()),
            (Some(Err(error)), FailingStage::Ok | FailingStage::Load) => Err(format!("it does not run: {error}")),
            _ => Ok(()),
        }
    }

    /// Whether a reader may make up for the defect.
    fn may_load(&self) -> bool {
        self.says.contains("ignored") || self.says.contains("inferred")
    }
}

fn only_program(archive: &Archive) -> Result<Program, Pt2Error> {
    let names: Vec<&str> = archive.program_names().collect();
    archive.program(names.first().copied().unwrap_or("model"))
}
