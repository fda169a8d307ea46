//! The benchmark programs in this framework, with autograd.

mod gpt;
mod indexing_and_scans;
mod network_parts;
mod optimisers;
mod tensor_calls;
mod train;
mod transforms;

fn main() {
    opdispatch::set_num_threads(peer::thread_count());
    peer::run_command(|name| {
        let jobs = [
            tensor_calls::small_call_job,
            train::recorded_call_job,
            train::training_job,
            gpt::job_for_workload,
            network_parts::job_for_workload,
            indexing_and_scans::job_for_workload,
            optimisers::job_for_workload,
            transforms::job_for_workload,
            tensor_calls::large_call_job,
        ];
        jobs.iter().find_map(|job| job(name))
    });
}
