//! Guards that are held during a call of an operator.

use dispatch_runtime::{Bool, DType, Element, Tensor, f16};

use crate::model::{Memory, Model};

/// A tensor that is borrowed for reading or writing during a call.
pub(crate) struct Held {
    tensor: Tensor,
    memory: Memory,
    pub(crate) is_written: bool,
}

impl Held {
    pub(crate) fn new(tensor: &Tensor, model: &Model, is_written: bool) -> Self {
        Self { tensor: tensor.clone(), memory: model.memory.clone(), is_written: is_written && !model.meets_itself() }
    }

    pub(crate) fn holds(&self, model: &Model) -> bool {
        std::rc::Rc::ptr_eq(&self.memory, &model.memory)
    }
}

/// Makes a call while the guard is held.
pub(crate) fn under<R>(held: Option<&Held>, call: impl FnOnce() -> R) -> R {
    let Some(held) = held else { return call() };
    match held.tensor.dtype() {
        DType::Bool => under_guard::<Bool, R>(held, call),
        DType::U8 => under_guard::<u8, R>(held, call),
        DType::I32 => under_guard::<i32, R>(held, call),
        DType::I64 => under_guard::<i64, R>(held, call),
        DType::F16 => under_guard::<f16, R>(held, call),
        DType::F32 => under_guard::<f32, R>(held, call),
        _ => under_guard::<f64, R>(held, call),
    }
}

fn under_guard<T: Element, R>(held: &Held, call: impl FnOnce() -> R) -> R {
    let mut tensor = held.tensor.clone();
    match (held.is_written, tensor.geometry().is_contiguous()) {
        (true, true) => {
            let _guard = tensor.write::<T>().unwrap();
            call()
        }
        (true, false) => {
            let _guard = tensor.elements_mut::<T>().unwrap();
            call()
        }
        (false, true) => {
            let _guard = tensor.read::<T>().unwrap();
            call()
        }
        (false, false) => {
            let _guard = tensor.elements::<T>().unwrap();
            call()
        }
    }
}
