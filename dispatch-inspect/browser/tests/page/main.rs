//! Tests of the page in a browser, with every operator of PyTorch and others. They act as a user does, and check the document.
//!
//! The tests are skipped if there is no browser, unless `OPDISPATCH_REQUIRE` names one. `UPDATE=1` writes the picture to docs/.

mod cell;
mod drawing;
mod navigation;
mod steps;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dispatch_inspect::html_page;
use dispatch_inspect_browser::Browser;
use dispatch_runtime::Registrar;
use dispatch_runtime::prelude::*;
use fantoccini::Client;
use opdispatch as _;
use test_tools::Tool;

type TestResult = Result<(), Box<dyn Error>>;

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
const INVENTED_OPERATOR_COUNT: usize = 200;

fn main() -> TestResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let answer = Browser::start(1440, 1040).await?.ok_or("there is no chromium with chromedriver");
        let Some(browser) = test_tools::tool_or_skip(Tool::Browser, answer) else { return Ok(()) };
        // A failed check panics. The browser must end nevertheless.
        let checks = tokio::task::spawn_local(check_page(browser.client.clone()));
        let checked = checks.await;
        browser.stop().await?;
        checked?
    })
}

async fn check_page(client: Client) -> TestResult {
    let made_up = Registrar::new("made_up");
    for number in 0..INVENTED_OPERATOR_COUNT {
        let _for_good = made_up.define(&format!("operator_{number:03}(Tensor self, Tensor? other=None) -> Tensor"))?;
    }
    let operators = Operator::all();
    assert!(operators.len() > 2000, "{}", operators.len());
    let file = output_folder().join("page.html");
    std::fs::write(&file, html_page(&operators))?;
    let address = format!("file://{}", file.display());

    macro_rules! run_on_fresh_page {
        ($($module:ident::$check:ident),*) => {
            $(
                // Reloading the same page would keep the typed text.
                client.goto("about:blank").await?;
                client.goto(&address).await?;
                let began = Instant::now();
                $module::$check(&client).await.map_err(|error| format!("{}: {error}", stringify!($check)))?;
                println!("ok {} ({:.1} s)", stringify!($check).replace('_', " "), began.elapsed().as_secs_f64());
            )*
        };
    }
    run_on_fresh_page!(
        navigation::a_search_narrows_the_rows,
        navigation::filters_select_rows_and_columns,
        navigation::a_url_fragment_selects_its_cell,
        navigation::the_keyboard_reaches_every_cell,
        cell::a_clicked_cell_shows_its_registrations_and_rule,
        cell::a_backend_without_memory_but_with_a_kernel_can_be_explained,
        cell::explanations_equal_those_of_the_command_line,
        cell::every_operator_is_explained_as_by_the_library,
        cell::documentation_is_text_and_not_markup,
        drawing::only_visible_cells_are_in_the_document,
        drawing::scrolling_draws_frames,
        drawing::a_screenshot_is_saved
    );
    println!("the page in a browser: {} operators", operators.len());
    Ok(())
}

/// Returns the folder for created files.
fn output_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
