//! The page in a browser, with every operator of PyTorch's and some more: what people do with it, checked in the document.
//!
//! `BROWSER=required` makes it an error that there is no browser. `UPDATE=1` puts the picture into docs/.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dispatch_inspect::{Account, Guards, Style, page, run};
use dispatch_inspect_browser::Browser;
use dispatch_runtime::Registrar;
use dispatch_runtime::prelude::*;
use fantoccini::{Client, Locator, key::Key};
use opdispatch as _;
use serde_json::{Value as Json, json};

type Checked = Result<(), Box<dyn Error>>;

/// Ends `</script>` tags, begins `<!-- comments`, and says `<img src=x onerror="document.title = 'taken over'">`.
#[op_def("hostile(Tensor self) -> Tensor")]
pub fn hostile(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// More operators than a screen, or PyTorch, has.
const MADE_UP: usize = 200;

fn main() -> Checked {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let Some(browser) = Browser::start(1440, 1040).await? else {
            let (what, is_required) = ("there is no chromium with chromedriver", std::env::var_os("BROWSER").is_some());
            println!("the page in a browser: {} {what}", if is_required { "FAILED:" } else { "SKIPPED:" });
            return if is_required { Err(what.into()) } else { Ok(()) };
        };
        let checked = check(&browser.client).await;
        browser.stop().await?;
        checked
    })
}

async fn check(client: &Client) -> Checked {
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
        ($($check:ident),*) => {
            $(
                client.goto("about:blank").await?;
                client.goto(&address).await?;
                let began = Instant::now();
                $check(client).await.map_err(|error| format!("{}: {error}", stringify!($check)))?;
                println!("ok {} ({:.1} s)", stringify!($check).replace('_', " "), began.elapsed().as_secs_f64());
            )*
        };
    }
    run!(
        a_search_narrows_the_rows,
        filters_leave_what_they_say,
        a_cell_that_is_clicked_shows_its_registrations_and_the_rule,
        an_explained_call_reads_as_in_the_terminal,
        every_operator_is_explained_as_by_the_library,
        what_authors_write_is_text,
        only_the_rows_in_sight_are_in_the_document,
        scrolling_draws_frames,
        keys_alone_are_enough,
        a_picture_is_taken
    );
    println!("the page in a browser: {} operators", operators.len());
    Ok(())
}

/// Where what is made lies.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

async fn text(client: &Client, selector: &str) -> Result<String, Box<dyn Error>> {
    let script = "return document.querySelector(arguments[0]).textContent";
    Ok(client.execute(script, vec![json!(selector)]).await?.as_str().unwrap_or_default().to_owned())
}

async fn ask(client: &Client, script: &str) -> Result<Json, Box<dyn Error>> {
    Ok(client.execute(&format!("return {script}"), Vec::new()).await?)
}

/// How many operators it says that it shows.
async fn shown(client: &Client) -> Result<usize, Box<dyn Error>> {
    Ok(text(client, "#count").await?.split(' ').next().unwrap_or_default().replace(',', "").parse()?)
}

async fn search(client: &Client, words: &str) -> Checked {
    let input = client.find(Locator::Id("search")).await?;
    input.clear().await?;
    Ok(input.send_keys(words).await?)
}

async fn click(client: &Client, selector: &str) -> Checked {
    Ok(client.find(Locator::Css(selector)).await?.click().await?)
}

/// Clicks the cell of an operator in the column of a key.
async fn click_cell(client: &Client, operator: &str, key: &str) -> Checked {
    search(client, operator).await?;
    let script = "const [operator, key] = arguments;
        const row = grid.operators.findIndex(({ name }) => name === operator);
        const column = grid.columns.indexOf(dispatcher.byName.get(key).at);
        grid.at = { row, column };
        grid.reveal();
        return [...grid.body.children].indexOf(grid.shown.get(row)) + 1 + ':' + (column + 2);";
    let found = client.execute(script, vec![json!(operator), json!(key)]).await?;
    let (row, column) = found.as_str().and_then(|found| found.split_once(':')).ok_or("no such cell")?;
    click(client, &format!(".row:nth-child({row}) .cells [aria-colindex='{column}']")).await
}

async fn a_search_narrows_the_rows(client: &Client) -> Checked {
    let all = shown(client).await?;
    assert_eq!(all, Operator::all().len());
    search(client, "ADD_ tensor").await?;
    let names =
        ask(client, "[...document.querySelectorAll('.row:not([hidden]) .name')].map((name) => name.textContent)")
            .await?;
    let names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    assert!(names.contains(&"aten::add_.Tensor") && names.len() < 10, "{names:?}");
    assert!(names.iter().all(|name| name.to_lowercase().contains("add_") && name.to_lowercase().contains("tensor")));
    assert_eq!(shown(client).await?, names.len());
    search(client, "nothing is called this").await?;
    assert!(client.find(Locator::Id("none")).await?.is_displayed().await?);
    search(client, " ").await?;
    assert_eq!(shown(client).await?, all);
    Ok(())
}

