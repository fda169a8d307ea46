//! Classifies a picture with a model of torchvision that `torch.export` saved, and draws the five most probable classes.
//!
//! `cargo run --release -p classify [-- MODEL.pt2 PICTURE]`
//!
//! In Python, this saves a model together with the names of its classes:
//!
//! ```python
//! weights = torchvision.models.ResNet50_Weights.DEFAULT
//! model = torchvision.models.resnet50(weights=weights).eval()
//! program = torch.export.export(model, (torch.rand(1, 3, 224, 224),))
//! names = "\n".join(weights.meta["categories"])
//! torch.export.save(program, "resnet50.pt2", extra_files={"categories.txt": names})
//! ```
#![forbid(unsafe_code)]

mod classifier;
mod drawing;
mod photo;
#[path = "../../plot/mod.rs"]
#[expect(dead_code, reason = "the drawings of other examples use more")]
mod plot;

use std::{env, fs};

use opdispatch::Result;
use opdispatch::pt2::Archive;

use classifier::Classifier;
use photo::Photo;

const USAGE: &str = "usage: classify [MODEL.pt2 PICTURE], with a picture in PNG or JPEG";
const DRAWING: &str = "target/classify.png";
/// A ResNet-18 of torchvision with few channels, ten classes and random weights.
const SMALL_MODEL: &[u8] = include_bytes!("../data/resnet18.pt2");
const SMALL_PICTURE: &[u8] = include_bytes!("../data/picture.png");

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (classifier, photo) = match &*arguments {
        [] => {
            println!("a small ResNet-18 with random weights, so its answer means nothing; for a trained one:");
            println!("cargo run --release -p classify -- MODEL.pt2 PICTURE\n");
            (Classifier::new(&Archive::read(SMALL_MODEL)?)?, Photo::decode(SMALL_PICTURE)?)
        }
        [model, picture] => (Classifier::new(&Archive::open(model)?)?, Photo::open(picture)?),
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{USAGE}");
            return Ok(());
        }
        _ => return Err(USAGE.into()),
    };

    let photo = photo.resized_and_cropped(classifier.side())?;
    let guesses = classifier.classify(&photo)?;
    for guess in &guesses {
        println!("{:>5.1} %  {:<40}  {}", 100.0 * guess.probability, bar(guess.probability), guess.class);
    }

    let drawing = drawing::draw(&photo, &guesses)?.to_png()?;
    fs::create_dir_all("target")
        .and_then(|()| fs::write(DRAWING, drawing))
        .map_err(|error| format!("{DRAWING}: {error}"))?;
    println!("\ndrawing  {DRAWING}");
    Ok(())
}

/// Returns a bar of at most 40 characters.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a probability is from 0 to 1")]
fn bar(probability: f64) -> String {
    "#".repeat((probability.clamp(0.0, 1.0) * 40.0).round() as usize)
}
