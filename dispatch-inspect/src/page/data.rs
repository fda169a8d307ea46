//! The data of the page in compact form: names and rows of the table, which often repeat, are stored once and referred to by index.

use dispatch_runtime::keys::{
    Autocast, Autograd, CompositeExplicitAutograd, CompositeExplicitAutogradNonFunctional, CompositeImplicitAutograd,
    CompositeImplicitAutogradNestedTensor, FuncTorchBatchedDecomposition,
};
use dispatch_runtime::{Device, Key, KeySet, Marks, Operator, TableCell, guard};
use serde::{Serialize, Serializer};

use super::intern::Interned;
use crate::guards::NAMED_GUARDS;
use crate::{Coverage, Kernel, KernelKind, OperatorInfo, SourceLocation, call_arguments, doc_comment};

/// The aliases in the order in which a cell looks for their kernels.
const ALIAS_KEYS: [Key; 7] = [
    CompositeExplicitAutogradNonFunctional,
    CompositeExplicitAutograd,
    CompositeImplicitAutogradNestedTensor,
    CompositeImplicitAutograd,
    Autograd,
    FuncTorchBatchedDecomposition,
    Autocast,
];

#[derive(Serialize)]
pub(super) struct PageData {
    /// The columns, the lowest key first. The first column is that of calls without keys.
    keys: Vec<Column>,
    aliases: Vec<AliasKeys>,
    /// The kinds of kernels with their meanings, the most specific first.
    served: [(&'static str, &'static str); KernelKind::ALL.len()],
    devices: Vec<DeviceKeys>,
    guards: Vec<GuardChanges>,
    /// The keys that a thread without guards adds to every call, and those that it removes.
    thread: [KeyBits; 2],
    strings: Interned<String>,
    cells: Interned<Cell>,
    /// The different rows of the table: for each key, the index of the row's cell in `cells`.
    rows: Interned<Vec<usize>>,
    operators: Vec<OperatorEntry>,
}

/// The bits of a key set. They are written as a string, as a JavaScript number cannot hold them.
#[derive(PartialEq, Eq, Hash)]
struct KeyBits(u64);

impl Serialize for KeyBits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_string())
    }
}

impl From<KeySet> for KeyBits {
    fn from(keys: KeySet) -> Self {
        Self(keys.bits())
    }
}

#[derive(Serialize)]
struct Column {
    name: String,
    bits: KeyBits,
    group: &'static str,
    /// Whether the key is shown at first: a backend is linked or a kernel is registered for it.
    used: bool,
    storage: bool,
}

#[derive(Serialize)]
struct AliasKeys {
    name: String,
    covers: Vec<usize>,
}

/// A word for a device argument, and the keys that it adds: for a tensor, for a tensor made in inference mode, and for an argument of type
/// `Device`.
#[derive(Serialize)]
struct DeviceKeys {
    word: String,
    /// Whether the device is shown at first: its backend is linked or a kernel is registered for it.
    used: bool,
    tensor: KeyBits,
    inference: KeyBits,
    device: KeyBits,
    /// The marks of all tensors on the device.
    marks: Vec<&'static str>,
}

#[derive(Serialize)]
struct GuardChanges {
    word: &'static str,
    changes: [KeyBits; 4],
    note: Option<&'static str>,
}

/// The contents of a cell, except for the operator's own kernels.
#[derive(PartialEq, Eq, Hash, Serialize)]
struct Cell {
    /// The kind of kernel in the cell, as an index into `PageData::served`.
    served: usize,
    why: &'static str,
    /// The key of the kernels, as an index into `PageData::strings`.
    by: Option<usize>,
    /// The fallbacks, if the operator has no kernel for the key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fallback: Vec<String>,
    /// Typed calls skip the key if no tensor has one of these marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct OperatorEntry {
    schema: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    docs: String,
    place: (usize, u32),
    #[serde(skip_serializing_if = "Option::is_none")]
    form_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<String>,
    derivative: String,
    /// The remarks of layers: titles and texts, as indices into `PageData::strings`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<(usize, usize)>,
    kernels: Vec<KernelEntry>,
    /// The rules of layers: type, file and line of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<(usize, usize, u32)>,
    /// The arguments that can add keys: the name, and a sum of 1 for a tensor, 2 for a device, 4 if it is optional.
    arguments: Vec<(usize, u8)>,
    row: usize,
}

/// A registered kernel: key, name, file, line, kind, whether it is active, and its condition.
#[derive(Serialize)]
struct KernelEntry(usize, usize, usize, u32, usize, u8, Option<usize>);

