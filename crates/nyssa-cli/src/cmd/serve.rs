//! `nyssa serve`: offers files by HTTP.

use std::path::PathBuf;

use clap::Args;
use nyssa_root::Error;
use nyssa_serve::{ServeOptions, Server};

use crate::app::App;
use crate::exit_code::FINE;
use crate::failure::Result;
use crate::output::printable;

/// Offer files by HTTP, with ranges
///
/// Folders and files of this machine are offered, and those that nyssa reads from elsewhere (root://, https://,
/// s3://). With --cache, bytes of an origin that were read once come from the cache. Nothing
/// outside the given folders can be reached, also not through links, and names that begin with a dot are not
/// offered. It prints the URL, and runs until Ctrl-C.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa serve data/\n  \
    nyssa serve root://eos.example.org//store --cache cache --host 0.0.0.0 \\\n    \
    --token-file tokens --tls-cert cert.pem --tls-key key.pem")]
pub(crate) struct Serve {
    /// Folders and files: paths or URLs. A single folder is offered as /; several ones are offered under their
    /// names
    #[arg(required = true, value_name = "DIR|URL")]
    roots: Vec<String>,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Address of this machine to listen on; 0.0.0.0 lets other machines in
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Answer only requests with a token of this file, which has one on each line (Authorization: Bearer TOKEN)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Chain of certificates, as PEM, to speak HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the first certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

pub(crate) fn run(args: &Serve, app: &mut App<'_>) -> Result<u8> {
    let options = ServeOptions {
        roots: args.roots.clone(),
        host: args.host.clone(),
        port: args.port,
        token_file: args.token_file.clone(),
        tls: args.tls_cert.clone().zip(args.tls_key.clone()),
    };
    let report = |text: &str| eprintln!("{}", printable(text));
    let server = Server::bind(&options, report).map_err(Error::from)?;
    let url = server.url();
    if app.json {
        app.print_json(&serde_json::json!({ "url": url }))?;
    } else {
        writeln!(app.out, "{url}")?;
    }
    app.out.flush()?;
    if options.token_file.is_some() && options.tls.is_none() {
        app.message("note: without --tls-cert, tokens are sent without encryption");
    }
    server.run(app.stop());
    Ok(FINE)
}
