//! The command `check`: compares the programs of a folder with what PyTorch recorded of them.
//!
//! A row is a program in one dialect, or a broken file. A program that panics is a failed row, and the other rows go on.

mod broken;
mod comparison;
mod gradients;
mod recorded_program;
mod recording;
mod training;

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::text_table::write_row;
use crate::{Outcome, Verdict};
use recorded_program::{Dialect, RecordedProgram};
use recording::Recording;

/// Compares the programs of a folder with recordings of PyTorch, and prints a table.
///
/// A program has a file NAME.json with its runs, NAME.safetensors with their tensors, and NAME.raw.pt2, NAME.core.pt2 or both. If one is
/// missing, NAME.json can name another file. The file broken/broken.json lists files that are to be refused. A figure in the table is the
/// largest difference, as a part of the tolerance.
#[derive(clap::Args)]
pub(crate) struct CheckOptions {
    /// The folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Checks only the programs and the files that have this text in their name.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// The stages of a check, which are the columns of the table.
const STAGES: [&str; 5] = ["load", "check", "outputs", "gradients", "training"];

/// The result of a stage: the largest difference as a part of the tolerance, if numbers are compared; or the reason of the failure.
type Stage = Result<Option<f64>, String>;

/// A row of the table.
struct Row {
    name: String,
    kind: &'static str,
    /// The stages by their position in [`STAGES`]. A stage without a recording is missing.
    stages: [Option<Stage>; STAGES.len()],
    /// Remarks about stages that have passed.
    notes: Vec<String>,
}

pub(crate) fn run(options: &CheckOptions, out: &mut dyn Write) -> Outcome<Verdict> {
    if options.folder.is_file() {
        let text = "is a file; `check` takes a folder of programs, with what PyTorch recorded of them";
        return Err(format!("`{}` {text}", options.folder.display()).into());
    }
    let is_selected = |name: &str| options.only.as_ref().is_none_or(|text| name.contains(text));
    let mut names = recording::program_names(&options.folder)?;
    names.retain(|name| is_selected(name));
    let mut broken = broken::entries(&options.folder)?;
    broken.retain(|entry| is_selected(&entry.file));
    if names.is_empty() && broken.is_empty() {
        let selected = options.only.as_ref().map_or_else(String::new, |text| format!(" with `{text}` in its name"));
        return Err(format!("`{}` has no NAME.json of a program{selected}", options.folder.display()).into());
    }
    // The table has the messages of panics.
    std::panic::set_hook(Box::new(|_| {}));
    let longest = names.iter().chain(broken.iter().map(|entry| &entry.file)).map(|name| name.chars().count()).max();
    let mut table = Table::start(out, longest.unwrap_or(0))?;
    for name in &names {
        let recording = Recording::load(&options.folder, name);
        for dialect in Dialect::ALL {
            if let Some(path) = program_path(&options.folder, name, dialect, &recording) {
                table.add(|| program_row(name, dialect, &path, &recording))?;
            }
        }
    }
    for entry in &broken {
        table.add(|| Row {
            name: entry.file.clone(),
            kind: "broken",
            stages: [Some(catch_panic(|| entry.check(&options.folder).map(|()| None))), None, None, None, None],
            notes: Vec::new(),
        })?;
    }
    table.finish()
}

/// Returns the file of a program in a dialect: the file with the program's name, or the one that the recording names.
fn program_path(folder: &Path, name: &str, dialect: Dialect, recording: &Result<Recording, String>) -> Option<PathBuf> {
    let own = folder.join(format!("{name}.{}.pt2", dialect.name()));
    if own.exists() {
        return Some(own);
    }
    recording.as_ref().ok()?.files.get(dialect.name()).map(|file| folder.join(file))
}

fn program_row(name: &str, dialect: Dialect, path: &Path, recording: &Result<Recording, String>) -> Row {
    let mut row =
        Row { name: name.to_owned(), kind: dialect.name(), stages: [const { None }; STAGES.len()], notes: Vec::new() };
    let [load, check, outputs, gradients, training] = &mut row.stages;
    let recording = match recording {
        Ok(recording) => recording,
        Err(reason) => {
            *load = Some(Err(reason.clone()));
            return row;
        }
    };
    let program = RecordedProgram { path, dialect, recording };
    let loaded = catch_panic(|| program.load().map(drop).map(|()| None));
    let is_loaded = loaded.is_ok();
    *load = Some(loaded);
    if is_loaded {
        *check = Some(catch_panic(|| program.check().map(|()| None)));
        *outputs = Some(catch_panic(|| program.compare_outputs().map(Some)));
        *gradients = gradients::is_recorded(&program).then(|| catch_panic(|| gradients::compare(&program)));
        *training = training::is_recorded(&program)
            .then(|| catch_panic(|| training::compare(&program, &mut row.notes).map(Some)));
    }
    row
}

/// Runs a stage. A panic is a failure of the stage, so that the other programs are checked.
fn catch_panic(stage: impl FnOnce() -> Stage) -> Stage {
    catch_unwind(AssertUnwindSafe(stage))
        .unwrap_or_else(|panic| Err(format!("panic: {}", panic_message(panic.as_ref()))))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no message)")
}

/// The table, which is printed row by row.
struct Table<'a> {
    out: &'a mut dyn Write,
    widths: [usize; STAGES.len() + 3],
    passed: usize,
    failed: usize,
    /// Notes and failures, which follow the table.
    remarks: Vec<String>,
}

impl<'a> Table<'a> {
    fn start(out: &'a mut dyn Write, name_width: usize) -> Outcome<Self> {
        let [load, check, outputs, gradients, training] = STAGES;
        let header = ["program", "kind", load, check, outputs, gradients, training, "ms"];
        let mut widths = header.map(|title| title.len().max(6));
        widths[0] = widths[0].max(name_width);
        write_row(out, &header, widths, 2)?;
        Ok(Self { out, widths, passed: 0, failed: 0, remarks: Vec::new() })
    }

    fn add(&mut self, check: impl FnOnce() -> Row) -> Outcome<()> {
        let start = Instant::now();
        let Row { name, kind, stages, notes } = check();
        let time = start.elapsed().as_millis().to_string();
        let [load, checked, outputs, gradients, training] = stages.each_ref().map(|stage| match stage {
            None => String::new(),
            Some(Ok(None)) => "ok".to_owned(),
            Some(Ok(Some(part))) => format!("{part:.3}"),
            Some(Err(_)) => "FAILED".to_owned(),
        });
        write_row(self.out, &[&name, kind, &load, &checked, &outputs, &gradients, &training, &time], self.widths, 2)?;
        self.out.flush()?;
        self.remarks.extend(notes.into_iter().map(|note| format!("{name} ({kind}), {note}")));
        let mut has_failed = false;
        for (stage, result) in STAGES.into_iter().zip(stages) {
            if let Some(Err(reason)) = result {
                has_failed = true;
                self.remarks.push(format!("{name} ({kind}), {stage}: {reason}"));
            }
        }
        *(if has_failed { &mut self.failed } else { &mut self.passed }) += 1;
        Ok(())
    }

    fn finish(self) -> Outcome<Verdict> {
        for remark in &self.remarks {
            writeln!(self.out, "\n{remark}")?;
        }
        writeln!(self.out, "\n{} passed, {} failed", self.passed, self.failed)?;
        Ok(if self.failed == 0 { Verdict::Good } else { Verdict::Bad })
    }
}
