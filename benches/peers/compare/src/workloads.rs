//! The workloads on large tensors, with our minimum speed relative to PyTorch.

/// Returns all workloads with their targets.
pub(crate) fn workloads_with_targets() -> impl Iterator<Item = (String, f64)> {
    let calls = LARGE_TENSOR_WORKLOADS
        .iter()
        .chain(DECOMPOSITION_WORKLOADS)
        .chain(INDEXING_AND_SCAN_WORKLOADS)
        .chain(OPTIMISER_WORKLOADS)
        .chain(TRANSFORM_WORKLOADS)
        .map(|(workload, target)| ((*workload).to_owned(), *target));
    let forward = NETWORK_PART_WORKLOADS.iter().map(|(part, target)| ((*part).to_owned(), *target));
    let backward = NETWORK_PART_WORKLOADS.iter().map(|(part, target)| (format!("{part}, backward"), *target));
    calls.chain(forward).chain(backward)
}

const LARGE_TENSOR_WORKLOADS: &[(&str, f64)] = &[
    ("matmul 256x256", 0.97),
    ("matmul 512x512", 0.97),
    ("matmul 1024x1024", 0.97),
    ("matmul 2048x2048", 0.97),
    ("bmm 32x128x128", 0.95),
    ("softmax 1024x1024", 1.0),
    ("softmax 64x32000", 1.0),
    ("layer_norm 1024x1024", 1.0),
    ("layer_norm 64x32000", 1.0),
    ("exp 1024x1024", 1.0),
    ("exp 4096x4096", 1.0),
    ("gelu 1024x1024", 1.0),
    ("gelu 4096x4096", 1.0),
    ("add 1024x1024", 0.95),
    ("add 4096x4096", 0.95),
    ("mul 1024x1024", 0.95),
    ("mul 4096x4096", 0.95),
    ("add, every second 1024x1024", 0.95),
    ("add, every second 4096x4096", 0.95),
    ("add, transposed 1024x1024", 0.95),
    ("add, transposed 4096x4096", 0.95),
    ("add a row 1024x1024", 0.95),
    ("add a row 4096x4096", 0.95),
    ("add a column 1024x1024", 0.95),
    ("add a column 4096x4096", 0.95),
    ("sum, rows 1024x1024", 0.95),
    ("sum, rows 4096x4096", 0.95),
    ("sum, columns 1024x1024", 0.95),
    ("sum, columns 4096x4096", 0.95),
    ("max, rows 1024x1024", 0.95),
    ("max, rows 4096x4096", 0.95),
    ("max, columns 1024x1024", 0.95),
    ("max, columns 4096x4096", 0.95),
];

const DECOMPOSITION_WORKLOADS: &[(&str, f64)] = &[
    ("cholesky 64x64", 0.7),
    ("cholesky 256x256", 0.7),
    ("cholesky 1024x1024", 0.7),
    ("cholesky 4096x8x8", 0.7),
    ("cholesky 512x32x32", 0.7),
    ("lu 64x64", 0.7),
    ("lu 256x256", 0.7),
    ("lu 1024x1024", 0.7),
    ("lu 4096x8x8", 0.7),
    ("lu 512x32x32", 0.7),
    ("qr 64x64", 0.7),
    ("qr 256x256", 0.7),
    ("qr 1024x1024", 0.7),
    ("qr 4096x8x8", 0.7),
    ("qr 512x32x32", 0.7),
    ("inverse 64x64", 0.7),
    ("inverse 256x256", 0.7),
    ("inverse 1024x1024", 0.7),
    ("inverse 4096x8x8", 0.7),
    ("inverse 512x32x32", 0.7),
    ("solve 64x64", 0.7),
    ("solve 256x256", 0.7),
    ("solve 1024x1024", 0.7),
    ("solve 4096x8x8", 0.7),
    ("solve 512x32x32", 0.7),
    ("symmetric eigenvectors 64x64", 0.7),
    ("symmetric eigenvectors 256x256", 0.7),
    ("symmetric eigenvectors 1024x1024", 0.7),
    ("symmetric eigenvectors 4096x8x8", 0.7),
    ("symmetric eigenvectors 512x32x32", 0.7),
    ("singular vectors 64x64", 0.7),
    ("singular vectors 256x256", 0.7),
    ("singular vectors 1024x1024", 0.7),
    ("singular vectors 4096x8x8", 0.7),
    ("singular vectors 512x32x32", 0.7),
    ("eigenvalues 64x64", 0.7),
    ("eigenvalues 256x256", 0.7),
    ("eigenvalues 1024x1024", 0.7),
    ("eigenvalues 4096x8x8", 0.7),
    ("eigenvalues 512x32x32", 0.7),
];

