//! Finds the proxies of the environment.

use std::env;

use ureq::Proxy;
use url::Url;

/// Returns the proxy for URLs of a scheme: `https_proxy` or `http_proxy`, else `all_proxy`, in lower or upper
/// case, and the hosts of `no_proxy` without it. A text that is not a valid proxy is an error, because a
/// request that does not go through the expected proxy would surprise the user. The proxy gets its name and password
/// only with `credentials`.
pub(super) fn of_environment(scheme: &str, credentials: bool) -> Result<Option<Proxy>, String> {
    of_variables(scheme, credentials, |name| env::var(name).ok())
}

fn of_variables(
    scheme: &str,
    credentials: bool,
    var: impl Fn(&str) -> Option<String>,
) -> Result<Option<Proxy>, String> {
    let either = |name: &str| {
        [name.to_owned(), name.to_ascii_uppercase()]
            .into_iter()
            .find_map(|name| Some((var(&name).filter(|value| !value.is_empty())?, name)))
    };
    let Some((value, name)) = either(&format!("{scheme}_proxy")).or_else(|| either("all_proxy"))
    else {
        return Ok(None);
    };
    let refused = || format!("{name} is not the URL of a proxy");
    let url = if value.contains("://") { value } else { format!("http://{value}") };
    let url = Url::parse(&url).map_err(|_| refused())?;
    let protocol = url.scheme().try_into().map_err(|_| refused())?;
    let mut builder = Proxy::builder(protocol).host(url.host_str().ok_or_else(refused)?);
    if let Some(port) = url.port_or_known_default() {
        builder = builder.port(port);
    }
    if credentials && !url.username().is_empty() {
        builder = builder.username(&super::location::decoded(url.username()));
        if let Some(password) = url.password() {
            builder = builder.password(&super::location::decoded(password));
        }
    }
    let (excluded, _) = either("no_proxy").unwrap_or_default();
    for host in excluded.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        builder = builder.no_proxy(host);
        // `.cern.ch` and `cern.ch` both mean the domain and all hosts in it, as for curl.
        let bare = host.trim_start_matches("*.").trim_start_matches('.');
        if host != "*" && !bare.is_empty() {
            builder = builder.no_proxy(bare).no_proxy(&format!(".{bare}"));
        }
    }
    builder.build().map(Some).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(scheme: &str, variables: &[(&str, &str)]) -> Result<Option<Proxy>, String> {
        let var = |name: &str| {
            let variable = variables.iter().find(|(key, _)| *key == name)?;
            Some(variable.1.to_owned())
        };
        of_variables(scheme, true, var)
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let both = [("http_proxy", "plain:3128"), ("HTTPS_PROXY", "http://u:p%20w@secure:8080")];
        let plain = proxy("http", &both).unwrap().unwrap();
        assert_eq!((plain.host(), plain.port()), ("plain", 3128));
        let secure = proxy("https", &both).unwrap().unwrap();
        assert_eq!((secure.host(), secure.port()), ("secure", 8080));
        assert_eq!((secure.username(), secure.password()), (Some("u"), Some("p w")));
        assert!(proxy("http", &both[1..]).unwrap().is_none());
        assert!(proxy("http", &[("ALL_PROXY", "http://any")]).unwrap().is_some());
        let wrong = proxy("https", &[("https_proxy", "gopher://host")]).unwrap_err();
        assert_eq!(wrong, "https_proxy is not the URL of a proxy");
    }

    #[test]
    fn hosts_without_proxy_are_kept() {
        let variables = [("http_proxy", "p"), ("no_proxy", "localhost, .cern.ch")];
        let proxy = proxy("http", &variables).unwrap().unwrap();
        let without = |url: &str| proxy.is_no_proxy(&url.parse().unwrap());
        assert!(without("http://localhost:80/") && without("http://eos.cern.ch/"));
        assert!(without("http://cern.ch/") && !without("http://example.org/"));
    }
}
