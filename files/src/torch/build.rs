//! From the objects of a pickle to values: tensors over the storages of the archive, numbers, text, lists and dicts.

use std::collections::HashMap;
use std::io::{Read, Seek};

use dispatch_runtime::{DType, Geometry, KeySet, Tensor, keys};

use super::archive::PtArchive;
use super::global::Global;
use super::pickle::{Object, ObjectId, Pickle};
use super::value::PtValue;
use crate::error::{FileError, FileProblem};

/// The deepest nesting of values.
const MAX_DEPTH: usize = 100;
/// The number of values that every pickle may have, and that each of its bytes may add. An object that many others refer to becomes a value
/// of each of them, so a pickle of a few bytes could have more values than any memory.
const FREE_VALUES: usize = 100_000;
const VALUES_PER_BYTE: usize = 4;
/// The longest key of a storage. Those of PyTorch are numbers.
const MAX_KEY_LENGTH: usize = 100;

/// Builds the value of a pickle of this many bytes.
pub(super) fn build_value(
    pickle: &Pickle,
    pickle_length: usize,
    archive: &mut PtArchive<impl Read + Seek>,
) -> Result<PtValue, FileError> {
    let values_left = pickle_length.saturating_mul(VALUES_PER_BYTE).saturating_add(FREE_VALUES);
    let mut builder = Builder { pickle, archive, tensors: HashMap::new(), values_left };
    builder.value(pickle.root, MAX_DEPTH)
}

struct Builder<'a, 'b, R> {
    pickle: &'a Pickle,
    archive: &'a mut PtArchive<'b, R>,
    /// The tensors so far, so that an object of several lists becomes one tensor.
    tensors: HashMap<ObjectId, Tensor>,
    values_left: usize,
}

