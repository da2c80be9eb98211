//! Finds how a member is streamed from its streamer element. No other file reads the type codes of streamer elements
//! (`TVirtualStreamerInfo::EReadWrite`).

use super::class::Element;
use crate::arrow::Number;
use crate::streamer::basic::Basic;

/// The number that an array adds to a type code (`kOffsetL`).
pub(in crate::streamer) const ARRAY: i32 = 20;
/// The number that a pointer with a counter adds to a type code (`kOffsetP`).
pub(super) const COUNTED: i32 = 40;
/// The code of a `char*` (`kCharStar`).
const C_STRING: i32 = 7;
/// The code of an object (`kAny`).
pub(in crate::streamer) const OBJECT: i32 = 62;
/// The code of a pointer to an object (`kObjectP`).
pub(super) const POINTER: i32 = 64;
/// The code of a pointer to an object of a class that is not derived from `TObject` (`kAnyP`).
pub(in crate::streamer) const ANY_POINTER: i32 = 69;
/// The code of a `TString` (`kTString`).
pub(super) const TEXT: i32 = 65;
/// The code of a standard container (`kSTL`).
pub(in crate::streamer) const CONTAINER: i32 = 500;
/// The code of objects behind a pointer with a counter (`kStreamLoop`).
pub(super) const LOOP: i32 = 501;
/// The code of a fixed array of such pointers.
pub(super) const LOOP_ARRAY: i32 = LOOP + ARRAY;
/// The code of the items of a container whose type has no dictionary. ROOT takes such a type for an enum.
const NO_TYPE: i32 = 0;

/// The way in which a member is streamed. Unless a variant states otherwise, an array has the form of its elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementForm<'e> {
    /// A base class.
    Base(&'e str),
    /// A standard container or string.
    Container,
    /// A number.
    Number(Basic),
    /// A fixed array of numbers.
    Numbers(Basic),
    /// Arrays of numbers behind pointers. Another member holds their length.
    Counted(Basic),
    /// Arrays of objects of a class behind pointers, or of pointers to such objects if the second value is
    /// `true`. Another member holds their length.
    Loop(&'e str, bool),
    /// `char*`.
    CString,
    /// `TString`.
    Text,
    /// An object of a class, without a tag.
    Object(&'e str),
    /// An array of `TString`, `TObject` or `TNamed`, which has a version header as containers have.
    Versioned(&'e str),
    /// A pointer to an object, with a tag.
    Pointer(&'e str),
    /// Anything else.
    Unknown,
}

impl Element {
    /// Returns the way in which the member is streamed.
    pub fn form(&self) -> ElementForm<'_> {
        if self.class == "TStreamerBase" {
            return ElementForm::Base(&self.name);
        }
        if self.class.starts_with("TStreamerSTL") {
            return ElementForm::Container;
        }
        let code = self.code;
        // A damaged file may hold any code.
        let number = |offset: i32| match (offset + 1..offset + ARRAY).contains(&code) {
            true => Basic::from_code(code - offset, &self.title),
            false => None,
        };
        if let Some(basic) = number(0) {
            return ElementForm::Number(basic);
        }
        if let Some(basic) = number(ARRAY) {
            return ElementForm::Numbers(basic);
        }
        if let Some(basic) = number(COUNTED) {
            return ElementForm::Counted(basic);
        }
        let class = self.type_name.trim_end_matches('*').trim();
        let class = class.strip_prefix("const ").unwrap_or(class);
        if (TEXT + ARRAY..=67 + ARRAY).contains(&code) && self.array_length != 0 {
            return ElementForm::Versioned(class);
        }
        // An array of pointers has the code of one pointer.
        match if (81..=90).contains(&code) { code - ARRAY } else { code } {
            LOOP | LOOP_ARRAY => {
                ElementForm::Loop(class, self.type_name.trim_end().ends_with("**"))
            }
            C_STRING => ElementForm::CString,
            TEXT => ElementForm::Text,
            61..=63 | 66..=68 => ElementForm::Object(class),
            POINTER | ANY_POINTER | 70 => ElementForm::Pointer(class),
            _ => ElementForm::Unknown,
        }
    }

    /// Returns the type of the items of a standard container, if they are numbers or enums.
    pub(crate) fn item_number(&self) -> Option<Number> {
        match self.item_code {
            NO_TYPE => Some(Number::Int32),
            code => Basic::from_code(code, "").map(Basic::number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(class: &str, type_name: &str, code: i32, array_length: i32) -> Element {
        Element { array_length, ..Element::of(class, "x", type_name, code) }
    }

    #[test]
    fn forms_of_codes() {
        let plain = |number| Basic::Plain(number);
        for (class, type_name, code, length, expected) in [
            ("TStreamerBase", "BASE", 0, 0, ElementForm::Base("x")),
            ("TStreamerSTL", "vector<int>", 500, 0, ElementForm::Container),
            ("TStreamerBasicType", "int", 3, 0, ElementForm::Number(plain(Number::Int32))),
            ("TStreamerBasicType", "int", 23, 2, ElementForm::Numbers(plain(Number::Int32))),
            (
                "TStreamerBasicPointer",
                "float*",
                45,
                0,
                ElementForm::Counted(plain(Number::Float32)),
            ),
            ("TStreamerLoop", "Hit*", 501, 0, ElementForm::Loop("Hit", false)),
            ("TStreamerLoop", "Hit**", 521, 3, ElementForm::Loop("Hit", true)),
            ("TStreamerBasicPointer", "char*", 7, 0, ElementForm::CString),
            ("TStreamerString", "TString", 65, 0, ElementForm::Text),
            ("TStreamerString", "TString", 85, 3, ElementForm::Versioned("TString")),
            ("TStreamerObject", "TAxis", 61, 0, ElementForm::Object("TAxis")),
            ("TStreamerObjectPointer", "const TAxis*", 64, 0, ElementForm::Pointer("TAxis")),
            ("TStreamerObjectPointer", "TAxis*", 84, 3, ElementForm::Pointer("TAxis")),
            ("TStreamerBasicType", "int", i32::MIN, 0, ElementForm::Unknown),
            ("TStreamerBasicType", "int", i32::MAX, 0, ElementForm::Unknown),
        ] {
            let element = element(class, type_name, code, length);
            assert_eq!(element.form(), expected, "{class} {code}");
        }
    }
}
