//! Every kernel compiles to machine code for the architectures that there are, with no GPU at hand.

use std::process::{Child, Command, Stdio};

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

/// The compiler does one thing at a time in a process, so there are as many of these as processors.
#[test]
fn every_kernel_compiles_for_every_architecture_and_has_its_entry_points() {
    if !there_is_a_compiler() {
        return;
    }
    let shards = std::thread::available_parallelism().map_or(1, usize::from);
    let shard = |number: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_shard_of_the_kernels", "--ignored", "--nocapture"])
            .env(SHARD, format!("{number} {shards}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running: Vec<Child> = (0..shards).map(shard).collect();
    for process in running {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("entry points"), "{said}");
        print!("{said}");
    }
    assert!(kernels().count() > 150);
}

/// Which part of the work is a process's: its number, and how many there are.
const SHARD: &str = "KERNELS_CUDA_SHARD";

#[test]
#[ignore = "it is run by the test above"]
fn a_shard_of_the_kernels() {
    let shard = std::env::var(SHARD).unwrap_or_else(|_| "0 1".to_owned());
    let (number, shards) = shard.split_once(' ').unwrap();
    let (number, shards): (usize, usize) = (number.parse().unwrap(), shards.parse().unwrap());
    let work = kernels().flat_map(|kernel| ARCHITECTURES.map(|sm| (kernel, sm)));
    let mine: Vec<(&Kernel, u32)> =
        work.enumerate().filter(|(at, _)| at % shards == number).map(|(_, work)| work).collect();
    let counts: Vec<Result<usize, String>> = mine.iter().map(|(kernel, sm)| entry_points(kernel, *sm)).collect();
    let failures: Vec<&String> = counts.iter().filter_map(|count| count.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    println!("{} compilations, {} entry points", mine.len(), counts.iter().flatten().sum::<usize>());
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
