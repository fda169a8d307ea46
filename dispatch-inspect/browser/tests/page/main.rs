//! Tests of the page in a browser, with every operator of PyTorch and others. They act as a user does, and check the document.
//!
//! The tests are skipped if there is no browser, unless `OPDISPATCH_REQUIRE` names one. `UPDATE=1` writes the picture to docs/.

mod cell;
mod drawing;
mod finding;
mod steps;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dispatch_inspect::page;
use dispatch_inspect_browser::Browser;
use dispatch_runtime::Registrar;
use dispatch_runtime::prelude::*;
use fantoccini::Client;
use opdispatch as _;
use test_tools::Tool;

type Checked = Result<(), Box<dyn Error>>;

/// Ends `</script>` tags, begins `<!-- comments`, and says `<img src=x onerror="document.title = 'taken over'">`.
#[op_def("hostile(Tensor self) -> Tensor")]
pub fn hostile(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// A kernel for a backend that no linked crate provides memory for.
#[op_impl(hostile, HIP)]
fn hostile_hip(this: &Tensor) -> Tensor {
    this.clone()
}

/// The number of made-up operators: more than fit on a screen.
const MADE_UP: usize = 200;

fn main() -> Checked {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let answer = Browser::start(1440, 1040).await?.ok_or("there is no chromium with chromedriver");
        let Some(browser) = test_tools::tool_or_skip(Tool::Browser, answer) else { return Ok(()) };
        // A failed check panics. The browser must end nevertheless.
        let checks = tokio::task::spawn_local(check(browser.client.clone()));
        let checked = checks.await;
        browser.stop().await?;
        checked?
    })
}

async fn check(client: Client) -> Checked {
    let made_up = Registrar::new("made_up");
    for number in 0..MADE_UP {
        let _for_good = made_up.define(&format!("operator_{number:03}(Tensor self, Tensor? other=None) -> Tensor"))?;
    }
    let operators = Operator::all();
    assert!(operators.len() > 2000, "{}", operators.len());
    let file = folder().join("page.html");
    std::fs::write(&file, page(&operators))?;
    let address = format!("file://{}", file.display());

    macro_rules! run {
        ($($room:ident::$check:ident),*) => {
            $(
                // Reloading the same page would keep the typed text.
                client.goto("about:blank").await?;
                client.goto(&address).await?;
                let began = Instant::now();
                $room::$check(&client).await.map_err(|error| format!("{}: {error}", stringify!($check)))?;
                println!("ok {} ({:.1} s)", stringify!($check).replace('_', " "), began.elapsed().as_secs_f64());
            )*
        };
    }
    run!(
        finding::a_search_narrows_the_rows,
        finding::filters_leave_what_they_say,
        finding::an_address_leads_to_its_cell,
        finding::keys_alone_are_enough,
        cell::a_cell_that_is_clicked_shows_its_registrations_and_the_rule,
        cell::a_call_can_be_of_any_backend_that_has_a_kernel,
        cell::an_explained_call_reads_as_in_the_terminal,
        cell::every_operator_is_explained_as_by_the_library,
        cell::what_authors_write_is_text,
        drawing::only_the_cells_in_sight_are_in_the_document,
        drawing::scrolling_draws_frames,
        drawing::a_picture_is_taken
    );
    println!("the page in a browser: {} operators", operators.len());
    Ok(())
}

/// Returns the folder for created files.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
