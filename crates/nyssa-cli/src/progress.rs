//! Draws the progress bar.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nyssa::context::Progress;

const TEMPLATE: &str = "{msg} [{bar:32}] {percent}%, {elapsed} of about {duration}";
const TICK: Duration = Duration::from_millis(200);

/// A progress bar on standard error. It disappears when it is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new(what: &str, visible: bool) -> Self {
        if !visible {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Returns the function that the core calls with (done, total).
    pub fn callback(&self) -> Progress {
        let bar = self.0.clone();
        Arc::new(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        })
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
