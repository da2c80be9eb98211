//! Repeats requests as long as they may succeed and there is time.

use std::io;
use std::time::{Duration, Instant};

use super::failure::{Again, Failure};
use crate::Stop;
use crate::heuristics::http;

/// The rule for repeating a request that fails.
pub(crate) struct Patience {
    deadline: Duration,
    /// Whether the server has answered before.
    known: bool,
    since: Instant,
    failed: u32,
    /// The number of answers that were wrong, and would not be right later.
    wrong: u32,
    /// The signal that ends all waiting.
    stop: Stop,
}

impl Patience {
    /// Makes the rule that continues for `deadline` without progress.
    pub(crate) fn new(deadline: Duration, known: bool) -> Self {
        let (since, stop) = (Instant::now(), Stop::default());
        Self { deadline, known, since, failed: 0, wrong: 0, stop }
    }

    /// Sets a signal that ends the waiting.
    pub(crate) fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Returns an error if no request may be made, because it was stopped.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.stop.check()
    }

    /// Records that bytes have arrived. The time begins again.
    pub(crate) fn progress(&mut self) {
        self.since = Instant::now();
        self.failed = 0;
        self.wrong = 0;
    }

    /// Waits before the next request.
    ///
    /// # Errors
    /// The failure, if no further request may be made; the error of a stop.
    pub(crate) fn wait(&mut self, failure: Failure) -> io::Result<()> {
        self.check()?;
        self.failed += 1;
        let again = match failure.again {
            Again::Never => false,
            Again::IfKnown => self.known,
            Again::Few => {
                self.wrong += 1;
                self.wrong < http::WRONG_ANSWERS
            }
            Again::Always => true,
        };
        let (first, longest) = http::WAIT;
        let wait = first.saturating_mul(1 << (self.failed - 1).min(10)).min(longest);
        // Requests that failed together must not be repeated together.
        let wait = failure.retry_after.unwrap_or(wait.mul_f64(0.5 + 0.5 * spread()));
        let elapsed = self.since.elapsed();
        if again && elapsed + wait < self.deadline {
            return self.stop.sleep(wait);
        }
        let mut reason = failure.reason;
        if failure.again == Again::Few && !again {
            reason.push_str(&format!(
                "; {} requests had wrong answers: check the host, the port and the path of the URL and the proxies \
                 of your site, or tell the people who run the server",
                self.wrong
            ));
        } else if again {
            let requests = if self.failed == 1 { "one request" } else { "all requests" };
            let seconds = elapsed.as_secs_f64();
            reason.push_str(&format!(
                "; {requests} in {seconds:.1} s failed: try again later, or set \
                 NYSSA_HTTP_DEADLINE to more seconds"
            ));
        }
        Err(io::Error::new(failure.kind, reason))
    }
}

/// Returns a number from 0 to 1 that differs from call to call.
fn spread() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    f64::from(now.map_or(0, |now| now.subsec_nanos()) % 1000) / 1000.0
}

/// Makes a request until it succeeds, cannot succeed any more, or has no time left.
///
/// # Errors
/// The last failure.
pub(crate) fn retried<T>(
    mut patience: Patience,
    mut request: impl FnMut() -> Result<T, Failure>,
) -> io::Result<T> {
    loop {
        patience.check()?;
        match request() {
            Ok(answer) => return Ok(answer),
            Err(failure) => patience.wait(failure)?,
        }
    }
}
