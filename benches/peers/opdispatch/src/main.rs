//! This framework, as a peer.

mod work;

use kernels_cpu::pool;

fn main() {
    pool::set_num_threads(peer::threads());
    peer::serve(|name| work::call(name).or_else(|| work::throughput(name)));
}
