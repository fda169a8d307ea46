//! The files of `golden/pt2/broken`: each is refused at the stage that its note tells, or loads.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;
use std::{env, fs};

use dispatch_nn::Module;
use dispatch_pt2::{Archive, Inputs};
use dispatch_runtime::Tensor;
use flate2::read::GzDecoder;
use serde_json::Value;
use zip::ZipArchive;

/// Words of each error. A file that is not in this list only has to be refused.
const WORDS: &[(&str, &[&str])] = &[
    ("empty", &["the file is empty"]),
    ("truncated", &["the directory at its end is missing", "cut off"]),
    ("entry_offset_past_end", &["data/sample_inputs/model.pt", "entries are not all in it"]),
    ("duplicate_entry", &["two entries", "one name"]),
    ("zip_bomb", &["is compressed", "stored"]),
    ("encrypted", &["is encrypted"]),
    ("traversal_entry", &["..", "leaves the folder"]),
    ("no_model", &["the archive has no program"]),
    ("no_weight", &["data/weights/weight_0", "0.weight"]),
    ("future_archive", &["archive version 7 is unknown"]),
    ("future_schema", &["version 9.", "version 8 is read"]),
    ("pickled_weight", &["0.weight", "pickle"]),
    ("weight_odd_size", &["509 bytes", "elements of 4 bytes"]),
    ("offset_negative", &["a storage offset is negative"]),
    ("numel_huge_empty", &["0.weight", "the data have 0"]),
    ("stride_negative", &["a stride is negative"]),
    ("strides_too_few", &["2 sizes and 1 strides"]),
    ("dtype_unknown", &["dtype number 99 is unknown"]),
    ("layout_sparse", &["layout 2 (SparseCsr) is not supported"]),
    ("path_absolute", &["/etc/passwd", "data/weights/"]),
    ("parameter_missing", &["`0.weight`", "`0.wieght`"]),
    ("json_deep", &["models/model.json"]),
    ("json_nan", &["models/model.json", "line", "column"]),
    ("json_duplicate_key", &["model_weights_config.json", "duplicate field"]),
    ("json_wrong_type", &["graph_module.graph.nodes", "a sequence"]),
    ("unknown_operator", &["torch.ops.aten.relux.default", "did you mean aten::relu"]),
    ("unknown_overload", &["torch.ops.aten.linear.Foo", "no such overload"]),
    ("undefined_value", &["`ghost`, which nothing defines"]),
    ("cycle", &["a later node defines", "in a circle"]),
    ("output_undefined", &["the output `ghost`", "defined by nothing"]),
    ("argument_missing", &["torch.ops.aten.linear.default", "argument `weight` is missing"]),
    ("argument_twice", &["torch.ops.aten.linear.default", "argument `input` is given twice"]),
    ("union_unknown_key", &["as_teapot", "graph_module.graph.nodes[0]"]),
    ("signature_short", &["inputs", "the signature"]),
    ("huge_allocation", &["node `big`", "memory"]),
];

/// Returns the files, or `None` if the folder in `DISPATCH_GOLDEN` has none.
fn read_files() -> Option<BTreeMap<String, Vec<u8>>> {
    if let Some(golden) = env::var_os("DISPATCH_GOLDEN") {
        let folder = fs::read_dir(Path::new(&golden).join("pt2/broken")).ok()?;
        let file = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
        return Some(folder.map(|entry| file(entry.unwrap())).collect());
    }
    let mut bytes = Vec::new();
    GzDecoder::new(&include_bytes!("../golden/broken.zip.gz")[..]).read_to_end(&mut bytes).unwrap();
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let count = zip.len();
    let file = |index| {
        let mut file = zip.by_index(index).unwrap();
        let mut data = Vec::new();
        file.read_to_end(&mut data).unwrap();
        (file.name().unwrap().into_owned(), data)
    };
    Some((0..count).map(file).collect())
}

/// Returns the sample inputs, or else a tensor for the program's only input: a matrix for the first parameter.
fn inputs(archive: &Archive, program: &dispatch_pt2::Program) -> Result<Inputs, String> {
    if let Some(inputs) = archive.sample_inputs(program.name()).map_err(|error| error.to_string())? {
        return Ok(inputs);
    }
    let columns = program.parameters()[0].param.sizes()[1];
    let row = Tensor::from_slice(&vec![1.0_f32; usize::try_from(columns).unwrap()]);
    Ok(aten::unsqueeze(&row, 0).unwrap().into())
}

/// Returns the stage that fails, with its error; or `ok`.
fn stage(bytes: &[u8]) -> (&'static str, String) {
    let archive = match Archive::from_bytes(bytes) {
        Ok(archive) => archive,
        Err(error) => return ("open", error.to_string()),
    };
    let names: Vec<&str> = archive.program_names().collect();
    let program = match archive.program(names.first().unwrap_or(&"model")) {
        Ok(program) => program,
        Err(error) => return ("load", error.to_string()),
    };
    match inputs(&archive, &program).and_then(|inputs| program.run(inputs).map_err(|error| error.to_string())) {
        Ok(_) => ("ok", String::new()),
        Err(error) => ("run", error),
    }
}

#[test]
fn golden_broken_files_are_refused_at_their_stage() {
    let Some(files) = read_files() else { return };
    let notes: Value = serde_json::from_slice(&files["broken.json"]).unwrap();
    let notes = notes.as_array().unwrap();
    assert!(notes.len() >= 39 || env::var_os("DISPATCH_GOLDEN").is_some());
    let mut wrong = Vec::new();
    for note in notes {
        let (name, says) = (note["file"].as_str().unwrap(), note["says"].as_str().unwrap());
        let expected = note["stage"].as_str().unwrap();
        let (found, error) = stage(&files[name]);
        // Some notes allow that the file loads.
        let may_load = ["inferred", "ignored"].iter().any(|word| says.contains(word));
        if found != expected && !(found == "ok" && may_load) {
            wrong.push(format!("{name}: stage {found}, not {expected}: {error}\n    it says: {says}"));
        }
        let name = name.strip_suffix(".pt2").unwrap();
        let words = WORDS.iter().find(|(file, _)| *file == name).map_or(&[][..], |(_, words)| words);
        if found != "ok" && words.iter().any(|word| !error.contains(word)) {
            wrong.push(format!("{name}: {words:?} are not in the error: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