impl<R: Read + Seek> Builder<'_, '_, R> {
    fn value(&mut self, id: ObjectId, depth: usize) -> Result<PtValue, FileError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.unsupported("values nested more than 100 deep, or a value that contains itself"));
        };
        let object = self.object(id)?;
        self.charge(object)?;
        Ok(match object {
            Object::None => PtValue::None,
            Object::Bool(value) => PtValue::Bool(*value),
            Object::Int(value) => PtValue::Int(*value),
            Object::Float(value) => PtValue::Float(*value),
            Object::Text(text) => PtValue::Text(text.clone()),
            Object::Bytes(bytes) => PtValue::Bytes(bytes.clone()),
            Object::List(items) => PtValue::List(self.values(items, depth)?),
            Object::Tuple(items) => PtValue::Tuple(self.values(items, depth)?),
            Object::Dict(pairs) => {
                let pairs = pairs.iter().map(|&(key, value)| Ok((self.value(key, depth)?, self.value(value, depth)?)));
                PtValue::Dict(pairs.collect::<Result<_, FileError>>()?)
            }
            Object::Global(Global::DType(dtype)) => PtValue::DType(*dtype),
            Object::Global(_) => return Err(self.unsupported("a function or class as a value")),
            Object::Persistent(_) => return Err(self.unsupported("a storage outside of a tensor")),
            Object::Call(Global::RebuildTensor | Global::RebuildTensorWithDType | Global::RebuildParameter, _) => {
                PtValue::Tensor(self.tensor(id, depth)?)
            }
            Object::Call(Global::Size, arguments) => match *self.items(*arguments)? {
                [sizes] => PtValue::Size(self.ints(sizes)?),
                _ => return Err(self.damaged("one argument of `torch.Size`")),
            },
            Object::Call(Global::EncodeText, arguments) => PtValue::Bytes(self.encode_text(*arguments)?),
            Object::Call(..) => return Err(self.damaged("a call of a function that returns a tensor")),
        })
    }

    fn values(&mut self, items: &[ObjectId], depth: usize) -> Result<Vec<PtValue>, FileError> {
        items.iter().map(|&item| self.value(item, depth)).collect()
    }

    /// Counts an object as a value. A text of more than 16 bytes counts as several, and so does a tensor of many dimensions.
    fn charge(&mut self, object: &Object) -> Result<(), FileError> {
        let bytes = match object {
            Object::Text(text) => text.len(),
            Object::Bytes(bytes) => bytes.len(),
            Object::Call(_, arguments) => {
                let items = self.items(*arguments)?;
                let longest = items.iter().map(|&item| self.length(item)).max().unwrap_or(0);
                longest.saturating_add(items.len().saturating_mul(16))
            }
            _ => 0,
        };
        self.values_left = self.values_left.checked_sub(1 + bytes / 16).ok_or_else(|| {
            self.unsupported("far more values than bytes, because many of them refer to the same objects")
        })?;
        Ok(())
    }

    /// Returns the number of bytes of an argument, if each of its items is 16 bytes.
    fn length(&self, id: ObjectId) -> usize {
        match self.pickle.objects.get(id) {
            Some(Object::Text(text)) => text.len(),
            Some(Object::Tuple(items) | Object::List(items)) => items.len().saturating_mul(16),
            Some(Object::Dict(pairs)) => pairs.len().saturating_mul(16),
            _ => 0,
        }
    }

    fn tensor(&mut self, id: ObjectId, depth: usize) -> Result<Tensor, FileError> {
        if let Some(tensor) = self.tensors.get(&id) {
            return Ok(tensor.clone());
        }
        let tensor = match self.object(id)? {
            Object::Call(function @ (Global::RebuildTensor | Global::RebuildTensorWithDType), arguments) => {
                let [storage, offset, sizes, strides, _requires_grad, _hooks, ref rest @ ..] =
                    *self.items(*arguments)?
                else {
                    return Err(self.damaged("at least six arguments of a tensor"));
                };
                let (flat, metadata) = match (function, rest) {
                    (Global::RebuildTensor, rest) => (self.flat(storage, None)?, rest),
                    (_, [dtype, rest @ ..]) => (self.flat(storage, Some(*dtype))?, rest),
                    _ => return Err(self.damaged("the dtype of a tensor")),
                };
                let tensor = self.view(storage, &flat, [offset, sizes, strides])?;
                match metadata {
                    [] => tensor,
                    [properties] => self.apply_properties(tensor, *properties)?,
                    _ => return Err(self.damaged("at most one dict of a tensor's properties")),
                }
            }
            Object::Call(Global::RebuildParameter, arguments) => match *self.items(*arguments)? {
                [tensor, _requires_grad, _hooks] => match self.value(tensor, depth)? {
                    PtValue::Tensor(tensor) => tensor,
                    _ => return Err(self.damaged("a tensor")),
                },
                _ => return Err(self.damaged("three arguments of `_rebuild_parameter`")),
            },
            _ => return Err(self.damaged("a tensor")),
        };
        self.tensors.insert(id, tensor.clone());
        Ok(tensor)
    }

    /// Returns a storage as a one-dimensional tensor. A storage without a dtype needs that of the tensor.
    fn flat(&mut self, storage: ObjectId, dtype_of_tensor: Option<ObjectId>) -> Result<Tensor, FileError> {
        let (class, key, count) = self.storage(storage)?;
        match (class, dtype_of_tensor) {
            (Global::Storage(dtype), None) => self.archive.storage(key, dtype, count),
            (Global::UntypedStorage, Some(dtype)) => {
                let &Object::Global(Global::DType(dtype)) = self.object(dtype)? else {
                    return Err(self.damaged("a dtype"));
                };
                // All dtypes without a class of storages have one byte, so there is no order of bytes.
                if dtype.size() != 1 {
                    return Err(self.damaged("a dtype of one byte, because the storage has none"));
                }
                let bytes = self.archive.storage(key, DType::U8, count)?;
                let flat = Tensor::new(bytes.storage().clone(), dtype, bytes.geometry().clone());
                flat.map_err(|error| self.archive.storage_error(key, FileProblem::Tensor(error.into())))
            }
            _ => Err(self.damaged("the class of a storage")),
        }
    }

    /// Creates a tensor over a storage, with its offset, sizes and strides.
    fn view(
        &self,
        storage: ObjectId,
        flat: &Tensor,
        [offset, sizes, strides]: [ObjectId; 3],
    ) -> Result<Tensor, FileError> {
        let &Object::Int(offset) = self.object(offset)? else { return Err(self.damaged("an offset")) };
        let Some(geometry) = Geometry::strided(&self.ints(sizes)?, &self.ints(strides)?, offset) else {
            return Err(self.damaged("as many strides as sizes"));
        };
        let (_, key, _) = self.storage(storage)?;
        flat.restride(geometry).map_err(|error| self.archive.storage_error(key, FileProblem::Tensor(error.into())))
    }

    /// Applies the properties of a tensor, a dict with the keys `conj` and `neg`, which are math bits.
    fn apply_properties(&self, tensor: Tensor, properties: ObjectId) -> Result<Tensor, FileError> {
        let pairs = match self.object(properties)? {
            Object::Dict(pairs) => &pairs[..],
            Object::None => &[],
            _ => return Err(self.damaged("a dict of a tensor's properties")),
        };
        let (mut bits, dtype) = (KeySet::EMPTY, tensor.dtype());
        for &(key, value) in pairs {
            let bit = match (self.object(key)?, self.object(value)?) {
                (Object::Text(_), Object::Bool(false)) => continue,
                (Object::Text(key), Object::Bool(true)) if key == "conj" && dtype.is_complex() => keys::Conjugate,
                (Object::Text(key), Object::Bool(true)) if key == "neg" && dtype != DType::Bool => keys::Negative,
                _ => return Err(self.damaged("the properties `conj` or `neg` of a tensor that can have them")),
            };
            bits = bits | bit;
        }
        Ok(if bits.is_empty() { tensor } else { tensor.with_math_bits(bits) })
    }

    /// Reads bytes that protocol 2 has as text, with a character per byte.
    fn encode_text(&self, arguments: ObjectId) -> Result<Vec<u8>, FileError> {
        let bytes = match *self.items(arguments)? {
            [text, encoding] => match (self.object(text)?, self.object(encoding)?) {
                (Object::Text(text), Object::Text(encoding)) if encoding == "latin1" => {
                    text.chars().map(|char| u8::try_from(char).ok()).collect()
                }
                _ => None,
            },
            _ => None,
        };
        bytes.ok_or_else(|| self.damaged("bytes as text in the encoding `latin1`"))
    }

    fn ints(&self, id: ObjectId) -> Result<Vec<i64>, FileError> {
        let ints = self.items(id)?.iter().map(|&item| match self.object(item)? {
            Object::Int(value) => Ok(*value),
            _ => Err(self.damaged("an integer")),
        });
        ints.collect()
    }
}

