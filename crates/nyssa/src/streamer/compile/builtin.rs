//! Classes that ROOT streams by code of its own.

use super::{Compiler, T_OBJECT};
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::column::mismatch;
use crate::streamer::node::{Collection, Node, Pointer, Symmetric, find};
use crate::streamer::shape::Shape;

/// Classes whose streaming is fixed in ROOT's own code, besides `TArrayC` to `TArrayD`.
pub(super) const BUILTINS: [&str; 15] = [
    T_OBJECT,
    "TString",
    "string",
    "std::string",
    "TDatime",
    "TRef",
    "TObjArray",
    "TList",
    "THashList",
    "TClonesArray",
    "TMap",
    "TRefArray",
    "TMatrixTSym<float>",
    "TMatrixTSym<double>",
    "TBasket",
];

impl Compiler<'_> {
    /// Classes whose streaming is fixed in ROOT's own code.
    pub(super) fn builtin(&mut self, name: &str) -> Result<Option<Node>> {
        let numbers = |basic| {
            let node = Node::Number(basic);
            Ok(Some(Node::Sequence(Box::new(node))))
        };
        let kind = match name {
            T_OBJECT => return Ok(Some(Node::TObject)),
            "TString" | "string" | "std::string" => return Ok(Some(Node::Text)),
            "TDatime" => return Ok(Some(Node::Number(Basic::Date))),
            "TRef" => return Ok(Some(Node::TRef)),
            "TRefArray" => return Ok(Some(Node::TRefArray)),
            "TMatrixTSym<float>" => {
                return self.symmetric("float", Basic::Plain(Number::Float32)).map(Some);
            }
            "TMatrixTSym<double>" => {
                return self.symmetric("double", Basic::Plain(Number::Float64)).map(Some);
            }
            "TArrayC" => return numbers(Basic::Plain(Number::Int8)),
            "TArrayS" => return numbers(Basic::Plain(Number::Int16)),
            "TArrayI" => return numbers(Basic::Plain(Number::Int32)),
            "TArrayL" | "TArrayL64" => return numbers(Basic::Plain(Number::Int64)),
            "TArrayF" => return numbers(Basic::Plain(Number::Float32)),
            "TArrayD" => return numbers(Basic::Plain(Number::Float64)),
            "TObjArray" => Collection::Array,
            "TList" | "THashList" => Collection::List,
            "TClonesArray" => Collection::Clones,
            "TMap" => Collection::Map,
            "TBasket" => {
                return Err(Error::unsupported(format!("class {name} is not taken apart")));
            }
            _ => return Ok(None),
        };
        let mut items = self.any();
        items.declared = name.to_owned();
        Ok(Some(Node::Collection(kind, Box::new(items))))
    }

    /// A `TClonesArray` of objects of a class.
    pub fn clones(&mut self, item: &str) -> Result<Node> {
        let classes = vec![(item.to_owned(), self.class(item)?)];
        let declared = "TClonesArray".to_owned();
        let items = Pointer { declared, classes, open: false, bare: false };
        Ok(Node::Collection(Collection::Clones, Box::new(items)))
    }

    /// A matrix whose class has a base class with streamer info, and elements streamed by hand.
    fn symmetric(&mut self, element: &str, basic: Basic) -> Result<Node> {
        let base = format!("TMatrixTBase<{element}>");
        let Node::Object(class) = self.class(&base)? else {
            return Err(Error::unsupported(format!("{base} is no class")));
        };
        let Shape::Record(members) = class.shape() else { return Err(mismatch()) };
        let rows = find(&members, "fNrows")
            .ok_or_else(|| Error::unsupported(format!("class {base} has no member fNrows")))?;
        Ok(Node::Symmetric(Box::new(Symmetric { base: *class, rows, basic })))
    }
}

/// Collections that any object may be, of which no file says more.
pub(in crate::streamer) const COLLECTIONS: [&str; 5] =
    ["TObjArray", "TList", "THashList", "TClonesArray", "TMap"];
