//! The benchmark programs in this framework, without autograd.

#[path = "../tensor_calls.rs"]
mod tensor_calls;

fn main() {
    kernels_cpu::thread_pool::set_num_threads(peer::thread_count());
    peer::run_command(|name| tensor_calls::small_call_job(name).or_else(|| tensor_calls::large_call_job(name)));
}
