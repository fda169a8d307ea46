//! The tensors of a program, from their data in the archive.

use std::collections::BTreeMap;

use dispatch_runtime::{DType, Geometry, Tensor, schema};

use crate::archive::Archive;
use crate::error::{PayloadProblem, Pt2Problem};
use crate::format::{self, Payload, PayloadConfig, SymNumber, TensorMeta};

/// A tensor of a program's state, as the archive has it.
pub(crate) struct StateTensor {
    pub(crate) tensor: Tensor,
    pub(crate) is_param: bool,
    pub(crate) requires_grad: bool,
}

/// The tensors of one program. Names with the same data and the same geometry are one tensor: tied parameters.
pub(crate) struct Weights<'a> {
    archive: &'a Archive,
    trained: PayloadConfig,
    constants: PayloadConfig,
    made: BTreeMap<PayloadIdentity, Tensor>,
}

/// Two names with an equal identity are one tensor.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PayloadIdentity {
    path_name: String,
    /// The number of the dtype.
    dtype: i64,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
}

/// The folders of an archive that have data of tensors.
#[derive(Clone, Copy)]
enum Folder {
    Weights,
    Constants,
}

impl Folder {
    const fn path(self) -> &'static str {
        match self {
            Self::Weights => "data/weights/",
            Self::Constants => "data/constants/",
        }
    }
}

impl<'a> Weights<'a> {
    pub(crate) fn read(archive: &'a Archive, program: &str) -> Result<Self, Pt2Problem> {
        let config = |folder: Folder, kind: &str| -> Result<PayloadConfig, Pt2Problem> {
            let entry = format!("{}{program}_{kind}_config.json", folder.path());
            let Some(bytes) = archive.entry(&entry) else {
                return Err(missing_config(archive, folder, program, entry));
            };
            crate::json::parse(&entry, bytes)
        };
        let (trained, constants) = (config(Folder::Weights, "weights")?, config(Folder::Constants, "constants")?);
        Ok(Self { archive, trained, constants, made: BTreeMap::new() })
    }

    /// Returns a tensor by its name in the state dict.
    pub(crate) fn tensor(&mut self, name: &str) -> Result<StateTensor, Pt2Problem> {
        let refuse = |reason| Pt2Problem::Payload { tensor: name.to_owned(), reason };
        let found = [(Folder::Weights, &self.trained), (Folder::Constants, &self.constants)]
            .into_iter()
            .find_map(|(folder, config)| Some((folder, config.config.get(name)?)));
        let Some((folder, payload)) = found else {
            let names = self.trained.config.keys().chain(self.constants.config.keys());
            let similar = schema::suggest(name, names.map(String::as_str)).map(str::to_owned);
            return Err(refuse(PayloadProblem::Missing { similar }));
        };
        let (identity, dtype) = describe(payload, folder).map_err(refuse)?;
        let requires_grad = payload.tensor_meta.as_ref().is_some_and(|meta| meta.requires_grad);
        let is_param = payload.is_param;
        if let Some(tensor) = self.made.get(&identity) {
            return Ok(StateTensor { tensor: tensor.clone(), is_param, requires_grad });
        }
        let tensor = self.make_tensor(name, folder, &identity, dtype)?;
        self.made.insert(identity, tensor.clone());
        Ok(StateTensor { tensor, is_param, requires_grad })
    }

