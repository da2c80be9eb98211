//! Gets credentials of a role for the token of a web identity, from the token service of AWS.

use std::fs;
use std::io::{self, ErrorKind};

use ureq::http::Method;
use url::Url;

use super::Variables;
use super::fetched::{Fetched, ask, failed, url};
use crate::http::{Client, HttpOptions, Patience, Request, retried};
use crate::s3::profile::Profile;

/// The version of the token service.
const VERSION: &str = "2011-06-15";

/// A role, and the file of the token that gives the right to it.
pub(super) struct WebIdentity {
    token_file: String,
    role: String,
    session: String,
    service: String,
}

impl WebIdentity {
    /// Returns the identity of the environment.
    ///
    /// # Errors
    /// `InvalidInput` for a token without a role.
    pub(super) fn of_environment(
        var: Variables<'_>,
        profile: &Profile,
    ) -> io::Result<Option<Self>> {
        let names = ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME"];
        Self::of(var, profile, var, names)
    }

    /// Returns the identity of the profile.
    ///
    /// # Errors
    /// `InvalidInput` for a token without a role.
    pub(super) fn of_profile(var: Variables<'_>, profile: &Profile) -> io::Result<Option<Self>> {
        let get = |key: &str| profile.get(key).map(str::to_owned);
        Self::of(var, profile, &get, ["web_identity_token_file", "role_arn", "role_session_name"])
    }

    fn of(
        var: Variables<'_>,
        profile: &Profile,
        get: Variables<'_>,
        [file, role, session]: [&str; 3],
    ) -> io::Result<Option<Self>> {
        // Other sources of credentials have a role, too.
        let Some(token_file) = get(file) else { return Ok(None) };
        let role = get(role).ok_or_else(|| {
            let why = format!("{file} is set and {role} is not: set both or none");
            io::Error::new(ErrorKind::InvalidInput, why)
        })?;
        let session = get(session);
        let session = session.unwrap_or_else(|| format!("nyssa-{}", std::process::id()));
        let service = var("AWS_ENDPOINT_URL_STS").or_else(|| var("AWS_ENDPOINT_URL"));
        let region = var("AWS_REGION").or_else(|| var("AWS_DEFAULT_REGION"));
        let region = region.or_else(|| profile.get("region").map(str::to_owned));
        let service = service.unwrap_or_else(|| match region {
            Some(region) => format!("https://sts.{region}.amazonaws.com"),
            None => "https://sts.amazonaws.com".to_owned(),
        });
        Ok(Some(Self { token_file, role, session, service }))
    }

    /// Returns the key that distinguishes this identity from others.
    pub(super) fn key(&self) -> String {
        format!("role {} {} {} {}", self.role, self.token_file, self.session, self.service)
    }

    /// Requests credentials from the token service. The file of the token is read each time, because other
    /// programs renew it.
    ///
    /// # Errors
    /// The file of the token cannot be read, or the request fails.
    pub(super) fn fetch(&self) -> io::Result<Fetched> {
        let place = format!("the token service {} for the role {}", self.service, self.role);
        self.answer().map_err(|error| failed(&place, &error))
    }

    fn answer(&self) -> io::Result<Fetched> {
        let mut request = Request::new(Method::POST, url(&self.service)?);
        let form = "application/x-www-form-urlencoded".to_owned();
        request.headers.push(("content-type", form));
        let options = HttpOptions::from_env()?;
        let client = Client::of(&options);
        let body = retried(Patience::new(options.deadline, false), || {
            request.body = Some(self.form()?.into());
            ask(&client, &request)
        })?;
        Fetched::of_xml(&String::from_utf8_lossy(&body))
    }

    fn form(&self) -> Result<String, crate::http::Failure> {
        let token = fs::read_to_string(&self.token_file).map_err(|error| {
            let why = format!("the token in {}: {error}", self.token_file);
            crate::http::Failure::of(error.kind(), why)
        })?;
        // The query of this URL has the form that the service needs.
        let form = Url::parse_with_params(
            "http://form/",
            [
                ("Action", "AssumeRoleWithWebIdentity"),
                ("Version", VERSION),
                ("RoleArn", &self.role),
                ("RoleSessionName", &self.session),
                ("WebIdentityToken", token.trim()),
            ],
        );
        Ok(form.ok().and_then(|form| form.query().map(str::to_owned)).unwrap_or_default())
    }
}
