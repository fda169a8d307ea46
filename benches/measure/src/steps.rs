//! Counts instructions by running a program one instruction at a time.
//!
//! The processor does the counting, so it needs no tool, and the count of one call is exact: a program stops itself before and after
//! 10 calls, and after 100 more than that. `cargo bench -p paths` counts the same with Valgrind and says where they go.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Instructions per call.
///
/// # Errors
///
/// Where the program cannot be run, may not be traced, or ends too early.
pub fn per_call(program: &OsStr, arguments: &[&OsStr]) -> io::Result<f64> {
    let mut command = Command::new(program);
    command.args(arguments);
    // SAFETY: one system call, which is all that may happen between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let mut child = command.spawn()?;
    let counts = count(child.id());
    drop(child.kill());
    child.wait()?;
    let [few, many] = counts?;
    #[expect(clippy::cast_precision_loss)]
    Ok((many - few) as f64 / 100.0)
}

/// The instructions between the first stop and the second, and between that and the third.
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
    // The first calls are not like the others: let the program run past its first mark, and the ten calls after that.
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
