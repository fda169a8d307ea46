//! Guards, described in words: how the state of a thread changes the keys of a call.

use clap::{Arg, ArgAction, ArgMatches};
use dispatch_runtime::keys::{
    ADInplaceOrView, Autocast, Autograd, FuncTorchDynamicLayerBackMode, FuncTorchDynamicLayerFrontMode, PreDispatch,
    Tracer,
};
use dispatch_runtime::{Key, KeySet, guard, schema};

use crate::Failure;

/// A named state of a thread.
pub(crate) struct NamedGuard {
    /// The state's name as a command-line option, without `--`.
    pub(crate) word: &'static str,
    /// The state's description in the help of the command line.
    help: &'static str,
    /// The keys that the state adds to every call.
    adds: &'static [Key],
    /// The keys that the state stops adding.
    stops_adding: &'static [Key],
    /// The layers that the state removes from every call.
    removes: &'static [Key],
    /// The layers that the state stops removing.
    stops_removing: &'static [Key],
    /// An effect of the state that the keys do not show.
    pub(crate) note: Option<&'static str>,
}

const EMPTY_GUARD: NamedGuard =
    NamedGuard { word: "", help: "", adds: &[], stops_adding: &[], removes: &[], stops_removing: &[], note: None };

/// All named states.
pub(crate) const NAMED_GUARDS: [NamedGuard; 6] = [
    NamedGuard {
        word: "inference",
        help: "In inference mode",
        stops_adding: &[ADInplaceOrView],
        removes: &[Autograd],
        ..EMPTY_GUARD
    },
    NamedGuard {
        word: "no-grad",
        help: "Without the recording of gradients",
        note: Some("no_grad changes no keys: the autograd kernel runs, and records nothing"),
        ..EMPTY_GUARD
    },
    NamedGuard { word: "autocast", help: "With autocast enabled", stops_removing: &[Autocast], ..EMPTY_GUARD },
    NamedGuard {
        word: "vmap",
        help: "Within a function transform, such as vmap or grad",
        adds: &[FuncTorchDynamicLayerFrontMode, FuncTorchDynamicLayerBackMode],
        ..EMPTY_GUARD
    },
    NamedGuard { word: "trace", help: "While the call is traced", adds: &[Tracer], ..EMPTY_GUARD },
    NamedGuard { word: "modes", help: "Within a mode", adds: &[PreDispatch], ..EMPTY_GUARD },
];

impl NamedGuard {
    /// Returns the keys that the state adds, stops adding, removes, and stops removing.
    pub(crate) fn key_changes(&self) -> [KeySet; 4] {
        [self.adds, self.stops_adding, self.removes, self.stops_removing].map(layers_of_keys)
    }
}

/// The guards under which a call is explained: those of this thread, and those that words add.
///
/// ```
/// use dispatch_inspect::Guards;
/// assert!(Guards::parse(&["autocast".to_owned(), "exclude=Autograd".to_owned()]).is_ok());
///
/// let error = Guards::parse(&["autocats".to_owned()]).unwrap_err();
/// assert_eq!(error.to_string(), "there is no guard `autocats`; did you mean `autocast`?");
/// ```
#[derive(Clone, Debug)]
pub struct Guards {
    include: KeySet,
    exclude: KeySet,
    pub(crate) notes: Vec<&'static str>,
}

impl Default for Guards {
    /// Returns the guards of this thread.
    fn default() -> Self {
        Self { include: guard::included(), exclude: guard::excluded(), notes: Vec::new() }
    }
}

impl Guards {
    /// Parses the names of guards: `inference`, `no-grad`, `autocast`, `vmap` (any function transform), `trace`, `modes`, and keys as
    /// `include=KEY,..` and `exclude=KEY,..`.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Usage`] if a word is not the name of a guard or a key.
    ///
    /// ```
    /// let error = dispatch_inspect::Guards::parse(&["include=Autogrd".to_owned()]).unwrap_err();
    /// assert_eq!(error.to_string(), "unknown dispatch key `Autogrd`; did you mean `Autograd`?");
    /// ```
    pub fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut guards = Self::default();
        for word in words {
            match word.split_once('=') {
                Some(("include", names)) => guards.include |= parse_keys(names)?,
                Some(("exclude", names)) => guards.exclude |= parse_keys(names)?.layers(),
                _ => {
                    let named = NAMED_GUARDS.iter().find(|named| named.word == word);
                    guards.add_named(named.ok_or_else(|| unknown_guard_error(word))?);
                }
            }
        }
        Ok(guards)
    }

    fn add_named(&mut self, named: &NamedGuard) {
        let [adds, stops_adding, removes, stops_removing] = named.key_changes();
        self.include = (self.include | adds) - stops_adding;
        self.exclude = (self.exclude | removes) - stops_removing;
        self.notes.extend(named.note);
    }

    /// Makes these guards the state of this thread, until the result is dropped.
    pub(crate) fn enter(&self) -> guard::Guard {
        guard::force_key_sets(self.include, self.exclude)
    }
}

fn layers_of_keys(keys: &[Key]) -> KeySet {
    keys.iter().fold(KeySet::EMPTY, |all, &key| all | KeySet::layers_of(key))
}

/// Returns the keys with these names. An alias stands for its layers.
fn parse_keys(names: &str) -> Result<KeySet, Failure> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(KeySet::EMPTY, |all, name| {
        let key: Key =
            name.parse().map_err(|unknown: dispatch_runtime::UnknownKey| Failure::Usage(unknown.to_string()))?;
        Ok(all | KeySet::from(key) | KeySet::layers_of(key))
    })
}

fn unknown_guard_error(word: &str) -> Failure {
    let words = NAMED_GUARDS.iter().map(|named| named.word).chain(["include=", "exclude="]);
    let advice = schema::suggest(word, words.clone()).map_or_else(
        || format!("there are {}", words.collect::<Vec<_>>().join(", ")),
        |meant| format!("did you mean `{meant}`?"),
    );
    Failure::Usage(format!("there is no guard `{word}`; {advice}"))
}

/// The options that take keys, with their help.
const KEY_OPTIONS: [(&str, &str); 2] =
    [("include", "Adds these keys to the call"), ("exclude", "Removes the layers of these keys from the call")];

/// Each guard is an option of the command line.
impl clap::Args for Guards {
    fn augment_args(command: clap::Command) -> clap::Command {
        let option =
            |name: &'static str, help| Arg::new(name).long(name).help(help).help_heading("Guards of the thread");
        let states = NAMED_GUARDS.iter().map(|named| option(named.word, named.help).action(ArgAction::SetTrue));
        let keys = KEY_OPTIONS.map(|(name, help)| option(name, help).value_name("KEY,..").action(ArgAction::Append));
        command.args(states).args(keys)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Guards {
    /// Parses the guards in the order in which the command line has them, as a later one can undo an earlier one.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let states = NAMED_GUARDS.iter().map(|named| named.word).filter(|word| matches.get_flag(word));
        let mut words: Vec<(Option<usize>, String)> =
            states.map(|word| (matches.index_of(word), word.to_owned())).collect();
        for (name, _) in KEY_OPTIONS {
            let indices = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            words.extend(indices.zip(values).map(|(index, keys)| (Some(index), format!("{name}={keys}"))));
        }
        words.sort();
        let words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
        Self::parse(&words).map_err(|failure| clap::Error::raw(clap::error::ErrorKind::ValueValidation, failure))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
