//! Programs that write their buffers.

use aten::prelude::*;
use dispatch_nn::Module as _;
use dispatch_pt2::{Program, Pt2Problem};
use dispatch_runtime::{DType, Result, Tensor};

use super::program;

fn buffer(program: &Program, name: &str) -> Vec<f32> {
    let buffers = program.buffers();
    let (_, buffer) = buffers.into_iter().find(|(found, _)| found == name).unwrap();
    buffer.to_vec().unwrap()
}

#[test]
fn buffers_are_written_in_both_dialects() {
    for name in ["counter", "counter_core"] {
        let program = program(name);
        let x = Tensor::zeros((3, 4), DType::F32).unwrap();
        for run in 1..4_u8 {
            let output = program.run(&x).unwrap();
            assert_eq!(output.as_tensor().unwrap().to_vec::<f32>().unwrap(), [f32::from(run); 12], "{name}");
            assert_eq!(buffer(&program, "count"), [f32::from(run)], "{name}");
        }
    }
}

#[test]
fn two_buffers_can_be_swapped() {
    for name in ["swap", "swap_core"] {
        let program = program(name);
        let output = program.run(Tensor::zeros((3, 4), DType::F32).unwrap()).unwrap();
        assert_eq!(output.as_tensor().unwrap().to_vec::<f32>().unwrap(), [2.0; 12], "{name}");
        assert_eq!((buffer(&program, "a"), buffer(&program, "b")), (vec![2.0], vec![1.0]), "{name}");
    }
}

/// A mode that runs a program during each addition of another run.
struct Reentrant(Program);

impl dispatch_modes::Mode for Reentrant {
    fn on_op(&self, call: &mut dispatch_modes::Call<'_>) -> Result<()> {
        let error = self.0.run(Tensor::zeros((3, 4), DType::F32)?).unwrap_err();
        assert!(matches!(*error.problem, Pt2Problem::StateInUse { .. }), "{error}");
        assert!(error.to_string().contains("deep_clone"), "{error}");
        // A deep clone has buffers of its own, and a run that ended is no obstacle.
        let own = self.0.deep_clone()?;
        let x = Tensor::zeros((3, 4), DType::F32)?;
        (0..2).try_for_each(|_| own.run(&x).map(drop))?;
        call.pass_on()
    }
}

#[test]
fn a_buffer_has_one_writing_run_at_a_time() {
    for name in ["counter", "counter_core", "statistics", "statistics_core"] {
        let program = program(name);
        let x = Tensor::ones((3, 4), DType::F32).unwrap();
        dispatch_modes::with_mode(Reentrant(program.clone()), || program.run(&x)).unwrap();
        program.run(&x).unwrap();
    }
}
