//! This framework, as a peer.

mod train;
mod work;

fn main() {
    opdispatch::set_num_threads(peer::threads());
    peer::serve(|name| {
        work::call(name).or_else(|| train::call(name)).or_else(|| train::step(name)).or_else(|| work::throughput(name))
    });
}
