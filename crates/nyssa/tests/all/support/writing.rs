//! Keeps files in memory.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Schema};
use nyssa_data::Dataset;
use nyssa_io::{MemoryHandle, MemorySink, MemorySource};
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write::{RNTupleWriteOptions, SharedFile, TableWriter, WriteReport};
use nyssa_root::Context;
use nyssa_root::arrow::field;
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};

pub fn context(threads: usize) -> Context {
    Context::new(Some(threads)).unwrap()
}

/// Returns an empty file whose bytes depend on nothing but what is written.
pub fn file() -> (SharedFile, MemoryHandle) {
    let (file, handle) = raw_file();
    (SharedFile::new(file), handle)
}

pub fn raw_file() -> (RootFileWriter, MemoryHandle) {
    let (sink, handle) = MemorySink::new("memory.root");
    (RootFileWriter::create(Box::new(sink), file_options()).unwrap(), handle)
}

/// Returns options for a file whose bytes depend on nothing but what is written.
pub fn file_options() -> FileOptions {
    FileOptions { uuid: Some([7; 16]), time: Some(1_700_000_000), ..Default::default() }
}

pub fn open(bytes: Vec<u8>) -> RootFile {
    RootFile::open(Arc::new(MemorySource::new("memory.root", bytes))).unwrap()
}

pub fn reader(bytes: Vec<u8>, path: &str) -> Reader {
    Reader::open(&open(bytes), path).unwrap()
}

pub fn arrow_schema(columns: &[(&str, ArrayRef)]) -> Schema {
    let fields = columns.iter().map(|(name, array)| field(name, array.data_type().clone()));
    Schema::new(fields.collect::<Vec<_>>())
}

/// Writes `columns` in slices of `batches` rows as `Events`.
pub fn write(
    columns: &[(&str, ArrayRef)],
    batches: &[usize],
    options: RNTupleWriteOptions,
    threads: usize,
) -> (Vec<u8>, WriteReport) {
    let (file, handle) = file();
    let schema = arrow_schema(columns);
    let mut writer =
        TableWriter::create(&file, "Events", &schema, options, &context(threads)).unwrap();
    let mut start = 0;
    for &rows in batches {
        let slices = columns.iter().map(|(_, array)| array.slice(start, rows));
        writer.extend(&slices.collect::<Vec<_>>()).unwrap();
        start += rows;
    }
    let report = writer.finish().unwrap();
    file.finish().unwrap();
    (handle.take(), report)
}

/// All columns in order.
pub fn read(reader: &Reader) -> Vec<ArrayRef> {
    let names = reader.columns().iter().map(|item| item.name.as_str()).collect::<Vec<_>>();
    reader.read(&names, 0..reader.num_entries(), &context(2)).unwrap()
}

pub fn list_type(item: DataType) -> DataType {
    DataType::LargeList(Arc::new(field("item", item)))
}

pub fn fixed_type(item: DataType, size: i32) -> DataType {
    DataType::FixedSizeList(Arc::new(field("item", item)), size)
}

pub fn struct_type(members: &[(&str, DataType)]) -> DataType {
    DataType::Struct(members.iter().map(|(name, t)| field(name, t.clone())).collect())
}
