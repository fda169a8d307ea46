//! Tests of concurrent access: threads that read and write the same memory get correct results, or the error `InUse`.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Barrier, mpsc};
use std::thread;

use dispatch_runtime::{BadArgument, Error, Problem, Result, Scalar, Tensor};
use kernels_cpu::thread_pool::{num_threads, set_num_threads};
use rayon::prelude::*;

const THREAD_COUNT: usize = 4;
const ROUND_COUNT: usize = 400;
/// A number of elements for which kernels use several threads.
const PARALLEL_ELEMENT_COUNT: usize = 100_000;
const PARALLEL_TENSOR_SIZE: i64 = 100_000;

fn add_one_in_place(tensor: &mut Tensor) -> Result<()> {
    aten::add_(tensor, &Tensor::number(1.into()), Scalar::Int(1))
}

/// Returns the result of a call, or `None` if the memory was in use. Panics on any other error.
fn ok_unless_in_use<T>(result: Result<T>) -> Option<T> {
    result.inspect_err(assert_in_use_error).ok()
}

fn assert_in_use_error(error: &Error) {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<BadArgument>());
    assert!(source.is_some_and(|bad| *bad.problem == Problem::InUse), "{error}");
    assert!(error.kind().operator().is_some(), "{error}");
}

/// Repeats a call until the memory is not in use.
fn retry_while_in_use<T>(mut call: impl FnMut() -> Result<T>) -> T {
    loop {
        match ok_unless_in_use(call()) {
            Some(result) => return result,
            None => thread::yield_now(),
        }
    }
}

/// Runs one job on each of a few threads, which start at the same time.
fn run_on_all_threads(job: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREAD_COUNT);
    thread::scope(|scope| {
        for number in 0..THREAD_COUNT {
            let (start, job) = (&start, &job);
            scope.spawn(move || {
                start.wait();
                job(number);
            });
        }
    });
}

fn i64_from_usize(number: usize) -> i64 {
    i64::try_from(number).unwrap()
}

fn narrow_rows(tensor: &Tensor, first: usize, count: usize) -> Tensor {
    aten::narrow(tensor, 0, i64_from_usize(first), i64_from_usize(count)).unwrap()
}

#[test]
fn each_addition_counts_once_or_fails_with_in_use() {
    for (size, rounds) in [(1, 4 * ROUND_COUNT), (PARALLEL_ELEMENT_COUNT, ROUND_COUNT / 4)] {
        let total = Tensor::from(vec![0_i64; size]);
        let (version, added) = (total.storage().version(), AtomicI64::new(0));
        run_on_all_threads(|_| {
            let mut own = total.clone();
            for _ in 0..rounds {
                if ok_unless_in_use(add_one_in_place(&mut own)).is_some() {
                    added.fetch_add(1, Relaxed);
                }
            }
            retry_while_in_use(|| add_one_in_place(&mut own));
            added.fetch_add(1, Relaxed);
        });
        let added = added.into_inner();
        assert_eq!(total.to_vec::<i64>().unwrap(), vec![added; size]);
        assert_eq!(i64::try_from(total.storage().version() - version), Ok(added));
    }
}

#[test]
fn the_last_handle_sees_all_writes_of_dropped_handles() {
    let (send, receive) = mpsc::channel::<Tensor>();
    let (report, reports) = mpsc::channel::<bool>();
    let other = thread::spawn(move || {
        for mut tensor in receive {
            let is_added = ok_unless_in_use(add_one_in_place(&mut tensor)).is_some();
            drop(tensor);
            report.send(is_added).unwrap();
        }
    });
    for _ in 0..ROUND_COUNT {
        let mut tensor = Tensor::from([0_i64; 4]);
        send.send(tensor.clone()).unwrap();
        let mut added = 0;
        for _ in 0..20 {
            added += i64::from(ok_unless_in_use(add_one_in_place(&mut tensor)).is_some());
        }
        added += i64::from(reports.recv().unwrap());
        assert_eq!(tensor.to_vec::<i64>().unwrap(), [added; 4]);
    }
    drop(send);
    other.join().unwrap();
}

