//! Counts a program's instructions by single-stepping it with `ptrace`.
//!
//! This needs no tool, and the count of one call is exact: the program stops itself before and after a few calls, and after more calls.
//! `cargo bench -p paths` counts the same instructions with Valgrind, and shows which functions they are in.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

/// Returns the number of instructions per call of a program that stops itself after its first calls, after `n` calls, and after
/// `n + more` calls.
///
/// # Errors
///
/// Returns an error if the program does not start, must not be traced, or ends too early.
pub fn instructions_per_call(program: &mut Command, more: u32) -> io::Result<f64> {
    // Only the thread that starts a program may trace it. It is a new thread, because it is pinned to one processor.
    let counted = thread::scope(|scope| scope.spawn(|| count_instructions_between_stops(program)).join());
    let [few, many] = counted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    #[expect(clippy::cast_precision_loss)]
    Ok((many - few) as f64 / f64::from(more))
}

/// Returns the number of instructions between the second and third stop, and between the third and fourth.
fn count_instructions_between_stops(program: &mut Command) -> io::Result<[u64; 2]> {
    pin_to_current_cpu()?;
    // SAFETY: the closure makes only one system call, which is allowed between fork and exec.
    unsafe {
        program.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let mut child = program.spawn()?;
    let counts = count_by_single_stepping(child.id());
    drop(child.kill());
    child.wait()?;
    counts
}

/// Pins this thread, and the programs that it starts, to the current processor. Tracer and program take turns at every instruction, which
/// is many times faster on one processor.
fn pin_to_current_cpu() -> io::Result<()> {
    // SAFETY: all zeros are the empty set, the current processor is in its range, and the set is only read.
    let done = unsafe {
        let mut cpus: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(usize::try_from(libc::sched_getcpu()).unwrap_or(0), &mut cpus);
        libc::sched_setaffinity(0, size_of_val(&cpus), &raw const cpus)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn count_by_single_stepping(process: u32) -> io::Result<[u64; 2]> {
    #[expect(clippy::cast_possible_wrap)]
    let process = process as libc::pid_t;
    let run_to_stop = |request| loop {
        // SAFETY: the process is a child of this one, traced and stopped.
        if unsafe { libc::ptrace(request, process, 0, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        let signal = wait_for_stop(process)?;
        if signal == libc::SIGSTOP || signal == libc::SIGTRAP {
            return Ok(signal);
        }
    };
    wait_for_stop(process)?;
    // The first calls take more instructions, so the program runs past its first stop and those calls.
    for _ in 0..2 {
        while run_to_stop(libc::PTRACE_CONT)? != libc::SIGSTOP {}
    }
    let mut counts = [0; 2];
    for count in &mut counts {
        while run_to_stop(libc::PTRACE_SINGLESTEP)? != libc::SIGSTOP {
            *count += 1;
        }
    }
    Ok(counts)
}

/// Waits until the process stops, and returns the signal.
fn wait_for_stop(process: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    // SAFETY: `status` is written to.
    if unsafe { libc::waitpid(process, &raw mut status, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    if libc::WIFSTOPPED(status) {
        Ok(libc::WSTOPSIG(status))
    } else {
        Err(io::Error::other("the program ended before its last stop"))
    }
}
