//! Runs a command on each file that its arguments name.

use serde::Serialize;

use crate::app::App;
use crate::data;
use crate::exit_code::FINE;
use crate::failure::{ErrorReport, Failure, Result};
use crate::output::printable;

/// The result of a command for one file.
#[derive(Serialize)]
struct FileResult<R> {
    data: String,
    #[serde(flatten)]
    outcome: Outcome<R>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<R> {
    Result(R),
    Error(Box<ErrorReport>),
}

/// The document of several files.
#[derive(Serialize)]
struct Files<R> {
    files: Vec<FileResult<R>>,
}

/// Looks at each file that the arguments name, and prints the result. `look` gives the document of `--json` and
/// the exit code, and `print` writes it for people.
///
/// One file is printed alone, and its failure is the failure of the command. Of several files, each has its name above
/// it, and one that fails does not stop the rest. The exit code is then the largest one.
pub(super) fn each<R: Serialize>(
    arguments: &[String],
    app: &mut App<'_>,
    look: impl Fn(&str, &mut App<'_>) -> Result<(R, u8)>,
    print: impl Fn(R, &mut App<'_>) -> Result<()>,
) -> Result<u8> {
    let files = data::files(arguments)?;
    if let ([file], [_]) = (files.as_slice(), arguments) {
        let (report, code) = look(file, app)?;
        if app.json {
            app.print_json(&report)?;
        } else {
            print(report, app)?;
        }
        return Ok(code);
    }
    let (mut all, mut code) = (Vec::new(), FINE);
    for (index, file) in files.into_iter().enumerate() {
        let looked = look(&file, app);
        code = code.max(looked.as_ref().map_or_else(Failure::exit_code, |(_, code)| *code));
        if !app.json {
            let blank = if index == 0 { "" } else { "\n" };
            writeln!(app.out, "{blank}{}:", printable(&nyssa_io::shown(&file)))?;
        }
        let outcome = match looked {
            Err(failure) if failure.is_cancelled() || failure.is_broken_pipe() => {
                return Err(failure);
            }
            Err(failure) => {
                app.out.flush()?;
                failure.print(app.err);
                Outcome::Error(Box::new(failure.report(failure.exit_code())))
            }
            Ok((looked, _)) if app.json => Outcome::Result(looked),
            Ok((looked, _)) => {
                print(looked, app)?;
                continue;
            }
        };
        all.push(FileResult { data: nyssa_io::shown(file), outcome });
    }
    if app.json {
        app.print_json(&Files { files: all })?;
    }
    Ok(code)
}
