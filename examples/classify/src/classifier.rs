//! A model that classifies pictures.

use opdispatch::autograd;
use opdispatch::prelude::*;
use opdispatch::pt2::{Archive, Program, ProgramValue, RecordedValue};

use crate::photo::Photo;

/// The side of pictures for a model that takes any size.
const USUAL_SIDE: i64 = 224;
const GUESS_COUNT: i64 = 5;

pub(crate) struct Classifier {
    program: Program,
    side: i64,
    /// The names of the classes, as far as the archive has them.
    classes: Vec<String>,
}

/// A class with its probability according to the model.
pub(crate) struct Guess {
    pub(crate) class: String,
    pub(crate) probability: f64,
}

impl Classifier {
    /// Loads the model of an archive. The names of its classes are the lines of the archive's text `categories.txt`.
    pub(crate) fn new(archive: &Archive) -> Result<Self> {
        let program = archive.program("model")?;
        let side = side_of_input(&program)?;
        let names = archive.extra_texts().find(|(name, _)| *name == "categories.txt");
        let classes = names.map_or_else(Vec::new, |(_, text)| text.lines().map(str::to_owned).collect());
        Ok(Self { program, side, classes })
    }

    /// Returns the width and height of the pictures that the model takes.
    pub(crate) const fn side(&self) -> i64 {
        self.side
    }

    /// Returns the most probable classes, beginning with the first.
    pub(crate) fn classify(&self, photo: &Photo) -> Result<Vec<Guess>> {
        let _no_grad = autograd::no_grad();
        let output = self.program.run(photo.to_input()?)?;
        let Some(scores) = output.tensors().into_iter().next().filter(|scores| scores.sizes().len() == 2) else {
            return Err("the model does not return a score for each class".into());
        };
        let count = GUESS_COUNT.min(scores.sizes()[1]);
        let (probabilities, classes) = scores.to(DType::F64)?.softmax(1)?.i(0)?.topk(count)?;
        let guesses = probabilities.to_vec::<f64>()?.into_iter().zip(classes.to_vec::<i64>()?);
        Ok(guesses.map(|(probability, class)| Guess { class: self.class_name(class), probability }).collect())
    }

    fn class_name(&self, class: i64) -> String {
        let name = usize::try_from(class).ok().and_then(|class| self.classes.get(class));
        name.map_or_else(|| format!("class {class}"), Clone::clone)
    }
}

/// Returns the side of the square pictures that a program takes.
fn side_of_input(program: &Program) -> Result<i64> {
    let inputs = program.inputs();
    let side = match &*inputs {
        [ProgramValue { recorded: RecordedValue::Tensor { dtype: Some(DType::F32), sizes, .. }, .. }] => match &**sizes
        {
            [_, channels, height, width] if channels.as_int() == Some(3) && height == width => {
                Some(height.as_int().unwrap_or(USUAL_SIDE)).filter(|side| (1..=4096).contains(side))
            }
            _ => None,
        },
        _ => None,
    };
    side.ok_or_else(|| {
        let found: Vec<String> = inputs.iter().map(|input| format!("{}: {}", input.name, input.recorded)).collect();
        let found = found.join(", ");
        format!("the model cannot classify pictures: it takes ({found}), and not one batch of square pictures float32[n, 3, side, side]").into()
    })
}
