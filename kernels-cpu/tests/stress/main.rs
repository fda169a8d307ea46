//! A stress test: a random sequence of calls on a few small tensors, compared with a model.
//!
//! The calls are views, fresh results, in-place writes, conversions and mistakes. After every call the result is compared with the model;
//! after a refused call, all tensors are. `STRESS_CALLS` is the number of calls, and `STRESS_SEED` repeats a sequence.

mod allocated_bytes;
mod held_borrows;
mod model;
mod random;
mod tensor_calls;
mod view_calls;
mod walk;
mod write_calls;

use std::thread;

use kernels_cpu as _;

use walk::RandomWalk;

/// The bytes that the standard library may keep after a thread.
const MAX_LEAKED_BYTES: usize = 4096;

fn u64_from_env(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().expect(variable))
}

/// The seed of a walk, which is printed if the walk panics.
struct PrintSeedOnPanic(u64);

impl Drop for PrintSeedOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("repeat this walk with STRESS_SEED={}", self.0);
        }
    }
}

/// Runs a walk on its own thread, which frees its cache of blocks when it ends. Returns the allocated bytes.
fn run_walk(seed: u64, calls: u64) -> usize {
    let walk = move || {
        let _seed_report = PrintSeedOnPanic(seed);
        let mut walk = RandomWalk::new(seed);
        while walk.calls < calls {
            walk.make_random_call();
        }
        println!("{} calls, of which {} were refused", walk.calls, walk.refused);
    };
    thread::spawn(walk).join().expect("the operators agree with the model");
    allocated_bytes::allocated_bytes()
}

#[test]
fn random_calls_agree_with_a_model_and_leak_no_memory() {
    let (calls, seed) = (u64_from_env("STRESS_CALLS", 100_000), u64_from_env("STRESS_SEED", 1));
    // The first walk also allocates data that stays: tables, and the thread-local data of libraries.
    let first = run_walk(seed, calls / 2);
    let second = run_walk(seed + 1, calls - calls / 2);
    println!("{first} bytes are allocated after the first half, {second} after the second");
    assert!(calls < 50_000 || second <= first + MAX_LEAKED_BYTES, "{} bytes have leaked", second.saturating_sub(first));
}
