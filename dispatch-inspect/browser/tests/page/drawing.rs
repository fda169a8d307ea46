//! Tests that the page draws only visible rows and cells. They also print the drawing times.

use std::path::Path;

use fantoccini::Client;
use serde_json::{Value as Json, json};

use super::steps::{click_element, evaluate_script};
use super::{TestResult, output_folder};

pub(super) async fn only_visible_cells_are_in_the_document(client: &Client) -> TestResult {
    click_element(client, "#keys input[name=all]").await?;
    for part in [0.0, 0.1, 0.5, 0.73, 1.0] {
        evaluate_script(client, &format!("(grid.root.scrollTop = {part} * grid.body.offsetHeight, grid.draw())"))
            .await?;
        let rows =
            evaluate_script(client, "document.querySelectorAll('.row').length").await?.as_u64().unwrap_or_default();
        assert!((20..80).contains(&rows), "{rows} rows at {part}");
        let cells =
            evaluate_script(client, "document.querySelector('.row:not([hidden]) .cells').children.length").await?;
        assert!(cells.as_u64().is_some_and(|cells| (20..100).contains(&cells)), "{cells} cells in a row");
        // A row of the table is in the middle of the visible area, and it shows the right operator.
        let script = "(() => { const box = grid.root.getBoundingClientRect();
            const shownRow = document.elementFromPoint(box.x + 100, box.y + box.height - 60).closest('.row');
            return [shownRow.firstChild.textContent, grid.operators[shownRow.getAttribute('aria-rowindex') - 2].name]; })()";
        let names = evaluate_script(client, script).await?;
        assert_eq!(names[0], names[1]);
    }
    Ok(())
}

pub(super) async fn scrolling_draws_frames(client: &Client) -> TestResult {
    let script = "const [rows, done] = arguments;
        const frameTimes = []; let last;
        const drawNextFrame = (now) => {
            if (last !== undefined) frameTimes.push(now - last);
            last = now;
            grid.root.scrollTop += rows * 25;
            frameTimes.length < 180 ? requestAnimationFrame(drawNextFrame) : done(frameTimes.sort((a, b) => a - b));
        };
        requestAnimationFrame(drawNextFrame);";
    for (what, all) in [("used keys", false), ("all keys", true)] {
        if all {
            click_element(client, "#keys input[name=all]").await?;
        }
        evaluate_script(client, "(grid.root.scrollTop = 0)").await?;
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

pub(super) async fn a_screenshot_is_saved(client: &Client) -> TestResult {
    evaluate_script(
        client,
        "go(dispatcher.operatorByName.get('aten::add.Tensor'), dispatcher.byName.get('AutogradCPU').at)",
    )
    .await?;
    let picture = client.screenshot().await?;
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 50_000);
    std::fs::write(output_folder().join("page.png"), &picture)?;
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/page.png"), &picture)?;
    }
    Ok(())
}
