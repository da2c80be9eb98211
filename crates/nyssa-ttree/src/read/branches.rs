//! Lists the branches of a tree: its columns, and the position of each branch.

use nyssa_data::dataset::ColumnInfo;
use nyssa_root::arrow::VECTORS;

use crate::model::Branch;

/// Returns the columns of a tree: its top branches. The sub-branches replace a top branch that cannot be read
/// as a whole.
pub(super) fn items(branches: &[Branch]) -> Vec<ColumnInfo> {
    let mut columns = Vec::new();
    for branch in branches {
        let whole = branch.split.as_ref().is_some_and(|split| split.data_type.is_ok());
        let below = !whole && !branch.branches.is_empty();
        // A branch that only groups other branches has no data.
        if !below || branch.split.is_none() && (branch.shape.is_ok() || !branch.baskets.is_empty())
        {
            columns.push(column(branch, &branch.path));
        }
        if below {
            columns.extend(items(&branch.branches));
        }
    }
    columns
}

/// Returns the column of a branch at a path. Its field names the vectors of ROOT that are in it.
pub(super) fn column(branch: &Branch, path: &str) -> ColumnInfo {
    let type_name = branch.type_name();
    let mut field = branch.arrow_field(path);
    let mut words = type_name.split(|c: char| !c.is_alphanumeric() && c != '_');
    let vector = words.find(|word| matches!(*word, "TLorentzVector" | "TVector2" | "TVector3"));
    if let (Ok(field), Some(class)) = (&mut field, vector) {
        field.metadata_mut().insert(VECTORS.to_owned(), class.to_owned());
    }
    ColumnInfo { name: path.to_owned(), type_name, field }
}

/// Returns all branches by path, each with the indices that lead to it.
pub(super) fn routes(branches: &[Branch]) -> Vec<(String, Vec<usize>)> {
    fn list(branches: &[Branch], route: &mut Vec<usize>, routes: &mut Vec<(String, Vec<usize>)>) {
        for (index, branch) in branches.iter().enumerate() {
            route.push(index);
            routes.push((branch.path.clone(), route.clone()));
            list(&branch.branches, route, routes);
            route.pop();
        }
    }
    let mut routes = Vec::new();
    list(branches, &mut Vec::new(), &mut routes);
    routes
}
