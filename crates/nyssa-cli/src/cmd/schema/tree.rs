//! The branches of a TTree.

use nyssa::dataset::{Dataset, Filter};
use nyssa::ttree::{Branch, Reader};
use serde::Serialize;

use super::{Document, indented, remark};
use crate::app::App;
use crate::failure::Result;
use crate::output::Columns;
use crate::units::count;

#[derive(Serialize)]
struct Branches {
    branches: Vec<Row>,
}

/// One branch.
#[derive(Serialize)]
struct Row {
    path: String,
    name: String,
    title: String,
    class: String,
    /// C++ type of one entry; `None` for branches that only hold others.
    #[serde(rename = "type")]
    type_name: Option<String>,
    #[serde(skip)]
    depth: usize,
    /// Branch that counts the elements.
    counter: Option<String>,
    leaves: Vec<String>,
    baskets: usize,
    /// Why nyssa cannot read it.
    unreadable: Option<String>,
}

/// Prints the branches that the filter takes, by their path.
pub fn show(reader: &Reader, filter: &Filter, verbose: bool, app: &mut App<'_>) -> Result<()> {
    let tree = reader.tree();
    let mut rows = Vec::new();
    add(reader, &tree.branches, "", 0, &mut rows);
    rows.retain(|row| filter.takes(&row.path));
    if app.json {
        return app.print_json(&Document {
            file: reader.file().to_owned(),
            name: reader.name().to_owned(),
            format: "TTree",
            entries: tree.entries,
            title: tree.title.clone(),
            content: Branches { branches: rows },
        });
    }
    let mut table = if verbose {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks", "title"])
    } else {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks"])
    };
    for row in rows {
        let branch = indented(row.depth, &row.name);
        let (type_name, counter) = (row.type_name.unwrap_or_default(), row.counter);
        let counter = counter.unwrap_or_default();
        let (baskets, remarks) = (count(row.baskets as u64), remark(row.unreadable.as_ref()));
        if verbose {
            table.row([branch, type_name, counter, baskets, remarks, row.title]);
        } else {
            table.row([branch, type_name, counter, baskets, remarks]);
        }
    }
    table.print(app)
}

fn add(reader: &Reader, branches: &[Branch], prefix: &str, depth: usize, rows: &mut Vec<Row>) {
    for branch in branches {
        let path = format!("{prefix}{}", branch.name);
        let item = reader.items().iter().find(|item| item.name == path);
        let counter = branch.leaves.iter().find_map(|leaf| leaf.counter.as_ref());
        rows.push(Row {
            name: branch.name.clone(),
            title: branch.title.clone(),
            class: branch.class.clone(),
            type_name: item.map(|item| item.type_name.clone()),
            depth,
            counter: counter.map(|counter| counter.branch.clone()),
            leaves: branch.leaves.iter().map(|leaf| leaf.name.clone()).collect(),
            baskets: branch.baskets.len(),
            unreadable: item.and_then(|item| item.field.as_ref().err().cloned()),
            path: path.clone(),
        });
        add(reader, &branch.branches, &format!("{path}/"), depth + 1, rows);
    }
}