async fn filters_leave_what_they_say(client: &Client) -> Checked {
    client.find(Locator::Id("namespace")).await?.select_by_value("made_up::").await?;
    assert_eq!(shown(client).await?, MADE_UP);
    client.find(Locator::Id("namespace")).await?.select_by_value("").await?;

    // Of one key alone: what has no kernel for CUDA.
    let cuda = ask(client, "dispatcher.byName.get('CUDA').at").await?;
    click(client, &format!(".key[data-key='{cuda}'] button")).await?;
    click(client, ".chip[data-served='missing']").await?;
    let expected = Operator::all().into_iter().filter(|operator| {
        dispatch_inspect::table(operator)
            .iter()
            .any(|cell| cell.key == "CUDA" && cell.served == dispatch_inspect::Served::Missing)
    });
    assert_eq!(shown(client).await?, expected.count());
    assert!(shown(client).await? >= MADE_UP);

    let columns =
        async || -> Result<Json, Box<dyn Error>> { ask(client, "document.querySelectorAll('.key').length").await };
    let used = columns().await?.as_u64().unwrap_or_default();
    click(client, "#keys input[name=autograd]").await?;
    let without = columns().await?.as_u64().unwrap_or_default();
    assert!(without < used, "{without} of {used}");
    click(client, "#keys input[name=autograd]").await?;
    click(client, "#keys input[name=all]").await?;
    assert_eq!(columns().await?, ask(client, "dispatcher.keys.length - 1").await?);
    Ok(())
}

async fn a_cell_that_is_clicked_shows_its_registrations_and_the_rule(client: &Client) -> Checked {
    click_cell(client, "aten::relu", "AutogradCPU").await?;
    let kernels = text(client, "#kernels").await?;
    for place in ["kernels-cpu/src/", "kernels-cuda/src/", "layers/autograd/src/formulas/"] {
        assert!(kernels.contains(place), "{kernels}");
    }
    assert_eq!(text(client, "#panel .badge").await?, "kernel");
    assert_eq!(text(client, ".steps .yes").await?, "a kernel for Autograd");
    assert_eq!(text(client, ".schema").await?, "aten::relu(Tensor self) -> Tensor");
    // A composite that a backend's own kernel keeps from autograd says so.
    click_cell(client, "aten::relu", "AutocastCPU").await?;
    assert_eq!(text(client, ".steps .yes").await?, "nothing: calls pass over this layer");
    Ok(())
}

async fn an_explained_call_reads_as_in_the_terminal(client: &Client) -> Checked {
    click_cell(client, "aten::add.Tensor", "CPU").await?;
    client.find(Locator::Css("[data-argument=other] select")).await?.select_by_value("cuda").await?;
    click(client, "[data-argument=other] input[value=requires_grad]").await?;
    click(client, "#explain input[value=autocast]").await?;
    let command = text(client, "#command").await?;
    assert_eq!(command, "dispatch-inspect explain aten::add.Tensor cpu cuda,requires_grad --autocast");
    let mut out = Vec::new();
    run(command.split(' ').skip(1).map(str::to_owned), &mut out, Style::Plain)?;
    assert_eq!(text(client, "#account").await?, String::from_utf8(out)?);
    let winner = ask(client, "document.getElementById('account').dataset.winner").await?;
    assert!(winner.as_str().is_some_and(|winner| winner.starts_with("Autograd `add`")), "{winner}");
    Ok(())
}

/// What each operator is asked about: arguments in words, and guards.
const CALLS: [(&[&str], &[&str]); 14] = [
    (&[], &[]),
    (&["cuda,requires_grad"], &[]),
    (&["meta,view"], &[]),
    (&["cpu,inference"], &[]),
    (&["SparseCPU"], &[]),
    (&["cpu", "cuda,view"], &[]),
    (&["none"], &[]),
    (&["QuantizedCUDA,requires_grad", "meta"], &["inference"]),
    (&["cpu,requires_grad"], &["inference"]),
    (&["cpu,requires_grad"], &["autocast", "no-grad"]),
    (&["cuda"], &["vmap"]),
    (&["cpu"], &["trace"]),
    (&["meta"], &["modes", "autocast"]),
    (&["AutogradNestedTensor,NestedTensorCPU"], &[]),
];

async fn every_operator_is_explained_as_by_the_library(client: &Client) -> Checked {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let script = "return arguments[0].map(([name, words, guards]) =>
        dispatcher.explain(dispatcher.operatorByName.get(name), words, guards).lines.map(({ text }) => text + '\\n').join(''))";
    let mut count = 0;
    for operators in Operator::all().chunks(100) {
        let (mut asked, mut expected) = (Vec::new(), Vec::new());
        for operator in operators {
            let able = Account::of(operator, &[])?.arguments.len();
            for (words, guards) in CALLS {
                let words = owned(&words[..words.len().min(able)]);
                expected.push(Account::under(&Guards::parse(&owned(guards))?, operator, &words)?.text(Style::Plain));
                asked.push(json!([operator.to_string(), words, guards]));
            }
        }
        let told = client.execute(script, vec![json!(asked)]).await?;
        let told: Vec<&str> = told.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        assert_eq!(told.len(), expected.len());
        for ((told, expected), asked) in told.iter().zip(&expected).zip(&asked) {
            assert_eq!(told, expected, "{asked}");
        }
        count += told.len();
    }
    println!("   {count} calls are explained in the same words");
    Ok(())
}

