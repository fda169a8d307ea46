//! Tests that every recorded schema parses, and prints as PyTorch prints it.

use std::env;
use std::fs;
use std::io::Read;
use std::path::Path;

use dispatch_schema::{Schema, SyntaxErrorKind, TokenKind, Type, TypeKind, lex};
use serde_json::Value;

/// A recorded schema: its source text, and the text that PyTorch prints.
struct SchemaPair {
    written: String,
    canonical: String,
}

#[test]
fn golden_schemas_parse_and_print() {
    let Some(pairs) = load_schema_pairs() else {
        return;
    };
    let wrong: Vec<_> = pairs
        .iter()
        .filter_map(|pair| check_schema_pair(pair).err().map(|reason| format!("{}\n{reason}", pair.written)))
        .collect();
    println!("{} schemas, {} wrong", pairs.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n\n"));
}

fn check_schema_pair(pair: &SchemaPair) -> Result<(), String> {
    let schema = match Schema::parse(&pair.written) {
        Ok(schema) => schema,
        Err(errors) if errors.iter().all(|error| is_intended_error(&error.kind)) => return Ok(()),
        Err(errors) => return Err(errors.render(&pair.written)),
    };
    let printed = schema.to_string();
    if Schema::parse(&printed).as_ref() != Ok(&schema) {
        return Err(format!("printed as {printed}\nwhich is another schema"));
    }
    if printed == pair.canonical
        || equals_intended_text(&printed, &pair.canonical)
        || with_base_16_as_zero(&pair.written).is_some_and(|zero| equals_intended_text(&zero, &pair.canonical))
        || pytorch_text_loses_information(&schema, &pair.canonical)
    {
        Ok(())
    } else {
        Err(format!("printed as {printed}\nbut should be {}", pair.canonical))
    }
}

/// Whether an error is one that PyTorch does not report: an argument's name used twice, or a C++ type, which PyTorch parses as a type
/// variable.
fn is_intended_error(mistake: &SyntaxErrorKind) -> bool {
    match mistake {
        SyntaxErrorKind::DuplicateArgument { .. } => true,
        SyntaxErrorKind::UnknownType { found, .. } => ["int64_t", "double"].contains(&found.as_str()),
        _ => false,
    }
}

#[test]
fn only_known_golden_schemas_are_errors() {
    let refused: Vec<_> =
        schema_pairs_in_repository().into_iter().filter(|it| Schema::parse(&it.written).is_err()).collect();
    let names: Vec<_> = refused.iter().map(|it| it.written.split('(').next().unwrap_or("")).collect();
    assert_eq!(
        names,
        [
            "cuda::_exchange_device",
            "cuda::_maybe_exchange_device",
            "cuda::_set_device",
            "static_runtime::clamp_nan_to_num",
        ],
    );
}

/// An intended difference from PyTorch's text: a description, and a function that applies it to PyTorch's text.
type IntendedDifference = (&'static str, fn(&str) -> String);

/// The intended differences.
const INTENDED_DIFFERENCES: [IntendedDifference; 2] = [
    ("the sets of an annotation stand in alphabetical order", with_sorted_sets),
    ("the default of a device is quoted, so that it parses back", with_quoted_devices),
];

fn equals_intended_text(ours: &str, canonical: &str) -> bool {
    let expected = INTENDED_DIFFERENCES.iter().fold(canonical.to_owned(), |text, (_, apply)| apply(&text));
    ours == expected
}

/// Returns the printed schema with each hexadecimal number replaced by `0`: PyTorch parses such a number only up to its `x`, except for
/// floats. Returns `None` if the text has no such number.
fn with_base_16_as_zero(written: &str) -> Option<String> {
    let mut tokens = lex(written).ok()?;
    let mut found = false;
    for token in &mut tokens {
        if let TokenKind::Number(text) = &mut token.kind
            && (text.starts_with("0x") || text.starts_with("0X"))
        {
            "0".clone_into(text);
            found = true;
        }
    }
    found.then(|| Schema::parse_tokens(&tokens).ok().map(|schema| schema.to_string()))?
}

/// Whether PyTorch's text cannot be parsed back, such as `Tensor($0! -> )` or `int[] x=0` for two zeros, or lacks the annotations inside
/// containers. Canonical text here always parses back, and keeps them.
fn pytorch_text_loses_information(schema: &Schema, canonical: &str) -> bool {
    let Ok(read_back) = Schema::parse(canonical) else { return true };
    let mut less = schema.clone();
    less.arguments.iter_mut().for_each(|argument| argument.ty = without_annotations_pytorch_drops(&argument.ty));
    less.returns.iter_mut().for_each(|ret| ret.ty = without_annotations_pytorch_drops(&ret.ty));
    less != *schema && less == read_back
}

fn without_annotations_pytorch_drops(ty: &Type) -> Type {
    let kind = match ty.without_aliases().kind {
        // PyTorch keeps the annotations inside lists and optionals.
        TypeKind::List(..) | TypeKind::Optional(_) => ty.kind.clone(),
        kind => kind,
    };
    Type { kind, alias: ty.alias.clone() }
}

/// Sorts the sets of annotations: `(b|a)` becomes `(a|b)`.
fn with_sorted_sets(text: &str) -> String {
    let is_set = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '*' || c == '|';
    let mut sorted = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_set) {
        let length = rest[start..].find(|c| !is_set(c)).unwrap_or(rest.len() - start);
        let mut sets: Vec<_> = rest[start..start + length].split('|').collect();
        sets.sort_unstable();
        sorted.push_str(&rest[..start]);
        sorted.push_str(&sets.join("|"));
        rest = &rest[start + length..];
    }
    sorted + rest
}

/// Quotes the defaults of devices: `Device x=cpu` becomes `Device x="cpu"`.
fn with_quoted_devices(text: &str) -> String {
    let quoted = text.split(", ").map(|item| match item.split_once('=') {
        Some((argument, device)) if argument.contains("Device") && !device.starts_with("None") => {
            let end = device.find(')').unwrap_or(device.len());
            format!("{argument}=\"{}\"{}", &device[..end], &device[end..])
        }
        _ => item.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(", ")
}

/// Returns the pairs, or `None` if `DISPATCH_GOLDEN` names a folder without them.
fn load_schema_pairs() -> Option<Vec<SchemaPair>> {
    let text = match env::var_os("DISPATCH_GOLDEN") {
        Some(folder) => {
            let path = Path::new(&folder).join("schemas.jsonl");
            if !path.exists() {
                println!("SKIPPED: there is no {}", path.display());
                return None;
            }
            fs::read_to_string(path).expect("the pairs can be read")
        }
        None => return Some(schema_pairs_in_repository()),
    };
    Some(parse_schema_pairs(&text))
}

/// Returns the pairs of the repository.
fn schema_pairs_in_repository() -> Vec<SchemaPair> {
    let packed: &[u8] = include_bytes!("golden/schemas.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the pairs are valid gzip");
    parse_schema_pairs(&text)
}

fn parse_schema_pairs(text: &str) -> Vec<SchemaPair> {
    text.lines().filter(|line| !line.trim().is_empty()).map(parse_schema_pair).collect()
}

fn parse_schema_pair(line: &str) -> SchemaPair {
    let line: Value = serde_json::from_str(line).expect("every line is one object");
    let field = |name: &str| line[name].as_str().expect("both fields are strings").to_owned();
    SchemaPair { written: field("in"), canonical: field("canonical") }
}

#[test]
fn texts_that_pytorch_cannot_parse_back_print_in_canonical_form() {
    let check_line = |written: &str, canonical: &str| {
        check_schema_pair(&SchemaPair { written: written.into(), canonical: canonical.into() })
    };
    assert_eq!(check_line("f(Tensor! x) -> ()", "f(Tensor($0! -> ) x) -> ()"), Ok(()));
    assert_eq!(check_line("f(int[] x=[0, 0]) -> ()", "f(int[] x=0) -> ()"), Ok(()));
    assert_eq!(check_line("f(Dict(str, Tensor(a!)) x) -> ()", "f(Dict(str, Tensor) x) -> ()"), Ok(()));
    assert_eq!(check_line("f(int x=0x10, int[2] y=0X1F) -> ()", "f(int x=0, int[2] y=0) -> ()"), Ok(()));
    assert!(check_line("f(int x=0x10) -> ()", "f(int x=1) -> ()").is_err());
    assert!(check_line("f(int x=16) -> ()", "f(int x=0) -> ()").is_err());
    assert!(check_line("f(int[] x=[0, 1]) -> ()", "f(int[] x=[1, 0]) -> ()").is_err());
    assert!(check_line("f(Tensor(a!) x) -> ()", "f(Tensor x) -> ()").is_err());
}
