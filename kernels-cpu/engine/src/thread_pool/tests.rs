//! Tests of the thread pool. The number of threads is global to the process and tests run in parallel, so no test may assume that it gets
//! the workers. Tests that need the workers try again until the workers' lock is free.

use super::*;
use proptest::prelude::*;
use std::{
    cell::Cell,
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Barrier, Mutex,
        atomic::{AtomicBool, AtomicU8, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

fn new_counters(length: usize) -> Vec<AtomicU8> {
    (0..length).map(|_| AtomicU8::new(0)).collect()
}

fn all_are_one(counters: &[AtomicU8]) -> bool {
    counters.iter().all(|hit| hit.load(Relaxed) == 1)
}

/// Repeats `attempt` until it succeeds: a region of another test may be using the workers.
fn retry_until_true(attempt: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        set_num_threads(3);
        if attempt() {
            return true;
        }
    }
    false
}

proptest! {
    #[test]
    fn pieces_cover_the_range_once(start in 0..100_usize, length in 0..20_000_usize, grain in 0..3000_usize, threads in 0..6_usize) {
        set_num_threads(threads);
        let counters = new_counters(length);
        parallel_for(start..start + length, grain, |piece| {
            assert!(!piece.is_empty());
            piece.for_each(|index| { counters[index - start].fetch_add(1, Relaxed); });
        });
        prop_assert!(all_are_one(&counters));
    }

    #[test]
    fn every_index_runs_once(count in 0..200_usize, threads in 0..6_usize) {
        set_num_threads(threads);
        let counters = new_counters(count);
        parallel_each(count, |index| { counters[index].fetch_add(1, Relaxed); });
        prop_assert!(all_are_one(&counters));
    }
}

#[test]
fn ranges_up_to_the_grain_run_as_one_call_on_the_caller() {
    let caller = thread::current().id();
    let calls = AtomicUsize::new(0);
    parallel_for(5..105, 100, |piece| {
        assert_eq!((piece, thread::current().id()), (5..105, caller));
        calls.fetch_add(1, Relaxed);
    });
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn ranges_near_the_largest_usize_do_not_overflow() {
    let seen = AtomicUsize::new(0);
    parallel_for(usize::MAX - 5000..usize::MAX, 1, |piece| {
        seen.fetch_add(piece.len(), Relaxed);
    });
    assert_eq!(seen.into_inner(), 5000);
}

#[test]
fn workers_run_pieces() {
    assert!(retry_until_true(|| {
        let threads = Mutex::new(HashSet::new());
        parallel_each(64, |_| {
            threads.lock().unwrap().insert(thread::current().id());
            thread::sleep(Duration::from_micros(200));
        });
        threads.into_inner().unwrap().len() == 3
    }));
}

#[test]
fn nested_regions_run_on_one_thread() {
    assert!(retry_until_true(|| {
        let (nested_away, workers) = (AtomicBool::new(false), AtomicBool::new(false));
        let caller = thread::current().id();
        parallel_each(16, |_| {
            let outer = thread::current().id();
            workers.fetch_or(outer != caller, Relaxed);
            parallel_each(8, |_| {
                nested_away.fetch_or(thread::current().id() != outer, Relaxed);
                thread::sleep(Duration::from_micros(50));
            });
        });
        assert!(!(workers.load(Relaxed) && nested_away.load(Relaxed)));
        workers.into_inner()
    }));
}

#[test]
fn a_second_caller_does_not_wait_for_the_first() {
    assert!(retry_until_true(|| {
        let inside = Barrier::new(2);
        let outside = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                parallel_each(3, |index| {
                    if index == 0 {
                        inside.wait();
                        // The first region cannot end before the second has.
                        while !outside.load(SeqCst) {
                            thread::yield_now();
                        }
                    }
                });
            });
            inside.wait();
            parallel_each(100, |_| ());
            outside.store(true, SeqCst);
        });
        true
    }));
}

#[test]
fn panics_reach_the_caller_and_the_pool_keeps_working() {
    for threads in [1, 2, 4, 3] {
        for bad in 0..20 {
            set_num_threads(threads);
            let data = new_counters(20);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                parallel_each(20, |index| {
                    data[index].fetch_add(1, Relaxed);
                    assert_ne!(index, bad, "piece {index}");
                    assert!(index <= bad, "another piece fails");
                });
            }));
            assert!(caught.is_err());
            // The data is freed at once, so a worker that still used the region would access freed memory.
            drop(data);
            let after = new_counters(50);
            parallel_each(50, |index| {
                after[index].fetch_add(1, Relaxed);
            });
            assert!(all_are_one(&after));
        }
    }
}

#[test]
fn the_payload_of_a_panic_is_preserved() {
    let caught = catch_unwind(|| parallel_each(8, |index| std::panic::panic_any(index))).unwrap_err();
    assert!(*caught.downcast_ref::<usize>().unwrap() < 8);
}

#[test]
fn concurrent_callers_work_while_the_thread_count_changes() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut threads = 0;
            while !stop.load(Relaxed) {
                threads = (threads + 5) % 7;
                set_num_threads(threads);
                thread::yield_now();
            }
        });
        let callers: Vec<_> = (0..4_usize)
            .map(|caller| {
                scope.spawn(move || {
                    for round in 0..500 {
                        // The array is on this thread's stack and lives shortly, so a late worker would corrupt memory.
                        let local = [const { AtomicUsize::new(0) }; 32];
                        parallel_each(32, |index| {
                            local[index].fetch_add(caller * 1000 + round + index, Relaxed);
                        });
                        assert!(
                            local.iter().enumerate().all(|(index, x)| x.load(Relaxed) == caller * 1000 + round + index)
                        );
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        stop.store(true, Relaxed);
    });
}

#[test]
fn sleeping_workers_wake_up_for_a_region() {
    for _ in 0..20 {
        set_num_threads(3);
        thread::sleep(Duration::from_millis(1));
        let counters = new_counters(9);
        parallel_each(9, |index| {
            counters[index].fetch_add(1, Relaxed);
            thread::sleep(Duration::from_micros(100));
        });
        assert!(all_are_one(&counters));
    }
}

#[test]
fn workers_do_not_inherit_thread_locals_of_the_caller() {
    thread_local!(static GUARD: Cell<bool> = const { Cell::new(false) });
    GUARD.set(true);
    let caller = thread::current().id();
    parallel_each(64, |_| assert_eq!(GUARD.get(), thread::current().id() == caller));
    GUARD.set(false);
}
