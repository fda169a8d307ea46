//! NVRTC: compilation of kernels to machine code for one architecture, with a disk cache.
//!
//! Machine code runs on every driver of the compiler's major version. PTX of a newer compiler does not, so kernels are not compiled to PTX.
#![expect(unsafe_code, reason = "functions of NVRTC")]

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::io;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use cudarc::nvrtc::sys::{self, nvrtcResult};

use crate::compile::disk_cache;
use crate::compile::source::{HEADERS, Source};
use crate::error::{CudaError, MissingRequirement};
use crate::lock::lock_ignoring_poison;

/// Machine code of some instances of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// The machine code, as a cubin.
    pub bytes: Vec<u8>,
    /// The instances that the code has, as C++ expressions.
    pub expressions: Vec<String>,
    /// The mangled name of each instance in the cubin.
    pub names: Vec<String>,
}

static COMPILER_VERSION: LazyLock<Result<(i32, i32), CudaError>> = LazyLock::new(|| {
    // SAFETY: it loads NVRTC's library, whose initialisers may be run.
    if !unsafe { sys::is_culib_present() } {
        return Err(MissingRequirement::Compiler.into());
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: NVRTC writes only to the two variables.
    match unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) } {
        nvrtcResult::NVRTC_SUCCESS => Ok((major, minor)),
        _ => Err(MissingRequirement::Compiler.into()),
    }
});

/// Returns the version of NVRTC, the run-time compiler: major and minor.
///
/// ```
/// match kernels_cuda::compiler_version() {
///     Ok((major, minor)) => println!("NVRTC {major}.{minor}"),
///     Err(missing) => assert!(missing.to_string().contains("libnvrtc")),
/// }
/// ```
///
/// # Errors
///
/// Returns [`CudaError::Unavailable`] with [`MissingRequirement::Compiler`] if NVRTC is not found.
pub fn compiler_version() -> Result<(i32, i32), CudaError> {
    COMPILER_VERSION.clone()
}

/// Returns how many instances this process has compiled so far, and how long that took.
///
/// ```
/// let compiled = kernels_cuda::compile_statistics();
/// println!("{compiled}");
/// assert!(compiled.instances > 0 || compiled.time.is_zero());
/// ```
#[must_use]
pub fn compile_statistics() -> CompileStatistics {
    *lock_ignoring_poison(&COMPILE_STATISTICS)
}

/// The number of instances that a process has compiled rather than found in the disk cache, and the time that it took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct CompileStatistics {
    /// The number of compiled instances.
    pub instances: usize,
    /// The time, summed over all threads.
    pub time: Duration,
}

static COMPILE_STATISTICS: Mutex<CompileStatistics> =
    Mutex::new(CompileStatistics { instances: 0, time: Duration::ZERO });

impl fmt::Display for CompileStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instances of kernels compiled in {:.1} s", self.instances, self.time.as_secs_f64())
    }
}

/// Runs a compilation, and adds its instances and its time to the process's counts.
pub(crate) fn measure_compilation<T>(instances: usize, compile: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = compile();
    let mut compiled = lock_ignoring_poison(&COMPILE_STATISTICS);
    compiled.instances += instances;
    compiled.time += start.elapsed();
    result
}

/// Returns machine code that contains the given instances. Code in the disk cache is used; the missing instances are compiled together.
pub(crate) fn load_or_compile(
    source: &Source,
    expressions: &[String],
    architecture: u32,
) -> Result<Vec<Code>, CudaError> {
    let (mut codes, missing) = read_cached_codes(source, expressions, architecture);
    if !missing.is_empty() {
        let code = compile(source, &missing, architecture, OptimizationEffort::Full)?;
        // If the code cannot be written to the cache, the next process compiles it again.
        _ = write_to_cache(source, &code, architecture);
        codes.push(code);
    }
    Ok(codes)
}

