//! Parser of words that describe the arguments of a call, without a call being made.

use dispatch_runtime::keys::{ADInplaceOrView, Autocast, Autograd, CPU};
use dispatch_runtime::schema::{Type, TypeKind};
use dispatch_runtime::{DType, Device, Key, KeySet, Marks, Operator};

use crate::Failure;

/// The keys and the marks that an argument adds to a call.
#[derive(Clone, Copy)]
pub(crate) struct KeysAndMarks {
    pub(crate) keys: KeySet,
    pub(crate) marks: Option<Marks>,
}

/// An argument that can add keys.
pub(crate) struct KeyArgument {
    pub(crate) name: String,
    pub(crate) is_tensor: bool,
    pub(crate) is_device: bool,
    pub(crate) may_be_absent: bool,
}

/// Returns the arguments of an operator that can add keys.
pub(crate) fn key_arguments(operator: &Operator) -> Result<Vec<KeyArgument>, Failure> {
    // Even the explanation of a call without keys lists the arguments that could add some.
    let arguments_with_keys = operator.explain_call_with_keys(&[], None)?.arguments;
    let arguments = &operator.schema().arguments;
    let of = |(name, _): (String, KeySet)| {
        let ty = arguments.iter().find(|argument| argument.name == name).map(|argument| &argument.ty);
        KeyArgument {
            is_tensor: ty.is_some_and(Type::is_tensor_like),
            is_device: ty.is_some_and(|ty| ty.without_optional().kind == TypeKind::Device),
            may_be_absent: ty.is_some_and(Type::accepts_none),
            name,
        }
    };
    Ok(arguments_with_keys.into_iter().map(of).collect())
}

/// Parses the words that describe the arguments, in order. Returns the keys that each argument adds, and the marks of all. A tensor
/// without a word is like the tensor before it, and the first one is on the CPU. Optional arguments without a word are absent.
pub(crate) fn parse_arguments(operator: &Operator, words: &[String]) -> Result<(Vec<KeySet>, Option<Marks>), Failure> {
    let arguments_with_keys = key_arguments(operator)?;
    if words.len() > arguments_with_keys.len() {
        let names: Vec<&str> = arguments_with_keys.iter().map(|argument| argument.name.as_str()).collect();
        let names = if names.is_empty() { "none has".to_owned() } else { format!("only {} have", names.join(", ")) };
        let found = words.len();
        return Err(Failure::Usage(format!(
            "{found} arguments were described, but of those of `{operator}` {names} keys"
        )));
    }
    let mut last = parse_argument("cpu", true)?;
    let (mut all, mut marks) = (Vec::new(), None);
    for (at, argument) in arguments_with_keys.iter().enumerate() {
        let added = match words.get(at) {
            Some(word) => {
                let added = parse_argument(word, argument.is_tensor)?;
                last = if argument.is_tensor { added } else { last };
                added
            }
            // A call without a device argument creates its tensor on the CPU.
            None if argument.is_device => KeysAndMarks { keys: KeySet::from(CPU), marks: None },
            None if argument.may_be_absent || !argument.is_tensor => KeysAndMarks { keys: KeySet::EMPTY, marks: None },
            None => last,
        };
        all.push(added.keys);
        marks = match (marks, added.marks) {
            (Some(a), Some(b)) => Some(a | b),
            (a, b) => a.or(b),
        };
    }
    Ok((all, marks))
}

/// Parses one argument: a device, marks, and further keys. A dtype is accepted and adds no key.
fn parse_argument(text: &str, is_tensor: bool) -> Result<KeysAndMarks, Failure> {
    let mut added = KeysAndMarks { keys: KeySet::EMPTY, marks: None };
    let mut is_inference = false;
    let mut device = None;
    for word in text.split(',').map(str::trim) {
        let mark = match word {
            "" | "none" | "_" => continue,
            "requires_grad" => Marks::REQUIRES_GRAD,
            "view" => Marks::VIEW,
            "inference" => {
                is_inference = true;
                Marks::INFERENCE
            }
            _ if word.parse::<DType>().is_ok() => continue,
            _ => {
                if let Ok(found) = word.parse::<Device>() {
                    device = Some(found);
                } else {
                    let key = word.parse::<Key>().map_err(|unknown| unknown_word_error(word, unknown.suggestion))?;
                    added.keys = added.keys.with(key);
                }
                continue;
            }
        };
        added.marks = Some(added.marks.map_or(mark, |marks| marks | mark));
    }
    // A tensor is on the CPU unless the word names a device or keys.
    let is_there = added.keys.is_empty() && !matches!(text.trim(), "" | "none" | "_");
    if let Some(device) = device.or_else(|| is_there.then_some(Device::CPU)) {
        let backend = device.key();
        let above = if is_tensor { tensor_layer_keys(backend, is_inference) } else { KeySet::EMPTY };
        added.keys = added.keys.with(backend) | above;
        if let (true, Some(mark)) = (is_tensor, not_on_host_mark(backend)) {
            added.marks = Some(added.marks.map_or(mark, |marks| marks | mark));
        }
    }
    Ok(added)
}

/// Returns the keys that tensors on a backend have in addition to the backend's key.
pub(crate) fn tensor_layer_keys(backend: Key, is_inference: bool) -> KeySet {
    let autocast = KeySet::from(Autocast.on(backend));
    if is_inference { autocast } else { autocast.with(Autograd.on(backend)).with(ADInplaceOrView) }
}

/// Returns the mark of tensors on other backends than the CPU: the CPU does not track writes to their memory.
pub(crate) fn not_on_host_mark(backend: Key) -> Option<Marks> {
    (backend != CPU).then_some(Marks::NOT_ON_HOST)
}

fn unknown_word_error(word: &str, suggestion: Option<String>) -> Failure {
    let devices: Vec<String> = Device::all_linked().iter().map(ToString::to_string).collect();
    let others = ["requires_grad", "view", "inference", "none"];
    let near = dispatch_runtime::schema::suggest(word, others.into_iter().chain(devices.iter().map(String::as_str)));
    let meant = match near.map(str::to_owned).or(suggestion) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("name a device ({}), a dtype, {}, or a dispatch key", devices.join(", "), others.join(", ")),
    };
    Failure::Usage(format!("`{word}` does not describe an argument; {meant}"))
}
