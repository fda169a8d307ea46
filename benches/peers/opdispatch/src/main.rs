//! The benchmark programs in this framework, with autograd.

mod data;
mod parts;
mod train;
mod work;

fn main() {
    opdispatch::set_num_threads(peer::threads());
    peer::serve(|name| {
        let jobs = [work::call, train::call, train::step, parts::part, data::work, work::throughput];
        jobs.iter().find_map(|job| job(name))
    });
}
