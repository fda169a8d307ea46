//! Python's pickles: a small machine whose opcodes build objects on a stack.
//!
//! Nothing is run. A call of a function is an object that holds the function and its arguments, and only functions of a short list
//! ([`Global`]) are accepted. Objects refer to each other by index, so a list that contains itself, or a chain of a million lists, needs no
//! recursion here; [`build`](super::build) limits both.

mod cursor;

use std::collections::HashMap;

use super::global::Global;
use crate::error::FileProblem;
use cursor::Cursor;

/// The latest protocol of pickles that is read.
const MAX_PROTOCOL: u8 = 5;

/// The index of an object.
pub(super) type ObjectId = usize;

/// An object of a pickle.
#[derive(Debug)]
pub(super) enum Object {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<ObjectId>),
    Tuple(Vec<ObjectId>),
    Dict(Vec<(ObjectId, ObjectId)>),
    /// A function, class or constant.
    Global(Global),
    /// The call of a function, with a tuple of arguments.
    Call(Global, ObjectId),
    /// An object outside of the pickle, with a tuple that names it. Those of PyTorch are storages.
    Persistent(ObjectId),
}

/// All objects of a pickle, and the one that was pickled.
#[derive(Debug)]
pub(super) struct Pickle {
    pub(super) objects: Vec<Object>,
    pub(super) root: ObjectId,
}

/// Reads a pickle.
pub(super) fn read_pickle(bytes: &[u8]) -> Result<Pickle, FileProblem> {
    let mut machine = Machine {
        cursor: Cursor::new(bytes),
        objects: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    loop {
        if let Some(root) = machine.step()? {
            return Ok(Pickle { objects: machine.objects, root });
        }
    }
}

struct Machine<'a> {
    cursor: Cursor<'a>,
    objects: Vec<Object>,
    stack: Vec<ObjectId>,
    /// The lengths of the stack at its marks.
    marks: Vec<usize>,
    memo: HashMap<usize, ObjectId>,
}

