//! A program as a module: its parameters can be trained, saved, converted and moved to a device.

use dispatch_nn::{Forward, Module, ModulePath, ModuleRef, Part, PartMut, Visit};
use dispatch_runtime::{Result, Tensor, Value};

use super::Program;
use super::state::StatePart;
use crate::error::Pt2Problem;
use crate::tree::Tree;

impl Visit for Program {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        f(at, Part::Module(ModuleRef::new(self, "Program")));
        for entry in &self.state {
            let part = match &entry.part {
                StatePart::Param(param) => Part::Param(param),
                StatePart::Buffer(buffer) => Part::Buffer(buffer),
            };
            f(&at.field(&entry.name), part);
        }
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        for entry in &mut self.state {
            let part = match &mut entry.part {
                StatePart::Param(param) => PartMut::Param(param),
                StatePart::Buffer(buffer) => PartMut::Buffer(buffer),
            };
            f(&at.field(&entry.name), part);
        }
    }
}

impl Module for Program {}

/// For a program from one tensor to one tensor, such as a model of images. It can be a part of other modules, also of a
/// [`Sequential`](dispatch_nn::Sequential).
impl Forward for Program {
    type Output = Tensor;

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        match self.run(input)? {
            Tree::Leaf(Value::Tensor(output)) => Ok(output),
            _ => Err(self.error(Pt2Problem::NotOneTensor).into()),
        }
    }
}
