//! Borrows of tensors (read and write guards) that are held during a call of an operator.

use dispatch_runtime::{Bool, DType, Element, Tensor, f16};

use crate::model::{ModelMemory, TensorModel};

/// A tensor that is borrowed for reading or writing during a call.
pub(crate) struct HeldBorrow {
    tensor: Tensor,
    memory: ModelMemory,
    pub(crate) is_written: bool,
}

impl HeldBorrow {
    pub(crate) fn new(tensor: &Tensor, model: &TensorModel, is_written: bool) -> Self {
        Self {
            tensor: tensor.clone(),
            memory: model.memory.clone(),
            is_written: is_written && !model.overlaps_itself(),
        }
    }

    pub(crate) fn borrows_memory_of(&self, model: &TensorModel) -> bool {
        std::rc::Rc::ptr_eq(&self.memory, &model.memory)
    }
}

/// Makes a call while the tensor of `held`, if there is one, is borrowed.
pub(crate) fn call_while_borrowed<R>(held: Option<&HeldBorrow>, call: impl FnOnce() -> R) -> R {
    let Some(held) = held else { return call() };
    match held.tensor.dtype() {
        DType::Bool => call_while_borrowed_as::<Bool, R>(held, call),
        DType::U8 => call_while_borrowed_as::<u8, R>(held, call),
        DType::I32 => call_while_borrowed_as::<i32, R>(held, call),
        DType::I64 => call_while_borrowed_as::<i64, R>(held, call),
        DType::F16 => call_while_borrowed_as::<f16, R>(held, call),
        DType::F32 => call_while_borrowed_as::<f32, R>(held, call),
        _ => call_while_borrowed_as::<f64, R>(held, call),
    }
}

fn call_while_borrowed_as<T: Element, R>(held: &HeldBorrow, call: impl FnOnce() -> R) -> R {
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
