//! Reads recordings of the recorder plug-in of XRootD's client.
//!
//! Each line has seven fields with commas between them: the number of the file object, the action, its start, its
//! arguments, its end, the status, and the response. Times are seconds of the system's clock. Arguments and
//! responses have semicolons between their parts.

use std::collections::HashMap;

use nyssa_observe::{Event, Pair, RequestFacts, VERSION};

/// A line of a recording.
struct Action<'a> {
    object: u64,
    name: &'a str,
    start: f64,
    arguments: Vec<&'a str>,
    end: f64,
    status: &'a str,
    response: &'a str,
}

/// Returns the events of a recording. Actions other than opens, reads, vectored reads and closes are left out.
///
/// # Errors
/// The reason, with the number of the line.
pub(super) fn parse(text: &str) -> Result<Vec<Event>, String> {
    let mut actions = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let action = action(line).ok_or_else(|| {
            format!(
                "line {} is neither a line of a trace nor a line of a recording of XrdCl",
                number + 1
            )
        })?;
        actions.push((number + 1, action));
    }
    let begin = actions.iter().map(|(_, action)| action.start).fold(f64::INFINITY, f64::min);
    let mut events = vec![Event::Trace {
        version: VERSION,
        nyssa: String::new(),
        time: time(begin),
        process: 0,
    }];
    // An object that is opened again is another file.
    let mut files: HashMap<u64, u64> = HashMap::new();
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    for (line, action) in &actions {
        let wrong = || format!("line {line}: the arguments of {} are wrong", action.name);
        let (start, end) = (action.start - begin, action.end - begin);
        if action.name == "Open" {
            let file = sizes.len() as u64 + 1;
            files.insert(action.object, file);
            sizes.insert(file, 0);
            let name = (*action.arguments.first().ok_or_else(wrong)?).to_owned();
            let known = Vec::new();
            events.push(Event::Open { file, name, size: 0, known, start, end, thread: file });
            continue;
        }
        let Some(&file) = files.get(&action.object) else { continue };
        let error = (!action.status.starts_with("[SUCCESS]")).then(|| action.status.to_owned());
        let mut ends_at = 0;
        match action.name {
            "Read" | "PgRead" => {
                let Pair(offset, length) = *pairs(action)?.first().ok_or_else(wrong)?;
                // At the end of a file, fewer bytes are received than were requested.
                let came = action.response.split(';').next().and_then(|text| text.parse().ok());
                let length = came.unwrap_or(length);
                ends_at = offset.saturating_add(length);
                let facts = RequestFacts { file, plan: None, start, end, thread: file, error };
                events.push(Event::Read { offset, length, facts });
            }
            "VectorRead" => {
                let ranges = pairs(action)?;
                ends_at = ranges.iter().map(|pair| pair.range().end).max().unwrap_or(0);
                let facts = RequestFacts { file, plan: None, start, end, thread: file, error };
                events.push(Event::Readv { ranges, facts });
            }
            "Stat" => {
                let size = action.response.split(';').next().and_then(|text| text.parse().ok());
                ends_at = size.unwrap_or(0);
            }
            "Close" => events.push(Event::Close { file, start, end, thread: file }),
            _ => {}
        }
        let size = sizes.entry(file).or_default();
        *size = ends_at.max(*size);
    }
    for event in &mut events {
        if let Event::Open { file, size, .. } = event {
            *size = sizes.get(file).copied().unwrap_or_default();
        }
    }
    Ok(events)
}

/// Splits a line. XRootD 5.5 and newer put quotes around the fields. A status may have commas in its message.
fn action(line: &str) -> Option<Action<'_>> {
    let line = line.trim();
    let (line, comma) = match line.strip_prefix('"') {
        Some(quoted) => (quoted.strip_suffix('"')?, "\",\""),
        None => (line, ","),
    };
    let mut fields = line.splitn(6, comma);
    let object = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    let start = fields.next()?.parse().ok()?;
    let arguments = fields.next()?.split(';').collect();
    let end = fields.next()?.parse().ok()?;
    let (status, response) = fields.next()?.rsplit_once(comma)?;
    Some(Action { object, name, start, arguments, end, status, response })
}

/// Returns the offsets and lengths among the arguments. The last argument is the time limit.
fn pairs(action: &Action<'_>) -> Result<Vec<Pair>, String> {
    let numbers = action.arguments.iter().map(|text| text.parse::<u64>());
    let numbers: Vec<u64> = numbers
        .collect::<Result<_, _>>()
        .map_err(|_| format!("the arguments of {} are not numbers", action.name))?;
    let pairs = numbers.get(..numbers.len().saturating_sub(1)).unwrap_or_default();
    Ok(pairs.chunks_exact(2).map(|pair| Pair(pair[0], pair[1])).collect())
}

/// Returns seconds of the system's clock as a time in UTC.
fn time(seconds: f64) -> String {
    let micros = (seconds * 1e6).clamp(0.0, 1e18) as i64;
    jiff::Timestamp::from_microsecond(micros).map(|time| time.to_string()).unwrap_or_default()
}
