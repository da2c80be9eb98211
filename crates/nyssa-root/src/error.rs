//! Defines the error type of the core. It says whose fault the error is ([`Kind`]), where it is ([`Place`]), and what
//! to do (the message).

use std::fmt;
use std::sync::Arc;

use nyssa_io::{printable, printable_message, without_secrets};
use serde::Serialize;

use crate::names::nearest;

/// The kinds of errors. The kind states whose fault an error is.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// assert!(nyssa::Kind::Checksum.is_damage() && !nyssa::Kind::NotFound.is_damage());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, key, tree, branch or field does not exist.
    NotFound,
    /// The caller requested something impossible.
    InvalidArgument,
    /// The output exists and must not be replaced.
    AlreadyExists,
    /// The file breaks its format's specification.
    OutOfSpecification,
    /// The file is correct, but nyssa cannot read this part of it.
    Unsupported,
    /// A stored checksum does not match the bytes.
    Checksum,
    /// A memory budget or a safety limit was exceeded.
    LimitExceeded,
    /// The operating system or the network failed.
    Io,
    /// The user stopped the work.
    Cancelled,
}

impl Kind {
    /// Returns whether the data are damaged: another part of the file may be sound. A size that exceeds a limit is
    /// mostly a damaged size.
    pub fn is_damage(self) -> bool {
        matches!(self, Self::OutOfSpecification | Self::Checksum | Self::LimitExceeded)
    }

    /// Returns whether the check of a file ends with this error, which is no problem of the file.
    pub fn ends_check(self) -> bool {
        matches!(self, Self::Io | Self::Cancelled)
    }
}

/// The place in a dataset where an error occurred. Only the known parts are set and printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The path or URL of the file.
    pub file: Option<String>,
    /// The path of a key, tree or RNTuple inside the file.
    pub object: Option<String>,
    /// The path of the field, or the name of the branch.
    pub field: Option<String>,
    /// The id of the physical column.
    pub column: Option<u64>,
    /// The number of the cluster.
    pub cluster: Option<u64>,
    /// The number of the page in its column and cluster.
    pub page: Option<u64>,
    /// The number of the basket in its branch.
    pub basket: Option<u64>,
    /// The number of the entry.
    pub entry: Option<u64>,
    /// The byte offset in the file.
    pub offset: Option<u64>,
}

impl Place {
    /// Fills in the parts of `outer` that are not known here.
    fn fill_in(&mut self, outer: Self) {
        self.file = self.file.take().or(outer.file.map(nyssa_io::shown));
        self.object = self.object.take().or(outer.object);
        self.field = self.field.take().or(outer.field);
        self.column = self.column.or(outer.column);
        self.cluster = self.cluster.or(outer.cluster);
        self.page = self.page.or(outer.page);
        self.basket = self.basket.or(outer.basket);
        self.entry = self.entry.or(outer.entry);
        self.offset = self.offset.or(outer.offset);
    }
}

/// The error of the core. It is boxed so that a `Result` is small.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let error = nyssa::open("../../testdata/rntuple/plain.root:Evens").unwrap_err();
/// assert_eq!(error.kind(), nyssa::Kind::NotFound);
/// assert!(error.to_string().contains("plain.root"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Error(Box<ErrorData>);

#[derive(Clone, Debug)]
struct ErrorData {
    kind: Kind,
    message: String,
    suggestions: Vec<String>,
    fields: Vec<String>,
    excerpt: Option<String>,
    place: Place,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    /// Whether an earlier call has returned the error.
    is_later: bool,
}

