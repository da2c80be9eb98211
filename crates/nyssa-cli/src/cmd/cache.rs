//! `nyssa cache`: shows what is in a cache folder, checks it, and removes it.

use std::path::Path;

use clap::{Args, Subcommand};
use globset::Glob;
use nyssa_io::cache::{Cache, CacheReport, CachedResource, VerifiedResource};
use serde_json::json;

use crate::app::App;
use crate::exit_code::{FINE, PROBLEM};
use crate::failure::{Failure, Result};
use crate::output::Columns;
use crate::units::{count, counted, size};

/// Show, check or empty the cache of remote data
///
/// The cache keeps what was read of remote files in a folder of this machine; see docs/cache.md. The option
/// --cache or the environment variable NYSSA_CACHE names the folder.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nyssa cache ls --cache /scratch/me/cache\n  nyssa cache clear 'root://host/*'"
)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the files of which the cache keeps something; the file that was used last comes first
    Ls,
    /// Show how much the cache keeps
    Stat,
    /// Remove files from the cache: all, or those whose URLs match
    Clear {
        /// URLs, or patterns with *, ? and [...]
        urls: Vec<String>,
    },
    /// Check all bytes of the cache by their checksums; the exit code is 1 if some are damaged
    ///
    /// Damaged bytes are not used: they are fetched from their server again when they are read.
    Verify,
}

pub(crate) fn run(args: &CacheArgs, app: &mut App<'_>) -> Result<u8> {
    let Some(folder) = app.cache_folder.clone() else {
        let hint = "write --cache DIR, or set the environment variable NYSSA_CACHE";
        return Err(Failure::Usage("no cache folder is named".to_owned(), Some(hint.to_owned())));
    };
    let cache = Cache::find(folder).map_err(nyssa_root::Error::from)?;
    match &args.action {
        Action::Ls => list(&report(&cache)?, app),
        Action::Stat => stat(&cache, &report(&cache)?, app),
        Action::Clear { urls } => clear(&cache, urls, app),
        Action::Verify => verify(&cache, app),
    }
}

fn report(cache: &Cache) -> Result<CacheReport> {
    Ok(cache.report().map_err(nyssa_root::Error::from)?)
}

fn list(report: &CacheReport, app: &mut App<'_>) -> Result<u8> {
    if app.json {
        app.print_json(report)?;
        return Ok(FINE);
    }
    let mut table = Columns::new(&["URL", ">size", ">kept", ">unpacked", ">on disk", "last use"]);
    for resource in &report.resources {
        let name = resource.url.clone().unwrap_or_else(|| format!("{} (damaged)", resource.folder));
        let sizes =
            [resource.size, resource.stored_bytes, resource.unpacked_bytes, resource.disk_bytes]
                .map(size);
        let [all, stored, unpacked, disk] = sizes;
        table.row([name, all, stored, unpacked, disk, resource.last_use()]);
    }
    table.print(app)?;
    Ok(FINE)
}

fn stat(cache: &Cache, report: &CacheReport, app: &mut App<'_>) -> Result<u8> {
    let all = &report.resources;
    let sum = |bytes: fn(&CachedResource) -> u64| all.iter().map(bytes).sum::<u64>();
    let stored = sum(|item| item.stored_bytes);
    let unpacked = sum(|item| item.unpacked_bytes);
    let disk = sum(|item| item.disk_bytes);
    let folder = cache.folder().display().to_string();
    if app.json {
        app.print_json(&json!({
            "folder": folder,
            "files": all.len(),
            "stored_bytes": stored,
            "unpacked_bytes": unpacked,
            "disk_bytes": disk,
        }))?;
        return Ok(FINE);
    }
    let mut table = Columns::new(&["folder", ">files", ">kept", ">unpacked", ">on disk"]);
    table.row([folder, count(all.len() as u64), size(stored), size(unpacked), size(disk)]);
    table.print(app)?;
    Ok(FINE)
}

fn clear(cache: &Cache, urls: &[String], app: &mut App<'_>) -> Result<u8> {
    let mut patterns = Vec::new();
    for text in urls {
        let wrong = |error| Failure::Usage(format!("{text:?} is not a pattern: {error}"), None);
        patterns.push((text, Glob::new(text).map_err(wrong)?.compile_matcher()));
    }
    let selects = |url: Option<&str>| match url {
        _ if patterns.is_empty() => true,
        None => false,
        Some(url) => {
            patterns.iter().any(|(text, glob)| *text == url || glob.is_match(Path::new(url)))
        }
    };
    let (files, bytes) = cache.clear(selects).map_err(nyssa_root::Error::from)?;
    if app.json {
        app.print_json(&json!({ "files": files, "bytes": bytes }))?;
    } else {
        app.message(&format!("removed {}, {}", counted(files, "file"), size(bytes)));
    }
    Ok(FINE)
}

fn verify(cache: &Cache, app: &mut App<'_>) -> Result<u8> {
    let report = cache.verify().map_err(nyssa_root::Error::from)?;
    let is_sound = report.iter().all(VerifiedResource::is_sound);
    if app.json {
        app.print_json(&json!({ "files": report, "is_sound": is_sound }))?;
    } else {
        let mut table =
            Columns::new(&["URL", ">checked", ">bytes", ">damaged blocks", ">damaged records"]);
        for item in report {
            let name = if item.is_unknown { format!("{} (damaged)", item.name) } else { item.name };
            let [blocks, records] = [item.damaged_blocks, item.damaged_records].map(count);
            table.row([name, count(item.checked), size(item.bytes), blocks, records]);
        }
        table.print(app)?;
    }
    Ok(if is_sound { FINE } else { PROBLEM })
}
