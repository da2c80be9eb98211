//! Joins graphs, as `TGraph::Merge` does: the points of each input follow those of the inputs before.

use crate::error::{Error, Result};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::values::{EditedObject, Numbers, Value};

/// The mark that points are in the order of x (`TGraph::kIsSortedX`).
const IS_SORTED: i64 = 1 << 19;

/// Returns the arrays of a class of graphs. Those of other classes are not joined.
fn arrays(class: &str) -> Option<&'static [&'static str]> {
    match class {
        "TGraph" => Some(&["fX", "fY"]),
        "TGraphErrors" => Some(&["fX", "fY", "fEX", "fEY"]),
        "TGraphAsymmErrors" => Some(&["fX", "fY", "fEXlow", "fEXhigh", "fEYlow", "fEYhigh"]),
        _ => None,
    }
}

/// Returns whether objects of a class are joined.
pub(super) fn joins(class: &str) -> bool {
    arrays(class).is_some()
}

/// The graphs of one name.
pub(super) struct Graph {
    /// The graph of the first input. All but its points stays.
    first: EditedObject,
    keylen: u16,
    inputs: usize,
    arrays: Vec<(&'static str, Vec<f64>)>,
}

impl Graph {
    /// Begins with the graph of a key.
    ///
    /// # Errors
    /// `Unsupported` if the graph cannot be changed; the errors of reading it.
    pub fn of(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let infos = file.streamer_infos()?;
        let payload = file.payload(key)?;
        let first = EditedObject::read(infos.complete(), &key.class, payload, key.keylen)?;
        let view = first.object().root();
        let points = view.usize("fNpoints")?;
        let mut found = Vec::new();
        for &name in arrays(&key.class).unwrap_or_default() {
            let values = match view.get(name) {
                Some(Value::Numbers(Numbers::Float64(values))) => values.to_vec(),
                _ => return Err(Error::unsupported(format!("{name} is no array of doubles"))),
            };
            if values.len() != points {
                let message = format!("{name} has {} values for {points} points", values.len());
                return Err(Error::out_of_spec(message));
            }
            found.push((name, values));
        }
        Ok(Self { first, keylen: key.keylen, inputs: 1, arrays: found })
    }

    /// Adds the points of the graph of another key, which is of the same class.
    ///
    /// # Errors
    /// Those of [`Graph::of`].
    pub fn add(&mut self, file: &RootFile, key: &KeyEntry) -> Result<()> {
        let other = Self::of(file, key)?;
        for ((_, own), (_, more)) in self.arrays.iter_mut().zip(other.arrays) {
            own.extend(more);
        }
        self.inputs += 1;
        Ok(())
    }

    /// Returns the bytes of the graph with all points, for a key of the size of the first one.
    ///
    /// # Errors
    /// `LimitExceeded` for too many points; those of [`EditedObject::finish`].
    pub fn finish(self) -> Result<Vec<u8>> {
        let Self { mut first, keylen, inputs, arrays } = self;
        if inputs > 1 {
            let view = first.object().root();
            let (id, bits) = (view.id(), view.i64("fBits")?);
            first.set_int(id, "fBits", bits & !IS_SORTED);
            // ROOT makes the histogram of the axes again, so that all points are in it.
            first.set_bytes(id, "fHistogram", vec![0; 4]);
            let points = arrays.first().map_or(0, |(_, values)| values.len());
            let points = i32::try_from(points)
                .map_err(|_| Error::limit(format!("{points} points are too many for a graph")))?;
            first.set_int(id, "fNpoints", points.into());
            for (name, values) in arrays {
                // A byte says whether there is an array.
                let mut bytes = vec![1];
                bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
                first.set_bytes(id, name, bytes);
            }
        }
        first.finish(keylen.into())
    }
}
