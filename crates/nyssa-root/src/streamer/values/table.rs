//! Contains the plans of the classes of a file and of the builtin classes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::streamer::builtin::{BUILTINS, Builtin};
use crate::streamer::compile::Compiler;
use crate::streamer::info::{ClassInfo, known};
use crate::streamer::values::plan::{ClassId, Plan};

/// The classes that most other classes have as a base class or a member.
const BASIC: &str = "\
TNamed 1: base TObject 1; TString fName; TString fTitle
TObjString 1: base TObject 1; TString fString";

/// One class of a file.
#[derive(Clone, Debug)]
pub struct Class {
    pub name: Arc<str>,
    pub builtin: Option<Builtin>,
    /// The plans of the versions. A builtin class has one plan with the names of its members.
    pub(in crate::streamer) plans: Vec<Arc<Plan>>,
}

/// All classes of a file.
#[derive(Clone, Debug)]
pub struct ClassTable {
    classes: Vec<Class>,
    ids: HashMap<Arc<str>, ClassId>,
    /// Whether the table has all classes of nyssa's own tables.
    pub(super) is_complete: bool,
    /// Whether arrays with a counter say if they are null. In old files this byte has no meaning.
    pub null_arrays_flagged: bool,
}

impl ClassTable {
    /// Makes the table of the builtin classes and of the classes that most others have as a base class or a
    /// member.
    pub fn new() -> Self {
        let mut table = Self {
            classes: Vec::new(),
            ids: HashMap::new(),
            is_complete: false,
            null_arrays_flagged: true,
        };
        let read = |builtin: &Builtin| !matches!(builtin, Builtin::TMatrixTSym(_));
        for &(name, builtin, members) in BUILTINS.iter().filter(|(_, builtin, _)| read(builtin)) {
            let id = table.id(name);
            if let Some(class) = table.classes.get_mut(id.0 as usize) {
                class.builtin = Some(builtin);
                class.plans.push(Arc::new(Plan::builtin(name, members)));
            }
        }
        let basic: Vec<ClassInfo> = BASIC.lines().filter_map(known::class_info).collect();
        table.with(&basic)
    }

    /// Returns the table of the builtin classes and of all classes of nyssa's own tables.
    pub fn built_in() -> &'static Self {
        static TABLE: OnceLock<ClassTable> = OnceLock::new();
        TABLE.get_or_init(|| {
            let infos: Vec<_> = known::names().flat_map(known::built_in).cloned().collect();
            let mut table = Self::new().with(&infos);
            table.is_complete = true;
            table
        })
    }

    /// Returns this table with the plans of more classes.
    pub fn with(mut self, classes: &[ClassInfo]) -> Self {
        let mut compiler = Compiler::by_name();
        for info in classes {
            // A member that cannot be read is marked as such, so that every class has a plan.
            if let Ok(layout) = compiler.version(info) {
                self.insert(Plan { class: info.name.as_str().into(), layout });
            }
        }
        self
    }

    /// Returns whether a class or version is missing here, but is in nyssa's own tables.
    pub fn lacks(&self, class: &str, version: Option<i32>) -> bool {
        let is_known = || match version {
            // Classes without a version have a checksum.
            Some(1..) => known::built_in(class).iter().any(|info| Some(info.version) == version),
            _ => known::is_known(class),
        };
        !self.is_complete && is_known()
    }

    /// Returns the number of a class. A new name gets a new number.
    fn id(&mut self, name: &str) -> ClassId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = ClassId(u32::try_from(self.classes.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = name.into();
        self.classes.push(Class { name: name.clone(), builtin: None, plans: Vec::new() });
        self.ids.insert(name, id);
        id
    }

    /// Returns the number of a class that is already known.
    pub fn find(&self, name: &str) -> Option<ClassId> {
        self.ids.get(name).copied()
    }

    /// Returns the class with this number.
    pub fn class(&self, id: ClassId) -> Option<&Class> {
        self.classes.get(id.0 as usize)
    }

    /// Adds a plan. It replaces a plan of the same version.
    fn insert(&mut self, plan: Plan) {
        let id = self.id(&plan.class);
        let Some(class) = self.classes.get_mut(id.0 as usize) else { return };
        if class.builtin.is_some() {
            return;
        }
        // The streamer info of the file replaces the class of nyssa's own tables.
        let version = plan.layout.version;
        class.plans.retain(|old| old.layout.version != version || old.layout.checksum != 0);
        class.plans.push(Arc::new(plan));
    }
}
