//! Compares files of several writers and versions with what uproot 5.7.7 reads in them.

use crate::support::reading::{context, open, read_all, value};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use nyssa_data::Dataset;
use nyssa_rntuple::read::{Reader, verify};
use serde_json::json;

/// Number of leaf values (bytes of strings among them), the sum of all integers modulo 2^64 and the
/// exclusive or of all floats as doubles: independent of the order of columns.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fingerprint {
    leaves: u64,
    integers: u64,
    floats: u64,
}

impl Fingerprint {
    fn add(&mut self, array: &ArrayRef) {
        macro_rules! integers {
            ($type:ty) => {
                for value in array.as_primitive::<$type>().iter().flatten() {
                    self.leaves += 1;
                    self.integers = self.integers.wrapping_add(value as i64 as u64);
                }
            };
        }
        match array.data_type() {
            DataType::Boolean => {
                let bits = array.as_boolean();
                self.leaves += bits.len() as u64;
                self.integers += bits.true_count() as u64;
            }
            DataType::Int8 => integers!(Int8Type),
            DataType::UInt8 => integers!(UInt8Type),
            DataType::Int16 => integers!(Int16Type),
            DataType::UInt16 => integers!(UInt16Type),
            DataType::Int32 => integers!(Int32Type),
            DataType::UInt32 => integers!(UInt32Type),
            DataType::Int64 => integers!(Int64Type),
            DataType::UInt64 => integers!(UInt64Type),
            DataType::Float32 => {
                array.as_primitive::<Float32Type>().values().iter().for_each(|v| {
                    self.leaves += 1;
                    self.floats ^= f64::from(*v).to_bits();
                })
            }
            DataType::Float64 => {
                array.as_primitive::<Float64Type>().values().iter().for_each(|v| {
                    self.leaves += 1;
                    self.floats ^= v.to_bits();
                })
            }
            DataType::LargeBinary => {
                let bytes = array.as_binary::<i64>().values();
                self.leaves += bytes.len() as u64;
                self.integers += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            }
            DataType::LargeList(_) => self.add(array.as_list::<i64>().values()),
            DataType::FixedSizeList(..) => self.add(array.as_fixed_size_list().values()),
            DataType::Struct(_) => array.as_struct().columns().iter().for_each(|c| self.add(c)),
            DataType::Null => (),
            DataType::Union(fields, _) => {
                fields.iter().for_each(|(id, _)| self.add(array.as_union().child(id)));
            }
            other => panic!("{other}"),
        }
    }
}

/// A file, an RNTuple, its entries, its top-level fields and a fingerprint.
type Case = (&'static str, &'static str, u64, usize, (u64, u64, u64));

