//! The branches of a TTree.

use nyssa::dataset::{Dataset, Filter};
use nyssa::ttree::{self, Branch, Reader, Relations};
use serde::Serialize;

use super::{Document, indented, remark};
use crate::app::App;
use crate::data::{check_filter, open_file};
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::count;

#[derive(Serialize)]
struct Branches {
    branches: Vec<Row>,
    /// Formulas by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<Alias>,
    /// Trees whose branches belong to the same entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    friends: Vec<Friend>,
}

#[derive(Serialize)]
struct Alias {
    name: String,
    formula: String,
}

#[derive(Serialize)]
struct Friend {
    name: String,
    tree: String,
    /// `None` for the same file.
    file: Option<String>,
}

/// One branch.
#[derive(Serialize)]
struct Row {
    path: String,
    /// As stored; several branches may have the same.
    name: String,
    /// The path below that of the branch above.
    #[serde(skip)]
    shown: String,
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
    check_filter(filter, &rows.iter().map(|row| &*row.path).collect::<Vec<_>>(), reader.file())?;
    rows.retain(|row| filter.takes(&row.path));
    let (aliases, friends) = relations(reader)?;
    if app.json {
        return app.print_json(&Document {
            file: reader.file().to_owned(),
            name: reader.name().to_owned(),
            format: "TTree",
            entries: tree.entries,
            title: tree.title.clone(),
            content: Branches { branches: rows, aliases, friends },
        });
    }
    let mut table = if verbose {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks", "title"])
    } else {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks"])
    };
    for row in rows {
        let branch = indented(row.depth, &row.shown);
        let (type_name, counter) = (row.type_name.unwrap_or_default(), row.counter);
        let counter = counter.unwrap_or_default();
        let (baskets, remarks) = (count(row.baskets as u64), remark(row.unreadable.as_ref()));
        if verbose {
            table.row([branch, type_name, counter, baskets, remarks, row.title]);
        } else {
            table.row([branch, type_name, counter, baskets, remarks]);
        }
    }
    table.print(app)?;
    for Alias { name, formula } in aliases {
        writeln!(app.out, "alias {}", printable(&format!("{name} = {formula}")))?;
    }
    for Friend { name, tree, file } in friends {
        let file = file.map(|file| format!(" in {file}")).unwrap_or_default();
        writeln!(app.out, "friend {}", printable(&format!("{name}: {tree}{file}")))?;
    }
    Ok(())
}

fn relations(reader: &Reader) -> Result<(Vec<Alias>, Vec<Friend>)> {
    let (file, _) = open_file(reader.file())?;
    let Relations { aliases, friends, .. } = Relations::load(&file, &file.find(reader.name())?)?;
    let alias = |alias: ttree::Alias| Alias { name: alias.name, formula: alias.formula };
    let friend =
        |friend: ttree::Friend| Friend { name: friend.name, tree: friend.tree, file: friend.file };
    Ok((aliases.into_iter().map(alias).collect(), friends.into_iter().map(friend).collect()))
}

fn add(reader: &Reader, branches: &[Branch], parent: &str, depth: usize, rows: &mut Vec<Row>) {
    for branch in branches {
        let item = reader.find_column(&branch.path);
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
            path: branch.path.clone(),
            shown: branch.path.strip_prefix(parent).unwrap_or(&branch.path).to_owned(),
        });
        add(reader, &branch.branches, &format!("{}/", branch.path), depth + 1, rows);
    }
}