#[test]
fn readers_never_see_half_of_a_write() {
    let shared = Tensor::from(vec![0_i64; PARALLEL_ELEMENT_COUNT]);
    let (is_over, read) = (AtomicBool::new(false), AtomicI64::new(0));
    let check_uniform = |seen: &[i64]| {
        assert!(
            seen.len() == PARALLEL_ELEMENT_COUNT && seen.iter().all(|x| *x == seen[0]),
            "a reader saw half of a write"
        );
        read.fetch_add(1, Relaxed);
    };
    run_on_all_threads(|number| {
        if number == 0 {
            let mut own = shared.clone();
            for value in 0..i64_from_usize(ROUND_COUNT / 8) {
                retry_while_in_use(|| aten::fill__scalar(&mut own, Scalar::Int(value)));
                retry_while_in_use(|| add_one_in_place(&mut own));
                thread::yield_now();
            }
            return is_over.store(true, Relaxed);
        }
        while !is_over.load(Relaxed) {
            if let Ok(seen) = shared.read::<i64>() {
                check_uniform(&seen);
            }
            if let Some(copy) = ok_unless_in_use(aten::clone(&shared, None)) {
                check_uniform(&copy.read::<i64>().unwrap());
            }
            if let Some(sum) = ok_unless_in_use(aten::sum(&shared, None)) {
                assert_eq!(sum.to_vec::<i64>().unwrap()[0] % PARALLEL_TENSOR_SIZE, 0);
            }
            thread::yield_now();
        }
        let last = retry_while_in_use(|| aten::clone(&shared, None));
        check_uniform(&last.read::<i64>().unwrap());
    });
    assert!(read.into_inner() >= 3);
}

#[test]
fn writes_to_disjoint_and_overlapping_views_are_exclusive() {
    for height in [1, 2] {
        // One row more than threads, so that every view of two rows overlaps its neighbours.
        let base = Tensor::from([[0_i64; 300]; THREAD_COUNT + 1]);
        let added: Vec<AtomicI64> = (0..=THREAD_COUNT).map(|_| AtomicI64::new(0)).collect();
        run_on_all_threads(|number| {
            let mut view = narrow_rows(&base, number, height);
            for round in 0..ROUND_COUNT {
                let is_added = if round % 8 == 0 {
                    retry_while_in_use(|| add_one_in_place(&mut view));
                    true
                } else {
                    // A new view of the same rows in each round.
                    ok_unless_in_use(add_one_in_place(&mut aten::t(&narrow_rows(&base, number, height)).unwrap()))
                        .is_some()
                };
                if is_added {
                    added[number..number + height].iter().for_each(|row| _ = row.fetch_add(1, Relaxed));
                }
                if let Some(row) = ok_unless_in_use(aten::clone(&narrow_rows(&base, THREAD_COUNT - number, 1), None)) {
                    let row = row.to_vec::<i64>().unwrap();
                    assert!(row.iter().all(|x| *x == row[0]), "a reader saw half of a write");
                }
            }
        });
        let expected: Vec<i64> = added.into_iter().flat_map(|row| [row.into_inner(); 300]).collect();
        assert_eq!(base.to_vec::<i64>().unwrap(), expected);
    }
}