/// Returns the cached codes of some instances, and the instances that the cache lacks.
pub(crate) fn read_cached_codes(
    source: &Source,
    expressions: &[String],
    architecture: u32,
) -> (Vec<Code>, Vec<String>) {
    select_codes(
        disk_cache::read_kernel_codes(&cache_folder_name(source, architecture), &compiler_file_prefix()),
        expressions,
    )
}

/// Writes machine code to the disk cache.
pub(crate) fn write_to_cache(source: &Source, code: &Code, architecture: u32) -> io::Result<()> {
    disk_cache::write_code(&cache_folder_name(source, architecture), &compiler_file_prefix(), code)
}

/// Returns the prefix of the names of this compiler's files. Without a compiler it is empty, so that files of any compiler are used.
fn compiler_file_prefix() -> String {
    compiler_version().map_or_else(|_| String::new(), |(major, minor)| format!("{major}.{minor}-"))
}

/// Returns the name of a kernel's folder in the disk cache.
///
/// The folder does not depend on the compiler's version, which is the prefix of the files' names: without a compiler, code of any version
/// is used.
fn cache_folder_name(source: &Source, architecture: u32) -> String {
    source.cache_key("nvrtc", &compiler_options(architecture, OptimizationEffort::Full))
}

fn compiler_options(architecture: u32, effort: OptimizationEffort) -> [String; 3] {
    let level = if effort == OptimizationEffort::Quick { "max" } else { "0" };
    [format!("--gpu-architecture=sm_{architecture}"), "--std=c++17".to_owned(), format!("--Ofast-compile={level}")]
}

/// Selects codes that contain the given instances. Also returns the instances that no code contains.
fn select_codes(codes: impl Iterator<Item = Code>, expressions: &[String]) -> (Vec<Code>, Vec<String>) {
    let (mut used, mut missing) = (Vec::new(), expressions.to_vec());
    for code in codes {
        let before = missing.len();
        missing.retain(|expression| !code.expressions.contains(expression));
        if missing.len() < before {
            used.push(code);
        }
        if missing.is_empty() {
            break;
        }
    }
    (used, missing)
}

/// The compiler's effort to optimise code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OptimizationEffort {
    Full,
    Quick,
}

/// Compiles instances to machine code for an architecture, without the disk cache.
pub(crate) fn compile(
    source: &Source,
    expressions: &[String],
    architecture: u32,
    effort: OptimizationEffort,
) -> Result<Code, CudaError> {
    compiler_version()?;
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let failed = |log: String| CudaError::Compile { kernel: source.name, target: format!("sm_{architecture}"), log };
    let contents: Vec<CString> = HEADERS.iter().map(|(_, content)| text(content)).collect();
    let names: Vec<CString> = HEADERS.iter().map(|(name, _)| text(name)).collect();
    let c_expressions: Vec<CString> = expressions.iter().map(|expression| text(expression)).collect();
    let options = compiler_options(architecture, effort).map(|option| text(&option));

    let program = Program::new(source, &contents, &names).map_err(|result| failed(format!("{result:?}")))?;
    for expression in &c_expressions {
        // SAFETY: the program is alive, and the text lives until the last call of `lowered_name`.
        check_result(unsafe { sys::nvrtcAddNameExpression(program.0, expression.as_ptr()) })
            .map_err(|_| failed(program.compile_log()))?;
    }
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let count = i32::try_from(options.len()).unwrap_or(0);
    measure_compilation(c_expressions.len(), || {
        // SAFETY: the program and the options are alive during the call.
        check_result(unsafe { sys::nvrtcCompileProgram(program.0, count, options.as_ptr()) })
    })
    .map_err(|_| failed(program.compile_log()))?;
    let bytes = program.cubin().map_err(|result| failed(format!("{result:?}")))?;
    let names = c_expressions.iter().map(|expression| program.lowered_name(expression)).collect::<Result<_, _>>();
    Ok(Code { bytes, expressions: expressions.to_vec(), names: names.map_err(|result| failed(format!("{result:?}")))? })
}

fn check_result(result: nvrtcResult) -> Result<(), nvrtcResult> {
    if result == nvrtcResult::NVRTC_SUCCESS { Ok(()) } else { Err(result) }
}