/// The result of functions of the core.
///
/// ```
/// fn entries(path: &str) -> nyssa::Result<u64> {
///     Ok(nyssa::open(path)?.num_entries())
/// }
/// assert!(entries("../../testdata/rntuple/plain.root").is_ok());
/// assert!(entries("missing.root").is_err());
/// ```
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error of `kind` with `message` and without a place. Every message is made here, so that none has the
    /// secrets of a URL, or characters of a file that change a terminal.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorData {
            kind,
            message: for_people(&message.into()),
            suggestions: Vec::new(),
            fields: Vec::new(),
            excerpt: None,
            place: Place::default(),
            source: None,
            is_later: false,
        }))
    }

    /// Makes the error for a file that breaks its specification ([`Kind::OutOfSpecification`]).
    pub fn out_of_spec(message: impl Into<String>) -> Self {
        Self::new(Kind::OutOfSpecification, message)
    }

    /// Makes the error for a part of a correct file that nyssa cannot read ([`Kind::Unsupported`]).
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, message)
    }

    /// Makes the error for a caller who requested something impossible ([`Kind::InvalidArgument`]).
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(Kind::InvalidArgument, message)
    }

    /// Makes the error for a name that does not exist ([`Kind::NotFound`]).
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    /// Makes the error for bytes that do not match their checksum ([`Kind::Checksum`]).
    pub fn checksum(message: impl Into<String>) -> Self {
        Self::new(Kind::Checksum, message)
    }

    /// Makes the error for a memory budget or a safety limit that was exceeded ([`Kind::LimitExceeded`]).
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(Kind::LimitExceeded, message)
    }

    /// Makes the error for work that the user stopped ([`Kind::Cancelled`]).
    pub fn cancelled() -> Self {
        Self::new(Kind::Cancelled, "stopped by the user")
    }

    /// Attaches the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Returns the error of the access to bytes that this error comes from, if any.
    pub fn system(&self) -> Option<&nyssa_io::Error> {
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            if let Some(error) = cause.downcast_ref::<nyssa_io::Error>() {
                return Some(error);
            }
            source = cause.source();
        }
        None
    }

    /// Suggests the names in `known` that are most like `name`.
    #[must_use]
    pub fn suggest<'a>(mut self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.0.suggestions = nearest(name, known);
        self
    }

    /// Adds the names of the fields, if one error is about several fields.
    #[must_use]
    pub fn about_fields(mut self, fields: impl IntoIterator<Item = String>) -> Self {
        self.0.fields = fields.into_iter().collect();
        self
    }

    /// Adds a piece of the user's text, which is shown on lines of its own.
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: impl Into<String>) -> Self {
        self.0.excerpt = Some(for_people(&excerpt.into()));
        self
    }

    /// Changes the message and keeps everything else.
    #[must_use]
    pub fn map_message(mut self, change: impl FnOnce(&str) -> String) -> Self {
        self.0.message = for_people(&change(&self.0.message));
        self
    }

    /// Returns the error of later calls, after an earlier call returned this one: the `object` cannot be completed for this
    /// reason. A later call was not itself stopped by the user, so its error is then `InvalidArgument`.
    #[must_use]
    pub fn later(&self, object: &str) -> Self {
        let mut later = self.clone();
        if !later.0.is_later {
            later =
                later.map_message(|reason| format!("the {object} cannot be completed: {reason}"));
            later.0.is_later = true;
            if later.0.kind == Kind::Cancelled {
                later.0.kind = Kind::InvalidArgument;
            }
        }
        later
    }

    /// Returns the kind, which says whose fault the error is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the message without suggestions, excerpt and place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the names that the user may have meant, the most likely first.
    pub fn suggestions(&self) -> &[String] {
        &self.0.suggestions
    }

    /// Returns the fields that the error is about, where one error is about several fields.
    pub fn fields(&self) -> &[String] {
        &self.0.fields
    }

    /// Returns a piece of the user's text with a mark where it is wrong.
    pub fn excerpt(&self) -> Option<&str> {
        self.0.excerpt.as_deref()
    }

    /// Returns the message with its place and excerpt, without suggestions. It is for interfaces that show
    /// suggestions separately.
    pub fn statement(&self) -> String {
        let place = match self.place().to_string() {
            place if place.is_empty() => place,
            place => format!(" ({place})"),
        };
        let excerpt = self.excerpt().map_or(String::new(), |excerpt| format!("\n{excerpt}"));
        format!("{}{place}{excerpt}", self.message())
    }

    /// Returns the message with its place inside the object, without file, object and cluster.
    pub fn brief(&self) -> String {
        let mut place = self.place().clone();
        (place.file, place.object, place.cluster) = (None, None, None);
        match place.to_string() {
            place if place.is_empty() => self.message().to_owned(),
            place => format!("{} ({place})", self.message()),
        }
    }

    /// Returns the place where the error occurred.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Replaces the entry by `place(entry)`, its number in a larger range. `None` removes it.
    #[must_use]
    pub fn move_entry(mut self, place: impl FnOnce(u64) -> Option<u64>) -> Self {
        self.0.place.entry = self.0.place.entry.and_then(place);
        self
    }

    /// Fills in those parts of the place that are not known yet. The innermost caller is the first to fill them
    /// in.
    #[must_use]
    pub fn at(mut self, fill: impl FnOnce(&mut Place)) -> Self {
        let mut outer = Place::default();
        fill(&mut outer);
        self.0.place.fill_in(outer);
        self
    }

    /// Replaces the entry, where one is known, by `outer(entry)`. For example, it turns the number of an item
    /// of a list into the number of the list.
    #[must_use]
    pub fn entry_of(mut self, outer: impl FnOnce(usize) -> usize) -> Self {
        let inner = self.0.place.entry.and_then(|entry| usize::try_from(entry).ok());
        self.0.place.entry = inner.map(|entry| outer(entry) as u64);
        self
    }
}

