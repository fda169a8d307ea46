//! Compilation of kernels for the CPU, by the system's C++ compiler.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use crate::compile::disk_cache::cache_folder;
use crate::compile::nvrtc::measure_compilation;
use crate::compile::source::{HEADERS, HEADERS_FINGERPRINT, Source};
use crate::error::CudaError;
use crate::lock::lock_ignoring_poison;

fn compiler_command() -> OsString {
    std::env::var_os("CXX").unwrap_or_else(|| "c++".into())
}

/// The output of the C++ compiler's `--version`, or `None` if there is no compiler.
pub(super) static COMPILER_VERSION: LazyLock<Option<String>> = LazyLock::new(|| {
    let output =
        Command::new(compiler_command()).arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
});

pub(super) fn compile_error(source: &Source, log: String) -> CudaError {
    CudaError::Compile { kernel: source.name, target: "the emulator".to_owned(), log }
}

const SHIM_HEADER: &str = include_str!("../../../host/emulator.h");

/// Returns the path of a program's compiled library, and compiles it if the disk cache has none.
pub(super) fn compiled_library(source: &Source, expressions: &[String]) -> Result<PathBuf, CudaError> {
    let program = program_text(source, expressions);
    let key = source.cache_key(
        COMPILER_VERSION.as_deref().unwrap_or_default(),
        &[&COMPILER_OPTIONS[..], &[SHIM_HEADER, &program]].concat(),
    );
    let folder = cache_folder().ok_or_else(|| {
        compile_error(source, "the cache folder is unknown; name one in OPDISPATCH_CUDA_CACHE".to_owned())
    })?;
    let library = folder.join(format!("{key}.so"));
    if library.exists() {
        return Ok(library);
    }
    let failed = |error: std::io::Error| compile_error(source, error.to_string());
    let headers = headers_folder(&folder).map_err(failed)?;
    let work = folder.join(format!("{key}.{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(failed)?;
    let built = measure_compilation(expressions.len(), || build_library(source, &program, &work, &headers));
    if let Ok(built) = &built {
        std::fs::rename(built, &library).map_err(failed)?;
    }
    std::fs::remove_dir_all(&work).map_err(failed)?;
    built.map(|_| library)
}

/// The compiler's options for emulated kernels. With `-fno-gnu-unique`, shared variables of templates belong to one library: a variable of
/// the same name in another library may be larger. The sanitizers find errors that a device does not survive, or computes differently from
/// the CPU; the functions that they call are in the shim.
const COMPILER_OPTIONS: [&str; 10] = [
    "-std=c++17",
    "-Og",
    "-w",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-gnu-unique",
    "-ffp-contract=off",
    "-fPIC",
    "-fsanitize=alignment,bounds,shift-exponent",
    "-fno-sanitize-recover=all",
];

/// Returns a folder with all headers. `emulator.h`, which each program includes first, is precompiled for compilers that support it (GCC):
/// reading it takes a quarter of the time of a small program.
fn headers_folder(folder: &Path) -> std::io::Result<PathBuf> {
    static BUILD_LOCK: Mutex<()> = Mutex::new(());
    let _lock = lock_ignoring_poison(&BUILD_LOCK);
    let key = HEADERS_FINGERPRINT
        .add_text(COMPILER_VERSION.as_deref().unwrap_or_default())
        .add_texts(&COMPILER_OPTIONS)
        .add_text(SHIM_HEADER);
    let built = folder.join(format!("headers-{key}"));
    if built.exists() {
        return Ok(built);
    }
    let work = built.with_extension(std::process::id().to_string());
    std::fs::create_dir_all(&work)?;
    for (name, content) in HEADERS.iter().chain([&("emulator.h", SHIM_HEADER)]) {
        std::fs::write(work.join(name), content)?;
    }
    // If precompiling fails, the compiler reads the header's text.
    let [text, compiled] = ["emulator.h", "emulator.h.gch"].map(|name| work.join(name));
    _ = Command::new(compiler_command())
        .args(COMPILER_OPTIONS)
        .args(["-x", "c++-header"])
        .arg(text)
        .arg("-o")
        .arg(compiled)
        .output()?;
    match std::fs::rename(&work, &built) {
        // Another process has built the folder meanwhile.
        Err(_) if built.exists() => std::fs::remove_dir_all(&work)?,
        done => done?,
    }
    Ok(built)
}

fn build_library(source: &Source, program: &str, work: &Path, headers: &Path) -> Result<PathBuf, CudaError> {
    let failed = |error: std::io::Error| compile_error(source, error.to_string());
    let [text, object, library] = ["program.cpp", "program.o", "program.so"].map(|name| work.join(name));
    std::fs::write(&text, program).map_err(failed)?;
    let run = |options: &[&str], from: &Path, to: &Path| {
        let output =
            Command::new(compiler_command()).args(options).arg(from).arg("-o").arg(to).output().map_err(failed)?;
        let log = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(compile_error(source, log())) }
    };
    run(&[&COMPILER_OPTIONS[..], &["-c", "-I", &headers.to_string_lossy()]].concat(), &text, &object)?;
    // Linked in a separate step without the sanitizer options, so that the compiler's sanitizer library is not needed.
    run(&["-shared"], &object, &library)?;
    Ok(library)
}

fn program_text(source: &Source, expressions: &[String]) -> String {
    let mut text = format!("#include \"emulator.h\"\n#line 1 \"{}\"\n{}\n", source.name, source.text);
    for (at, expression) in expressions.iter().enumerate() {
        _ = writeln!(
            text,
            "extern \"C\" void run_{at}(const emulator::LaunchArguments *arguments) {{ \
             emulator::launch(emulator::Entry<&{expression}>::run, \"{}: {expression}\", *arguments); }}\n\
             extern \"C\" const size_t *sizes_{at}() {{ return emulator::Entry<&{expression}>::SIZES; }}",
            source.name
        );
    }
    text
}
