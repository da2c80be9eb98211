//! Prints the parts that the reports of `convert`, `rewrite` and `merge` share.

use nyssa_jobs::job::{ProcessUsage, Reencoded, Written};

use super::columns;
use crate::app::App;
use crate::failure::Result;
use crate::output::{Columns, names, printable};
use crate::units::{count, ratio, size};

/// One dataset that was written from one dataset of a file.
pub(super) struct Row<'a> {
    /// The path of the dataset in the input file.
    pub source: &'a str,
    /// The path of the dataset in the output file.
    pub target: &'a str,
    /// The number of top-level fields.
    pub fields: usize,
    pub written: &'a Written,
    pub reencoded: &'a Reencoded,
}

/// Prints the names of input and output, and one line of a table for each row. `target`, `before` and `after` are the
/// titles of the columns with the path in the output, and with the bytes of input and output. With `each`, every column of the output has a line
/// of its own.
pub(super) fn print(
    rows: &[Row<'_>],
    [target, before, after]: [&str; 3],
    each: bool,
    app: &mut App<'_>,
) -> Result<()> {
    for Row { source, target, written, reencoded, .. } in rows {
        let (input, output) = (&reencoded.input, &written.output);
        let line = format!("{input}:{source} -> {output}:{target}");
        writeln!(app.out, "{}\n", printable(&line))?;
    }
    let mut table = Columns::new(&[
        target,
        ">entries",
        ">fields",
        ">clusters",
        before,
        after,
        ">ratio",
        ">seconds",
        ">MB/s",
    ]);
    for Row { target, fields, written, reencoded, .. } in rows {
        table.row([
            (*target).to_owned(),
            count(written.entries),
            count(*fields as u64),
            count(written.clusters),
            size(reencoded.input_bytes),
            size(reencoded.compressed_bytes),
            ratio(reencoded.input_bytes, reencoded.compressed_bytes),
            format!("{:.2}", written.seconds),
            format!("{:.1}", written.megabytes_per_second),
        ]);
    }
    table.print(app)?;
    for row in rows {
        columns::print(&row.reencoded.columns, each, app)?;
    }
    rows.last().map_or(Ok(()), |last| file(last, app))
}

/// Prints the size of the output file, and what the job used.
fn file(Row { written, reencoded, .. }: &Row<'_>, app: &mut App<'_>) -> Result<()> {
    write!(app.out, "\nfile {}, {} threads", size(written.output_bytes), reencoded.threads)?;
    if let Some(peak) = written.peak_memory_bytes {
        write!(app.out, ", peak memory {}", size(peak))?;
    }
    if written.verified {
        write!(app.out, ", every value verified")?;
    }
    writeln!(app.out)?;
    process(written, app)
}

/// Prints how fast the process read and wrote, and how much CPU time it took.
pub(super) fn process(written: &Written, app: &mut App<'_>) -> Result<()> {
    let ProcessUsage { cpu_seconds, cpu_efficiency, .. } = written.process;
    let rate = |megabytes: f64| format!("{megabytes:.1} MB/s");
    write!(
        app.out,
        "process: read {}, wrote {}",
        rate(written.process.read_megabytes_per_second),
        rate(written.process.write_megabytes_per_second)
    )?;
    if let Some((seconds, efficiency)) = cpu_seconds.zip(cpu_efficiency) {
        write!(app.out, ", CPU time {seconds:.2} s, CPU efficiency {:.0}%", efficiency * 100.0)?;
    }
    Ok(writeln!(app.out)?)
}

/// Prints the notes of a job.
pub(super) fn notes(written: &Written, app: &mut App<'_>) -> Result<()> {
    for note in &written.notes {
        writeln!(app.out, "note: {}", printable(note))?;
    }
    Ok(())
}

/// Prints which other objects of the input file were copied, and which were not. They are the same for all
/// RNTuples of a file.
pub(super) fn others(reencoded: Option<&Reencoded>, app: &mut App<'_>) -> Result<()> {
    let Some(Reencoded { carried, left_out, .. }) = reencoded else { return Ok(()) };
    names("carried over", "object", carried, app)?;
    for object in left_out {
        writeln!(app.out, "left out {}", printable(object))?;
    }
    Ok(())
}