/// Returns a message without secrets, and without characters that change a terminal.
fn for_people(message: &str) -> String {
    printable_message(&without_secrets(message))
}

/// Adds places to the error of a result.
pub trait ResultExt<T> {
    /// Fills in parts of the place that are not known yet.
    fn at(self, fill: impl FnOnce(&mut Place)) -> Result<T>;
    /// Adds the name of the file.
    fn in_file(self, name: &str) -> Result<T>;
    /// Adds the name of the object in the file.
    fn in_object(self, name: &str) -> Result<T>;
    /// Adds the name of the field or branch.
    fn in_field(self, name: &str) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn at(self, fill: impl FnOnce(&mut Place)) -> Result<T> {
        self.map_err(|error| error.at(fill))
    }

    fn in_file(self, name: &str) -> Result<T> {
        self.at(|place| place.file = Some(name.to_owned()))
    }

    fn in_object(self, name: &str) -> Result<T> {
        self.at(|place| place.object = Some(name.to_owned()))
    }

    fn in_field(self, name: &str) -> Result<T> {
        self.at(|place| place.field = Some(name.to_owned()))
    }
}

/// Returns names in quotes, as alternatives: `"a"`, `"a" or "b"`.
pub fn alternatives(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut part =
            |f: &mut fmt::Formatter<'_>, name: &str, value: Option<&dyn fmt::Display>| {
                let Some(value) = value else { return Ok(()) };
                let result = write!(f, "{separator}{name} {value}");
                separator = ", ";
                result
            };
        let texts = [("file", &self.file), ("object", &self.object), ("field", &self.field)];
        for (name, text) in texts {
            part(f, name, text.as_deref().map(printable).as_ref().map(|v| v as _))?;
        }
        part(f, "column", self.column.as_ref().map(|v| v as _))?;
        part(f, "cluster", self.cluster.as_ref().map(|v| v as _))?;
        part(f, "page", self.page.as_ref().map(|v| v as _))?;
        part(f, "basket", self.basket.as_ref().map(|v| v as _))?;
        part(f, "entry", self.entry.as_ref().map(|v| v as _))?;
        part(f, "byte", self.offset.as_ref().map(|v| v as _))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if !self.0.suggestions.is_empty() {
            write!(f, "; did you mean {}?", alternatives(&self.0.suggestions))?;
        }
        if let Some(excerpt) = &self.0.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        if self.0.place != Place::default() {
            write!(f, " ({})", self.0.place)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}

impl From<nyssa_observe::Error> for Error {
    fn from(error: nyssa_observe::Error) -> Self {
        use nyssa_observe::Error as Observed;
        match error {
            Observed::Invalid(why) => Self::invalid_argument(why),
            Observed::Unsupported(why) => Self::unsupported(why),
            Observed::Limit { what, source } => Self::limit(what).with_source(source),
            Observed::File { name, action, source } => {
                nyssa_io::Error::new(name, action, source).into()
            }
        }
    }
}

impl From<nyssa_io::Error> for Error {
    fn from(error: nyssa_io::Error) -> Self {
        if error.is_stopped() {
            return Self::cancelled();
        }
        let kind = match error.source.kind() {
            std::io::ErrorKind::NotFound => Kind::NotFound,
            std::io::ErrorKind::AlreadyExists => Kind::AlreadyExists,
            std::io::ErrorKind::InvalidInput | std::io::ErrorKind::IsADirectory => {
                Kind::InvalidArgument
            }
            std::io::ErrorKind::UnexpectedEof => Kind::OutOfSpecification,
            std::io::ErrorKind::Unsupported => Kind::Unsupported,
            _ => Kind::Io,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}
