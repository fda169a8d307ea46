//! NVRTC: kernels to machine code of one architecture, kept on disk.
//!
//! Machine code runs on every driver of the same major version; the intermediate language of a newer compiler does not, so none is made.

use std::ffi::{CStr, CString, c_char};
use std::sync::LazyLock;

use cudarc::nvrtc::sys::{self, nvrtcResult};

use crate::cache;
use crate::error::{CudaError, Missing};
use crate::source::{HEADERS, Unit};

/// Machine code, and what it calls the instances that were asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// A cubin.
    pub bytes: Vec<u8>,
    /// The name of each instance.
    pub names: Vec<String>,
}

static VERSION: LazyLock<Result<(i32, i32), CudaError>> = LazyLock::new(|| {
    // SAFETY: it loads a library, whose initialisers run.
    if !unsafe { sys::is_culib_present() } {
        return Err(Missing::Compiler.into());
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both numbers are ours.
    match unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) } {
        nvrtcResult::NVRTC_SUCCESS => Ok((major, minor)),
        _ => Err(Missing::Compiler.into()),
    }
});

/// The run-time compiler's version.
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
/// Where there is none.
pub fn compiler_version() -> Result<(i32, i32), CudaError> {
    VERSION.clone()
}

/// Machine code for an architecture, from the disk if it was made before.
pub(crate) fn cubin(unit: &Unit, expressions: &[String], architecture: u32) -> Result<Code, CudaError> {
    let (major, minor) = compiler_version()?;
    let key = unit.key(expressions, &format!("nvrtc {major}.{minor} sm_{architecture}"));
    if let Some(code) = cache::read(&key) {
        return Ok(code);
    }
    let code = compile(unit, expressions, architecture, Effort::Full)?;
    cache::write(&key, &code);
    Ok(code)
}

/// How well code is optimised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    Full,
    Quick,
}

/// Machine code for an architecture, made anew.
pub(crate) fn compile(
    unit: &Unit,
    expressions: &[String],
    architecture: u32,
    effort: Effort,
) -> Result<Code, CudaError> {
    compiler_version()?;
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let failed = |log: String| CudaError::Compile { kernel: unit.name, target: format!("sm_{architecture}"), log };
    let contents: Vec<CString> = HEADERS.iter().map(|(_, content)| text(content)).collect();
    let names: Vec<CString> = HEADERS.iter().map(|(name, _)| text(name)).collect();
    let expressions: Vec<CString> = expressions.iter().map(|expression| text(expression)).collect();
    let level = if effort == Effort::Quick { "max" } else { "0" };
    let options =
        [format!("--gpu-architecture=sm_{architecture}"), "--std=c++17".to_owned(), format!("--Ofast-compile={level}")]
            .map(|option| text(&option));

    let program = Program::new(unit, &contents, &names).map_err(|result| failed(format!("{result:?}")))?;
    for expression in &expressions {
        // SAFETY: the program is alive, and so is the text, until names are asked for.
        check(unsafe { sys::nvrtcAddNameExpression(program.0, expression.as_ptr()) })
            .map_err(|_| failed(program.log()))?;
    }
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let count = i32::try_from(options.len()).unwrap_or(0);
    // SAFETY: the program is alive, and the options are, for the call.
    check(unsafe { sys::nvrtcCompileProgram(program.0, count, options.as_ptr()) })
        .map_err(|_| failed(program.log()))?;
    let bytes = program.cubin().map_err(|result| failed(format!("{result:?}")))?;
    let names = expressions.iter().map(|expression| program.name(expression)).collect::<Result<_, _>>();
    Ok(Code { bytes, names: names.map_err(|result| failed(format!("{result:?}")))? })
}

fn check(result: nvrtcResult) -> Result<(), nvrtcResult> {
    if result == nvrtcResult::NVRTC_SUCCESS { Ok(()) } else { Err(result) }
}

struct Program(sys::nvrtcProgram);

impl Program {
    fn new(unit: &Unit, contents: &[CString], names: &[CString]) -> Result<Self, nvrtcResult> {
        let (text, name) = (CString::new(unit.text).unwrap_or_default(), CString::new(unit.name).unwrap_or_default());
        let contents: Vec<*const c_char> = contents.iter().map(|content| content.as_ptr()).collect();
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        let count = i32::try_from(names.len()).unwrap_or(0);
        // SAFETY: the texts are alive for the call, which copies them; there are `count` headers.
        check(unsafe {
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

    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program is alive, and the number ours.
        if check(unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut size) }).is_err() {
            return String::new();
        }
        let mut log = vec![0_u8; size.max(1)];
        // SAFETY: the log has as many bytes as was said.
        _ = check(unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) });
        String::from_utf8_lossy(&log).trim_end_matches(['\0', '\n']).to_owned()
    }

    fn cubin(&self) -> Result<Vec<u8>, nvrtcResult> {
        let mut size = 0;
        // SAFETY: the program is alive, and the number ours.
        check(unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) })?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: there are as many bytes as was said.
        check(unsafe { sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn name(&self, expression: &CStr) -> Result<String, nvrtcResult> {
        let mut name = std::ptr::null();
        // SAFETY: the program is alive, and was compiled with this expression.
        check(unsafe { sys::nvrtcGetLoweredName(self.0, expression.as_ptr(), &raw mut name) })?;
        // SAFETY: the compiler gave a text of the program's, which is alive.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is alive, and nobody uses it afterwards.
        _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}
