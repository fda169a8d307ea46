//! Tests of search, filters, addresses and keyboard control.

use std::error::Error;

use dispatch_inspect::{KernelKind, table_cells};
use dispatch_runtime::Operator;
use fantoccini::{Client, Locator, key::Key};
use serde_json::Value as Json;

use super::steps::{click_element, element_text, evaluate_script, search_for, shown_operator_count};
use super::{INVENTED_OPERATOR_COUNT, TestResult};

pub(super) async fn a_search_narrows_the_rows(client: &Client) -> TestResult {
    let all = shown_operator_count(client).await?;
    assert_eq!(all, Operator::all().len());
    search_for(client, "ADD_ tensor").await?;
    let names = evaluate_script(
        client,
        "[...document.querySelectorAll('.row:not([hidden]) .name')].map((name) => name.textContent)",
    )
    .await?;
    let names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    assert!(names.contains(&"aten::add_.Tensor") && names.len() < 10, "{names:?}");
    assert!(names.iter().all(|name| name.to_lowercase().contains("add_") && name.to_lowercase().contains("tensor")));
    assert_eq!(shown_operator_count(client).await?, names.len());
    search_for(client, "nothing is called this").await?;
    assert!(client.find(Locator::Id("none")).await?.is_displayed().await?);
    search_for(client, " ").await?;
    assert_eq!(shown_operator_count(client).await?, all);
    Ok(())
}

pub(super) async fn filters_select_rows_and_columns(client: &Client) -> TestResult {
    client.find(Locator::Id("namespace")).await?.select_by_value("made_up::").await?;
    assert_eq!(shown_operator_count(client).await?, INVENTED_OPERATOR_COUNT);
    client.find(Locator::Id("namespace")).await?.select_by_value("").await?;

    // Filters by one key: the operators without a kernel for CUDA.
    let cuda = evaluate_script(client, "dispatcher.byName.get('CUDA').at").await?;
    click_element(client, &format!(".key[data-key='{cuda}'] button")).await?;
    click_element(client, ".chip[data-served='missing']").await?;
    let expected = Operator::all().into_iter().filter(|operator| {
        table_cells(operator).iter().any(|cell| cell.key == "CUDA" && cell.served == KernelKind::Missing)
    });
    assert_eq!(shown_operator_count(client).await?, expected.count());
    assert!(shown_operator_count(client).await? >= INVENTED_OPERATOR_COUNT);

    let columns = async || -> Result<Json, Box<dyn Error>> {
        evaluate_script(client, "document.querySelectorAll('.key').length").await
    };
    let used = columns().await?.as_u64().unwrap_or_default();
    click_element(client, "#keys input[name=autograd]").await?;
    let without = columns().await?.as_u64().unwrap_or_default();
    assert!(without < used, "{without} of {used}");
    click_element(client, "#keys input[name=autograd]").await?;
    click_element(client, "#keys input[name=all]").await?;
    assert_eq!(columns().await?, evaluate_script(client, "dispatcher.keys.length - 1").await?);
    Ok(())
}

pub(super) async fn a_url_fragment_selects_its_cell(client: &Client) -> TestResult {
    for (address, heading) in [("aten::relu/CPU", "aten::relu"), ("aten%3A%3Aadd.out", "aten::add.out")] {
        // An open page follows a changed address, too.
        evaluate_script(client, &format!("(location.hash = '#{address}', dispatchEvent(new Event('hashchange')))"))
            .await?;
        assert_eq!(element_text(client, "#panel h2").await?, heading);
    }
    evaluate_script(client, "(location.hash = '#%', followAddress())").await?;
    assert_eq!(element_text(client, "#panel h2").await?, "aten::add.out");
    Ok(())
}

pub(super) async fn the_keyboard_reaches_every_cell(client: &Client) -> TestResult {
    let focused = "document.activeElement.id";
    let press = async |keys: &str| -> TestResult { Ok(client.active_element().await?.send_keys(keys).await?) };
    press("/").await?;
    assert_eq!(evaluate_script(client, focused).await?, "search");
    press("aten::relu").await?;
    press(&Key::Enter.to_string()).await?;
    assert_eq!(evaluate_script(client, focused).await?, "grid");
    for key in [Key::Right, Key::Right, Key::Down, Key::Up, Key::Left, Key::Enter] {
        press(&key.to_string()).await?;
    }
    assert_eq!(element_text(client, "#panel h2").await?, "aten::relu");
    let here = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).getAttribute('aria-label')";
    let label = evaluate_script(client, here).await?;
    assert!(label.as_str().is_some_and(|label| label.starts_with("aten::relu, CUDA: kernel `relu`")), "{label}");
    press(&Key::End.to_string()).await?;
    assert_eq!(evaluate_script(client, "grid.at.column === grid.columns.length - 1").await?, true);
    client.find(Locator::Css("#panel .close")).await?.send_keys(&Key::Escape.to_string()).await?;
    assert!(!client.find(Locator::Id("panel")).await?.is_displayed().await?);
    assert_eq!(evaluate_script(client, focused).await?, "grid");
    Ok(())
}
