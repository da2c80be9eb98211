//! The classes of a file: which are known by heart, and the plans of all the others.

use std::collections::HashMap;
use std::sync::Arc;

use crate::streamer::builtin::{BUILTINS, Builtin};
use crate::streamer::info::known;
use crate::streamer::values::plan::{ClassId, Member, Plan, Step};

/// One class of a file.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub name: Arc<str>,
    pub builtin: Option<Builtin>,
    /// Plans by version; for a builtin class, one that names its members.
    pub plans: Vec<Arc<Plan>>,
}

/// All classes of a file.
#[derive(Clone, Debug)]
pub(crate) struct ClassTable {
    classes: Vec<Class>,
    ids: HashMap<Arc<str>, ClassId>,
    /// Whether there is nothing more that is known by heart.
    pub(super) is_complete: bool,
    /// Counted arrays that are null say so; in old files what they say means nothing.
    pub null_arrays_flagged: bool,
}

impl ClassTable {
    /// The builtin classes, and the layouts of those that most others have as a base or a member.
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
            let members = members.iter().map(|&name| Member::opaque(name)).collect();
            let plan = Plan { class: name.into(), version: 0, checksum: 0, members };
            if let Some(class) = table.classes.get_mut(id.0 as usize) {
                class.builtin = Some(builtin);
                class.plans.push(Arc::new(plan));
            }
        }
        let (object, string) = (table.id("TObject"), table.id("TString"));
        let text = |name: &str| Member::new(name, Step::Embedded(string, None));
        let base = |name: &str, id| Member::new(name, Step::Base(id));
        table.add("TNamed", 1, vec![base("TObject", object), text("fName"), text("fTitle")]);
        table.add("TObjString", 1, vec![base("TObject", object), text("fString")]);
        table
    }

    /// Whether a class, or a version of one, is not here, but known by heart.
    pub fn lacks(&self, class: &str, version: Option<i32>) -> bool {
        let is_known = || match version {
            // Classes without a version have a checksum.
            Some(1..) => known::by_heart(class).iter().any(|info| Some(info.version) == version),
            _ => known::is_known(class),
        };
        !self.is_complete && is_known()
    }

    /// The number of a class; new names get a new one.
    pub fn id(&mut self, name: &str) -> ClassId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = ClassId(u32::try_from(self.classes.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = name.into();
        self.classes.push(Class { name: name.clone(), builtin: None, plans: Vec::new() });
        self.ids.insert(name, id);
        id
    }

    /// The number of a class that is already known.
    pub fn find(&self, name: &str) -> Option<ClassId> {
        self.ids.get(name).copied()
    }

    /// A class.
    pub fn class(&self, id: ClassId) -> Option<&Class> {
        self.classes.get(id.0 as usize)
    }

    /// Adds a layout that is known by heart.
    pub fn add(&mut self, name: &str, version: i32, members: Vec<Member>) {
        self.insert(Plan { class: name.into(), version, checksum: 0, members });
    }

    /// Adds a plan, in place of one of the same version.
    pub fn insert(&mut self, plan: Plan) {
        let id = self.id(&plan.class);
        let Some(class) = self.classes.get_mut(id.0 as usize) else { return };
        if class.builtin.is_some() {
            return;
        }
        // What a file says takes the place of what is known by heart.
        class.plans.retain(|old| old.version != plan.version || old.checksum != 0);
        class.plans.push(Arc::new(plan));
    }
}

impl Member {
    /// A member.
    pub fn new(name: &str, step: Step) -> Self {
        Self { name: name.into(), step }
    }

    /// A member that only has a name: it is filled by a builtin class.
    fn opaque(name: &str) -> Self {
        Self::new(name, Step::Opaque("builtin".into()))
    }
}