struct Program(sys::nvrtcProgram);

impl Program {
    fn new(source: &Source, contents: &[CString], names: &[CString]) -> Result<Self, nvrtcResult> {
        let (text, name) =
            (CString::new(source.text).unwrap_or_default(), CString::new(source.name).unwrap_or_default());
        let contents: Vec<*const c_char> = contents.iter().map(|content| content.as_ptr()).collect();
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        let count = i32::try_from(names.len()).unwrap_or(0);
        // SAFETY: the texts are alive during the call, which copies them; there are `count` headers.
        check_result(unsafe {
            sys::nvrtcCreateProgram(
                &raw mut program,
                text.as_ptr(),
                name.as_ptr(),
                count,
                contents.as_ptr(),
                names.as_ptr(),
            )
        })?;
        Ok(Self(program))
    }

    fn compile_log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program is alive, and NVRTC writes only to `size`.
        if check_result(unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut size) }).is_err() {
            return String::new();
        }
        let mut log = vec![0_u8; size.max(1)];
        // SAFETY: the log has as many bytes as NVRTC asked for.
        _ = check_result(unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) });
        String::from_utf8_lossy(&log).trim_end_matches(['\0', '\n']).to_owned()
    }

    fn cubin(&self) -> Result<Vec<u8>, nvrtcResult> {
        let mut size = 0;
        // SAFETY: the program is alive, and NVRTC writes only to `size`.
        check_result(unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) })?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: there are as many bytes as NVRTC asked for.
        check_result(unsafe { sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn lowered_name(&self, expression: &CStr) -> Result<String, nvrtcResult> {
        let mut name = std::ptr::null();
        // SAFETY: the program is alive, and was compiled with this expression.
        check_result(unsafe { sys::nvrtcGetLoweredName(self.0, expression.as_ptr(), &raw mut name) })?;
        // SAFETY: NVRTC returned a text of the program, which is alive.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is alive, and is not used afterwards.
        _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn code_with_instances(expressions: &[&str]) -> Code {
        Code { bytes: Vec::new(), expressions: to_strings(expressions), names: to_strings(expressions) }
    }

    #[test]
    fn codes_of_several_instances_and_of_single_ones_are_combined() {
        let together = code_with_instances(&["add<u8>", "add<i8>", "add<float>"]);
        assert_eq!(
            select_codes([together.clone()].into_iter(), &to_strings(&["add<i8>"])),
            (vec![together.clone()], vec![])
        );

        let (one, another, foreign) = (
            code_with_instances(&["add<i8>"]),
            code_with_instances(&["add<u8>"]),
            code_with_instances(&["add<double>"]),
        );
        let there = [foreign, one.clone(), another.clone()];
        let (used, missing) = select_codes(there.into_iter(), &together.expressions);
        assert_eq!((used, missing), (vec![one, another], to_strings(&["add<float>"])));
    }

    #[test]
    fn reading_stops_when_all_instances_are_found() {
        let endless = std::iter::repeat_with(|| code_with_instances(&["add<u8>"]));
        assert_eq!(select_codes(endless, &to_strings(&["add<u8>"])).0.len(), 1);
    }

    #[test]
    fn different_texts_and_architectures_have_different_folders() {
        let source = Source { name: "add", text: "one", instances: |_| {} };
        let others = [
            cache_folder_name(&source, 80),
            cache_folder_name(&Source { text: "two", ..source }, 90),
            cache_folder_name(&Source { name: "mul", ..source }, 90),
        ];
        assert!(!others.contains(&cache_folder_name(&source, 90)), "{others:?}");
        assert_eq!(cache_folder_name(&source, 90), cache_folder_name(&source, 90));
    }

    #[test]
    fn code_compiled_with_less_effort_has_another_cache_key() {
        let source = Source { name: "add", text: "one", instances: |_| {} };
        let key = |effort| source.cache_key("nvrtc", &compiler_options(90, effort));
        assert_ne!(key(OptimizationEffort::Full), key(OptimizationEffort::Quick));
    }
}
