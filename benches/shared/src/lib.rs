//! The paths as a shared library: what a plug-in or a Python extension pays.

/// Runs one path inside the library.
#[unsafe(no_mangle)]
pub fn opdispatch_run_path(path: usize, rounds: &[u64], mark: &mut dyn FnMut()) {
    paths::PATHS[path].run(rounds, mark);
}