thread_local! {
    /// The number of kernels that this thread is inside of.
    static KERNEL_DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Makes a call that runs only kernels, with `KERNEL_DEPTH` greater by one during the call.
fn run_counted_kernel<T>(call: impl FnOnce() -> Result<T>) -> T {
    KERNEL_DEPTH.set(KERNEL_DEPTH.get() + 1);
    let result = call();
    KERNEL_DEPTH.set(KERNEL_DEPTH.get() - 1);
    result.unwrap()
}

/// A user's job for rayon. It must not start while its thread is inside a kernel.
fn run_kernels_in_rayon_job(value: i64, shared: &Tensor) -> i64 {
    assert_eq!(KERNEL_DEPTH.get(), 0, "a rayon job started while its thread is inside a kernel");
    let mut own = run_counted_kernel(|| aten::mul_scalar(shared, Scalar::Int(value)));
    run_counted_kernel(|| add_one_in_place(&mut own));
    let (left, right) = rayon::join(
        || {
            assert_eq!(KERNEL_DEPTH.get(), 0, "a rayon job started while its thread is inside a kernel");
            run_counted_kernel(|| aten::sum(&own, None)).to_vec::<i64>().unwrap()[0]
        },
        || {
            assert_eq!(KERNEL_DEPTH.get(), 0, "a rayon job started while its thread is inside a kernel");
            let square = aten::view(&narrow_rows(&own, 0, 96 * 96), &[96, 96]).unwrap();
            let square =
                run_counted_kernel(|| aten::to_dtype(&square, dispatch_runtime::DType::F32, false, false, None));
            run_counted_kernel(|| aten::mm(&square, &square)).to_vec::<f32>().unwrap()[0]
        },
    );
    // No other thread has this tensor, so it cannot be in use.
    run_counted_kernel(|| aten::neg_(&mut own));
    let expected = f64::from(i32::try_from(value + 1).unwrap());
    assert!((f64::from(right) - 96.0 * expected * expected).abs() < 1e-3 * f64::from(right));
    left
}

#[test]
fn rayon_jobs_never_run_under_the_guards_of_a_kernel() {
    set_num_threads(num_threads().max(3));
    let shared = Tensor::from(vec![1_i64; PARALLEL_ELEMENT_COUNT]);
    let jobs = rayon::ThreadPoolBuilder::new().num_threads(THREAD_COUNT).build().unwrap();
    let sums: Vec<i64> =
        jobs.install(|| (0..30_i64).into_par_iter().map(|value| run_kernels_in_rayon_job(value, &shared)).collect());
    assert_eq!(sums, (0..30).map(|value| (value + 1) * PARALLEL_TENSOR_SIZE).collect::<Vec<_>>());
    jobs.scope(|scope| {
        for value in 0..10 {
            let shared = &shared;
            scope.spawn(move |scope| {
                assert_eq!(run_kernels_in_rayon_job(value, shared), (value + 1) * PARALLEL_TENSOR_SIZE);
                scope.spawn(move |_| {
                    assert_eq!(run_kernels_in_rayon_job(value, shared), (value + 1) * PARALLEL_TENSOR_SIZE);
                });
            });
        }
    });
}

#[test]
fn the_number_of_threads_may_change_while_kernels_run() {
    let before = num_threads();
    let is_over = AtomicBool::new(false);
    let ones = Tensor::from(vec![1_i64; PARALLEL_ELEMENT_COUNT]);
    thread::scope(|scope| {
        scope.spawn(|| {
            for threads in (1..7).cycle().take_while(|_| !is_over.load(Relaxed)) {
                set_num_threads(threads);
                thread::yield_now();
            }
        });
        run_on_all_threads(|_| {
            let mut own = Tensor::from(vec![0_i64; PARALLEL_ELEMENT_COUNT]);
            for round in 1..=i64_from_usize(ROUND_COUNT / 8) {
                aten::add_(&mut own, &ones, Scalar::Int(1)).unwrap();
                assert_eq!(aten::sum(&own, None).unwrap().to_vec::<i64>().unwrap(), [round * PARALLEL_TENSOR_SIZE]);
            }
        });
        is_over.store(true, Relaxed);
    });
    set_num_threads(before);
}

#[test]
fn tensors_move_between_threads_and_outlive_their_thread() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREAD_COUNT).map(|_| mpsc::channel::<(Tensor, i64)>()).unzip();
    let threads: Vec<_> = receivers
        .into_iter()
        .enumerate()
        .map(|(number, receiver)| {
            let next = senders[(number + 1) % THREAD_COUNT].clone();
            thread::spawn(move || {
                // Small blocks come from the thread's cache, large ones from the shared cache.
                for (round, size) in [1, 7, 100, 3000, 40_000].into_iter().cycle().take(ROUND_COUNT).enumerate() {
                    let value = i64_from_usize(round * THREAD_COUNT + number);
                    let tensor = Tensor::from(vec![value; size]);
                    let sent = if round % 2 == 0 { tensor } else { narrow_rows(&tensor, size / 2, size - size / 2) };
                    next.send((sent, value)).unwrap();
                    let (mut got, value) = receiver.recv().unwrap();
                    add_one_in_place(&mut got).unwrap();
                    assert!(got.read::<i64>().unwrap().iter().all(|x| *x == value + 1));
                }
                Tensor::from(vec![i64_from_usize(number); 50])
            })
        })
        .collect();
    drop(senders);
    for (number, thread) in threads.into_iter().enumerate() {
        let mut left = thread.join().unwrap();
        add_one_in_place(&mut left).unwrap();
        assert_eq!(left.to_vec::<i64>().unwrap(), vec![i64_from_usize(number) + 1; 50]);
    }
}

#[test]
fn masked_select_is_consistent_while_the_mask_is_written() {
    let mask = Tensor::from(vec![true; PARALLEL_ELEMENT_COUNT]);
    let elements = Tensor::from((0..PARALLEL_TENSOR_SIZE).collect::<Vec<_>>());
    let (is_over, found) = (AtomicBool::new(false), AtomicI64::new(0));
    // Either the whole mask is true, or none of it.
    let check_uniform = |picked: Result<Tensor>| {
        let Ok(picked) = picked else { return };
        let picked = picked.to_vec::<i64>().unwrap();
        assert!(picked.is_empty() || picked == *elements.read::<i64>().unwrap(), "a reader saw half of a write");
        found.fetch_add(1, Relaxed);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut own = mask.clone();
            for value in 0..ROUND_COUNT / 8 {
                retry_while_in_use(|| aten::fill__scalar(&mut own, Scalar::Bool(value % 2 == 1)));
                thread::yield_now();
            }
            is_over.store(true, Relaxed);
        });
        while !is_over.load(Relaxed) {
            check_uniform(aten::masked_select(&elements, &mask));
            check_uniform(aten::index(&elements, &[Some(mask.clone())]));
            check_uniform(aten::nonzero(&mask).and_then(|places| aten::reshape(&places, &[-1])));
            thread::yield_now();
        }
    });
    check_uniform(aten::masked_select(&elements, &mask));
    assert!(found.into_inner() >= 1);
}