impl<'a, R: Read + Seek> Builder<'a, '_, R> {
    fn object(&self, id: ObjectId) -> Result<&'a Object, FileError> {
        self.pickle.objects.get(id).ok_or_else(|| self.damaged("an object"))
    }

    /// Returns the class, the key and the number of elements of a storage.
    fn storage(&self, storage: ObjectId) -> Result<(Global, &'a str, u64), FileError> {
        let &Object::Persistent(id) = self.object(storage)? else { return Err(self.damaged("a storage")) };
        let &[word, class, key, _device, count] = self.items(id)? else {
            return Err(self.damaged("a tuple of five that names a storage"));
        };
        match (self.object(word)?, self.object(class)?, self.object(key)?, self.object(count)?) {
            (Object::Text(word), Object::Global(class), Object::Text(key), Object::Int(count))
                if word == "storage" && key.len() <= MAX_KEY_LENGTH =>
            {
                let count = u64::try_from(*count).map_err(|_| self.damaged("a number of elements"))?;
                Ok((*class, key, count))
            }
            _ => Err(self.damaged("the word `storage`, a class, a key, a device and a number of elements")),
        }
    }

    fn items(&self, id: ObjectId) -> Result<&'a [ObjectId], FileError> {
        match self.object(id)? {
            Object::Tuple(items) | Object::List(items) => Ok(items),
            _ => Err(self.damaged("a tuple")),
        }
    }

    #[cold]
    fn damaged(&self, expected: &'static str) -> FileError {
        let source = format!("its pickle should have {expected} in a place of another object").into();
        self.archive.pickle_error(FileProblem::Damaged { format: "file of `torch.save`", source })
    }

    #[cold]
    fn unsupported(&self, found: &str) -> FileError {
        self.archive.pickle_error(FileProblem::UnsupportedValue { found: found.to_owned() })
    }
}
