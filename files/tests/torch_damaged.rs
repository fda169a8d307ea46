//! Damaged and malicious `.pt` files are errors: never a panic, an endless loop, or more memory than the file justifies.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use dispatch_files::{FileProblem, PtValue, read_pt, read_pt_value};
use proptest::prelude::*;

fn sound_files() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/torch");
    let names =
        ["linear.pt", "checkpoint.pt", "protocol4.pt", "views.pt", "compressed.pt", "math_bits.pt", "dtypes.pt"];
    names.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

/// Returns an archive of `torch.save` with this pickle, and with a storage of 16 bytes.
fn archive(pickle: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in [("x/data.pkl", pickle), ("x/data/0", &[0; 16])] {
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn read_pickle(pickle: &[u8]) -> Result<PtValue, FileProblem> {
    read_pt_value(&archive(pickle)).map_err(|error| {
        assert!(error.entry.is_some(), "{error}");
        *error.problem
    })
}

/// Opcodes of the storage `0` of four floats.
const STORAGE: &[u8] = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ";

/// A pickle of a tensor over the storage, with these opcodes of its offset, sizes and strides.
fn tensor(geometry: &[u8]) -> Vec<u8> {
    [b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(", STORAGE, geometry, b"\x89NtR."].concat()
}

#[test]
fn tensors_stay_inside_their_storage() {
    assert!(matches!(read_pickle(&tensor(b"K\x00K\x02K\x02\x86K\x02K\x01\x86")), Ok(PtValue::Tensor(_))));
    for geometry in [
        // An offset, a size or a stride that is too large, and negative ones.
        &b"K\x01K\x04\x85K\x01\x85"[..],
        b"K\x00K\x05\x85K\x01\x85",
        b"K\x00K\x02\x85K\x04\x85",
        b"J\xff\xff\xff\xffK\x02\x85K\x01\x85",
        b"K\x00J\xff\xff\xff\xff\x85K\x01\x85",
        b"K\x03K\x02\x85J\xff\xff\xff\xff\x85",
        // Numbers that overflow.
        b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x02\x85K\x01\x85",
        b"K\x00\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86K\x00K\x00\x86",
    ] {
        let problem = read_pickle(&tensor(geometry)).unwrap_err();
        assert!(matches!(problem, FileProblem::Tensor(_)), "{geometry:?}: {problem}");
    }
    let problem = read_pickle(&tensor(b"K\x00K\x02\x85K\x02K\x01\x86")).unwrap_err();
    assert!(matches!(problem, FileProblem::Damaged { .. }) && problem.to_string().contains("strides"), "{problem}");
}

#[test]
fn storages_have_as_many_bytes_as_the_pickle_says() {
    let with_count = |count: &[u8]| {
        let at = STORAGE.len() - 4;
        let storage = [&STORAGE[..at], count, b"tQ"].concat();
        let start = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(";
        read_pickle(&[start, &storage[..], b"K\x00))\x89NtR."].concat()).map(drop)
    };
    with_count(b"K\x04").unwrap();
    for (count, is_expected) in [
        (&b"K\x03"[..], (|problem| matches!(problem, FileProblem::Damaged { .. })) as fn(&FileProblem) -> bool),
        (b"K\x05", |problem| matches!(problem, FileProblem::Truncated { expected: 20, found: 16 })),
        (b"\x8a\x06\xff\xff\xff\xff\xff\x00", |problem| matches!(problem, FileProblem::Truncated { .. })),
        (b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", |problem| matches!(problem, FileProblem::TooLarge { .. })),
        (b"J\xff\xff\xff\xff", |problem| matches!(problem, FileProblem::Damaged { .. })),
    ] {
        let problem = with_count(count).unwrap_err();
        assert!(is_expected(&problem), "{count:?}: {problem}");
    }
}

#[test]
fn deep_nesting_and_loops_are_refused() {
    let nested = |depth: usize| [&b"\x80\x02"[..], &b"]".repeat(depth), &b"a".repeat(depth - 1), b"."].concat();
    assert!(read_pickle(&nested(100)).is_ok());
    for depth in [101, 1_000_000] {
        assert!(matches!(read_pickle(&nested(depth)), Err(FileProblem::UnsupportedValue { .. })), "{depth}");
    }
    // A tensor in a million layers of parameters.
    let layers = 1_000_000;
    let parameters = [
        &b"\x80\x02"[..],
        &b"ctorch._utils\n_rebuild_parameter\nq\x00"[..],
        &b"h\x00".repeat(layers),
        b"N",
        &b"\x89N\x87R".repeat(layers),
        b".",
    ]
    .concat();
    assert!(matches!(read_pickle(&parameters), Err(FileProblem::UnsupportedValue { .. })));
    for looping in [&b"\x80\x02]q\x00h\x00a."[..], b"\x80\x02}q\x00h\x00h\x00s.", b"\x80\x02]q\x00h\x00\x85a."] {
        assert!(matches!(read_pickle(looping), Err(FileProblem::UnsupportedValue { .. })), "{looping:?}");
    }
}

#[test]
fn objects_that_repeat_do_not_fill_the_memory() {
    // Each list has the one before ten times: 10^30 values.
    let mut doubling = b"\x80\x02]q\x00".to_vec();
    for level in 0..30 {
        doubling.push(b'0');
        doubling.extend_from_slice(b"](");
        doubling.extend([b'h', level].repeat(10));
        doubling.extend_from_slice(&[b'e', b'q', level + 1]);
    }
    doubling.push(b'.');
    // A text of a megabyte, a hundred thousand times.
    let text = vec![b'x'; 1 << 20];
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    let texts = [&b"\x80\x02](X"[..], &length, &text, b"q\x00", &b"h\x00".repeat(100_000), b"e."].concat();
    // Sizes of a hundred thousand dimensions, in a hundred thousand tensors.
    let dims = [&b"("[..], &b"K\x01".repeat(100_000), b"tq\x00"].concat();
    let rebuild = b"ctorch._utils\n_rebuild_tensor_v2\nq\x01";
    let setup = [&dims[..], b"0", rebuild, b"0", STORAGE, b"q\x020"].concat();
    let tensors =
        [&b"\x80\x02]"[..], &setup, b"(", &b"h\x01(h\x02K\x00h\x00h\x00\x89NtR".repeat(100_000), b"e."].concat();
    for pickle in [doubling, texts, tensors] {
        let problem = read_pickle(&pickle).unwrap_err();
        assert!(matches!(problem, FileProblem::UnsupportedValue { .. }), "{problem}");
        assert!(problem.to_string().contains("refer to the same objects"), "{problem}");
    }
    // An object in many places is fine.
    let often = [&b"\x80\x02](K\x01q\x00"[..], &b"h\x00".repeat(100_000), b"e."].concat();
    assert!(matches!(read_pickle(&often), Ok(PtValue::List(items)) if items.len() == 100_001));
}

#[test]
fn damaged_pickles_are_errors() {
    for pickle in [
        &b""[..],
        b"\x80",
        b"\x80\x06N.",
        b"\x80\x02.",
        b"\x80\x02(.",
        b"\x80\x02N(.",
        b"\x80\x02t.",
        b"\x80\x02N\x86.",
        b"\x80\x02NNa.",
        b"\x80\x02NNNs.",
        b"\x80\x02}(Nu.",
        b"\x80\x02h\x00.",
        b"\x80\x02j\xff\xff\xff\xff.",
        b"\x80\x02q\x00.",
        b"\x80\x02NNR.",
        b"\x80\x02ccollections\nOrderedDict\nNR.",
        b"\x80\x02ccollections\nOrderedDict\nN\x85R.",
        b"\x80\x02NNb.",
        b"\x80\x02K",
        b"\x80\x02X\xff\xff\xff\xff.",
        b"\x80\x02X\x01\0\0\0\xff.",
        b"\x80\x05\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
        b"\x80\x02\x8b\xff\xff\xff\xff.",
        b"\x80\x02ctorch\nSize",
        b"\x80\x04NN\x93.",
    ] {
        let problem = read_pickle(pickle).unwrap_err();
        assert!(matches!(problem, FileProblem::Pickle { .. }), "{pickle:?}: {problem}");
    }
    for pickle in [
        &b"\x80\x02ctorch\nSize\n)R."[..],
        b"\x80\x02ctorch\nSize\nN\x85R.",
        b"\x80\x02ctorch\nfloat32\n)R.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v3\n)R.",
        b"\x80\x02ctorch._utils\n_rebuild_parameter\nNNN\x87R.",
        b"\x80\x02c_codecs\nencode\nX\x01\0\0\0xX\x05\0\0\0utf-8\x86R.",
    ] {
        let problem = read_pickle(pickle).unwrap_err();
        assert!(matches!(problem, FileProblem::Damaged { .. }), "{pickle:?}: {problem}");
    }
    for (pickle, found) in [
        (&b"\x80\x02ctorch\nSize\n."[..], "a function or class"),
        (&[b"\x80\x02", STORAGE, b"."].concat()[..], "a storage"),
        (b"\x80\x02I1\n.", "opcode 0x49 at byte 2"),
        (b"\x80\x02N\x82\x01.", "opcode 0x82 at byte 3"),
    ] {
        let problem = read_pickle(pickle).unwrap_err();
        assert!(matches!(problem, FileProblem::UnsupportedValue { .. }), "{pickle:?}: {problem}");
        assert!(problem.to_string().contains(found), "{problem}");
    }
}

#[test]
fn globals_that_are_never_used_are_refused_too() {
    for pickle in [&b"\x80\x02cos\nsystem\n0N."[..], b"\x80\x04\x8c\x02os\x8c\x06system\x930N."] {
        let problem = read_pickle(pickle).unwrap_err();
        assert!(matches!(&problem, FileProblem::ForbiddenGlobal { name } if name == "os.system"), "{problem}");
    }
}

#[test]
fn entries_that_share_bytes_are_refused() {
    // Both storages of the directory are the bytes of the first one.
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let storage = |key: u8| {
        [&b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"[..], &[key], b"X\x03\0\0\0cpuM\x00\x10tQ"].concat()
    };
    let tensor = |key| [b"ctorch._utils\n_rebuild_tensor_v2\n(", &storage(key)[..], b"K\x00))\x89NtR"].concat();
    let pickle = [&b"\x80\x02("[..], &tensor(b'0'), &tensor(b'1'), b"t."].concat();
    for (name, bytes) in [("x/data.pkl", &pickle[..]), ("x/data/0", &[0; 4 << 12]), ("x/data/1", &[])] {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let positions = |name: &[u8]| {
        let found = bytes.windows(name.len()).enumerate().filter(|(_, window)| *window == name).map(|(at, _)| at);
        found.collect::<Vec<_>>()
    };
    // The entries of the directory at the end begin 46 bytes before their names.
    let (first, second) = (positions(b"x/data/0")[1] - 46, positions(b"x/data/1")[1] - 46);
    let mut shared = bytes.clone();
    shared.copy_within(first..first + 46, second);
    let error = read_pt_value(&shared).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}

#[test]
fn every_prefix_of_a_file_is_an_error() {
    for bytes in sound_files() {
        for length in 0..bytes.len() {
            assert!(read_pt_value(&bytes[..length]).is_err(), "{length}");
        }
        read_pt_value(&bytes).unwrap();
    }
}

/// Opcodes of plain data, so that random pickles often get far.
fn opcodes() -> impl Strategy<Value = Vec<u8>> {
    let fixed = b"(.01N\x88\x89])}t\x85\x86\x87aesu\x94Rb".map(|opcode| vec![opcode]);
    let known = [
        &b"K\x01"[..],
        b"q\x00",
        b"q\x01",
        b"h\x00",
        b"h\x01",
        b"X\x01\0\0\0x",
        b"ctorch\nSize\n",
        b"ctorch\nfloat32\n",
        b"ccollections\nOrderedDict\n",
        b"ctorch._utils\n_rebuild_tensor_v2\n",
        b"ctorch._utils\n_rebuild_tensor_v3\n",
        b"ctorch._utils\n_rebuild_parameter\n",
        b"c_codecs\nencode\n",
        STORAGE,
    ];
    let pieces: Vec<Vec<u8>> = fixed.into_iter().chain(known.map(<[u8]>::to_vec)).collect();
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]
    #[test]
    fn changed_bytes_are_values_or_errors(
        file in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let files = sound_files();
        let mut bytes = file.get(&files).clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read_pt(&bytes);
    }

    #[test]
    fn random_opcodes_are_values_or_errors(opcodes in opcodes(), bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        let _ = read_pickle(&[b"\x80\x02", &opcodes[..], b"."].concat());
        let _ = read_pickle(&[b"\x80\x02", &opcodes[..], &bytes].concat());
    }
}
