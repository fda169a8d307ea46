//! Steps of the browser tests: clicks and key strokes on the page, and reads of its contents.

use std::error::Error;

use fantoccini::{Client, Locator};
use serde_json::{Value as Json, json};

use super::TestResult;

pub(super) async fn element_text(client: &Client, selector: &str) -> Result<String, Box<dyn Error>> {
    let script = "return document.querySelector(arguments[0]).textContent";
    Ok(client.execute(script, vec![json!(selector)]).await?.as_str().unwrap_or_default().to_owned())
}

pub(super) async fn evaluate_script(client: &Client, script: &str) -> Result<Json, Box<dyn Error>> {
    Ok(client.execute(&format!("return {script}"), Vec::new()).await?)
}

/// Reads the number of shown operators from the text of the page.
pub(super) async fn shown_operator_count(client: &Client) -> Result<usize, Box<dyn Error>> {
    Ok(element_text(client, "#count").await?.split(' ').next().unwrap_or_default().replace(',', "").parse()?)
}

pub(super) async fn search_for(client: &Client, words: &str) -> TestResult {
    let input = client.find(Locator::Id("search")).await?;
    input.clear().await?;
    Ok(input.send_keys(words).await?)
}

pub(super) async fn click_element(client: &Client, selector: &str) -> TestResult {
    Ok(client.find(Locator::Css(selector)).await?.click().await?)
}

/// Clicks the cell of an operator in the column of a key.
pub(super) async fn click_cell(client: &Client, operator: &str, key: &str) -> TestResult {
    search_for(client, operator).await?;
    let script = "const [operator, key] = arguments;
        const rowIndex = grid.operators.findIndex(({ name }) => name === operator);
        const columnIndex = grid.columns.indexOf(dispatcher.byName.get(key).at);
        grid.at = { row: rowIndex, column: columnIndex };
        grid.reveal();
        return [...grid.body.children].indexOf(grid.shown.get(rowIndex)) + 1 + ':' + (columnIndex + 2);";
    let found = client.execute(script, vec![json!(operator), json!(key)]).await?;
    let (row, column) = found.as_str().and_then(|found| found.split_once(':')).ok_or("no such cell")?;
    click_element(client, &format!(".row:nth-child({row}) .cells [aria-colindex='{column}']")).await
}