async fn what_authors_write_is_text(client: &Client) -> Checked {
    click_cell(client, "page::hostile", "CPU").await?;
    let docs = text(client, "#panel .docs").await?;
    assert!(docs.contains("</script>") && docs.contains("onerror=\"document.title"), "{docs}");
    assert_eq!(client.title().await?, "Operators and keys");
    assert_eq!(ask(client, "document.querySelectorAll('img, script').length").await?, json!(2));
    Ok(())
}

async fn only_the_rows_in_sight_are_in_the_document(client: &Client) -> Checked {
    click(client, "#keys input[name=all]").await?;
    for part in [0.0, 0.1, 0.5, 0.73, 1.0] {
        ask(client, &format!("(grid.root.scrollTop = {part} * grid.body.offsetHeight, grid.draw())")).await?;
        let rows = ask(client, "document.querySelectorAll('.row').length").await?.as_u64().unwrap_or_default();
        assert!((20..80).contains(&rows), "{rows} rows at {part}");
        let cells = ask(client, "document.querySelector('.row:not([hidden]) .cells').children.length").await?;
        assert!(cells.as_u64().is_some_and(|cells| (20..100).contains(&cells)), "{cells} cells in a row");
        // Something of the table is in the middle of what is seen, and it is what belongs there.
        let script = "(() => { const box = grid.root.getBoundingClientRect();
            const row = document.elementFromPoint(box.x + 100, box.y + box.height - 60).closest('.row');
            return [row.firstChild.textContent, grid.operators[row.getAttribute('aria-rowindex') - 2].name]; })()";
        let names = ask(client, script).await?;
        assert_eq!(names[0], names[1]);
    }
    Ok(())
}

async fn scrolling_draws_frames(client: &Client) -> Checked {
    let script = "const [rows, done] = arguments;
        const times = []; let last;
        const step = (now) => {
            if (last !== undefined) times.push(now - last);
            last = now;
            grid.root.scrollTop += rows * 25;
            times.length < 180 ? requestAnimationFrame(step) : done(times.sort((a, b) => a - b));
        };
        requestAnimationFrame(step);";
    for (what, all) in [("used keys", false), ("all keys", true)] {
        if all {
            click(client, "#keys input[name=all]").await?;
        }
        ask(client, "(grid.root.scrollTop = 0)").await?;
        for rows in [1, 9] {
            let times = client.execute_async(script, vec![json!(rows)]).await?;
            let times: Vec<f64> = times.as_array().into_iter().flatten().filter_map(Json::as_f64).collect();
            let at = |part: usize| times[(times.len() - 1) * part / 100];
            let (half, most, longest) = (at(50), at(95), at(100));
            println!(
                "   {what}, {rows} rows a frame: half within {half:.1} ms, 95 of 100 within {most:.1} ms, longest {longest:.1} ms"
            );
            assert_eq!(times.len(), 180);
        }
    }
    Ok(())
}

async fn keys_alone_are_enough(client: &Client) -> Checked {
    let focused = "document.activeElement.id";
    let press = async |keys: &str| -> Checked { Ok(client.active_element().await?.send_keys(keys).await?) };
    press("/").await?;
    assert_eq!(ask(client, focused).await?, "search");
    press("aten::relu").await?;
    press(&Key::Enter.to_string()).await?;
    assert_eq!(ask(client, focused).await?, "grid");
    for key in [Key::Right, Key::Right, Key::Down, Key::Up, Key::Left, Key::Enter] {
        press(&key.to_string()).await?;
    }
    assert_eq!(text(client, "#panel h2").await?, "aten::relu");
    let here = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).getAttribute('aria-label')";
    let label = ask(client, here).await?;
    assert!(label.as_str().is_some_and(|label| label.starts_with("aten::relu, CUDA: kernel `relu`")), "{label}");
    press(&Key::End.to_string()).await?;
    assert_eq!(ask(client, "grid.at.column === grid.columns.length - 1").await?, true);
    client.find(Locator::Css("#panel .close")).await?.send_keys(&Key::Escape.to_string()).await?;
    assert!(!client.find(Locator::Id("panel")).await?.is_displayed().await?);
    assert_eq!(ask(client, focused).await?, "grid");
    Ok(())
}

async fn a_picture_is_taken(client: &Client) -> Checked {
    search(client, " ").await?;
    ask(client, "go(dispatcher.operatorByName.get('aten::add.Tensor'), dispatcher.byName.get('AutogradCPU').at)")
        .await?;
    let picture = client.screenshot().await?;
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 50_000);
    std::fs::write(folder().join("page.png"), &picture)?;
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/page.png"), &picture)?;
    }
    Ok(())
}
