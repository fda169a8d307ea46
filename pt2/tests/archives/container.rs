//! The zip container: all ways of writing it, and everything that is refused.

use std::fs::File;

use dispatch_nn::Module;
use dispatch_pt2::{Archive, Program, Pt2Error, Pt2Problem};
use dispatch_runtime::Tensor;

use crate::zip_builder::{Entry, PYTORCH, Style, program_path, read_entries, with_changed_entry, write_zip};

/// Returns the result of `mlp` for one input.
fn run(program: &Program) -> Vec<f32> {
    let output = program.run(Tensor::from([[0.5_f32, -1.0, 2.0, 0.25]])).unwrap();
    output.as_tensor().unwrap().to_vec().unwrap()
}

fn refusal(bytes: Vec<u8>) -> Pt2Error {
    Archive::from_bytes(bytes).expect_err("the archive is damaged")
}

/// Asserts that the archive is refused because of this entry, for this reason.
fn assert_refused_entry(bytes: Vec<u8>, name: &str, words: &str) {
    let error = refusal(bytes);
    let Pt2Problem::Entry { entry, reason } = &*error.problem else { panic!("{error}") };
    assert_eq!(entry, name);
    assert!(reason.contains(words), "{words}: {error}");
}

#[test]
fn every_style_of_container_is_read() {
    let expected = run(&Program::load(program_path("mlp")).unwrap());
    let entries = read_entries("mlp");
    for bits in 0..64 {
        let flag = |at: u32| bits >> at & 1 == 1;
        let style = Style {
            empty_headers: flag(0),
            data_descriptors: flag(1),
            aligned: flag(2),
            zip64_end: flag(3),
            zip64_entries: flag(4),
            // The start of an end record in the comment is not the end of the archive.
            comment: if flag(5) { b"a comment with PK\x05\x06 in it, and more text" } else { b"" },
        };
        let program =
            Program::from_bytes(write_zip(&entries, style)).unwrap_or_else(|error| panic!("{style:?}: {error}"));
        assert_eq!(run(&program), expected, "{style:?}");
    }
}

#[test]
fn every_source_gives_the_same_program() {
    let path = program_path("mlp");
    let expected = run(&Program::load(&path).unwrap());
    assert_eq!(run(&Program::read(File::open(&path).unwrap()).unwrap()), expected);
    assert_eq!(run(&Program::from_bytes(std::fs::read(&path).unwrap()).unwrap()), expected);
}

#[test]
fn data_are_used_in_place_if_they_are_aligned_and_copied_otherwise() {
    let entries = read_entries("mlp");
    let expected = run(&Program::load(program_path("mlp")).unwrap());
    for style in [PYTORCH, Style { aligned: false, ..PYTORCH }] {
        let bytes = write_zip(&entries, style);
        let memory = bytes.as_ptr().addr()..bytes.as_ptr().addr() + bytes.len();
        let program = Program::from_bytes(bytes).unwrap();
        let addresses: Vec<usize> =
            program.parameters().iter().map(|named| named.param.read::<f32>().unwrap().as_ptr().addr()).collect();
        assert_eq!(addresses.len(), 4);
        if style.aligned && memory.start.is_multiple_of(16) {
            assert!(addresses.iter().all(|address| memory.contains(address)), "{addresses:?} in {memory:?}");
        } else {
            assert!(addresses.iter().any(|address| !memory.contains(address)), "{addresses:?} in {memory:?}");
        }
        assert!(addresses.iter().all(|address| address.is_multiple_of(16)), "{addresses:?}");
        assert_eq!(run(&program), expected);
    }
}

#[test]
fn a_file_is_read_into_the_memory_of_the_tensors() {
    let program = Program::load(program_path("mlp")).unwrap();
    let address = |name: &str| {
        let parameters = program.parameters();
        let named = parameters.iter().find(|named| named.name == name).unwrap();
        named.param.read::<f32>().unwrap().as_ptr().addr()
    };
    // The places of the data in the file, which PyTorch aligns to 64 bytes.
    let bytes = std::fs::read(program_path("mlp")).unwrap();
    let offset = |name: &str| {
        let name = format!("/data/weights/{name}");
        let at = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap() + name.len();
        at.next_multiple_of(64)
    };
    let distance = address("head.weight") - address("hidden.weight");
    assert_eq!(distance, offset("weight_2") - offset("weight_0"));
    assert!(address("hidden.weight").is_multiple_of(64));
}

#[test]
fn a_file_that_is_cut_off_is_refused_at_every_length() {
    let bytes = std::fs::read(program_path("mlp")).unwrap();
    for length in 0..bytes.len() {
        let error = refusal(bytes[..length].to_vec());
        assert!(matches!(&*error.problem, Pt2Problem::Container(_)), "{length}: {error}");
    }
    let error = refusal(bytes[..bytes.len() / 2].to_vec());
    assert!(error.to_string().contains("cut off"), "{error}");
    // The end of the sample inputs, which are an archive too, is not the end of the file.
    let inner = bytes.windows(4).position(|window| window == b"PK\x05\x06").unwrap() + 22;
    assert!(inner + 200 < bytes.len(), "the sample inputs come before the directory");
    assert!(refusal(bytes[..inner].to_vec()).to_string().contains("cut off"));
}

