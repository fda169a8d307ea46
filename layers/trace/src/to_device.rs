//! Moving a graph to another device.

use aten::prelude::*;
use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{Device, Result};

use crate::argument::Argument;
use crate::graph::{Graph, NamedArgument, Node};

impl Graph {
    /// Returns the same graph for inputs on another device: constants are copied there, and all devices that it names are replaced.
    ///
    /// A graph that was traced on Meta, without computation, can so run on the CPU.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_trace::trace;
    ///
    /// # fn main() -> Result<()> {
    /// let shape = Tensor::empty(2, (DType::F32, Device::META))?;
    /// let graph = trace(|x| Ok([(&x[0] + &Tensor::ones(2, (DType::F32, Device::META))?)?]), &[shape])?;
    /// let results = graph.to(Device::CPU)?.run(&[Tensor::from([1.0_f32, 2.0])])?;
    /// assert_eq!(results[0].to_vec::<f32>()?, [2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a constant cannot be copied: the device has no memory, or the constant is on Meta.
    pub fn to(&self, device: Device) -> Result<Self> {
        let mut graph = self.clone();
        for (at, constant) in graph.constants.iter_mut().enumerate() {
            *constant = constant.to(device)?;
            graph.values[graph.inputs + at].geometry = constant.geometry().clone().with_offset(0);
        }
        graph.nodes.iter_mut().for_each(|node| replace_device(node, device));
        Ok(graph)
    }
}

fn replace_device(node: &mut Node, device: Device) {
    for input in &mut node.inputs {
        if let Argument::Device(named) = &mut input.arg {
            *named = device;
        }
    }
    // A factory, which has no tensor arguments, creates tensors on the CPU unless the call names a device.
    let schema = node.schema();
    let device_argument =
        schema.arguments.iter().position(|argument| argument.ty.without_optional().kind == TypeKind::Device);
    let is_factory = node.used_values().next().is_none();
    let Some(at) = device_argument
        .filter(|&at| is_factory && node.inputs.iter().all(|input| input.name != schema.arguments[at].name))
    else {
        return;
    };
    let described = &schema.arguments[at];
    let before =
        node.inputs.iter().take_while(|input| schema.argument(&input.name).is_some_and(|(other, _)| other < at));
    let input =
        NamedArgument { name: described.name.clone(), arg: Argument::Device(device), keyword: described.keyword_only };
    node.inputs.insert(before.count(), input);
}
