//! Finds the server that has a bucket.

use std::io::{self, ErrorKind};

use rusty_s3::{Bucket, UrlStyle};
use url::Url;

use super::credentials::{Variables, variable};
use super::profile::Profile;

const REGION: &str = "us-east-1";

/// Returns the bucket on the server of the environment. It makes the URLs of requests.
///
/// # Errors
/// `InvalidInput` for settings that are not valid.
pub(super) fn bucket(name: &str) -> io::Result<Bucket> {
    of_variables(name, &variable)
}

fn of_variables(name: &str, var: Variables<'_>) -> io::Result<Bucket> {
    let profile = Profile::find(var)?;
    let of_profile = |key: &str| profile.get(key).map(str::to_owned);
    let region = var("AWS_REGION").or_else(|| var("AWS_DEFAULT_REGION"));
    let region = region.or_else(|| of_profile("region")).unwrap_or_else(|| REGION.to_owned());
    let endpoint = var("AWS_ENDPOINT_URL_S3").or_else(|| var("AWS_ENDPOINT_URL"));
    let endpoint = endpoint.or_else(|| of_profile("endpoint_url"));
    // Private servers mostly have one name for all buckets, and the certificates of AWS have no names with
    // dots.
    let style = match (var("NYSSA_S3_ADDRESSING").as_deref(), &endpoint) {
        (Some("virtual"), _) => UrlStyle::VirtualHost,
        (Some("path"), _) => UrlStyle::Path,
        (Some(other), _) => {
            let why = format!("NYSSA_S3_ADDRESSING must be \"path\" or \"virtual\", not {other:?}");
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        (None, None) if !name.contains('.') => UrlStyle::VirtualHost,
        _ => UrlStyle::Path,
    };
    let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let refused = |why: &dyn std::fmt::Display| {
        // Before an `@` there may be a key and its secret.
        let name = name.rsplit('@').next().unwrap_or_default();
        let endpoint = crate::shown(&endpoint);
        let why = format!("the endpoint {endpoint} cannot have the bucket {name:?}: {why}");
        io::Error::new(ErrorKind::InvalidInput, why)
    };
    let url = Url::parse(&endpoint).map_err(|error| refused(&error))?;
    Bucket::new(url, style, name.to_owned(), region).map_err(|error| refused(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(name: &str, variables: &[(&str, &str)]) -> String {
        let var = |wanted: &str| {
            let variable = variables.iter().find(|(name, _)| *name == wanted)?;
            Some(variable.1.to_owned())
        };
        match of_variables(name, &var) {
            Ok(bucket) => bucket.object_url("dir/a b.root").to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn buckets_are_where_the_environment_says() {
        assert_eq!(url("b", &[]), "https://b.s3.us-east-1.amazonaws.com/dir/a%20b.root");
        let region = [("AWS_REGION", "eu-west-3")];
        assert_eq!(url("b", &region), "https://b.s3.eu-west-3.amazonaws.com/dir/a%20b.root");
        assert_eq!(url("b.c", &region), "https://s3.eu-west-3.amazonaws.com/b.c/dir/a%20b.root");
        let own =
            [("AWS_ENDPOINT_URL", "http://here:1"), ("AWS_ENDPOINT_URL_S3", "https://s3.cern.ch")];
        assert_eq!(url("b", &own), "https://s3.cern.ch/b/dir/a%20b.root");
        let hosts = [own[1], ("NYSSA_S3_ADDRESSING", "virtual")];
        assert_eq!(url("b", &hosts), "https://b.s3.cern.ch/dir/a%20b.root");
        let wrong = [("NYSSA_S3_ADDRESSING", "x")];
        assert_eq!(
            url("b", &wrong),
            "NYSSA_S3_ADDRESSING must be \"path\" or \"virtual\", not \"x\""
        );
        let wrong = [("AWS_ENDPOINT_URL", "here")];
        let expected =
            "the endpoint here cannot have the bucket \"b\": relative URL without a base";
        assert_eq!(url("b", &wrong), expected);
        // A wrongly written URL with a key and its secret does not show them.
        assert_eq!(url("key:secret@b", &wrong), expected);
        let wrong = [("AWS_ENDPOINT_URL", "https://key:secret@:9/")];
        assert!(!url("b", &wrong).contains("secret"), "{}", url("b", &wrong));
    }
}
