//! Draws a trace as an image. The program that runs the command line does this, because Python has the
//! libraries for it.

use std::path::Path;
use std::sync::OnceLock;

use crate::failure::{Failure, Result};

/// A function that draws the trace of the first file as an image in the second one. The error is the reason why
/// it cannot.
pub type Plotter = fn(trace: &Path, image: &Path) -> std::result::Result<(), String>;

static PLOTTER: OnceLock<Plotter> = OnceLock::new();

/// Sets the function that draws images. Later calls change nothing.
pub fn plot_by(plotter: Plotter) {
    let _ = PLOTTER.set(plotter);
}

/// Draws the trace in the file `trace` as the image `image`.
///
/// # Errors
/// Wrong usage if no function is set; the reason why the image cannot be made.
pub(super) fn draw(trace: &Path, image: &Path) -> Result<()> {
    let shown = image.display();
    let Some(plotter) = PLOTTER.get() else {
        return Err(Failure::Usage(
            format!("cannot draw {shown}: the Python package draws images"),
            Some(
                "pip install nyssa matplotlib, and run the `nyssa` of that package; or use --html"
                    .to_owned(),
            ),
        ));
    };
    plotter(trace, image).map_err(|why| Failure::Usage(format!("cannot draw {shown}: {why}"), None))
}
