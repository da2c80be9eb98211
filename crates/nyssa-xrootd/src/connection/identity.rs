//! Makes the texts by which the client describes itself.

use std::{env, fs};

use crate::settings::Settings;
use crate::url::Server;

/// Returns the user that the URL names, or the user who runs this program.
pub(crate) fn user(server: &Server, settings: &Settings) -> String {
    let known = || ["USER", "LOGNAME"].iter().find_map(|name| env::var(name).ok());
    let user = server.user.clone().or_else(known);
    let user = user.filter(|_| !settings.without_credentials).unwrap_or_default();
    match clean(&user) {
        user if user.is_empty() => "nobody".to_owned(),
        user => user,
    }
}

/// Returns text about the client for the monitoring of the server.
pub(super) fn login_cgi(settings: &Settings) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| env::var("HOSTNAME").ok()).unwrap_or_default();
    format!(
        "xrd.appname={}&xrd.info={}&xrd.hostname={}&xrd.rn=nyssa-{}",
        clean(&settings.app_name),
        clean(&settings.mon_info),
        clean(host.trim()),
        env!("CARGO_PKG_VERSION")
    )
}

/// Replaces the characters that would divide a text into more fields.
fn clean(text: &str) -> String {
    let sound = |c: char| c.is_ascii_graphic() && !"&=?".contains(c);
    text.chars().take(200).map(|c| if sound(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::XrootdOptions;

    #[test]
    fn names_cannot_add_fields() {
        let options = XrootdOptions {
            app_name: Some("a&xrd.info=b".to_owned()),
            mon_info: Some("my job".to_owned()),
            ..XrootdOptions::default()
        };
        let cgi = login_cgi(&Settings::new(&options).unwrap());
        assert!(cgi.starts_with("xrd.appname=a_xrd.info_b&xrd.info=my_job&xrd.hostname="), "{cgi}");
    }
}
