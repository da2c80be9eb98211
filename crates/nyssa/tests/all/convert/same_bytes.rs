//! Tests that the output is the same, byte for byte, for any number of threads and any memory budget that
//! gives the same clusters.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::jobs::{open, threads};
use nyssa_jobs::convert::{ToRNTuple, convert};
use nyssa_jobs::job::{OutputOptions, StorageOptions};
use nyssa_root::effort::Effort;
use nyssa_testdata::data;

fn bytes(file: &str, tree: &str, count: usize, options: &ToRNTuple) -> Vec<u8> {
    let input = data(&format!("ttree/{file}"));
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    convert(&open(&input), tree, &output, options, &threads(count)).unwrap();
    std::fs::read(output).unwrap()
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn threads_do_not_change_the_output() {
    for effort in [Effort::Auto, Effort::Full] {
        for (file, tree) in
            [("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events"), ("uproot-HZZ.root", "events")]
        {
            let options = ToRNTuple {
                output: OutputOptions {
                    reproducible: true,
                    effort: Some(effort),
                    ..OutputOptions::default()
                },
                storage: StorageOptions { cluster_size: Some(50_000), ..StorageOptions::default() },
                ..ToRNTuple::default()
            };
            let alone = bytes(file, tree, 1, &options);
            for count in [2, 4] {
                let other = bytes(file, tree, count, &options);
                assert!(alone == other, "{file} with {count} threads and {effort:?}");
            }
        }
    }
}
