//! Compiles the classes that ROOT streams by code of its own.

use super::Compiler;
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::builtin::{Builtin, Collection};
use crate::streamer::column::mismatch;
use crate::streamer::node::{Class, Node, Pointer, Step, Symmetric, find};
use crate::streamer::shape::Shape;

impl Compiler<'_> {
    /// Returns the node of a class that ROOT streams by code of its own. Returns `None` for other classes.
    pub(super) fn builtin(&mut self, name: &str) -> Result<Option<Node>> {
        // It is streamed as a `TRefArray` after its own header (`RooRefArray::Streamer`).
        if name == "RooRefArray" {
            let step = Step::member(name, "fRefs", Node::TRefArray);
            return Ok(Some(Node::Object(Box::new(Class::fixed(name, vec![step])))));
        }
        let builtin = Builtin::of(name).filter(|builtin| !builtin.is_metadata());
        let Some(builtin) = builtin else { return Ok(None) };
        Ok(Some(match builtin {
            Builtin::TObject => Node::TObject,
            Builtin::TString => Node::Text,
            Builtin::TDatime => Node::Number(Basic::Date),
            Builtin::TRef => Node::TRef,
            Builtin::TRefArray => Node::TRefArray,
            Builtin::TMatrixTSym(number) => self.symmetric(number)?,
            Builtin::TArray(number) => Node::Sequence(Box::new(Node::Number(Basic::Plain(number)))),
            Builtin::Collection(kind) => {
                let mut items = self.any();
                items.declared = name.to_owned();
                Node::Collection(kind, Box::new(items))
            }
            Builtin::TQObject => Node::Members(Box::new(Class::fixed(name, Vec::new())), 0),
            Builtin::TBasket | Builtin::TTreeIndex | Builtin::TBranchClones => {
                return Err(Error::unsupported(format!("nyssa does not decode class {name}")));
            }
        }))
    }

    /// Makes the node of a `TClonesArray` of objects of a class.
    pub(crate) fn clones(&mut self, item: &str) -> Result<Node> {
        if self.links {
            return Ok(Node::Collection(Collection::Clones, Box::new(self.any())));
        }
        let classes = vec![(item.to_owned(), self.class(item)?)];
        let items = Pointer::of("TClonesArray", classes, false);
        Ok(Node::Collection(Collection::Clones, Box::new(items)))
    }

    /// Makes the node of a symmetric matrix. Its base class has streamer info. Its elements do not.
    fn symmetric(&mut self, number: Number) -> Result<Node> {
        let basic = Basic::Plain(number);
        let base = format!("TMatrixTBase<{}>", number.type_name());
        let Node::Object(class) = self.class(&base)? else {
            return Err(Error::unsupported(format!("{base} is not a class")));
        };
        let Shape::Record(members) = class.shape() else { return Err(mismatch()) };
        let rows = find(&members, "fNrows")
            .ok_or_else(|| Error::unsupported(format!("class {base} has no member fNrows")))?;
        Ok(Node::Symmetric(Box::new(Symmetric { base: *class, rows, basic })))
    }
}
