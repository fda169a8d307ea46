//! The paths of a call in a shared library, as in a plug-in or a Python extension.

/// Runs one path inside the library.
#[unsafe(no_mangle)]
pub fn opdispatch_run_path(path: usize, rounds: &[u64], mark: &mut dyn FnMut()) {
    paths::CALL_PATHS[path].run_rounds(rounds, mark);
}
