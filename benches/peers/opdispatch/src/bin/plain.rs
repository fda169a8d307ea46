//! The benchmark programs in this framework, without autograd.

#[path = "../work.rs"]
mod work;

fn main() {
    kernels_cpu::thread_pool::set_num_threads(peer::threads());
    peer::serve(|name| work::call(name).or_else(|| work::throughput(name)));
}
