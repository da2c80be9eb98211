//! Reads the imports of the modules of a crate from its sources.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Path as SynPath, UseTree};

/// The segments of a module's path, without `crate`.
pub type Module = Vec<String>;

/// A file of the crate.
struct File {
    /// Names defined in the file itself.
    items: BTreeSet<String>,
    /// The modules inside it, in files of their own.
    modules: BTreeSet<String>,
    /// Names that it imports or exports again, with their paths.
    uses: HashMap<String, Module>,
    /// The paths of modules from which everything is imported.
    globs: Vec<Module>,
    /// The paths that it writes out, from the crate's root on.
    paths: BTreeSet<Module>,
}

/// Returns, for each module, the modules whose items it uses. Code for tests alone does not count.
pub fn imports(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    read(&source.join("lib.rs"), source, &Vec::new(), &mut files);
    let uses = |(module, file): (&Module, &File)| {
        let named = file.uses.values().chain(&file.globs).chain(&file.paths);
        let modules = named.filter_map(|path| resolve(&files, path, 0));
        // The text of a module inside a file may use the imports of this file.
        (module.clone(), modules.filter(|other| !module.starts_with(other)).collect())
    };
    files.iter().map(uses).collect()
}

/// Returns the groups of modules that use each other in a circle.
pub fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reachable = |from: &Module| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            open.extend(imports[module].iter().filter(|other| seen.insert((*other).clone())));
        }
        seen
    };
    let reach: BTreeMap<_, _> = imports.keys().map(|module| (module, reachable(module))).collect();
    let mut groups: Vec<Vec<Module>> = Vec::new();
    for module in imports.keys().filter(|&module| reach[module].contains(module)) {
        let group = groups
            .iter_mut()
            .find(|group| reach[&group[0]].contains(module) && reach[module].contains(&group[0]));
        match group {
            Some(group) => group.push(module.clone()),
            None => groups.push(vec![module.clone()]),
        }
    }
    groups
}

fn read(file: &Path, folder: &Path, module: &Module, files: &mut BTreeMap<Module, File>) {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed =
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut collector = Collector { module, file: File::new(), own: Vec::new() };
    collector.visit_file(&parsed);
    for name in collector.own {
        let (flat, nested) = (folder.join(format!("{name}.rs")), folder.join(&name));
        let inner = if flat.exists() { flat } else { nested.join("mod.rs") };
        let path = [module.as_slice(), std::slice::from_ref(&name)].concat();
        read(&inner, &nested, &path, files);
        collector.file.modules.insert(name);
    }
    // A path may begin with a name that the file imports, or with a module inside it.
    let file = collector.file;
    files.insert(module.clone(), file);
}

/// Returns the module that defines what a path names: export after export is followed.
fn resolve(files: &BTreeMap<Module, File>, path: &[String], depth: usize) -> Option<Module> {
    let mut module = Module::new();
    for (at, segment) in path.iter().enumerate() {
        let file = files.get(&module)?;
        if file.modules.contains(segment) {
            module.push(segment.clone());
        } else if file.items.contains(segment) {
            return Some(module);
        } else if let Some(target) = file.uses.get(segment).filter(|_| depth < 16) {
            let rest = &path[at + 1..];
            return resolve(files, &[target.as_slice(), rest].concat(), depth + 1);
        } else {
            let mut globs = file.globs.iter().filter(|_| depth < 16);
            return globs.find_map(|glob| {
                resolve(files, &[glob.as_slice(), &path[at..]].concat(), depth + 1)
            });
        }
    }
    Some(module)
}

impl File {
    fn new() -> Self {
        Self {
            items: BTreeSet::new(),
            modules: BTreeSet::new(),
            uses: HashMap::new(),
            globs: Vec::new(),
            paths: BTreeSet::new(),
        }
    }
}

struct Collector<'m> {
    module: &'m Module,
    file: File,
    /// The modules in files of their own.
    own: Vec<String>,
}

impl Collector<'_> {
    /// Returns a path from the crate's root on; `None` for other crates and for names that are only known here.
    fn absolute(&self, segments: &[String]) -> Option<Module> {
        let mut module = match segments.first()?.as_str() {
            "crate" => Module::new(),
            "self" => self.module.clone(),
            "super" => self.module[..self.module.len().checked_sub(1)?].to_vec(),
            _ => return None,
        };
        for segment in &segments[1..] {
            match segment.as_str() {
                "super" => drop(module.pop()),
                _ => module.push(segment.clone()),
            }
        }
        Some(module)
    }

    fn tree(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before)),
            UseTree::Glob(_) => self.file.globs.extend(self.target(before)),
            UseTree::Name(name) => self.leaf(&name.ident.to_string(), None, before),
            UseTree::Rename(rename) => {
                self.leaf(&rename.ident.to_string(), Some(rename.rename.to_string()), before);
            }
        }
    }

    fn leaf(&mut self, name: &str, renamed: Option<String>, before: &[String]) {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name.to_owned());
        }
        let known = renamed.or_else(|| path.last().cloned());
        if let (Some(known), Some(target)) = (known, self.target(&path)) {
            self.file.uses.insert(known, target);
        }
    }

    /// Returns the module that the path of a `use` leads to. A module inside this one is found by its name
    /// alone.
    fn target(&self, path: &[String]) -> Option<Module> {
        self.absolute(path).or_else(|| {
            let inside = self.own.contains(path.first()?);
            inside.then(|| [self.module.as_slice(), path].concat())
        })
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<SynPath>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(test)
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_file(&mut self, file: &'ast syn::File) {
        for item in &file.items {
            let name = match item {
                Item::Const(item) => &item.ident,
                Item::Enum(item) => &item.ident,
                Item::Fn(item) => &item.sig.ident,
                Item::Static(item) => &item.ident,
                Item::Struct(item) => &item.ident,
                Item::Trait(item) => &item.ident,
                Item::Type(item) => &item.ident,
                Item::Mod(item) if item.content.is_none() && !is_test(&item.attrs) => {
                    self.own.push(item.ident.to_string());
                    continue;
                }
                _ => continue,
            };
            self.file.items.insert(name.to_string());
        }
        visit::visit_file(self, file);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_test(&item.attrs) {
            self.tree(&item.tree, &mut Vec::new());
        }
    }

    fn visit_path(&mut self, path: &'ast SynPath) {
        let segments: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let target = self.target(&segments).filter(|_| segments.len() > 1);
        // `module::name`, where the module was imported: the import says enough of the module, not of the name.
        let imported = || {
            let start = self.file.uses.get(segments.first()?)?;
            Some([start.as_slice(), &segments[1..]].concat())
        };
        let target = target.or_else(|| imported().filter(|_| segments.len() > 1));
        self.file.paths.extend(target);
        visit::visit_path(self, path);
    }
}

/// Returns all Rust files of a folder and of the folders in it.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let files = paths.flat_map(|path| match path.is_dir() {
        true => rust_files(&path),
        false => vec![path],
    });
    files.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}
