//! The branches of a TTree.

use nyssa::tune::schema::{Alias, Branches, Friend};

use super::{indented, remark};
use crate::app::App;
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::count;

/// Prints the branches, aliases and friends.
pub fn print(content: Branches, verbose: bool, app: &mut App<'_>) -> Result<()> {
    let mut table = if verbose {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks", "title"])
    } else {
        Columns::new(&["branch", "type", "counter", ">baskets", "remarks"])
    };
    for row in content.branches {
        let branch = indented(row.depth, &row.below_parent);
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
    for Alias { name, formula } in content.aliases {
        writeln!(app.out, "alias {}", printable(&format!("{name} = {formula}")))?;
    }
    for Friend { name, tree, file } in content.friends {
        let file = file.map(|file| format!(" in {file}")).unwrap_or_default();
        writeln!(app.out, "friend {}", printable(&format!("{name}: {tree}{file}")))?;
    }
    Ok(())
}
