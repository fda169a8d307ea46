//! Tests that every kernel compiles for all supported architectures and stays within the limits of devices. They need no GPU.
#![expect(unsafe_code, reason = "kernels are native code")]

mod cubin;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use kernels_cuda::{CudaError, Kernel, Source, compiler_version, kernel_sources};
use test_tools::{Tool, tool_or_skip};

use crate::cubin::ResourceUse;

/// The tested architectures. For the first, all instances of the kernels are fully optimised, as in programs. For the second, the oldest that
/// is supported, all are compiled quickly, as this does not change what they need at most of shared memory, parameters and threads. For the
/// third, a newer one, one instance of each kernel is compiled: kernels do not depend on the architecture, and a newer one has all
/// instructions of the oldest.
const TESTED_ARCHITECTURES: [u32; 3] = [90, 80, 100];

/// The maximum local memory of a thread in bytes. The attention gradients of wide rows use the most.
const MAX_LOCAL_MEMORY: u32 = 640;

/// NVRTC compiles one program at a time in a process, so there are as many processes as processors. The slowest jobs come first.
#[test]
fn every_kernel_compiles_within_the_limits_of_devices() {
    let Some((major, minor)) = tool_or_skip(Tool::Nvrtc, compiler_version()) else { return };
    println!("NVRTC {major}.{minor}");
    let jobs = Mutex::new(
        TESTED_ARCHITECTURES.into_iter().flat_map(|sm| kernel_sources().map(move |kernel| (kernel.name(), sm))),
    );
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let counts = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(|| run_jobs_in_worker_process(&jobs))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let failures: Vec<&String> = counts.iter().flatten().filter_map(|count| count.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let counts: Vec<usize> = counts.into_iter().flatten().flatten().collect();
    println!("{} compilations, {} entry points", counts.len(), counts.iter().sum::<usize>());
    assert!(kernel_sources().count() > 150);
}

/// Runs jobs in a process, one after another, and returns the number of entry points of each.
fn run_jobs_in_worker_process<'a>(jobs: &Mutex<impl Iterator<Item = (&'a str, u32)>>) -> Vec<Result<usize, String>> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run_jobs", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut ask, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
    let mut replies =
        output.lines().map_while(Result::ok).filter_map(|line| line.strip_prefix(REPLY_PREFIX).map(str::to_owned));
    let next = || jobs.lock().unwrap().next();
    let mut counts = Vec::new();
    for (name, sm) in std::iter::from_fn(next) {
        writeln!(ask, "{sm} {name}").unwrap();
        let reply = replies.next().unwrap_or_else(|| "the process ended".to_owned());
        counts.push(reply.parse().map_err(|_| format!("{name} for sm_{sm}: {reply}")));
    }
    drop(ask);
    assert!(process.wait().unwrap().success());
    counts
}

const REPLY_PREFIX: &str = "reply: ";

#[test]
#[ignore = "child processes of `every_kernel_compiles_within_the_limits_of_devices` run this test, because NVRTC compiles one program at a time in a process"]
fn run_jobs() {
    for job in std::io::stdin().lines() {
        let job = job.unwrap();
        let (sm, name) = job.split_once(' ').unwrap();
        let kernel = kernel_sources().find(|kernel| kernel.name() == name).unwrap();
        match compile_and_check_kernel(kernel, sm.parse().unwrap()) {
            Ok(count) => println!("\n{REPLY_PREFIX}{count}"),
            Err(problem) => println!("\n{REPLY_PREFIX}{}", problem.escape_debug()),
        }
    }
}

/// Returns the number of a kernel's instances, after checking that each stays within the limits of all devices.
fn compile_and_check_kernel(kernel: &Source, sm: u32) -> Result<usize, String> {
    let [optimised, _, newest] = TESTED_ARCHITECTURES.map(|tested| sm == tested);
    let mut instances = kernel.instance_expressions();
    if newest {
        instances.truncate(1);
    }
    let code = if optimised { kernel.compile(sm) } else { kernel.compile_quickly(sm, &instances) };
    let code = code.map_err(|error| error.to_string())?;
    let wanted = instances.len();
    if code.names.len() != wanted || wanted == 0 {
        return Err(format!("{} of {wanted} instances", code.names.len()));
    }
    let found = cubin::kernel_resources(&code.bytes).ok_or("no cubin")?;
    for name in &code.names {
        let resources = found.get(name).ok_or_else(|| format!("no entry point {name}"))?;
        check_limits_of_devices(resources).map_err(|problem| format!("{name}: {problem}: {resources:?}"))?;
        if optimised && resources.local > MAX_LOCAL_MEMORY {
            return Err(format!("{name}: too much local memory: {resources:?}"));
        }
    }
    Ok(wanted)
}

fn check_limits_of_devices(resources: &ResourceUse) -> Result<(), &'static str> {
    let Some(threads) = resources.threads else { return Err("no __launch_bounds__") };
    // Registers are allocated for whole warps, in units of eight for each thread.
    let registers = resources.registers.next_multiple_of(8) * threads;
    match resources {
        ResourceUse { registers: 0, .. } => Err("no registers are reported"),
        _ if registers > 1 << 16 => Err("more registers than a block may have"),
        ResourceUse { shared, .. } if *shared > 48 << 10 => Err("more shared memory than a block may have"),
        ResourceUse { parameters, .. } if *parameters > 4 << 10 => {
            Err("more bytes of parameters than a launch may pass")
        }
        _ => Ok(()),
    }
}

#[test]
fn resources_over_a_limit_are_detected() {
    let within = || ResourceUse { threads: Some(512), registers: 128, shared: 48 << 10, local: 0, parameters: 4 << 10 };
    assert_eq!(check_limits_of_devices(&within()), Ok(()));
    for over in [
        ResourceUse { threads: None, ..within() },
        ResourceUse { registers: 0, ..within() },
        ResourceUse { registers: 129, ..within() },
        ResourceUse { shared: (48 << 10) + 1, ..within() },
        ResourceUse { parameters: (4 << 10) + 1, ..within() },
    ] {
        assert!(check_limits_of_devices(&over).is_err(), "{over:?}");
    }
}

#[test]
fn kernel_names_are_unique() {
    let mut names: Vec<&str> = kernel_sources().map(Source::name).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}

// SAFETY: the kernel does not compile, so it is never launched.
static INVALID_KERNEL: Kernel = unsafe {
    Kernel::new(
        "invalid",
        "template <class T> __global__ void invalid(T *out) {\n    out[0] = nowhere;\n}\n",
        |instances| instances.add_for_each_dtype("invalid", &[dispatch_runtime::DType::F32]),
    )
};

#[test]
fn a_compile_error_has_the_line_in_the_kernel() {
    let Some(_) = tool_or_skip(Tool::Nvrtc, compiler_version()) else { return };
    match INVALID_KERNEL.source().compile(90) {
        Err(CudaError::Compile { kernel: "invalid", target, log }) => {
            assert_eq!(target, "sm_90");
            assert!(log.contains("invalid(2)") && log.contains("nowhere"), "{log}");
        }
        other => panic!("{other:?}"),
    }
}
