//! Writes new files, and adds to files.

use std::path::Path;

use arrow_schema::Schema;
use nyssa_jobs::job::check_root_name;
use nyssa_jobs::update::Update;
use nyssa_rntuple::write::{ParallelWriter, RNTupleWriteOptions, SharedFile, TableWriter};
use nyssa_root::fill::Order;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Context, Result};

/// Starts a new file at a path or URL. It appears when [`NewFile::finish`] returns. With `force`, it then replaces an
/// existing file.
///
/// ```
/// use std::sync::Arc;
///
/// use nyssa::arrow_array::{Float32Array, RecordBatch};
/// use nyssa::arrow_schema::{DataType, Field, Schema};
///
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("muons.root");
/// let context = nyssa::Context::new(None)?;
/// let schema = Arc::new(Schema::new(vec![Field::new("pt", DataType::Float32, false)]));
/// let file = nyssa::create(&path, false)?;
/// let mut muons = file.table("Muons", &schema, nyssa::RNTupleWriteOptions::default(), &context)?;
/// muons.extend(&[Arc::new(Float32Array::from(vec![41.5, 12.0]))])?;
/// assert_eq!(muons.finish()?.entries, 2);
/// file.finish()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidArgument` for the name of a Parquet or Arrow IPC file; `AlreadyExists` without `force`; `Unsupported` for the
/// scheme of a URL; `Io`.
pub fn create(path: impl AsRef<Path>, force: bool) -> Result<NewFile> {
    check_root_name(path.as_ref())?;
    let sink = nyssa_io::create(path, force)?;
    Ok(NewFile(SharedFile::new(RootFileWriter::create(sink, FileOptions::default())?)))
}

/// Opens a local file to add entries and RNTuples to it. Other programs see the old file until the update is finished; a
/// crash leaves the old file.
///
/// ```
/// # use std::sync::Arc;
/// # use nyssa::arrow_array::Float32Array;
/// # use nyssa::arrow_schema::{DataType, Field, Schema};
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("muons.root");
/// # let context = nyssa::Context::new(None)?;
/// # let schema = Arc::new(Schema::new(vec![Field::new("pt", DataType::Float32, false)]));
/// # let options = nyssa::RNTupleWriteOptions::default();
/// # let file = nyssa::create(&path, false)?;
/// # file.table("Muons", &schema, options.clone(), &context)?.finish()?;
/// # file.finish()?;
/// let update = nyssa::update(&path)?;
/// let mut muons = update.append("Muons", options, &context)?;
/// muons.extend(&[Arc::new(Float32Array::from(vec![7.25]))])?;
/// assert_eq!(muons.finish()?.entries, 1);
/// update.file().finish()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Io` when the file cannot be written, or when another program writes to it; an error if the file is damaged.
pub fn update(path: impl AsRef<Path>) -> Result<Update> {
    Update::open(path.as_ref(), FileOptions::default())
}

/// A file that is being written. Several RNTuples can be written to it at a time.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let file = nyssa::create(&output, false)?;
/// assert!(!output.exists());
/// let bytes = file.finish()?;
/// assert_eq!(bytes, output.metadata().unwrap().len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct NewFile(SharedFile);

impl NewFile {
    /// Starts the RNTuple at a path in the file, for rows of an Arrow schema. Threads of the context encode and compress
    /// the rows.
    ///
    /// # Errors
    /// `Unsupported` with the field that RNTuple cannot store; `InvalidArgument` for options that do not fit each other;
    /// `LimitExceeded` if the memory is too small for the columns.
    pub fn table(
        &self,
        path: &str,
        schema: &Schema,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<TableWriter> {
        TableWriter::create(&self.0, path, schema, options, context)
    }

    /// Starts the RNTuple at a path in the file, which several threads fill. Each makes a context
    /// ([`ParallelWriter::context`]) and adds rows to it. Clusters are in the order in which they are complete.
    ///
    /// # Errors
    /// `Unsupported` with the field that RNTuple cannot store; `InvalidArgument` for options that do not fit each other;
    /// `LimitExceeded` if the memory is too small for the columns.
    pub fn parallel(
        &self,
        path: &str,
        schema: &Schema,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<ParallelWriter> {
        ParallelWriter::create(&self.0, path, schema, options, Order::Completion, context)
    }

    /// Completes the file, which then appears under its name. Returns its size in bytes.
    ///
    /// # Errors
    /// `InvalidArgument` if an RNTuple in it is not finished; `AlreadyExists`; `Io`.
    pub fn finish(self) -> Result<u64> {
        self.0.finish()
    }
}
