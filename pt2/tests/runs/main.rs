//! Runs of programs: higher-order operators, regions of vmap, devices, threads, modes and memory. `tests/record_runs.py` records the programs.

mod devices;
mod higher_order;
mod memory;
mod modes;
mod state;
mod threads;
mod writes;

use dispatch_autocast as _;
use dispatch_pt2::{Archive, Program};
use kernels_cpu as _;

fn archive() -> Archive {
    Archive::open("tests/runs/programs.pt2").unwrap()
}

fn program(name: &str) -> Program {
    archive().program(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
