//! The losses of a run: a file of lines, and a diagram.

use std::fs;
use std::path::Path;

use opdispatch::prelude::*;

use crate::plot::curves::{Curve, Panel, draw_panels};
use crate::plot::picture::{BLUE, Picture, RED};

/// The losses after some steps, on the training data and on the validation data.
#[derive(Default)]
pub(crate) struct Losses(Vec<(usize, f64, f64)>);

impl Losses {
    /// Reads the losses of a run that is resumed.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("losses.csv");
        let text = fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let read_line = |line: &str| {
            let mut fields = line.split(',');
            let (step, training, validation) = (fields.next()?, fields.next()?, fields.next()?);
            Some((step.parse().ok()?, training.parse().ok()?, validation.parse().ok()?))
        };
        let lines = text.lines().map(|line| {
            read_line(line).ok_or_else(|| format!("{}: {line:?} is no step with two losses", path.display()).into())
        });
        lines.collect::<Result<_>>().map(Self)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join("losses.csv");
        let lines: Vec<String> =
            self.0.iter().map(|(step, training, validation)| format!("{step},{training},{validation}")).collect();
        fs::write(&path, lines.join("\n")).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
    }

    pub(crate) fn add(&mut self, step: usize, training: f64, validation: f64) {
        self.0.push((step, training, validation));
    }

    pub(crate) fn last_step(&self) -> usize {
        self.0.last().map_or(0, |&(step, ..)| step)
    }

    pub(crate) fn last_line(&self) -> String {
        self.0
            .last()
            .map(|(step, training, validation)| format!("{step:6}{training:16.4}{validation:18.4}"))
            .unwrap_or_default()
    }

    pub(crate) fn draw(&self) -> Picture {
        #[expect(clippy::cast_precision_loss, reason = "a run has few steps")]
        let curve = |name, colour, loss: fn(&(usize, f64, f64)) -> f64| Curve {
            name,
            colour,
            points: self.0.iter().map(|point| (point.0 as f64, loss(point))).collect(),
        };
        let curves = vec![curve("training", BLUE, |point| point.1), curve("validation", RED, |point| point.2)];
        draw_panels(&[Panel { title: "loss", x_title: "step", curves }])
    }
}
