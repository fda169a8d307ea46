//! Tests of the panel of a clicked cell. Its explanations of calls must equal those of the library, word for word.

use dispatch_inspect::{CallExplanation, Guards, Style, run};
use dispatch_runtime::Operator;
use fantoccini::{Client, Locator};
use serde_json::{Value as Json, json};

use super::steps::{click_cell, click_element, element_text, evaluate_script};
use super::{TestResult, hostile};

pub(super) async fn a_clicked_cell_shows_its_registrations_and_rule(client: &Client) -> TestResult {
    click_cell(client, "aten::relu", "AutogradCPU").await?;
    let kernels = element_text(client, "#kernels").await?;
    for place in ["kernels-cpu/elementwise/src/", "kernels-cuda/src/", "layers/autograd/src/formulas/"] {
        assert!(kernels.contains(place), "{kernels}");
    }
    assert_eq!(element_text(client, "#panel .badge").await?, "kernel");
    assert_eq!(element_text(client, ".steps .yes").await?, "a kernel for Autograd");
    assert_eq!(element_text(client, ".schema").await?, "aten::relu(Tensor self) -> Tensor");
    click_cell(client, "aten::relu", "AutocastCPU").await?;
    assert_eq!(element_text(client, ".steps .yes").await?, "nothing: calls skip this layer");
    Ok(())
}

pub(super) async fn a_backend_without_memory_but_with_a_kernel_can_be_explained(client: &Client) -> TestResult {
    click_cell(client, &hostile::operator().to_string(), "HIP").await?;
    assert_eq!(
        element_text(client, "#command").await?,
        format!("dispatch-inspect explain {} hip", hostile::operator())
    );
    let account = element_text(client, "#account").await?;
    assert!(account.contains("  HIP  kernel    `hostile_hip` ("), "{account}");
    Ok(())
}

pub(super) async fn explanations_equal_those_of_the_command_line(client: &Client) -> TestResult {
    click_cell(client, "aten::add.Tensor", "CPU").await?;
    client.find(Locator::Css("[data-argument=other] select")).await?.select_by_value("cuda").await?;
    click_element(client, "[data-argument=other] input[value=requires_grad]").await?;
    click_element(client, "#explain input[value=autocast]").await?;
    let command = element_text(client, "#command").await?;
    assert_eq!(command, "dispatch-inspect explain aten::add.Tensor cpu cuda,requires_grad --autocast");
    let mut out = Vec::new();
    run(command.split(' ').skip(1).map(str::to_owned), &mut out, Style::Plain)?;
    assert_eq!(element_text(client, "#account").await?, String::from_utf8(out)?);
    let winner = evaluate_script(client, "document.getElementById('account').dataset.winner").await?;
    assert!(winner.as_str().is_some_and(|winner| winner.starts_with("Autograd `add`")), "{winner}");
    Ok(())
}

/// The arguments and the guards of the explained calls, as words.
const EXPLAINED_CALLS: [(&[&str], &[&str]); 15] = [
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
    (&["xpu"], &[]),
    (&["AutogradNestedTensor,NestedTensorCPU"], &[]),
];

pub(super) async fn every_operator_is_explained_as_by_the_library(client: &Client) -> TestResult {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let script = "return arguments[0].map(([name, words, guards]) =>
        dispatcher.explain(dispatcher.operatorByName.get(name), words, guards).lines.map(({ text }) => text + '\\n').join(''))";
    let mut count = 0;
    for operators in Operator::all().chunks(100) {
        let (mut asked, mut expected) = (Vec::new(), Vec::new());
        for operator in operators {
            let able = CallExplanation::for_call(operator, &[])?.arguments.len();
            for (words, guards) in EXPLAINED_CALLS {
                let words = owned(&words[..words.len().min(able)]);
                expected.push(
                    CallExplanation::for_call_with_guards(&Guards::parse(&owned(guards))?, operator, &words)?
                        .text(Style::Plain),
                );
                asked.push(json!([operator.to_string(), words, guards]));
            }
        }
        let answers = client.execute(script, vec![json!(asked)]).await?;
        let answers: Vec<&str> = answers.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        assert_eq!(answers.len(), expected.len());
        for ((answer, expected), asked) in answers.iter().zip(&expected).zip(&asked) {
            assert_eq!(answer, expected, "{asked}");
        }
        count += answers.len();
    }
    println!("   {count} calls are explained in the same words");
    Ok(())
}

pub(super) async fn documentation_is_text_and_not_markup(client: &Client) -> TestResult {
    click_cell(client, &hostile::operator().to_string(), "CPU").await?;
    let docs = element_text(client, "#panel .docs").await?;
    assert!(docs.contains("</script>") && docs.contains("onerror=\"document.title"), "{docs}");
    assert_eq!(client.title().await?, "Operators and keys");
    assert_eq!(evaluate_script(client, "document.querySelectorAll('img, script').length").await?, json!(2));
    Ok(())
}
