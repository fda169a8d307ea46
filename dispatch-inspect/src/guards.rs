//! What a thread's guards do to a call, in words.

use dispatch_runtime::keys::{
    ADInplaceOrView, Autocast, Autograd, FuncTorchDynamicLayerBackMode, FuncTorchDynamicLayerFrontMode, PreDispatch,
    Tracer,
};
use dispatch_runtime::{Key, KeySet, guard, schema};

use crate::Failure;

/// A state of a thread that has a name.
pub(crate) struct Named {
    /// What it is called on a command line, after `--`.
    pub(crate) word: &'static str,
    /// What it adds to every call.
    adds: &'static [Key],
    /// What it no longer adds.
    drops: &'static [Key],
    /// The layers that it takes away.
    removes: &'static [Key],
    /// The layers that it no longer takes away.
    allows: &'static [Key],
    /// What keys do not say.
    pub(crate) note: Option<&'static str>,
}

const NONE: Named = Named { word: "", adds: &[], drops: &[], removes: &[], allows: &[], note: None };

/// All of them.
pub(crate) const NAMED: [Named; 6] = [
    Named { word: "inference", drops: &[ADInplaceOrView], removes: &[Autograd], ..NONE },
    Named {
        word: "no-grad",
        note: Some("no_grad changes no keys: autograd has the call, and records nothing"),
        ..NONE
    },
    Named { word: "autocast", allows: &[Autocast], ..NONE },
    Named { word: "vmap", adds: &[FuncTorchDynamicLayerFrontMode, FuncTorchDynamicLayerBackMode], ..NONE },
    Named { word: "trace", adds: &[Tracer], ..NONE },
    Named { word: "modes", adds: &[PreDispatch], ..NONE },
];

impl Named {
    /// What it adds, no longer adds, takes away and no longer takes away.
    pub(crate) fn changes(&self) -> [KeySet; 4] {
        [self.adds, self.drops, self.removes, self.allows].map(layers)
    }
}

/// The guards under which a call is explained: those that a thread begins with, and what words say besides.
///
/// ```
/// use dispatch_inspect::Guards;
/// assert!(Guards::parse(&["autocast".to_owned(), "exclude=Autograd".to_owned()]).is_ok());
///
/// let error = Guards::parse(&["autocats".to_owned()]).unwrap_err();
/// assert_eq!(error.to_string(), "there is no option `--autocats`; did you mean `--autocast`?");
/// ```
#[derive(Clone, Debug)]
pub struct Guards {
    include: KeySet,
    exclude: KeySet,
    pub(crate) notes: Vec<&'static str>,
}

impl Default for Guards {
    /// Those of this thread.
    fn default() -> Self {
        Self { include: guard::included(), exclude: guard::excluded(), notes: Vec::new() }
    }
}

impl Guards {
    /// The guards that these words name: `inference`, `no-grad`, `autocast`, `vmap` (any transformed function), `trace`, `modes`, and
    /// keys by name, as `include=KEY,..` and `exclude=KEY,..`.
    ///
    /// # Errors
    ///
    /// Where a word names no guard, or no key.
    ///
    /// ```
    /// let error = dispatch_inspect::Guards::parse(&["include=Autogrd".to_owned()]).unwrap_err();
    /// assert_eq!(error.to_string(), "unknown dispatch key `Autogrd`; did you mean `Autograd`?");
    /// ```
    pub fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut guards = Self::default();
        for word in words {
            match word.split_once('=') {
                Some(("include", names)) => guards.include |= keys(names)?,
                Some(("exclude", names)) => guards.exclude |= keys(names)?.layers(),
                _ => guards.add(NAMED.iter().find(|named| named.word == word).ok_or_else(|| unknown(word))?),
            }
        }
        Ok(guards)
    }

    fn add(&mut self, named: &Named) {
        let [adds, drops, removes, allows] = named.changes();
        self.include = (self.include | adds) - drops;
        self.exclude = (self.exclude | removes) - allows;
        self.notes.extend(named.note);
    }

    /// Makes them this thread's for a while.
    pub(crate) fn enter(&self) -> guard::Guard {
        guard::force(self.include, self.exclude)
    }
}

fn layers(keys: &[Key]) -> KeySet {
    keys.iter().fold(KeySet::EMPTY, |all, &key| all | KeySet::layers_of(key))
}

/// The keys of these names; of one that stands for many, its layers.
fn keys(names: &str) -> Result<KeySet, Failure> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(KeySet::EMPTY, |all, name| {
        let key: Key =
            name.parse().map_err(|unknown: dispatch_runtime::UnknownKey| Failure::Usage(unknown.to_string()))?;
        Ok(all | KeySet::from(key) | KeySet::layers_of(key))
    })
}

fn unknown(word: &str) -> Failure {
    let words = NAMED.iter().map(|named| named.word).chain(["json", "help", "include=", "exclude="]);
    let advice = schema::suggest(word, words.clone()).map_or_else(
        || format!("there are {}", words.map(|word| format!("--{word}")).collect::<Vec<_>>().join(", ")),
        |meant| format!("did you mean `--{meant}`?"),
    );
    Failure::Usage(format!("there is no option `--{word}`; {advice}"))
}
