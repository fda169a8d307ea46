//! Reads the curated methods from their sources, and checks their names.

use std::collections::BTreeSet;
use std::path::Path;

/// A method of a tensor, or a function of `Tensor`.
pub(crate) struct Method {
    /// The method's name.
    pub name: String,
    /// The names of its parameters, without `self`.
    pub parameters: Vec<String>,
    /// The name of the file that declares it.
    pub family: String,
    /// Whether it is a function of `Tensor`, without `self`.
    pub is_static: bool,
    /// The text of its comment, without the example.
    pub comment: String,
}

/// Returns the methods of all curated traits, in the order of the files.
pub(crate) fn curated_methods() -> Vec<Method> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files: Vec<_> =
        std::fs::read_dir(source.join("tensor_methods")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.extend(["factories", "convert", "index"].map(|name| source.join(format!("tensor_api/{name}.rs"))));
    let methods_of = |file: &std::path::PathBuf| {
        let family = file.file_stem().unwrap().to_string_lossy().into_owned();
        let methods = methods_of_traits(&std::fs::read_to_string(file).unwrap());
        methods.into_iter().map(move |method| Method { family: family.clone(), ..method })
    };
    files.iter().flat_map(methods_of).collect()
}

/// Returns the methods that the text's traits for tensors declare.
fn methods_of_traits(text: &str) -> Vec<Method> {
    let mut methods = Vec::new();
    let (mut is_in_trait, mut is_in_example, mut comment) = (false, false, String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("pub trait ")
            && (line.contains("Borrow<Tensor>") || line.ends_with(": Sized {"))
            && !line.contains("ItemType")
        {
            is_in_trait = true;
        } else if line == "}" {
            is_in_trait = false;
        }
        let code = line.trim_start();
        if let Some(words) = code.strip_prefix("///") {
            if words.trim_start().starts_with("```") {
                is_in_example = !is_in_example;
            } else if !is_in_example {
                comment.push_str(words);
            }
            continue;
        }
        if let Some(signature) = code.strip_prefix("fn ").filter(|_| is_in_trait) {
            let mut signature = signature.to_owned();
            while !signature.ends_with('{') && !signature.ends_with(';') {
                signature.push_str(lines.next().unwrap());
            }
            methods.push(method(&signature, &std::mem::take(&mut comment)));
        } else if !code.starts_with("#[") {
            comment.clear();
        }
    }
    methods
}

fn method(signature: &str, comment: &str) -> Method {
    let (name, rest) = signature.split_once('(').unwrap();
    let name = name.split('<').next().unwrap();
    let parameters = rest.split("->").next().unwrap();
    let is_static = !parameters.contains("&self");
    // Each piece but the last ends with the name of a parameter.
    let pieces: Vec<&str> = parameters.split(": ").collect();
    let names = pieces[..pieces.len() - 1].iter().filter_map(|piece| piece.split(['(', ',', ' ']).next_back());
    let parameters = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Method { name: name.to_owned(), parameters, family: String::new(), is_static, comment: comment.trim().to_owned() }
}

/// Returns the names of the public inherent methods of `Tensor`.
fn inherent_methods() -> BTreeSet<String> {
    fn visit(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, names);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let mut is_in_impl = false;
            for line in text.lines() {
                if line.starts_with("impl Tensor {") {
                    is_in_impl = true;
                } else if line == "}" {
                    is_in_impl = false;
                }
                let words = line.trim_start().strip_prefix("pub ").map(|rest| rest.trim_start_matches("const "));
                if let Some(name) = words.and_then(|words| words.strip_prefix("fn ")).filter(|_| is_in_impl) {
                    names.insert(name.split(['(', '<']).next().unwrap().to_owned());
                }
            }
        }
    }
    let mut names = BTreeSet::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../dispatch-runtime/src"), &mut names);
    names
}

#[test]
fn no_curated_method_hides_behind_another_method() {
    let (methods, inherent) = (curated_methods(), inherent_methods());
    assert!(methods.len() > 250 && inherent.contains("sizes"), "{} {inherent:?}", methods.len());
    let mut seen = BTreeSet::new();
    for Method { name, .. } in &methods {
        assert!(!inherent.contains(name), "`Tensor` has an inherent method `{name}`");
        assert!(seen.insert(name), "two traits have a method `{name}`");
        let operators = ["add", "sub", "mul", "div", "rem", "neg", "not", "bitand", "bitor", "bitxor", "shl", "shr"];
        assert!(!operators.contains(&name.as_str()), "`{name}` is a method of a trait in `std::ops`");
    }
}

#[test]
fn each_method_has_a_sentence_and_an_example() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tensor_methods");
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let methods = methods_of_traits(&text);
        assert!(methods.iter().all(|method| method.comment.contains('.')), "{path:?}");
        let examples = text.matches("    /// ```\n").count();
        assert_eq!(examples, 2 * methods.len(), "{path:?} has a method without an example");
    }
}
