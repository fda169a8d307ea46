//! The benchmark programs in this framework, with autograd.

mod data;
mod parts;
mod tensor_calls;
mod train;

fn main() {
    opdispatch::set_num_threads(peer::threads());
    peer::serve(|name| {
        let jobs = [
            tensor_calls::small_call,
            train::recorded_call,
            train::training_step,
            parts::job_for,
            data::job_for,
            tensor_calls::large_call,
        ];
        jobs.iter().find_map(|job| job(name))
    });
}
