//! Every kernel compiles to machine code for the architectures that there are, with no GPU at hand.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernels_cuda::{CudaError, Kernel, Missing, compiler_version, kernels};

const ARCHITECTURES: [u32; 3] = [80, 90, 100];

/// Whether the compiler is there; if not, says so.
fn there_is_a_compiler() -> bool {
    match compiler_version() {
        Ok((major, minor)) => {
            println!("NVRTC {major}.{minor}");
            true
        }
        Err(error) => {
            println!("skipped: {error}");
            false
        }
    }
}

#[test]
fn every_kernel_compiles_for_every_architecture_and_has_its_entry_points() {
    if !there_is_a_compiler() {
        return;
    }
    let work: Vec<(&Kernel, u32)> = kernels().flat_map(|kernel| ARCHITECTURES.map(|sm| (kernel, sm))).collect();
    let (next, failures, entries) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((kernel, sm)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match entry_points(kernel, *sm) {
                        Ok(count) => _ = entries.fetch_add(count, Ordering::Relaxed),
                        Err(failure) => failures.lock().unwrap().push(failure),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    println!("{} kernels, {} entry points", work.len() / ARCHITECTURES.len(), entries.into_inner());
    assert!(work.len() > 3 * 100);
}

/// How many instances there are, each of which is a section of the machine code.
fn entry_points(kernel: &Kernel, sm: u32) -> Result<usize, String> {
    let code = kernel.compile(sm).map_err(|error| error.to_string())?;
    assert_eq!(&code.bytes[..4], b"\x7fELF");
    let wanted = kernel.expressions().len();
    if code.names.len() != wanted || wanted == 0 {
        return Err(format!("{}: {} of {wanted} instances for sm_{sm}", kernel.name(), code.names.len()));
    }
    for name in &code.names {
        let section = format!(".text.{name}\0");
        if !code.bytes.windows(section.len()).any(|bytes| bytes == section.as_bytes()) {
            return Err(format!("{}: no entry point {name} for sm_{sm}", kernel.name()));
        }
    }
    Ok(wanted)
}

#[test]
fn names_of_kernels_are_their_own() {
    let mut names: Vec<&str> = kernels().map(Kernel::name).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}

static WRONG: Kernel = Kernel::new(
    "wrong",
    "template <class T> __global__ void wrong(T *out) {\n    out[0] = nowhere;\n}\n",
    |instances| instances.each("wrong", &[dispatch_runtime::DType::F32]),
);

#[test]
fn a_mistake_in_a_kernel_is_an_error_with_its_line() {
    match WRONG.compile(90) {
        Err(CudaError::Compile { kernel: "wrong", target, log }) => {
            assert_eq!(target, "sm_90");
            assert!(log.contains("wrong(2)") && log.contains("nowhere"), "{log}");
        }
        Err(CudaError::Unavailable(Missing::Compiler)) => println!("skipped: there is no compiler"),
        other => panic!("{other:?}"),
    }
}
