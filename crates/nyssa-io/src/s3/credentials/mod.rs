//! Finds the keys that requests are signed with. It looks in the places of the tools of AWS, in the same order:
//!
//! 1. the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`;
//! 2. a web identity that the environment names ([`web_identity`]);
//! 3. the profile: its keys, its web identity, its process, the command line of AWS ([`process`]);
//! 4. the service of the container ([`container`]);
//! 5. the service of the instance ([`instance`]).
//!
//! If there are no keys, requests are not signed, as public buckets need it.

mod container;
mod fetched;
mod instance;
mod process;
mod renewed;
#[cfg(test)]
mod tests;
mod web_identity;

use std::env;
use std::io;

use rusty_s3::Credentials;

use super::profile::{Profile, pair};
use container::Container;
use instance::Instance;
use renewed::renewed;
use web_identity::WebIdentity;

/// A function that looks up a variable of the environment.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns a variable of the environment that is not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Returns the keys for the next request, or `None` if there are none. Variables and files are read each time,
/// because other programs change them. Keys of a service or a process are kept until shortly before they
/// expire.
///
/// # Errors
/// `InvalidInput` for half a pair of keys, or an unknown profile; an error of a service or process of the environment or
/// the profile.
pub(super) fn credentials() -> io::Result<Option<Credentials>> {
    of_variables(&variable)
}

fn of_variables(var: Variables<'_>) -> io::Result<Option<Credentials>> {
    if let Some((key, secret)) = pair(var, ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])? {
        return Ok(Some(signer(key, secret, var("AWS_SESSION_TOKEN"))));
    }
    let profile = Profile::find(var)?;
    if let Some(identity) = WebIdentity::of_environment(var, &profile)? {
        return renewed(&identity.key(), || identity.fetch().map(Some));
    }
    if let Some((key, secret)) = profile.keys()? {
        return Ok(Some(signer(key, secret, profile.get("aws_session_token").map(str::to_owned))));
    }
    if let Some(identity) = WebIdentity::of_profile(var, &profile)? {
        return renewed(&identity.key(), || identity.fetch().map(Some));
    }
    if let Some(command) = profile.get("credential_process") {
        return renewed(&format!("process {command}"), || process::fetch(command).map(Some));
    }
    if let Some(name) = profile.of_aws(var) {
        return renewed(&format!("profile {name}"), || process::fetch_by_aws(&name).map(Some));
    }
    if profile.get("role_arn").is_some() {
        let why = "the profile has role_arn and nothing that gives the right to it: set source_profile, \
                   credential_source or web_identity_token_file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if let Some(container) = Container::find(var) {
        return renewed(&container.key(), || container.fetch().map(Some));
    }
    match Instance::find(var) {
        Some(instance) => renewed(&instance.key(), || instance.fetch()),
        None => Ok(None),
    }
}

fn signer(key: String, secret: String, token: Option<String>) -> Credentials {
    match token {
        Some(token) => Credentials::new_with_token(key, secret, token),
        None => Credentials::new(key, secret),
    }
}
