//! The losses of a run: a progress bar, a table, a diagram, and a part of checkpoints.

use indicatif::{ProgressBar, ProgressStyle};
use opdispatch::nn::{State, StateError, StateProblem, StateReader, Stateful};
use opdispatch::prelude::*;

use crate::plot::curves::{Curve, Panel, draw_panels};
use crate::plot::picture::{BLUE, Picture, RED};

/// A step with the losses of the training data and of the validation data.
type Point = (usize, f64, f64);

/// The losses of a run so far.
pub(crate) struct Losses {
    points: Vec<Point>,
    /// The losses of the steps after the last point.
    latest: Vec<f64>,
    progress: ProgressBar,
}

impl Losses {
    pub(crate) fn new(steps: usize) -> Result<Self> {
        let template = "{bar:40} {pos}/{len} steps, {per_sec}, {msg}";
        let style = ProgressStyle::with_template(template).map_err(Error::kernel)?;
        println!("  step   training loss   validation loss");
        Ok(Self { points: Vec::new(), latest: Vec::new(), progress: ProgressBar::new(steps as u64).with_style(style) })
    }

    pub(crate) fn last_step(&self) -> usize {
        self.points.last().map_or(0, |&(step, ..)| step)
    }

    pub(crate) fn add_training(&mut self, loss: f64, lr: f64) {
        self.latest.push(loss);
        self.progress.set_message(format!("loss {loss:.3}, rate {lr:.1e}"));
        self.progress.inc(1);
    }

    pub(crate) fn add_validation(&mut self, step: usize, losses: &[f64]) {
        let (training, validation) = (mean(&self.latest), mean(losses));
        self.latest.clear();
        self.points.push((step, training, validation));
        self.progress.suspend(|| println!("{step:6}{training:16.4}{validation:18.4}"));
    }

    pub(crate) fn draw(&self) -> Picture {
        #[expect(clippy::cast_precision_loss, reason = "a run has few steps")]
        let curve = |name, colour, loss: fn(&Point) -> f64| Curve {
            name,
            colour,
            points: self.points.iter().map(|point| (point.0 as f64, loss(point))).collect(),
        };
        let curves = vec![curve("training", BLUE, |point| point.1), curve("validation", RED, |point| point.2)];
        draw_panels(&[Panel { title: "loss", x_title: "step", curves }])
    }

    fn read(reader: &mut StateReader<'_>) -> Option<Vec<Point>> {
        let text: String = reader.value("points")?;
        let read_point = |line: &str| {
            let [step, training, validation] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
            Some((step.parse().ok()?, training.parse().ok()?, validation.parse().ok()?))
        };
        let points: Option<Vec<Point>> = text.lines().map(read_point).collect();
        if points.is_none() {
            reader.refuse("points");
        }
        points
    }
}

impl Stateful for Losses {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        let lines: Vec<String> =
            self.points.iter().map(|(step, training, validation)| format!("{step},{training},{validation}")).collect();
        state.set_value("points", lines.join("\n"));
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let mut reader = StateReader::new(state);
        Self::read(&mut reader);
        Ok(reader.problems())
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        StateError::check(self.check_state(state)?)?;
        self.points = Self::read(&mut StateReader::new(state)).unwrap_or_default();
        self.progress.set_position(self.last_step() as u64);
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a run has few steps")]
fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len() as f64
}