const INDEXING_AND_SCAN_WORKLOADS: &[(&str, f64)] = &[
    ("mean over rows", 0.95),
    ("mean over columns", 0.95),
    ("var over rows", 0.95),
    ("var over columns", 0.95),
    ("index_select 1M rows", 0.95),
    ("gather 1M rows", 0.95),
    ("scatter_add 1M rows", 0.95),
    ("index_add 1M rows", 0.95),
    ("cat 16 x 1M", 0.95),
    ("copy of a transpose", 0.95),
    ("sort 1M", 0.95),
    ("topk 100 of 1M", 0.95),
    ("cumsum 16M", 0.95),
    ("matmul 1024 bf16", NO_TARGET),
    ("matmul 1024 f16", NO_TARGET),
    ("add 1024x1024 bf16", NO_TARGET),
    ("add 1024x1024 f16", NO_TARGET),
    ("exp 1024x1024 bf16", NO_TARGET),
    ("exp 1024x1024 f16", NO_TARGET),
    ("gelu 1024x1024 bf16", NO_TARGET),
    ("gelu 1024x1024 f16", NO_TARGET),
];

/// Our steps are fused. PyTorch's are in its `foreach` operators, or also fused if the name says so.
const OPTIMISER_WORKLOADS: &[(&str, f64)] = &[
    ("AdamW 48 x 1k", 2.0),
    ("AdamW 48 x 1k, fused", NO_TARGET),
    ("AdamW 48 x 1M", 2.0),
    ("AdamW 48 x 1M, fused", 0.95),
    ("AdamW 1 x 48M", 2.0),
    ("AdamW 1 x 48M, fused", 0.95),
    (COPY_WORKLOAD, 0.95),
];

/// The workload with the bandwidth of memory.
pub(crate) const COPY_WORKLOAD: &str = "copy of 48M";

/// The bytes that a call reads and writes, of workloads whose time is that of memory. A copy moves two floats of each element. A step of
/// `AdamW` reads four and writes three.
pub(crate) const BYTES_PER_CALL: &[(&str, f64)] =
    &[(COPY_WORKLOAD, 8.0 * 48e6), ("AdamW 48 x 1M", 28.0 * 48e6), ("AdamW 1 x 48M", 28.0 * 48e6)];
const TRANSFORM_WORKLOADS: &[(&str, f64)] = &[
    ("fft 65536x16", 0.8),
    ("fft 4096x256", 0.8),
    ("fft 1000x1000", 0.8),
    ("fft 1000x1009", 0.8),
    ("ifft 4096x256", 0.8),
    ("rfft 16384x64", 0.8),
    ("rfft 1000x1000", 0.8),
    ("irfft 16384x64", 0.8),
    ("irfft 1000x1000", 0.8),
    ("fft of columns 1024x1024", 0.8),
    ("fft2 64x64x64", 0.8),
    ("fft2 1024x1024", 0.8),
    ("rfft2 1024x1024", 0.8),
    ("fft 1048576", 0.8),
    ("rfft 1048576", 0.8),
    ("irfft 1048576", 0.8),
];

/// The target of workloads that are only reported.
pub(crate) const NO_TARGET: f64 = 0.0;

const NETWORK_PART_WORKLOADS: &[(&str, f64)] = &[
    ("conv2d stem", 0.8),
    ("conv2d 64 3x3", 0.8),
    ("conv2d 256 3x3", 0.8),
    ("conv2d 256 to 64 1x1", 0.8),
    ("conv2d 64 to 256 1x1", 0.8),
    ("conv2d 128 depthwise", 0.8),
    ("conv2d 512 depthwise", 0.8),
    ("attention", 1.0),
    ("attention, causal", 1.0),
    ("log_softmax 4096x1000", 1.0),
    ("log_softmax 64x32000", 1.0),
    ("cross_entropy 4096x1000", 1.0),
    ("cross_entropy 64x32000", 1.0),
    ("batch_norm 64x56x56", 1.0),
    ("batch_norm 256x14x14", 1.0),
    ("group_norm 64x56x56", 1.0),
    ("group_norm 256x14x14", 1.0),
];
