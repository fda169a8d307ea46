//! The messages of all errors.

use std::fmt::{self, Display, Formatter};

use super::explanation::KernelSite;
use super::kind::ErrorKind;
use crate::key::linked_devices_text;
use crate::location::Location;
use crate::name::CLOSURE_KERNEL_NAME;

#[expect(clippy::too_many_lines, reason = "a list, one arm for each cause")]
pub(super) fn write_message(kind: &ErrorKind, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        ErrorKind::NoKernel(explanation) | ErrorKind::AmbiguousAutogradOther(explanation) => {
            explanation.fmt_no_kernel_error(f)
        }
        ErrorKind::DuplicateKernel { operator, key, kernels } => {
            write!(f, "several kernels of `{operator}` for {key}:{}", kernel_list(kernels))?;
            f.write_str(if kernels.iter().any(|(name, _)| *name == CLOSURE_KERNEL_NAME) {
                "\n  Register the one that should win with `override_kernel`."
            } else {
                "\n  Link only one of them, or write `override` on the one that should win."
            })
        }
        ErrorKind::NoConditionHolds { operator, key, conditions } => {
            write!(f, "no kernel of `{operator}` for {key} accepts this call, because no condition holds:")?;
            conditions.iter().try_for_each(|(condition, location)| write!(f, "\n  when {condition}    {location}"))
        }
        ErrorKind::DuplicateOperator { operator, locations } => {
            write!(f, "`{operator}` is defined more than once:{}", location_list(locations))?;
            f.write_str("\n  Rename one of them, or link only one of the crates.")
        }
        ErrorKind::DuplicateFallback { key, fallbacks } => {
            write!(f, "several fallbacks for {key}:{}", kernel_list(fallbacks))?;
            f.write_str("\n  A key can have one fallback: link only one of them.")
        }
        ErrorKind::UnknownOperator { name, feature, overloads, suggestion } => {
            write!(f, "no operator is called `{name}`")?;
            match (feature, &overloads[..], suggestion) {
                (Some(feature), ..) => write!(f, "; the Cargo feature `{feature}` adds it: turn it on in Cargo.toml"),
                (None, [first, rest @ ..], _) => {
                    write!(f, "; write one of its overloads in full: `{first}`")?;
                    rest.iter().try_for_each(|overload| write!(f, ", `{overload}`"))
                }
                (None, [], Some(suggestion)) => write!(f, "; did you mean `{suggestion}`?"),
                (None, [], None) => f.write_str("; if a crate defines it, link it: `use that_crate as _;`"),
            }
        }
        ErrorKind::InvalidNamespace { namespace } => {
            write!(
                f,
                "`{namespace}` is not a valid namespace; use letters, digits and `_`, as in `Registrar::new(\"my_lab\")`"
            )
        }
        ErrorKind::MissingDefinition { operator, kernels } => {
            write!(f, "`{operator}` has no definition")?;
            if !kernels.is_empty() {
                write!(f, ", only kernels:{}", location_list(kernels))?;
            }
            f.write_str("\n  Link the crate that defines it, or define it with `Registrar::define`.")
        }
        ErrorKind::OperatorRedefined { operator, location, new_location } => write!(
            f,
            "this definition of `{operator}` was removed, and there is another one\n  removed: {location}\n  now: {new_location}\n  \
             Find the operator again: `Operator::find(\"{operator}\")`."
        ),
        ErrorKind::FunctionTypeMismatch { operator, expected, found } => {
            write!(f, "the function of `{operator}` has the type `{expected}`, not `{}`", strip_module_paths(found))
        }
        ErrorKind::NoTypedFunction { operator, location } => write!(
            f,
            "`{operator}` has no Rust function, because it was defined at run time ({location}); call it with `Operator::call`"
        ),
        ErrorKind::TooFewArguments { operator, expected, found } => {
            write!(
                f,
                "`{operator}` takes {expected} arguments, but the stack holds {found}; push all of them, left to right"
            )
        }
        ErrorKind::TooManyArguments { operator, expected, found } => {
            write!(f, "`{operator}` takes {expected} arguments, but {found} were given; leave out the last ones")
        }
        ErrorKind::WrongArgument { operator, position, argument, expected, found } => {
            write!(
                f,
                "argument `{argument}` (number {}) of `{operator}` must be {expected}, found {found}",
                position + 1
            )
        }
        ErrorKind::WrongResult { operator, expected, found, kernel } => {
            let found = found.unwrap_or("nothing");
            write!(f, "a boxed kernel of `{operator}` must leave {expected} on the stack, but left {found}")?;
            write_faulty_kernel(f, kernel.as_deref())
        }
        ErrorKind::ReplacedArgument { operator, argument } => {
            write!(
                f,
                "a kernel of `{operator}` replaced `{argument}` by another tensor, which a boxed call cannot return: write into the \
                 tensor, or make it a result in the schema"
            )
        }
        ErrorKind::SurplusResults { operator, expected, found, kernel } => {
            let values = if *found == 1 { "value is" } else { "values are" };
            write!(
                f,
                "a boxed kernel of `{operator}` must pop its arguments and push its results: {found} {values} left, not {expected}"
            )?;
            write_faulty_kernel(f, kernel.as_deref())
        }
        ErrorKind::UnsupportedDType { operator, argument, dtype, supported } => {
            let supported: Vec<&str> = supported.iter().map(|dtype| dtype.name()).collect();
            write!(
                f,
                "this kernel of `{operator}` does not support `{argument}` of {dtype}; it supports {}",
                supported.join(", ")
            )
        }
        ErrorKind::SchemaSyntax { text, errors } => f.write_str(&errors.render(text)),
        ErrorKind::UnsupportedSchema { text, reason } => write!(f, "`{text}` cannot be an operator's schema: {reason}"),
        ErrorKind::WrongNamespace { name, namespace } => {
            write!(
                f,
                "`{name}` is outside the namespace `{namespace}` of this registrar; leave the namespace out, or use another registrar"
            )
        }
        ErrorKind::NotARuntimeKey { key } => {
            write!(f, "`{key}` is not a single runtime key; name each runtime key that this should cover")
        }
        ErrorKind::LostHandle { operator } => {
            write!(
                f,
                "`{operator}` bound the tensor's handle to another tensor, and the method that called it cannot return \
                 that handle; call the function of this operator with `&mut tensor`"
            )
        }
        ErrorKind::KernelRemoved { operator } => {
            write!(f, "this kernel of `{operator}` was removed; call `Operator::kernels_for_key` again")
        }
        ErrorKind::DataDependent { operator } => {
            write!(
                f,
                "the result sizes of `{operator}` depend on the elements of its arguments, which Meta tensors do not \
                 have; call it on another device"
            )
        }
        ErrorKind::NoShapeInference { operator } => {
            write!(
                f,
                "the result sizes of `{operator}` are not defined; give the operator a plan, a shape word or an `#[op_meta]` kernel"
            )
        }
        ErrorKind::NoBackend { device, linked_devices } => {
            write!(f, "no linked backend can allocate memory on {device}; {}", linked_devices_text(linked_devices))?;
            f.write_str("\n  If a crate provides that backend, link it: `use that_crate as _;`")
        }
        ErrorKind::NoDevice { device, count, linked_devices } => {
            let devices = if *count == 1 { "device" } else { "devices" };
            write!(f, "there is no device {device}: its backend has {count} {devices}, numbered from 0; ")?;
            f.write_str(&linked_devices_text(linked_devices))
        }
        ErrorKind::WrongAllocation { device, size, found, available } => {
            write!(
                f,
                "the backend of {device} was asked for {size} bytes there, but allocated {available} bytes on {found}; its `allocate` \
                 must return at least the requested size on the requested device"
            )
        }
        ErrorKind::EndlessRedispatch { operator, key, depth } => {
            let at = key.map_or_else(|| "without a key".to_owned(), |key| format!("for {key}"));
            write!(
                f,
                "`{operator}` was redispatched {depth} times without end, last to its kernel {at}; a layer redispatches to itself: \
                 write `keys.below(its_key)`, not `keys`"
            )
        }
        ErrorKind::KernelOfOtherDefinition { operator, location, kernels } => {
            write!(
                f,
                "`{operator}`, defined at {location}, has kernels that were compiled for another operator of this name:{}",
                kernel_list(kernels)
            )?;
            f.write_str("\n  Link the crate that defines that operator, or rename one of the two.")
        }
        ErrorKind::NoRustOperatorImpl { rust_operator } => {
            write!(
                f,
                "no operator of this program implements Rust's `{rust_operator:?}`; link a crate that defines one with \
                 `operator = {rust_operator:?}`"
            )
        }
        ErrorKind::NoFreeKeyIndex(error) => error.fmt(f),
        ErrorKind::InvalidKey(error) => error.fmt(f),
        ErrorKind::UnknownKey(error) => error.fmt(f),
        ErrorKind::Kernel { operator: Some(operator), source } => write!(f, "`{operator}`: {source}"),
        ErrorKind::Kernel { operator: None, source } => source.fmt(f),
    }
}

fn kernel_list(sites: &[(&'static str, Location)]) -> String {
    sites.iter().fold(String::new(), |list, (name, location)| list + &format!("\n  `{name}`    {location}"))
}

/// Writes which boxed kernel left wrong results. A layer's kernel may have forgotten to redispatch, so a hint follows.
fn write_faulty_kernel(f: &mut Formatter<'_>, kernel: Option<&KernelSite>) -> fmt::Result {
    let Some(site @ KernelSite { key, .. }) = kernel else { return Ok(()) };
    write!(f, "\n  the kernel: {site}")?;
    if key.is_storage() || key.is_alias() {
        return Ok(());
    }
    write!(f, "\n  If it has nothing to do, it must redispatch: `operator.redispatch_boxed(keys.below({key}), stack)`.")
}

/// Returns a type's name without module paths.
fn strip_module_paths(ty: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (paths, last) = ty.rsplit_once("::").unwrap_or(("", ty));
    let text: String = paths.split("::").map(|part| part.trim_end_matches(is_word)).chain([last]).collect();
    text.replace("'_ ", "")
}

fn location_list(locations: &[Location]) -> String {
    locations.iter().fold(String::new(), |list, location| list + &format!("\n  {location}"))
}
