//! Merges the objects beside the RNTuples, as `hadd` does: histograms, profiles and parameters that several inputs have are
//! added up. The other objects are copied from the first input that has them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::inputs::{AllInputs, InputProperties};
use super::sum::{self, Sum};
use crate::Context;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::job::others::OtherObjects;
use crate::job::output::Output;
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::{ObjectCopy, Refused};

/// The objects of all inputs that are added up, and those that only later inputs have.
#[derive(Default)]
pub(super) struct MergedObjects {
    /// The sums by the paths of the objects.
    sums: BTreeMap<String, Started>,
    /// The objects that the first input lacks, with the numbers of their inputs.
    copies: Vec<(usize, KeyEntry)>,
}

/// A sum that has begun.
struct Started {
    /// The number of the input whose object is changed to be the sum.
    input: usize,
    key: KeyEntry,
    sum: Sum,
}

impl MergedObjects {
    /// Adds up the objects of all inputs. The paths of those that are in no sum and in no copy stay in
    /// [`AllInputs::others`].
    ///
    /// # Errors
    /// `InvalidArgument` with file and object for histograms that cannot be added; the errors of the inputs; `Cancelled`.
    pub fn of(all_inputs: &mut AllInputs, context: &Context) -> Result<Self> {
        let mut merged = Self::default();
        if all_inputs.others.is_empty() {
            return Ok(merged);
        }
        let mut classes: HashMap<String, String> = HashMap::new();
        let mut left = std::mem::take(&mut all_inputs.others);
        for (number, input) in all_inputs.inputs.iter().enumerate() {
            context.check()?;
            let file = root_file(input)?;
            for key in newest(&file, input)? {
                let path = key.path.clone();
                let known = classes.insert(path.clone(), key.class.clone());
                if let Some(other) = known.as_ref().filter(|other| **other != key.class) {
                    return Err(Error::invalid_argument(format!(
                        "a {}, but an input before has a {other} of this name; --no-carry merges \
                         without them",
                        key.class
                    )))
                    .in_file(file.name())
                    .in_object(&path);
                }
                if merged.take(number, &file, key, known.is_none())? {
                    left.remove(&path);
                }
            }
        }
        all_inputs.others = left;
        Ok(merged)
    }

    /// Takes one object, which no input before has if `is_new`. Returns whether the output will have it.
    fn take(
        &mut self,
        number: usize,
        file: &RootFile,
        key: KeyEntry,
        is_new: bool,
    ) -> Result<bool> {
        if let Some(started) = self.sums.get_mut(&key.path) {
            let added = started.sum.add(file, &key).in_file(file.name()).in_object(&key.path)?;
            if added.is_new_template {
                (started.input, started.key) = (number, key);
            }
            return Ok(true);
        }
        if is_new && sum::adds(&key.class) {
            match Sum::of(file, &key) {
                Ok(sum) => {
                    self.sums.insert(key.path.clone(), Started { input: number, key, sum });
                    return Ok(true);
                }
                // It is copied as it is stored.
                Err(error) if error.kind() == Kind::Unsupported => {}
                Err(error) => return Err(error).in_file(file.name()).in_object(&key.path),
            }
        }
        let is_copied = is_new && number > 0;
        if is_copied {
            self.copies.push((number, key));
        }
        Ok(is_copied)
    }

    /// Writes the sums and the copies.
    ///
    /// # Errors
    /// The errors of the inputs and of the output.
    pub fn write(
        self,
        all_inputs: &AllInputs,
        output: &Output,
        others: &mut OtherObjects,
    ) -> Result<()> {
        others.leave_to_job(&self.sums.keys().map(String::as_str).collect::<HashSet<_>>());
        let (mut sums, mut copies) = (self.sums.into_values().collect::<Vec<_>>(), self.copies);
        for (number, input) in all_inputs.inputs.iter().enumerate() {
            let here = |started: &Started| started.input == number;
            let (now, later): (Vec<_>, Vec<_>) = sums.into_iter().partition(here);
            let (copied, rest): (Vec<_>, Vec<_>) =
                copies.into_iter().partition(|one| one.0 == number);
            (sums, copies) = (later, rest);
            if now.is_empty() && copied.is_empty() {
                continue;
            }
            let file = root_file(input)?;
            for Started { key, sum, .. } in now {
                let payload = sum.finish();
                output.file.with(|out| ObjectCopy::write_changed(&file, &key, payload, out))?;
                others.arrived(&key);
            }
            output.file.add_streamer_infos(&file.streamer_list()?)?;
            for (_, key) in copied {
                match output.file.copy_object(&key.path, &file, &key) {
                    Ok(()) => others.arrived(&key),
                    Err(error) if error.kind() == Kind::Unsupported => others.refuse(Refused {
                        path: format!("{};{}", key.path, key.cycle),
                        class: key.class.clone(),
                        reason: error.message().to_owned(),
                    }),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// Returns the file of an input, which is opened again if it is not open.
fn root_file(input: &InputProperties) -> Result<RootFile> {
    match &input.kept {
        Some(kept) => Ok(kept.file.clone()),
        None => RootFile::open(nyssa_io::open_with(&input.report.file, &input.options)?),
    }
}

/// Returns the newest cycle of each object beside the RNTuple.
fn newest(file: &RootFile, input: &InputProperties) -> Result<Vec<KeyEntry>> {
    let ntuple = input.report.ntuple.split(';').next().unwrap_or_default();
    let mut newest: BTreeMap<String, KeyEntry> = BTreeMap::new();
    for key in file.walk()? {
        if key.is_directory() || key.path == ntuple {
            continue;
        }
        match newest.get(&key.path) {
            Some(other) if other.cycle > key.cycle => {}
            _ => drop(newest.insert(key.path.clone(), key)),
        }
    }
    Ok(newest.into_values().collect())
}