const CASES: &[Case] = &[
    (
        "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1",
        "Events",
        10,
        969,
        (29730, 15188660686, 18359162093283835904),
    ),
    ("ntpl001_staff_rntuple_v1-0-0-0", "Staff", 3354, 11, (44705, 31794154, 0)),
    ("ntpl001_staff_rntuple_v1-0-1-0", "Staff", 3354, 11, (44705, 31794154, 0)),
    ("rntviewer-testfile-uncomp-single-rntuple-v1-0-0-0", "Contributors", 22, 2, (371, 37175, 0)),
    ("test_1jag_int_float_rntuple_v1-0-0-0", "ntuple", 100, 2, (900, 23550, 9206671188057653248)),
    ("test_atomic_bitset_rntuple_v1-0-0-0", "ntuple", 3, 2, (129, 21, 0)),
    ("test_bit_rntuple_v1-0-0-0", "ntuple", 10, 1, (10, 4, 0)),
    ("test_emptystruct_invalidvar_rntuple_v1-0-0-0", "ntuple", 3, 2, (2, 3, 0)),
    ("test_extension_columns_rntuple_v1-0-0-0", "ntuple", 600, 3, (1600, 99700, 0)),
    ("test_int_5e4_rntuple_v1-0-0-0", "ntuple", 50000, 1, (50000, 1250025000, 0)),
    ("test_int_float_rntuple_v1-0-0-0", "ntuple", 10, 2, (20, 45, 4610278643543834624)),
    ("test_int_multicluster_rntuple_v1-0-0-0", "ntuple", 100000000, 1, (100000000, 150000000, 0)),
    ("test_int_vfloat_tlv_vtlv_rntuple_v1-0-0-0", "ntuple", 5, 4, (197, 35, 4614500768194494464)),
    ("test_multiple_cluster_groups_rntuple_v1-0-0-0", "ntuple", 1000, 2, (3000, 1499500, 0)),
    ("test_nested_structs_rntuple_v1-0-0-0", "ntuple", 10, 1, (50, 265, 0)),
    ("test_split_3e4_rntuple_v1-0-0-0", "ntuple", 30000, 3, (195000, 130834512390000, 0)),
    ("uproot-physlite-rntuple_v1-0-0-0", "DataHeader", 100, 2, (29800, 3165316164723572884, 0)),
    ("uproot-physlite-rntuple_v1-0-0-0", "DataHeaderForm", 1, 2, (13964, 1612479963262076634, 0)),
    (
        "uproot-physlite-rntuple_v1-0-0-0",
        "EventData",
        100,
        854,
        (904754, 16367970410095326838, 4598556812517019924),
    ),
    (
        "uproot-physlite-rntuple_v1-0-0-0",
        "EventTag",
        100,
        14,
        (17900, 1580804142460051948, 664884022870016),
    ),
];

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_file_reads_as_uproot_reads_it() {
    for &(file, name, entries, columns, (leaves, integers, floats)) in CASES {
        let root = open(&format!("rntuple/{file}.root"));
        let reader = Reader::open(&root, name).unwrap();
        assert_eq!(reader.num_entries(), entries, "{file}");
        // uproot lists collections that projected fields show, too.
        let schema = reader.schema();
        let names: Vec<&str> = schema.top_level().map(|(_, field)| field.name.as_str()).collect();
        assert_eq!(names.len(), columns, "{file} {name}");
        let mut fingerprint = Fingerprint::default();
        for array in read_all(&reader, &names) {
            fingerprint.add(&array);
        }
        assert_eq!(fingerprint, Fingerprint { leaves, integers, floats }, "{file} {name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_file_is_sound() {
    for &(file, name, ..) in CASES {
        let root = open(&format!("rntuple/{file}.root"));
        let report = verify(&Reader::open(&root, name).unwrap(), &context()).unwrap();
        assert_eq!(report.problems, [], "{file} {name}");
        assert!(report.parts > 0, "{file} {name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn values_are_those_that_uproot_shows() {
    let root = open("rntuple/ntpl001_staff_rntuple_v1-0-1-0.root");
    let reader = Reader::open(&root, "Staff").unwrap();
    let arrays = reader.read(&["Age", "Division", "Nation"], 0..2, &context()).unwrap();
    let row = |row: usize| arrays.iter().map(|array| value(array, row)).collect::<Vec<_>>();
    assert_eq!(row(0), [json!(58), json!("PS"), json!("DE")]);
    assert_eq!(row(1), [json!(63), json!("EP"), json!("CH")]);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn fields_added_late_start_with_zeros() {
    let root = open("rntuple/test_extension_columns_rntuple_v1-0-0-0.root");
    let reader = Reader::open(&root, "ntuple").unwrap();
    let names = ["int_field", "float_field", "intvec_field"];
    let check = |entry: u64, expected: [serde_json::Value; 3]| {
        let arrays = reader.read(&names, entry..entry + 1, &context()).unwrap();
        let values = arrays.iter().map(|array| value(array, 0)).collect::<Vec<_>>();
        assert_eq!(values, expected, "entry {entry}");
    };
    // The float was added at entry 200, the vector at entry 400.
    check(199, [json!(199), json!("0x0p+0"), json!([])]);
    check(200, [json!(0), json!("0x1p-1"), json!([])]);
    check(400, [json!(0), json!("0x1p-1"), json!([0, 1])]);
    check(599, [json!(199), json!("0x1.8fp+7"), json!([199, 200])]);
}
