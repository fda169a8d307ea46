//! The programs that are compared, and their builds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure::Result;
use measure::build::{run_cargo, target_folder};

/// The environment variable with the path of a Python that has PyTorch.
const PYTHON_VARIABLE: &str = "PEERS_PYTHON";

/// A benchmark program, with the script that precedes its arguments if it is an interpreter.
pub(crate) struct Program {
    pub(crate) name: String,
    path: PathBuf,
    script: Option<PathBuf>,
}

/// All programs of the comparison.
pub(crate) struct Programs {
    pub(crate) ours: Program,
    /// This framework without autograd.
    pub(crate) without_autograd: Program,
    pub(crate) candle: Program,
    pub(crate) burn: Program,
    /// PyTorch, called from Python. `pytorch_calls` calls it from C++, if that program can be built.
    pub(crate) pytorch: Option<Program>,
    pub(crate) pytorch_calls: Option<Program>,
    notes: Vec<String>,
}

impl Program {
    fn new(name: &str, path: PathBuf) -> Self {
        Self { name: name.to_owned(), path, script: None }
    }

    pub(crate) fn command(&self, threads: usize) -> Command {
        let threads = threads.to_string();
        let mut command = Command::new(&self.path);
        // `RAYON_NUM_THREADS` is for peers that use Rayon's threads.
        command.args(&self.script).env("PEER_THREADS", &threads).env("RAYON_NUM_THREADS", &threads);
        command
    }
}

impl Programs {
    pub(crate) fn build() -> Result<Self> {
        let target = target_folder()?;
        eprintln!("building the peers, which takes minutes the first time");
        run_cargo(
            peers_folder(),
            &target,
            &["build", "--release", "-p", "peer-opdispatch", "-p", "peer-candle", "-p", "peer-burn"],
        )?;
        let built = |name: &str| Program::new(name, target.join("release").join(format!("peer-{name}")));
        let mut programs = Self {
            ours: built("opdispatch"),
            without_autograd: Program { name: "without autograd".to_owned(), ..built("without-autograd") },
            candle: built("candle"),
            burn: built("burn"),
            pytorch: None,
            pytorch_calls: None,
            notes: busy_machine_warning().into_iter().collect(),
        };
        programs.find_pytorch(&target);
        Ok(programs)
    }

    /// Returns the notes to print under the table.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    fn find_pytorch(&mut self, target: &Path) {
        let python = env::var_os(PYTHON_VARIABLE).map_or_else(|| "python3".into(), PathBuf::from);
        let script = peers_folder().join("pytorch/peer.py");
        let output = Command::new(&python).arg(&script).arg("flags").output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else {
            self.notes.push(format!(
                "There is no PyTorch here, so its lines are left out, and its instructions are those published for 2.15. \
                 Set {PYTHON_VARIABLE} to a Python with the package `torch`."
            ));
            return;
        };
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = output.lines();
        let version = lines.next().unwrap_or_default();
        self.notes.push(format!("PyTorch is {version}."));
        let name = "PyTorch";
        match build_pytorch_calls(target, version, &lines.collect::<Vec<_>>()) {
            Ok(path) => self.pytorch_calls = Some(Program::new(name, path)),
            Err(error) => self.notes.push(format!(
                "PyTorch's small calls were timed in Python, with an empty function subtracted, as pytorch/calls.cpp was not \
                 built ({error}). Its instructions are those published for 2.15."
            )),
        }
        self.pytorch = Some(Program { name: name.to_owned(), path: python, script: Some(script) });
    }
}

/// Builds pytorch/calls.cpp with the headers and libraries of the Python package.
fn build_pytorch_calls(target: &Path, version: &str, flags: &[&str]) -> Result<PathBuf> {
    let source = peers_folder().join("pytorch/calls.cpp");
    let program = target.join(format!("pytorch-calls-{version}"));
    let is_newer =
        |path: &Path| Ok::<_, std::io::Error>(fs::metadata(path)?.modified()? > fs::metadata(&source)?.modified()?);
    if is_newer(&program).unwrap_or(false) {
        return Ok(program);
    }
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(compiler);
    command.args(["-O2", "-std=c++20"]).arg(&source).arg("-o").arg(&program).args(flags).args(["-ltorch_cpu", "-lc10"]);
    let output = command.output()?;
    if output.status.success() {
        return Ok(program);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(errors.lines().find(|line| line.contains("error")).unwrap_or("no reason was given").to_owned().into())
}

/// Returns a warning if the machine is busy, because other processes distort times, most of all on several threads.
fn busy_machine_warning() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let load: f64 = load.split(' ').next()?.parse().ok()?;
    let threads = std::thread::available_parallelism().ok()?;
    (load > 0.5).then(|| {
        format!(
            "This machine of {threads} processors had other processes running (load {load}): \
             do not trust times on several threads."
        )
    })
}

/// Returns the folder of the peers.
fn peers_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in the folder of the peers")
}
