//! A random walk over a few small tensors, beside a model of them.
//!
//! Views, fresh results, writes in place, conversions and mistakes follow each other at random; after every call its result, or after a
//! refusal all tensors, are what the model says. `STRESS_CALLS` is how many calls are made, and `STRESS_SEED` repeats a walk.

mod allocated_bytes;
mod guards;
mod model;
mod random;
mod steps;
mod views;
mod walk;
mod writes;

use std::thread;

use kernels_cpu as _;

use walk::Walk;

/// What the standard library may keep for itself after a thread.
const SLACK: usize = 4096;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().expect(variable))
}

/// The seed, told when a walk fails.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("repeat this walk with STRESS_SEED={}", self.0);
        }
    }
}

/// Walks on a thread of its own, which takes its cache of blocks along when it ends.
fn walked(seed: u64, calls: u64) -> usize {
    let walk = move || {
        let _told = Told(seed);
        let mut walk = Walk::new(seed);
        while walk.calls < calls {
            walk.step();
        }
        println!("{} calls, of which {} were refused", walk.calls, walk.refused);
    };
    thread::spawn(walk).join().expect("the walk agrees with its model");
    allocated_bytes::bytes_alive()
}

#[test]
fn small_calls_agree_with_a_model_and_leak_nothing() {
    let (calls, seed) = (number("STRESS_CALLS", 100_000), number("STRESS_SEED", 1));
    // The first walk also makes what is made once: tables, and the thread-local parts of libraries.
    let first = walked(seed, calls / 2);
    let second = walked(seed + 1, calls - calls / 2);
    println!("{first} bytes are alive after the first half, {second} after the second");
    assert!(calls < 50_000 || second <= first + SLACK, "{} bytes have leaked", second.saturating_sub(first));
}
