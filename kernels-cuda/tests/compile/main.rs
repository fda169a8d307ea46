//! Tests that every kernel compiles for all supported architectures and stays within the limits of devices. They need no GPU.
#![expect(unsafe_code, reason = "kernels are native code")]

mod cubin;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use kernels_cuda::{CudaError, Kernel, Source, compiler_version, kernels};
use test_tools::{Tool, tool_or_skip};

use crate::cubin::Needs;

/// The tested architectures. The first is fully optimised, as in programs. For the others, the kernels are compiled quickly, as this does
/// not change what they need at most of shared memory, parameters and threads.
const ARCHITECTURES: [u32; 3] = [90, 100, 80];

/// The maximum local memory of a thread in bytes. The attention gradients of wide rows use the most.
const LOCAL: u32 = 640;

/// NVRTC compiles one program at a time in a process, so there are as many processes as processors. The slowest jobs come first.
#[test]
fn every_kernel_compiles_for_every_architecture_within_the_limits_of_devices() {
    let Some((major, minor)) = tool_or_skip(Tool::Nvrtc, compiler_version()) else { return };
    println!("NVRTC {major}.{minor}");
    let jobs = Mutex::new(ARCHITECTURES.into_iter().flat_map(|sm| kernels().map(move |kernel| (kernel.name(), sm))));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let counts = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(|| work(&jobs))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let failures: Vec<&String> = counts.iter().flatten().filter_map(|count| count.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let counts: Vec<usize> = counts.into_iter().flatten().flatten().collect();
    println!("{} compilations, {} entry points", counts.len(), counts.iter().sum::<usize>());
    assert!(kernels().count() > 150);
}

/// Runs jobs in a process, one after another, and returns the number of entry points of each.
fn work<'a>(jobs: &Mutex<impl Iterator<Item = (&'a str, u32)>>) -> Vec<Result<usize, String>> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "jobs_are_done", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut ask, said) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
    let mut replies = said.lines().map_while(Result::ok).filter_map(|line| line.strip_prefix(REPLY).map(str::to_owned));
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

const REPLY: &str = "reply: ";

#[test]
#[ignore = "child processes of the test above run it, because the compiler does one thing at a time in a process"]
fn jobs_are_done() {
    for job in std::io::stdin().lines() {
        let job = job.unwrap();
        let (sm, name) = job.split_once(' ').unwrap();
        let kernel = kernels().find(|kernel| kernel.name() == name).unwrap();
        match entry_points(kernel, sm.parse().unwrap()) {
            Ok(count) => println!("\n{REPLY}{count}"),
            Err(problem) => println!("\n{REPLY}{}", problem.escape_debug()),
        }
    }
}

/// Returns the number of a kernel's instances, after checking that each stays within the limits of all devices.
fn entry_points(kernel: &Source, sm: u32) -> Result<usize, String> {
    let optimised = sm == ARCHITECTURES[0];
    let code = if optimised { kernel.compile(sm) } else { kernel.compile_quickly(sm) };
    let code = code.map_err(|error| error.to_string())?;
    let wanted = kernel.expressions().len();
    if code.names.len() != wanted || wanted == 0 {
        return Err(format!("{} of {wanted} instances", code.names.len()));
    }
    let found = cubin::kernels(&code.bytes).ok_or("no cubin")?;
    for name in &code.names {
        let needs = found.get(name).ok_or_else(|| format!("no entry point {name}"))?;
        check(needs).map_err(|problem| format!("{name}: {problem}: {needs:?}"))?;
        if optimised && needs.local > LOCAL {
            return Err(format!("{name}: much more than registers hold: {needs:?}"));
        }
    }
    Ok(wanted)
}

fn check(needs: &Needs) -> Result<(), &'static str> {
    let Some(threads) = needs.threads else { return Err("no __launch_bounds__") };
    // Registers are allocated for whole warps, in units of eight for each thread.
    let registers = needs.registers.next_multiple_of(8) * threads;
    match needs {
        Needs { registers: 0, .. } => Err("no registers at all"),
        _ if registers > 1 << 16 => Err("more registers than a device has for as many threads"),
        Needs { shared, .. } if *shared > 48 << 10 => Err("more shared memory than a block has"),
        Needs { parameters, .. } if *parameters > 4 << 10 => Err("more parameters than a launch takes"),
        _ => Ok(()),
    }
}

#[test]
fn what_is_over_a_limit_is_found() {
    let within = || Needs { threads: Some(512), registers: 128, shared: 48 << 10, local: 0, parameters: 4 << 10 };
    assert_eq!(check(&within()), Ok(()));
    for over in [
        Needs { threads: None, ..within() },
        Needs { registers: 0, ..within() },
        Needs { registers: 129, ..within() },
        Needs { shared: (48 << 10) + 1, ..within() },
        Needs { parameters: (4 << 10) + 1, ..within() },
    ] {
        assert!(check(&over).is_err(), "{over:?}");
    }
}

#[test]
fn names_of_kernels_are_their_own() {
    let mut names: Vec<&str> = kernels().map(Source::name).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}

// SAFETY: the kernel does not compile, so it is never launched.
static WRONG: Kernel = unsafe {
    Kernel::new(
        "wrong",
        "template <class T> __global__ void wrong(T *out) {\n    out[0] = nowhere;\n}\n",
        |instances| instances.each("wrong", &[dispatch_runtime::DType::F32]),
    )
};

#[test]
fn a_mistake_in_a_kernel_is_an_error_with_its_line() {
    let Some(_) = tool_or_skip(Tool::Nvrtc, compiler_version()) else { return };
    match WRONG.source().compile(90) {
        Err(CudaError::Compile { kernel: "wrong", target, log }) => {
            assert_eq!(target, "sm_90");
            assert!(log.contains("wrong(2)") && log.contains("nowhere"), "{log}");
        }
        other => panic!("{other:?}"),
    }
}
