//! Keeps the connections of this process: one for each server, which all files share.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;

use super::connection::{Connection, connect};
use super::failure::Failure;
use super::settings::Settings;
use super::url::Server;

/// The pause before the second attempt at a connection. Each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

static POOL: PerProcess<Mutex<Places>> = PerProcess::new();

type Places = HashMap<(Server, Settings), Arc<Mutex<Place>>>;

/// The connection to one server.
#[derive(Default)]
struct Place {
    connection: Option<Arc<Connection>>,
    /// The time at which connecting failed the last time, and the failure.
    failed: Option<(Instant, Failure)>,
}

/// Returns a connection to a server, which may serve other threads at the same time. It is open before
/// `deadline`, and within the connection window.
pub(super) fn connection(
    server: &Server,
    settings: &Settings,
    deadline: Instant,
) -> Result<Arc<Connection>, Failure> {
    let begin = Instant::now();
    let key = (server.clone(), settings.clone());
    let place = Arc::clone(POOL.lock().entry(key).or_default());
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(connection) = place.connection.as_ref().filter(|connection| connection.is_alive()) {
        return Ok(Arc::clone(connection));
    }
    if let Some((when, failure)) = &place.failed
        && *when > begin
    {
        // Another thread has tried while this one waited.
        return Err(failure.clone());
    }
    match try_again_and_again(server, settings, deadline) {
        Ok(connection) => Ok(Arc::clone(place.connection.insert(connection))),
        Err(failure) => {
            place.connection = None;
            place.failed = Some((Instant::now(), failure.clone()));
            Err(failure)
        }
    }
}

fn try_again_and_again(
    server: &Server,
    settings: &Settings,
    deadline: Instant,
) -> Result<Arc<Connection>, Failure> {
    let deadline = deadline.min(Instant::now() + settings.connection_window);
    let mut pause = FIRST_PAUSE;
    for attempt in 1.. {
        match connect(server, settings, deadline) {
            Err(Failure::Lost { kind, .. })
                if kind != ErrorKind::TimedOut
                    && attempt < settings.connection_retry
                    && Instant::now() + pause < deadline =>
            {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    Err(Failure::lost(server, ErrorKind::TimedOut, "it was not reached"))
}