    fn make_tensor(
        &self,
        name: &str,
        folder: Folder,
        PayloadIdentity { path_name, sizes, strides, offset, .. }: &PayloadIdentity,
        dtype: DType,
    ) -> Result<Tensor, Pt2Problem> {
        let refuse = |reason| Pt2Problem::Payload { tensor: name.to_owned(), reason };
        let entry = format!("{}{path_name}", folder.path());
        let missing = || Pt2Problem::MissingEntry { entry: entry.clone(), needed_by: Some(name.to_owned()) };
        let (bytes, width) = (self.archive.data_size(&entry).ok_or_else(missing)?, dtype.size());
        if !bytes.is_multiple_of(width) {
            return Err(refuse(PayloadProblem::OddSize { bytes, element: width }));
        }
        let found = bytes / width;
        let needed = needed_elements(sizes, strides, *offset);
        if needed > found as i128 {
            return Err(refuse(PayloadProblem::TooShort { needed: needed.to_string(), found }));
        }
        let too_large = || refuse(PayloadProblem::TooShort { needed: "2^63".to_owned(), found });
        let offset = if needed > 0 { *offset } else { 0 };
        let geometry = Geometry::strided(sizes, strides, offset).ok_or_else(too_large)?;
        let storage = self.archive.storage(&entry)?.ok_or_else(missing)?;
        Tensor::new(storage, dtype, geometry).map_err(|_| too_large())
    }
}

/// Makes the error for an archive without a list of a program's tensors.
fn missing_config(archive: &Archive, folder: Folder, program: &str, config: String) -> Pt2Problem {
    let pickle = format!("{}{program}.pt", folder.path());
    if archive.data_size(&pickle).is_none() {
        return Pt2Problem::MissingEntry { entry: config, needed_by: None };
    }
    let reason = "is a pickle of all tensors, as PyTorch 2.8 writes it, and pickles can run code; load the program in a later PyTorch and save it again";
    Pt2Problem::Entry { entry: pickle, reason }
}

/// Checks the description of a tensor's data, and returns its parts.
fn describe(payload: &Payload, folder: Folder) -> Result<(PayloadIdentity, DType), PayloadProblem> {
    let Some(meta) = payload.tensor_meta.as_ref().filter(|_| !payload.use_pickle) else {
        return Err(PayloadProblem::Pickled);
    };
    let path_name = payload.path_name.clone();
    if path_name.is_empty()
        || path_name.contains(['/', '\\'])
        || path_name.rsplit_once('.').is_some_and(|(_, extension)| extension == "json")
    {
        return Err(PayloadProblem::OutsideFolder { path_name, folder: folder.path() });
    }
    let dtype = format::dtype_of_id(meta.dtype).ok_or(PayloadProblem::DType { id: meta.dtype })?;
    if format::layout_of_id(meta.layout).is_none() {
        return Err(PayloadProblem::Layout { id: meta.layout });
    }
    let (sizes, strides, offset) = numbers_of_meta(meta)?;
    Ok((PayloadIdentity { path_name, dtype: meta.dtype, sizes, strides, offset }, dtype))
}

fn numbers_of_meta(meta: &TensorMeta) -> Result<(Vec<i64>, Vec<i64>, i64), PayloadProblem> {
    if meta.sizes.len() != meta.strides.len() {
        return Err(PayloadProblem::RankMismatch { sizes: meta.sizes.len(), strides: meta.strides.len() });
    }
    let number = |quantity, number: &SymNumber| match number {
        SymNumber::Int(value) if *value < 0 => Err(PayloadProblem::Negative { quantity, value: *value }),
        SymNumber::Int(value) => Ok(*value),
        _ => Err(PayloadProblem::NotANumber),
    };
    let sizes = meta.sizes.iter().map(|size| number("size", size)).collect::<Result<_, _>>()?;
    let strides = meta.strides.iter().map(|stride| number("stride", stride)).collect::<Result<_, _>>()?;
    Ok((sizes, strides, number("storage offset", &meta.storage_offset)?))
}

/// Returns the number of elements that a storage needs for this tensor: none if the tensor has no elements.
fn needed_elements(sizes: &[i64], strides: &[i64], offset: i64) -> i128 {
    if sizes.contains(&0) {
        return 0;
    }
    let reach = sizes.iter().zip(strides).map(|(size, stride)| i128::from(size - 1) * i128::from(*stride));
    reach.fold(i128::from(offset) + 1, i128::saturating_add)
}