impl PageData {
    pub(super) fn for_operators(operators: &[&'static Operator]) -> Self {
        let used = Coverage::for_operators(operators).keys;
        let tables: Vec<Vec<TableCell>> = operators.iter().map(|operator| operator.table()).collect();
        let keys: Vec<Key> =
            tables.first().map(|table| table.iter().map(|cell| cell.key).collect()).unwrap_or_default();
        let mut data = Self {
            keys: keys.iter().map(|&key| key_column(key, &used)).collect(),
            aliases: ALIAS_KEYS.iter().map(|&alias| alias_keys(alias, &keys)).collect(),
            served: KernelKind::ALL.map(|served| {
                (if served == KernelKind::Missing { "missing" } else { served.name() }, served.meaning())
            }),
            devices: linked_and_other_devices(&keys).into_iter().map(|it| device_keys(it, &used)).collect(),
            guards: NAMED_GUARDS
                .iter()
                .map(|named| GuardChanges {
                    word: named.word,
                    changes: named.key_changes().map(KeyBits::from),
                    note: named.note,
                })
                .collect(),
            thread: [guard::included().into(), guard::excluded().into()],
            strings: Interned::default(),
            cells: Interned::default(),
            rows: Interned::default(),
            operators: Vec::new(),
        };
        for (operator, table) in operators.iter().zip(&tables) {
            let entry = data.operator_entry(operator, table);
            data.operators.push(entry);
        }
        data
    }

    fn operator_entry(&mut self, operator: &'static Operator, table: &[TableCell]) -> OperatorEntry {
        let info = OperatorInfo::for_operator(operator);
        let row: Vec<usize> = table.iter().map(|cell| self.intern_cell(cell)).collect();
        let arguments_with_keys = call_arguments::key_arguments(operator).unwrap_or_default();
        OperatorEntry {
            place: self.intern_location(info.place),
            kernels: info.kernels.iter().map(|kernel| self.kernel_entry(kernel)).collect(),
            rules: info.rules.iter().map(|&(of, place)| self.intern_rule(of, place)).collect(),
            arguments: arguments_with_keys.into_iter().map(|argument| self.intern_argument(argument)).collect(),
            row: self.rows.intern(row),
            schema: info.schema,
            docs: doc_comment::visible_text(info.docs),
            remarks: info.remarks.iter().map(|(about, remark)| self.intern_annotation(about, remark)).collect(),
            form_of: info.form_of,
            shape: info.shape,
            derivative: info.derivative.to_string(),
        }
    }

    fn intern_cell(&mut self, cell: &TableCell) -> usize {
        let served = KernelKind::from_table_cell(cell);
        let cell = Cell {
            served: KernelKind::ALL.iter().position(|other| *other == served).unwrap_or_default(),
            why: cell.provenance.name(),
            by: cell.registered_for.map(|key| self.strings.intern(key.to_string())),
            fallback: if cell.registered_for.is_none() { cell.kernels.clone() } else { Vec::new() },
            marks: cell.marks.map(mark_words),
        };
        self.cells.intern(cell)
    }

    fn kernel_entry(&mut self, kernel: &Kernel) -> KernelEntry {
        let (file, line) = self.intern_location(kernel.place);
        let mut string = |text: &str| self.strings.intern(text);
        let (key, name, kind) = (string(&kernel.key), string(kernel.name), string(kernel.kind.unwrap_or_default()));
        KernelEntry(key, name, file, line, kind, u8::from(kernel.is_active), kernel.condition.map(string))
    }

    fn intern_annotation(&mut self, about: &str, remark: &str) -> (usize, usize) {
        (self.strings.intern(about), self.strings.intern(remark))
    }

    fn intern_rule(&mut self, of: &str, place: SourceLocation) -> (usize, usize, u32) {
        let (file, line) = self.intern_location(place);
        (self.strings.intern(of), file, line)
    }

    fn intern_argument(&mut self, argument: call_arguments::KeyArgument) -> (usize, u8) {
        let call_arguments::KeyArgument { name, is_tensor, is_device, may_be_absent } = argument;
        (self.strings.intern(name), u8::from(is_tensor) | u8::from(is_device) << 1 | u8::from(may_be_absent) << 2)
    }

    fn intern_location(&mut self, place: SourceLocation) -> (usize, u32) {
        (self.strings.intern(place.file), place.line)
    }
}

fn key_column(key: Key, used: &[String]) -> Column {
    let name = key.to_string();
    let group = match KeySet::from(key).device() {
        Some(device) if device.key() == key => "backends",
        _ if key.is_storage() => "storages",
        _ if Autograd.covers(key) => "autograd",
        _ if Autocast.covers(key) => "autocast",
        _ => "layers",
    };
    Column { used: used.contains(&name), storage: key.is_storage(), bits: KeySet::from(key).into(), group, name }
}

fn alias_keys(alias: Key, keys: &[Key]) -> AliasKeys {
    let covered = keys.iter().enumerate().filter(|(_, key)| alias.covers(**key));
    AliasKeys { name: alias.to_string(), covers: covered.map(|(at, _)| at).collect() }
}

/// Returns the linked devices, and then those of all other backends.
fn linked_and_other_devices(keys: &[Key]) -> Vec<Device> {
    let mut devices = Device::all_linked();
    let of_key = |&key: &Key| KeySet::from(key).device().filter(|device| device.key() == key);
    for device in keys.iter().filter_map(of_key) {
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    devices
}

fn device_keys(device: Device, used: &[String]) -> DeviceKeys {
    let backend = device.key();
    let own = KeySet::from(backend);
    DeviceKeys {
        word: device.to_string(),
        used: used.contains(&backend.to_string()),
        tensor: (own | call_arguments::tensor_layer_keys(backend, false)).into(),
        inference: (own | call_arguments::tensor_layer_keys(backend, true)).into(),
        device: own.into(),
        marks: call_arguments::not_on_host_mark(backend).map(mark_words).unwrap_or_default(),
    }
}

/// Returns the names of those marks that words can give to an argument.
fn mark_words(marks: Marks) -> Vec<&'static str> {
    let words = [
        ("requires_grad", Marks::REQUIRES_GRAD),
        ("view", Marks::VIEW),
        ("inference", Marks::INFERENCE),
        ("not_on_host", Marks::NOT_ON_HOST),
    ];
    words.into_iter().filter(|(_, mark)| marks.intersects(*mark)).map(|(word, _)| word).collect()
}
