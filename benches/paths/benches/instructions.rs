//! Measures the paths of a call with Callgrind: `cargo bench -p paths`.
//!
//! The report counts the same instructions without a tool. This benchmark shows which functions they are in, and compares with the last
//! run. It needs Valgrind and a runner: `apt-get install valgrind`, `cargo install gungraun-runner@0.20.0`.

use gungraun::{library_benchmark, library_benchmark_group, main};
use paths::CALL_PATHS;

// A thousand calls, and a few calls before them that bind the operators.
#[library_benchmark]
#[bench::empty_loop(0)]
#[bench::function_pointer(1)]
#[bench::dyn_trait(2)]
#[bench::match_backend(3)]
#[bench::typed_inlined(4)]
#[bench::typed(5)]
#[bench::redispatch(6)]
#[bench::through_autograd(7)]
#[bench::guard(8)]
#[bench::boxed(9)]
#[bench::to_boxed_fallback(10)]
#[bench::through_boxed_fallback(11)]
#[bench::past_marked_fallback(12)]
fn make_thousand_calls(path: usize) {
    CALL_PATHS[path].run_rounds(&[1000], &mut || {});
}

library_benchmark_group!(name = calls, benchmarks = make_thousand_calls);
main!(library_benchmark_groups = calls);
