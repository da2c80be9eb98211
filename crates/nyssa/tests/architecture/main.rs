//! The map of the crate, as `lib.rs` draws it, holds.

#![allow(clippy::panic, reason = "helpers of tests, where this is how to fail")]

mod imports;

use std::path::Path;

use imports::{Module, circles, imports};

/// Rooms from the bottom up, those that do not know each other in one line.
const ROOMS: &[&[&str]] = &[
    &[
        "error",
        "guard",
        "cursor",
        "arena",
        "context",
        "fetch",
        "distinct",
        "leftovers",
        "memory",
        "names",
        "problem",
    ],
    &["type_name", "arrow", "compression"],
    &["rootfile"],
    &["streamer"],
    &["rntuple::encoding"],
    &["rntuple::schema", "ttree::model"],
    &["rntuple::format"],
    &["rntuple::page"],
    &["rntuple::choose"],
    &["dataset"],
    &["cut"],
    &["rntuple::read", "rntuple::write", "ttree::read"],
    &["view"],
    &["open"],
    &["compare"],
    &["verify"],
    &["tune"],
    &["job"],
    &["rewrite"],
    &["convert", "merge", "update"],
];

fn source() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn name(module: &Module) -> String {
    module.join("::")
}

/// The floor of a module, and its room; `None` for folders that only hold rooms.
fn room(module: &Module) -> Option<(usize, &'static str)> {
    let name = name(module);
    let inside = |room: &str| name == room || name.starts_with(&format!("{room}::"));
    let floors = ROOMS.iter().enumerate();
    let mut found =
        floors.filter_map(|(floor, rooms)| Some((floor, *rooms.iter().find(|room| inside(room))?)));
    found.next()
}

#[test]
fn rooms_use_the_rooms_below_them() {
    let mut wrong = Vec::new();
    for (module, others) in imports(&source()) {
        let Some((floor, own)) = room(&module) else { continue };
        for other in others {
            let Some((below, theirs)) = room(&other) else { continue };
            // The rooms of the ground floor are single files: circles are looked for below.
            if theirs != own && (below > floor || below == floor && floor > 0) {
                wrong.push(format!("{} uses {}", name(&module), name(&other)));
            }
        }
    }
    assert!(wrong.is_empty(), "upward imports:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_room() {
    let modules = imports(&source()).into_keys();
    let lost: Vec<_> = modules.filter(|module| room(module).is_none()).map(|m| name(&m)).collect();
    assert_eq!(lost, ["", "rntuple", "ttree"], "only the folders of rooms have none");
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let circles = circles(&imports(&source()));
    let show = |group: &Vec<Module>| group.iter().map(name).collect::<Vec<_>>().join(", ");
    let shown: Vec<_> = circles.iter().map(show).collect();
    assert!(shown.is_empty(), "{} circles:\n{}", shown.len(), shown.join("\n"));
}
