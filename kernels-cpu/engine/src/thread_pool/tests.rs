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

fn hits(length: usize) -> Vec<AtomicU8> {
    (0..length).map(|_| AtomicU8::new(0)).collect()
}

fn each_once(hits: &[AtomicU8]) -> bool {
    hits.iter().all(|hit| hit.load(Relaxed) == 1)
}

/// Repeats `attempt` until it succeeds: a region of another test may be using the workers.
fn eventually(attempt: impl Fn() -> bool) -> bool {
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
    fn pieces_are_the_range(start in 0..100_usize, length in 0..20_000_usize, grain in 0..3000_usize, threads in 0..6_usize) {
        set_num_threads(threads);
        let hits = hits(length);
        parallel_for(start..start + length, grain, |piece| {
            assert!(!piece.is_empty());
            piece.for_each(|index| { hits[index - start].fetch_add(1, Relaxed); });
        });
        prop_assert!(each_once(&hits));
    }

    #[test]
    fn every_number_is_run_once(count in 0..200_usize, threads in 0..6_usize) {
        set_num_threads(threads);
        let hits = hits(count);
        parallel_each(count, |index| { hits[index].fetch_add(1, Relaxed); });
        prop_assert!(each_once(&hits));
    }
}

#[test]
fn up_to_the_grain_it_is_one_call_on_the_caller() {
    let caller = thread::current().id();
    let calls = AtomicUsize::new(0);
    parallel_for(5..105, 100, |piece| {
        assert_eq!((piece, thread::current().id()), (5..105, caller));
        calls.fetch_add(1, Relaxed);
    });
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn an_end_near_the_largest_number_does_not_overflow() {
    let seen = AtomicUsize::new(0);
    parallel_for(usize::MAX - 5000..usize::MAX, 1, |piece| {
        seen.fetch_add(piece.len(), Relaxed);
    });
    assert_eq!(seen.into_inner(), 5000);
}

#[test]
fn workers_do_take_part() {
    assert!(eventually(|| {
        let threads = Mutex::new(HashSet::new());
        parallel_each(64, |_| {
            threads.lock().unwrap().insert(thread::current().id());
            thread::sleep(Duration::from_micros(200));
        });
        threads.into_inner().unwrap().len() == 3
    }));
}

#[test]
fn a_region_inside_a_region_stays_on_its_thread() {
    assert!(eventually(|| {
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
fn a_second_caller_waits_for_nobody() {
    assert!(eventually(|| {
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
fn a_panic_reaches_its_caller_and_the_pool_lives_on() {
    for threads in [1, 2, 4, 3] {
        for bad in 0..20 {
            set_num_threads(threads);
            let data = hits(20);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                parallel_each(20, |index| {
                    data[index].fetch_add(1, Relaxed);
                    assert_ne!(index, bad, "piece {index}");
                    assert!(index <= bad, "one more");
                });
            }));
            assert!(caught.is_err());
            // The data is freed at once, so a worker that still used the region would access freed memory.
            drop(data);
            let after = hits(50);
            parallel_each(50, |index| {
                after[index].fetch_add(1, Relaxed);
            });
            assert!(each_once(&after));
        }
    }
}

#[test]
fn the_payload_is_the_one_that_was_thrown() {
    let caught = catch_unwind(|| parallel_each(8, |index| std::panic::panic_any(index))).unwrap_err();
    assert!(*caught.downcast_ref::<usize>().unwrap() < 8);
}

#[test]
fn many_callers_while_the_number_of_threads_changes() {
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
fn sleeping_workers_wake_up() {
    for _ in 0..20 {
        set_num_threads(3);
        thread::sleep(Duration::from_millis(1));
        let hits = hits(9);
        parallel_each(9, |index| {
            hits[index].fetch_add(1, Relaxed);
            thread::sleep(Duration::from_micros(100));
        });
        assert!(each_once(&hits));
    }
}

#[test]
fn workers_have_no_thread_state_of_the_caller() {
    thread_local!(static GUARD: Cell<bool> = const { Cell::new(false) });
    GUARD.set(true);
    let caller = thread::current().id();
    parallel_each(64, |_| assert_eq!(GUARD.get(), thread::current().id() == caller));
    GUARD.set(false);
}
