//! Marks the stages of the work.

use std::marker::PhantomData;

use crate::profile::logs::{Place, begin, end};
use crate::switch;

/// Begins a stage of the work of this thread, which ends when the returned [`Stage`] is dropped. A stage is a page, a
/// basket or a column, and never an entry. It has a name, and may have a `column`, `bytes_in` and `bytes_out`. These are
/// computed only while stages are observed.
///
/// A stage must not run while its thread waits for others in a pool of rayon: the thread then does other tasks, whose
/// stages would be inside it.
///
/// ```
/// # let bytes = [1_u8, 2];
/// let mut stage = nyssa_observe::stage!("zip", column = "pt", bytes_in = bytes.len() as u64);
/// let packed = bytes.len() / 2;
/// stage.set_bytes_out(|| packed as u64);
/// ```
#[macro_export]
macro_rules! stage {
    ($name:literal $(, $key:ident = $value:expr)* $(,)?) => {
        match $crate::Stage::are_observed() {
            true => $crate::Stage::begin(
                $name,
                $crate::About { $($key: $value.into(),)* ..$crate::About::default() },
            ),
            false => $crate::Stage::default(),
        }
    };
}

/// The properties of a stage that are known when it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The path of the field or branch. If it is `None`, the column of the surrounding stage counts.
    pub column: Option<&'a str>,
    /// The number of bytes that the stage gets.
    pub bytes_in: u64,
    /// The number of bytes that the stage makes.
    pub bytes_out: u64,
}

/// A stage that runs until it is dropped. [`stage!`](crate::stage!) makes it.
#[derive(Debug, Default)]
#[must_use = "a stage ends when it is dropped"]
pub struct Stage {
    /// The place of the stage in the log of its thread. `None` if it is not observed.
    place: Option<Place>,
    bytes_in: u64,
    bytes_out: u64,
    /// A stage ends on the thread where it began.
    of_thread: PhantomData<*const ()>,
}

impl Stage {
    /// Returns whether stages are observed.
    #[inline]
    pub fn are_observed() -> bool {
        switch::profile() != 0
    }

    /// Begins a stage, if stages are observed. It costs more than [`stage!`](crate::stage!) if they are not.
    pub fn begin(name: &'static str, about: About<'_>) -> Self {
        let About { column, bytes_in, bytes_out } = about;
        Self { place: begin(name, column), bytes_in, bytes_out, of_thread: PhantomData }
    }

    /// Sets the number of bytes that the stage made. They are counted only if the stage is observed.
    pub fn set_bytes_out(&mut self, count: impl FnOnce() -> u64) {
        if self.place.is_some() {
            self.bytes_out = count();
        }
    }
}

impl Drop for Stage {
    #[inline]
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            end(place, self.bytes_in, self.bytes_out);
        }
    }
}