#[test]
fn other_files_are_refused() {
    for (bytes, words) in [
        (&b""[..], "the file is empty"),
        (b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "no entries"),
        (b"\x80\x02}q\x00.", "does not begin as a zip archive"),
        (b"PK\x03\x04", "cut off"),
    ] {
        let error = refusal(bytes.to_vec());
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(matches!(*Archive::open("no/such.pt2").unwrap_err().problem, Pt2Problem::Io(_)));
    assert!(matches!(*Archive::open(env!("CARGO_MANIFEST_DIR")).unwrap_err().problem, Pt2Problem::Io(_)));
    // A file of `torch.save` is a zip archive too.
    let error = refusal(write_zip(&[Entry::new("x/data.pkl", "."), Entry::new("x/version", "3")], PYTORCH));
    assert!(error.to_string().contains("archive_format"), "{error}");
}

#[test]
fn a_compressed_entry_is_refused_by_name() {
    let error = Archive::open(program_path("deflated")).unwrap_err();
    let Pt2Problem::Entry { reason, .. } = &*error.problem else { panic!("{error}") };
    assert!(reason.starts_with("is compressed"), "{error}");
}

#[test]
fn entries_that_cannot_be_used_are_refused_by_name() {
    let changed = |name: &str, change: fn(&mut Entry)| write_zip(&with_changed_entry("mlp", name, change), PYTORCH);
    // The first entry decides the folder, so this is another one.
    let weight = "data/weights/weight_1";
    assert_refused_entry(changed(weight, |entry| entry.method = 12), weight, "is compressed");
    assert_refused_entry(changed(weight, |entry| entry.flags = 1), weight, "is encrypted");
    assert_refused_entry(changed(weight, |entry| entry.offset = Some(1 << 40)), weight, "no header at its place");
    assert_refused_entry(changed(weight, |entry| entry.offset = Some(11)), weight, "no header at its place");
    assert_refused_entry(changed(weight, |entry| entry.size = Some(1 << 20)), weight, "the file");
    assert_refused_entry(changed(weight, |entry| entry.size = Some(u64::MAX)), weight, "the file");
    assert_refused_entry(
        changed(weight, |entry| entry.name = "mlp/data/../../x".to_owned()),
        "mlp/data/../../x",
        "leaves",
    );
    assert_refused_entry(changed(weight, |entry| entry.name = "mlp\\..\\x/y".to_owned()), "mlp\\..\\x/y", "leaves");
    assert_refused_entry(changed(weight, |entry| entry.name = "/etc/passwd".to_owned()), "/etc/passwd", "leaves");
    assert_refused_entry(
        changed(weight, |entry| entry.name = "other/weight_0".to_owned()),
        "other/weight_0",
        "is outside",
    );
    assert_refused_entry(changed(weight, |entry| entry.name = "weight_0".to_owned()), "weight_0", "is outside");
    let twice = refusal(changed(weight, |entry| entry.name = "mlp/byteorder".to_owned()));
    assert!(matches!(*twice.problem, Pt2Problem::DuplicateEntry), "{twice}");
}

#[test]
fn entries_that_share_bytes_are_refused() {
    // The directory names the header of the first weight twice.
    let mut entries = read_entries("mlp");
    let at = entries.iter().position(|entry| entry.name.ends_with("weight_0")).unwrap();
    let (file, name) = (write_zip(&entries, PYTORCH), entries[at].name.clone());
    let offset = file.windows(name.len()).position(|window| window == name.as_bytes()).unwrap() as u64 - 30;
    entries[at + 1].offset = Some(offset);
    let error = refusal(write_zip(&entries, PYTORCH));
    let Pt2Problem::Entry { entry, reason } = &*error.problem else { panic!("{error}") };
    // Each of the two shares the bytes of the other.
    assert!(entry.starts_with("data/weights/weight_") && reason.contains("shares bytes"), "{error}");
}

#[test]
fn versions_and_byte_orders_are_checked() {
    let changed = |name: &str, data: &'static str| {
        let change = |entry: &mut Entry| entry.data = data.into();
        refusal(write_zip(&with_changed_entry("mlp", name, change), PYTORCH))
    };
    let error = changed("archive_version", "7");
    assert!(matches!(&*error.problem, Pt2Problem::ArchiveVersion { found } if found == "7"), "{error}");
    let error = changed("archive_format", "pt3");
    assert!(matches!(&*error.problem, Pt2Problem::Container(_)), "{error}");
    let error = changed("byteorder", "big");
    assert!(matches!(&*error.problem, Pt2Problem::Entry { entry, .. } if entry == "byteorder"), "{error}");
    let names = ["version", "serialized_exported_program.json", "serialized_state_dict.pt"];
    for first in 0..3 {
        let mut names = names;
        names.swap(0, first);
        let error = refusal(write_zip(&names.map(|name| Entry::new(name, "8.2")), PYTORCH));
        assert!(error.to_string().contains("PyTorch before 2.9"), "{error}");
    }
}

#[test]
fn archives_without_a_program_say_what_they_have() {
    let bare = |entries: &[Entry]| {
        let kept = |entry: &Entry| entry.name.ends_with("archive_format") || entry.name.ends_with("archive_version");
        let mut all: Vec<Entry> = read_entries("mlp").into_iter().filter(kept).collect();
        all.extend_from_slice(entries);
        Program::from_bytes(write_zip(&all, PYTORCH)).unwrap_err()
    };
    let error = bare(&[]).to_string();
    assert!(error.starts_with("the archive has no program. Save one"), "{error}");
    let error = bare(&[Entry::new("mlp/data/aotinductor/model/x.so", "")]).to_string();
    assert!(error.contains("AOTInductor"), "{error}");
    let archive = Archive::open(program_path("two_programs")).unwrap();
    let error = archive.program("other").unwrap_err().to_string();
    assert!(error.contains("no program `other`; its programs are `double`, `plain`"), "{error}");
    let error = Program::load(program_path("two_programs")).unwrap_err().to_string();
    assert!(error.contains("its programs are `double`, `plain`"), "{error}");
}

#[test]
fn other_entries_are_skipped() {
    let program = Program::load(program_path("extra_entries")).unwrap();
    assert_eq!(run(&program), run(&Program::load(program_path("mlp")).unwrap()));
}
