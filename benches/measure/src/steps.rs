//! Counts instructions by running a program one instruction at a time.
//!
//! The processor does the counting, so it needs no tool, and the count of one call is exact: a program stops itself before and after a
//! few calls, and after more than those. `cargo bench -p paths` counts the same with Valgrind and says where they go.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

/// Instructions per call, of a program that stops itself after its first calls, some more, and `more` than those.
///
/// # Errors
///
/// Where the program cannot be run, may not be traced, or ends too early.
pub fn per_call(program: &mut Command, more: u32) -> io::Result<f64> {
    // Only the thread that starts a program may trace it, and this one is kept on one processor.
    let counted = thread::scope(|scope| scope.spawn(|| trace(program)).join());
    let [few, many] = counted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    #[expect(clippy::cast_precision_loss)]
    Ok((many - few) as f64 / f64::from(more))
}

/// The instructions between the second stop and the third, and between that and the fourth.
fn trace(program: &mut Command) -> io::Result<[u64; 2]> {
    stay_here()?;
    // SAFETY: one system call, which is all that may happen between fork and exec.
    unsafe {
        program.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let mut child = program.spawn()?;
    let counts = count(child.id());
    drop(child.kill());
    child.wait()?;
    counts
}

/// Keeps this thread, and the programs that it starts, on the processor that it is on: two that take turns at every instruction do so
/// many times as fast when neither has to be woken on another.
fn stay_here() -> io::Result<()> {
    // SAFETY: all zeros are the empty set, the processor that this runs on is in its range, and the set is read.
    let done = unsafe {
        let mut here: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(usize::try_from(libc::sched_getcpu()).unwrap_or(0), &mut here);
        libc::sched_setaffinity(0, size_of_val(&here), &raw const here)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn count(process: u32) -> io::Result<[u64; 2]> {
    #[expect(clippy::cast_possible_wrap)]
    let process = process as libc::pid_t;
    let run_to_stop = |request| loop {
        // SAFETY: the process is ours, traced and stopped.
        if unsafe { libc::ptrace(request, process, 0, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        let signal = wait(process)?;
        if signal == libc::SIGSTOP || signal == libc::SIGTRAP {
            return Ok(signal);
        }
    };
    wait(process)?;
    // The first calls are not like the others: let the program run past its first mark, and the calls after that.
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

/// Waits until the process stops, and says why it did.
fn wait(process: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    // SAFETY: `status` is written to.
    if unsafe { libc::waitpid(process, &raw mut status, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    if libc::WIFSTOPPED(status) {
        Ok(libc::WSTOPSIG(status))
    } else {
        Err(io::Error::other("the program ended before its last mark"))
    }
}
