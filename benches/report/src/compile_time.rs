//! The compile time of an annotated item.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use measure::build::{run_cargo, target_folder};
use measure::{Result, table};

use crate::generated_packages;

/// The number of annotated items: half are operators, half are kernels.
const ITEM_COUNT: usize = 2000;

pub(crate) fn report_compile_time() -> Result<()> {
    let folder = target_folder()?.join("generated");
    let build = folder.join("target");
    let header = "#![allow(dead_code)]\nuse dispatch_runtime::prelude::*;\nfn main() {}\n";
    let annotated = generated_packages::write_package(
        &folder,
        "annotated",
        &(header.to_owned() + &generated_packages::operator_code(ITEM_COUNT / 2, &["CPU"])),
    )?;
    let plain = generated_packages::write_package(
        &folder,
        "plain",
        &(header.to_owned() + &generated_packages::function_code(ITEM_COUNT)),
    )?;
    let (annotated, plain) = (fastest_cargo_check(&annotated, &build)?, fastest_cargo_check(&plain, &build)?);
    #[expect(clippy::cast_precision_loss)]
    let per_item = annotated.saturating_sub(plain).as_secs_f64() * 1e3 / ITEM_COUNT as f64;
    println!("`cargo check` of a crate with {ITEM_COUNT} items (the best of several runs):\n");
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let rows = [
        ["plain functions".to_owned(), seconds(plain), String::new()],
        [format!("{0} operators, {0} kernels", ITEM_COUNT / 2), seconds(annotated), String::new()],
        [
            "one annotated item".to_owned(),
            format!("{per_item:.2} ms"),
            if per_item > 3.0 { "3 ms, missed" } else { "3 ms" }.to_owned(),
        ],
        ["ratio".to_owned(), format!("{:.1}", annotated.as_secs_f64() / plain.as_secs_f64()), String::new()],
    ];
    table::print_table(["", "time", "at most"], &rows);
    Ok(())
}

/// Returns the shortest time of several runs of `cargo check`.
fn fastest_cargo_check(package: &Path, build: &Path) -> Result<Duration> {
    run_cargo(package, build, &["check"])?;
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let main = fs::File::options().append(true).open(package.join("src/main.rs"))?;
        main.set_modified(std::time::SystemTime::now())?;
        let start = Instant::now();
        run_cargo(package, build, &["check"])?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}
