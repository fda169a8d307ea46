//! Reads the resource requirements of kernels from a cubin, which is an ELF file with NVIDIA's sections of attributes.

use std::collections::BTreeMap;

/// The resources that a kernel uses.
#[derive(Default, Debug)]
pub(crate) struct ResourceUse {
    /// The maximum number of threads of a block, if the kernel declares one.
    pub(crate) threads: Option<u32>,
    /// The number of registers of a thread.
    pub(crate) registers: u32,
    /// The static shared memory of a block in bytes.
    pub(crate) shared: u64,
    /// The local memory of a thread in bytes, for values that do not fit into registers.
    pub(crate) local: u32,
    /// The size of the kernel's parameters in bytes.
    pub(crate) parameters: u32,
}

/// The numbers by which a cubin names the attributes of kernels.
const MAX_THREADS_ATTRIBUTE: u8 = 0x05;
const STACK_ATTRIBUTE: u8 = 0x12;
const PARAMETERS_ATTRIBUTE: u8 = 0x19;
const REGISTERS_ATTRIBUTE: u8 = 0x2f;

/// The format of an attribute whose value has an explicit size. Others have two bytes.
const SIZED_FORMAT: u8 = 0x04;

/// Returns the kernels of a cubin by name, or `None` if the file is no valid cubin.
pub(crate) fn kernel_resources(cubin: &[u8]) -> Option<BTreeMap<String, ResourceUse>> {
    let sections = read_sections(cubin)?;
    let mut all = BTreeMap::new();
    for section in &sections {
        if let Some(name) = section.name.strip_prefix(".text.") {
            all.entry(name.to_owned()).or_insert_with(ResourceUse::default);
        }
    }
    let symbols = symbol_names(cubin, &sections)?;
    for section in &sections {
        if let Some(kernel) = section.name.strip_prefix(".nv.shared.").and_then(|name| all.get_mut(name)) {
            kernel.shared = section.size;
        }
        if let Some(kernel) = section.name.strip_prefix(".nv.info.").and_then(|name| all.get_mut(name)) {
            for (attribute, value) in parse_attributes(section.bytes_in_file(cubin)?) {
                match attribute {
                    MAX_THREADS_ATTRIBUTE => {
                        kernel.threads = Some(read_u32(value, 0)? * read_u32(value, 4)? * read_u32(value, 8)?);
                    }
                    PARAMETERS_ATTRIBUTE => kernel.parameters = u16::from_le_bytes(*value.first_chunk()?).into(),
                    _ => {}
                }
            }
        }
        if section.name == ".nv.info" {
            for (attribute, value) in parse_attributes(section.bytes_in_file(cubin)?) {
                if let STACK_ATTRIBUTE | REGISTERS_ATTRIBUTE = attribute
                    && let Some(kernel) = all.get_mut(symbols.get(read_u32(value, 0)? as usize)?)
                {
                    *(if attribute == STACK_ATTRIBUTE { &mut kernel.local } else { &mut kernel.registers }) =
                        read_u32(value, 4)?;
                }
            }
        }
    }
    Some(all)
}

struct ElfSection {
    name: String,
    start: u64,
    size: u64,
}

impl ElfSection {
    fn bytes_in_file<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        file.get(usize::try_from(self.start).ok()?..)?.get(..usize::try_from(self.size).ok()?)
    }
}

fn read_sections(file: &[u8]) -> Option<Vec<ElfSection>> {
    if !file.starts_with(b"\x7fELF") {
        return None;
    }
    let table = usize::try_from(read_u64(file, 0x28)?).ok()?;
    let [count, of_names] =
        [0x3c, 0x3e].map(|at| file.get(at..at + 2).map(|two| usize::from(two[0]) | usize::from(two[1]) << 8));
    let header = |at: usize| file.get(table + 64 * at..table + 64 * (at + 1));
    let names = usize::try_from(read_u64(header(of_names?)?, 24)?).ok()?;
    let section = |at: usize| {
        let header = header(at)?;
        let name = read_null_terminated_text(file, names + read_u32(header, 0)? as usize)?;
        Some(ElfSection { name, start: read_u64(header, 24)?, size: read_u64(header, 32)? })
    };
    (0..count?).map(section).collect()
}

/// Returns the names of all symbols. Attributes refer to functions by their index.
fn symbol_names(file: &[u8], sections: &[ElfSection]) -> Option<Vec<String>> {
    let of = |name: &str| sections.iter().find(|section| section.name == name);
    let names = usize::try_from(of(".strtab")?.start).ok()?;
    of(".symtab")?
        .bytes_in_file(file)?
        .chunks_exact(24)
        .map(|symbol| read_null_terminated_text(file, names + read_u32(symbol, 0)? as usize))
        .collect()
}

fn parse_attributes(mut list: &[u8]) -> Vec<(u8, &[u8])> {
    let mut all = Vec::new();
    while let [format, attribute, low, high, rest @ ..] = list {
        let size = if *format == SIZED_FORMAT { usize::from(*low) | usize::from(*high) << 8 } else { 0 };
        let Some((value, next)) = rest.split_at_checked(size) else { break };
        all.push((*attribute, if *format == SIZED_FORMAT { value } else { &list[2..4] }));
        list = next;
    }
    all
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

fn read_null_terminated_text(file: &[u8], at: usize) -> Option<String> {
    let bytes = file.get(at..)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(bytes.to_vec()).ok()
}
