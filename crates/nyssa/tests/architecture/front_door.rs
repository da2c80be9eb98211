//! Reads the names that the crate `nyssa` shows, and the items behind them, from the sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, Fields, ImplItem, Item, ItemImpl, Lit, Meta, Type, UseTree, Visibility,
};

use crate::imports::rust_files;

/// What the sources say of the items with one name in one crate.
pub struct Shown {
    /// The number of items: the item itself, and its public fields, variants and methods.
    pub items: usize,
    /// Whether the documentation has an example that runs.
    pub has_example: bool,
}

/// Returns what the crate shows: its names at the root, and the items of each.
pub fn front_door(crates: &Path) -> BTreeMap<String, Shown> {
    let root = parsed(&crates.join("nyssa/src/lib.rs"));
    let mut sources: BTreeMap<String, Vec<syn::File>> = BTreeMap::new();
    let mut shown = BTreeMap::new();
    for item in &root.items {
        let Item::Use(item) = item else { continue };
        if !is_public(&item.vis) {
            continue;
        }
        let mut names = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut names);
        for (folder, name) in names {
            let folder = if folder.starts_with("nyssa") { folder } else { "nyssa".to_owned() };
            let source = crates.join(&folder).join("src");
            let read = || rust_files(&source).iter().map(|file| parsed(file)).collect();
            let has_example = has_example(&item.attrs);
            let mut items = Items { name: &name, shown: Shown { items: 0, has_example } };
            sources.entry(folder).or_insert_with(read).iter().for_each(|it| items.visit_file(it));
            let items = items.shown;
            shown.insert(name, items);
        }
    }
    shown
}

fn parsed(file: &Path) -> syn::File {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Lists the names that a `use` imports, each with the folder of its crate.
fn leaves(tree: &UseTree, path: &mut Vec<String>, names: &mut Vec<(String, String)>) {
    let folder = |first: &str| first.replace('_', "-");
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            leaves(&inner.tree, path, names);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, path, names)),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            names.push((folder(path.first().unwrap_or(&name)), name));
        }
        UseTree::Rename(_) | UseTree::Glob(_) => panic!("the root shows names as they are"),
    }
}

/// Counts the public items of one name.
struct Items<'n> {
    name: &'n str,
    shown: Shown,
}

impl Items<'_> {
    fn add(&mut self, attributes: &[Attribute], members: usize) {
        self.shown.items += 1 + members;
        self.shown.has_example |= has_example(attributes);
    }
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(it) if it.sig.ident == self.name && is_public(&it.vis) => {
                self.add(&it.attrs, 0);
            }
            Item::Struct(it) if it.ident == self.name && is_public(&it.vis) => {
                self.add(&it.attrs, public_fields(&it.fields));
            }
            Item::Enum(it) if it.ident == self.name && is_public(&it.vis) => {
                self.add(&it.attrs, it.variants.len());
            }
            Item::Trait(it) if it.ident == self.name && is_public(&it.vis) => {
                self.add(&it.attrs, it.items.len());
            }
            Item::Type(it) if it.ident == self.name && is_public(&it.vis) => self.add(&it.attrs, 0),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let Type::Path(of) = &*item.self_ty else { return };
        if item.trait_.is_none() && of.path.segments.last().is_some_and(|it| it.ident == self.name)
        {
            let methods =
                item.items.iter().filter(|it| matches!(it, ImplItem::Fn(it) if is_public(&it.vis)));
            self.shown.items += methods.count();
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn public_fields(fields: &Fields) -> usize {
    fields.iter().filter(|field| is_public(&field.vis)).count()
}

/// Returns whether the documentation has a block of code that a test runs.
fn has_example(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return false };
        let Expr::Lit(value) = &pair.value else { return false };
        matches!(&value.lit, Lit::Str(text) if pair.path.is_ident("doc") && text.value().trim() == "```")
    })
}