impl Machine<'_> {
    /// Runs an opcode. Returns the object that was pickled at the end.
    fn step(&mut self) -> Result<Option<ObjectId>, FileProblem> {
        let at = self.cursor.at();
        match self.cursor.byte()? {
            b'.' => return self.pop().map(Some),
            b'\x80' if self.cursor.byte()? > MAX_PROTOCOL => {
                return Err(self.cursor.damaged("a protocol of at most 5"));
            }
            b'\x80' => {}
            // The size of a frame, which serves readers of streams.
            b'\x95' => drop(self.cursor.array::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),

            b'N' => self.push(Object::None),
            b'\x88' => self.push(Object::Bool(true)),
            b'\x89' => self.push(Object::Bool(false)),
            b'J' => self.push_value(|cursor| Ok(Object::Int(i32::from_le_bytes(cursor.array()?).into())))?,
            b'K' => self.push_value(|cursor| Ok(Object::Int(cursor.byte()?.into())))?,
            b'M' => self.push_value(|cursor| Ok(Object::Int(u16::from_le_bytes(cursor.array()?).into())))?,
            b'\x8a' => self.push_value(|cursor| Ok(Object::Int(cursor.long(1)?)))?,
            b'\x8b' => self.push_value(|cursor| Ok(Object::Int(cursor.long(4)?)))?,
            b'G' => self.push_value(|cursor| Ok(Object::Float(f64::from_be_bytes(cursor.array()?))))?,
            b'\x8c' => self.push_value(|cursor| Ok(Object::Text(cursor.text(1)?)))?,
            b'X' => self.push_value(|cursor| Ok(Object::Text(cursor.text(4)?)))?,
            b'\x8d' => self.push_value(|cursor| Ok(Object::Text(cursor.text(8)?)))?,
            b'C' => self.push_value(|cursor| Ok(Object::Bytes(cursor.counted(1)?.to_vec())))?,
            b'B' => self.push_value(|cursor| Ok(Object::Bytes(cursor.counted(4)?.to_vec())))?,
            b'\x8e' | b'\x96' => self.push_value(|cursor| Ok(Object::Bytes(cursor.counted(8)?.to_vec())))?,

            b']' => self.push(Object::List(Vec::new())),
            b')' => self.push(Object::Tuple(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Object::Tuple(items));
            }
            b'\x85' => self.push_tuple(1)?,
            b'\x86' => self.push_tuple(2)?,
            b'\x87' => self.push_tuple(3)?,
            b'a' => {
                let item = self.pop()?;
                self.extend_list(&[item])?;
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.extend_list(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.extend_dict(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.extend_dict(&items)?;
            }

            b'q' => self.memoize(1)?,
            b'r' => self.memoize(4)?,
            b'\x94' => drop(self.memo.insert(self.memo.len(), self.top()?)),
            b'h' => self.recall(1)?,
            b'j' => self.recall(4)?,

            b'c' => {
                let (module, name) = (self.cursor.line()?, self.cursor.line()?);
                self.push(Object::Global(Global::find(module, name)?));
            }
            b'\x93' => self.push_global_of_stack()?,
            b'R' => self.call()?,
            b'b' => self.drop_state()?,
            b'Q' => {
                let id = self.pop()?;
                self.push(Object::Persistent(id));
            }
            b'\x8f' | b'\x90' | b'\x91' => return Err(FileProblem::UnsupportedValue { found: "a set".to_owned() }),
            opcode => {
                let found = format!("the opcode 0x{opcode:02x} at byte {at} of its pickle");
                return Err(FileProblem::UnsupportedValue { found });
            }
        }
        Ok(None)
    }

    fn push(&mut self, object: Object) {
        self.stack.push(self.objects.len());
        self.objects.push(object);
    }

    fn push_value(&mut self, read: impl FnOnce(&mut Cursor) -> Result<Object, FileProblem>) -> Result<(), FileProblem> {
        let object = read(&mut self.cursor)?;
        self.push(object);
        Ok(())
    }

    fn push_tuple(&mut self, count: usize) -> Result<(), FileProblem> {
        let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        self.push(Object::Tuple(items));
        Ok(())
    }

    /// Returns the object on top of the stack, which is above the last mark.
    fn top(&self) -> Result<ObjectId, FileProblem> {
        let above_mark = self.stack.get(self.marks.last().copied().unwrap_or(0)..).unwrap_or_default();
        above_mark.last().copied().ok_or_else(|| self.cursor.damaged("an object on the stack"))
    }

    fn pop(&mut self) -> Result<ObjectId, FileProblem> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<ObjectId>, FileProblem> {
        let mark = self.marks.pop().ok_or_else(|| self.cursor.damaged("a mark on the stack"))?;
        Ok(self.stack.drain(mark.min(self.stack.len())..).collect())
    }

    fn extend_list(&mut self, items: &[ObjectId]) -> Result<(), FileProblem> {
        let list = self.top()?;
        let Some(Object::List(list)) = self.objects.get_mut(list) else { return Err(self.cursor.damaged("a list")) };
        list.extend_from_slice(items);
        Ok(())
    }

    fn extend_dict(&mut self, items: &[ObjectId]) -> Result<(), FileProblem> {
        let dict = self.top()?;
        let Some(Object::Dict(dict)) = self.objects.get_mut(dict) else { return Err(self.cursor.damaged("a dict")) };
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.cursor.damaged("a value for each key"));
        }
        dict.extend(pairs.iter().map(|&[key, value]| (key, value)));
        Ok(())
    }

    fn memoize(&mut self, index_bytes: usize) -> Result<(), FileProblem> {
        let index = self.cursor.unsigned(index_bytes)?;
        self.memo.insert(index, self.top()?);
        Ok(())
    }

    fn recall(&mut self, index_bytes: usize) -> Result<(), FileProblem> {
        let index = self.cursor.unsigned(index_bytes)?;
        let object = self.memo.get(&index).ok_or_else(|| self.cursor.damaged("the index of an object in the memo"))?;
        self.stack.push(*object);
        Ok(())
    }

    fn push_global_of_stack(&mut self) -> Result<(), FileProblem> {
        let (name, module) = (self.pop()?, self.pop()?);
        let (Some(Object::Text(module)), Some(Object::Text(name))) = (self.objects.get(module), self.objects.get(name))
        else {
            return Err(self.cursor.damaged("the names of a module and of a global"));
        };
        let global = Global::find(module, name)?;
        self.push(Object::Global(global));
        Ok(())
    }

    fn call(&mut self) -> Result<(), FileProblem> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Some(&Object::Global(function)) = self.objects.get(function) else {
            return Err(self.cursor.damaged("a function"));
        };
        let Some(Object::Tuple(items)) = self.objects.get(arguments) else {
            return Err(self.cursor.damaged("a tuple of arguments"));
        };
        match function {
            // The pairs follow with the opcodes of dicts.
            Global::OrderedDict if items.is_empty() => self.push(Object::Dict(Vec::new())),
            Global::OrderedDict => return Err(self.cursor.damaged("an `OrderedDict` without arguments")),
            function => self.push(Object::Call(function, arguments)),
        }
        Ok(())
    }

    /// Drops the attributes of an `OrderedDict`: a state dict has the versions of its modules there.
    fn drop_state(&mut self) -> Result<(), FileProblem> {
        self.pop()?;
        let object = self.top()?;
        match self.objects.get(object) {
            Some(Object::Dict(_)) => Ok(()),
            _ => Err(self.cursor.damaged("an `OrderedDict` that gets attributes")),
        }
    }
}
