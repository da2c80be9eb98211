//! Tests credentials of every kind, from services and files that the tests make.

use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

use super::of_variables;
use crate::testing::{WebAnswer, WebRequest, WebServer};

/// Returns the key, secret and token for variables of the environment.
fn resolved(
    variables: &[(&str, &str)],
) -> Result<Option<(String, String, Option<String>)>, String> {
    let var = |wanted: &str| {
        let variable = variables.iter().find(|(name, _)| *name == wanted)?;
        Some(variable.1.to_owned())
    };
    let text = |text: &str| text.to_owned();
    match of_variables(&var) {
        Ok(keys) => Ok(keys.map(|k| (text(k.key()), text(k.secret()), k.token().map(text)))),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the key, where there is one.
fn key(variables: &[(&str, &str)]) -> Option<String> {
    resolved(variables).unwrap().map(|(key, ..)| key)
}

fn keys(key: &str) -> Result<Option<(String, String, Option<String>)>, String> {
    Ok(Some((key.to_owned(), "secret".to_owned(), Some("token".to_owned()))))
}

/// Returns the time in `seconds` as services write it.
fn after(seconds: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    Timestamp::from_second((now + seconds) as i64).unwrap().to_string()
}

fn json(key: &str, seconds: u64) -> String {
    format!(
        r#"{{"Version": 1, "AccessKeyId": "{key}", "SecretAccessKey": "secret", "Token": "token", "Expiration": "{}"}}"#,
        after(seconds)
    )
}

fn server(answer: impl Fn(&WebRequest, usize) -> WebAnswer + Send + Sync + 'static) -> WebServer {
    WebServer::start(answer).unwrap()
}

#[test]
fn containers_have_a_service() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token").display().to_string();
    fs::write(&file, "of-the-file\n").unwrap();
    let server = server(|request, _| match request.header("authorization") {
        Some("of-the-variable") => WebAnswer::status(200, &json("container", 3600)),
        Some("of-the-file") => WebAnswer::status(200, &json("file", 3600)),
        _ => WebAnswer::status(403, "no token"),
    });
    let (one, two, three) = (server.url("/one?x=1"), server.url("/two"), server.url("/three"));
    let full = |url| ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    let token = ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "of-the-variable");
    assert_eq!(resolved(&[full(one.as_str()), token]), keys("container"));
    assert_eq!(
        resolved(&[full(&two), token, ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &file)]),
        keys("file")
    );
    assert_eq!(server.requests()[0].target, "/one?x=1");
    // What was given is kept.
    assert_eq!(resolved(&[full(&one), token]), keys("container"));
    assert_eq!(server.requests().len(), 2);
    let error = resolved(&[full(&three)]).unwrap_err();
    let expected = format!(
        "no credentials from the service of the container at {three}: the server answered 403 Forbidden: \
         no token"
    );
    assert_eq!(error, expected);
    let error = resolved(&[full("http://example.org/keys"), token]).unwrap_err();
    let expected = "no credentials from the service of the container at http://example.org/keys: \
                    nyssa sends tokens and keys only over https://, or to this machine";
    assert_eq!(error, expected);
}

#[test]
fn instances_have_a_service() {
    let server = server(|request, _| {
        let session = request.header("x-aws-ec2-metadata-token");
        match (request.method.as_str(), request.target.as_str(), session) {
            ("PUT", "/latest/api/token", None) => {
                assert_eq!(request.header("x-aws-ec2-metadata-token-ttl-seconds"), Some("21600"));
                WebAnswer::status(200, "session")
            }
            ("GET", "/latest/meta-data/iam/security-credentials/", Some("session")) => {
                WebAnswer::status(200, "role\n")
            }
            ("GET", "/latest/meta-data/iam/security-credentials/role", Some("session")) => {
                WebAnswer::status(200, &json("instance", 3600))
            }
            _ => WebAnswer::status(401, ""),
        }
    });
    let url = server.url("/");
    let service = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str());
    assert_eq!(resolved(&[service]), keys("instance"));
    assert_eq!(resolved(&[service, ("AWS_EC2_METADATA_DISABLED", "true")]), Ok(None));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn machines_without_a_service_lose_a_second_once() {
    let silent = server(|_, _| WebAnswer {
        delay: Duration::from_secs(60),
        ..WebAnswer::status(200, "session")
    });
    let url = silent.url("");
    let begin = Instant::now();
    for _ in 0..3 {
        assert_eq!(resolved(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url)]), Ok(None));
    }
    assert!(begin.elapsed() < Duration::from_millis(1_800), "{:?}", begin.elapsed());
    // A machine that has the service, but no role.
    let without = server(|request, _| match request.method.as_str() {
        "PUT" => WebAnswer::status(200, "session"),
        _ => WebAnswer::status(404, ""),
    });
    assert_eq!(resolved(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &without.url(""))]), Ok(None));
}

#[test]
fn web_identities_become_roles() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token").display().to_string();
    fs::write(&file, "to ken+\n").unwrap();
    let server = server(|request, number| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let expected = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Arole&\
                        RoleSessionName=me&WebIdentityToken=to+ken%2B";
        if (request.method.as_str(), body.as_str()) != ("POST", expected) {
            let said = "<Error><Code>AccessDenied</Code><Message>other role</Message></Error>";
            return WebAnswer::status(403, said);
        }
        if number == 0 {
            return WebAnswer::status(503, "");
        }
        let xml = format!(
            "<R><Credentials><AccessKeyId>identity</AccessKeyId><SecretAccessKey>secret\
             </SecretAccessKey><SessionToken>token</SessionToken><Expiration>{}</Expiration>\
             </Credentials></R>",
            after(3600)
        );
        WebAnswer::status(200, &xml)
    });
    let url = server.url("");
    let mut variables = [
        ("AWS_ENDPOINT_URL_STS", url.as_str()),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file.as_str()),
        ("AWS_ROLE_ARN", "arn:aws:role"),
        ("AWS_ROLE_SESSION_NAME", "me"),
    ];
    assert_eq!(resolved(&variables), keys("identity"));
    variables[2].1 = "other";
    let error = resolved(&variables).unwrap_err();
    let expected = format!(
        "no credentials from the token service {url} for the role other: the server answered 403 \
         Forbidden: AccessDenied: other role"
    );
    assert_eq!(error, expected);
    // The profile may name the same.
    let config = folder.path().join("config").display().to_string();
    let text = format!(
        "[default]\nweb_identity_token_file = {file}\nrole_arn = arn:aws:role\nrole_session_name = me\n"
    );
    fs::write(&config, text).unwrap();
    assert_eq!(resolved(&[variables[0], ("AWS_CONFIG_FILE", &config)]), keys("identity"));
}

#[cfg(unix)]
#[test]
fn profiles_name_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("keys"), json("process", 3600).replace("Token", "SessionToken")).unwrap();
    let config = format!(
        "[default]\ncredential_process = cat {}\n[profile bad]\ncredential_process = exit 3\n\
         [profile odd]\ncredential_process = echo secret\n",
        path("keys")
    );
    fs::write(path("config"), config).unwrap();
    let file = path("config");
    let config = ("AWS_CONFIG_FILE", file.as_str());
    assert_eq!(resolved(&[config]), keys("process"));
    let error = |profile| resolved(&[config, ("AWS_PROFILE", profile)]).unwrap_err();
    let start = "no credentials from the credential_process of the profile: ";
    assert_eq!(error("bad"), format!("{start}it ended with the exit status: 3"));
    let why = "the answer has no AccessKeyId and SecretAccessKey in JSON";
    assert_eq!(error("odd"), format!("{start}{why}"), "what it printed may be a secret");
}

#[cfg(unix)]
#[test]
fn the_order_is_that_of_the_tools_of_aws() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("keys"), json("process", 3600)).unwrap();
    let process = format!("[default]\ncredential_process = cat {}\n", path("keys"));
    fs::write(path("config"), process).unwrap();
    let keys = "[default]\naws_access_key_id = file\naws_secret_access_key = s\n";
    fs::write(path("credentials"), keys).unwrap();
    let container = server(|_, _| WebAnswer::status(200, &json("container", 3600)));
    let instance = server(|_, _| WebAnswer::status(404, ""));
    let (container, instance) = (container.url("/order"), instance.url("/order"));
    let (config, shared) = (path("config"), path("credentials"));
    let all = [
        ("AWS_ACCESS_KEY_ID", "environment"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_SHARED_CREDENTIALS_FILE", shared.as_str()),
        ("AWS_CONFIG_FILE", config.as_str()),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.as_str()),
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.as_str()),
    ];
    let keys: Vec<_> = [0, 2, 3, 4, 5].iter().map(|&first| key(&all[first..])).collect();
    let expected = [Some("environment"), Some("file"), Some("process"), Some("container"), None];
    assert_eq!(keys, expected.map(|key| key.map(str::to_owned)));
}

#[test]
fn half_a_pair_never_means_no_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials").display().to_string();
    let text = "[id]\naws_access_key_id = id\n[secret]\naws_secret_access_key = s\n\
                [token]\nweb_identity_token_file = f\n[role]\nrole_arn = r\n";
    fs::write(&file, text).unwrap();
    let shared = ("AWS_SHARED_CREDENTIALS_FILE", file.as_str());
    let none = ("AWS_EC2_METADATA_DISABLED", "true");
    for (variables, there, missing) in [
        ([("AWS_ACCESS_KEY_ID", "x"), none], "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ([("AWS_SECRET_ACCESS_KEY", "x"), none], "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"),
        ([("AWS_PROFILE", "id"), shared], "aws_access_key_id", "aws_secret_access_key"),
        ([("AWS_PROFILE", "secret"), shared], "aws_secret_access_key", "aws_access_key_id"),
        (
            [("AWS_WEB_IDENTITY_TOKEN_FILE", "f"), none],
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_ROLE_ARN",
        ),
        ([("AWS_PROFILE", "token"), shared], "web_identity_token_file", "role_arn"),
    ] {
        let expected = format!("{there} is set and {missing} is not: set both or none");
        assert_eq!(resolved(&variables), Err(expected));
    }
    let error = resolved(&[("AWS_PROFILE", "role"), shared]).unwrap_err();
    assert!(error.starts_with("the profile has role_arn and nothing that gives"), "{error}");
    let error = resolved(&[("AWS_PROFILE", "typo"), shared]).unwrap_err();
    assert!(error.starts_with("there is no profile \"typo\" (AWS_PROFILE) in "), "{error}");
}

#[test]
fn credentials_are_renewed_before_they_expire() {
    let server = server(|_, number| {
        let key = ["first", "second"][number.min(1)];
        WebAnswer::status(200, &json(key, if number == 0 { 3 } else { 3600 }))
    });
    let url = server.url("/renewed");
    let variables = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", url.as_str())];
    assert_eq!(key(&variables).as_deref(), Some("first"));
    assert_eq!(key(&variables).as_deref(), Some("first"));
    // They are valid for two seconds at least, and are renewed after half of their time.
    std::thread::sleep(Duration::from_millis(1_600));
    assert_eq!(key(&variables).as_deref(), Some("second"));
    assert_eq!(key(&variables).as_deref(), Some("second"));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_token_that_is_missing_is_named() {
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:9/keys"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "no/such/file"),
    ];
    let expected = "no credentials from the service of the container at http://127.0.0.1:9/keys: the token \
                    in no/such/file: No such file or directory (os error 2)";
    assert_eq!(resolved(&variables).unwrap_err(), expected);
}

#[test]
#[cfg(unix)]
fn profiles_with_sso_or_a_source_are_left_to_the_tools_of_aws() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    if let Ok(expected) = std::env::var("NYSSA_TEST_EXPECTED") {
        let var = |name: &str| std::env::var(name).ok();
        let keys = of_variables(&var).map(|keys| keys.unwrap().key().to_owned());
        let key_or_error = keys.unwrap_or_else(|error| error.to_string());
        assert_eq!(key_or_error, expected);
        return;
    }
    let config = "[profile one]\nsso_session = x\n[profile two]\nsource_profile = one\n";
    fs::write(path("config"), config).unwrap();
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = 'configure export-credentials --profile one --format process' ] || exit 4\n\
         echo '{}'\n",
        json("of-aws", 3600)
    );
    fs::write(path("aws"), script).unwrap();
    fs::set_permissions(path("aws"), fs::Permissions::from_mode(0o755)).unwrap();
    let programs = format!("{}:/usr/bin:/bin", folder.path().display());
    for (profile, expected) in [
        ("one", "of-aws"),
        (
            "two",
            "no credentials from `aws configure export-credentials --profile 'two' --format process`, which \
             knows profiles with SSO or source_profile: it ended with the exit status: 4",
        ),
    ] {
        nyssa_testdata::run_inside(
            "s3::credentials::tests::profiles_with_sso_or_a_source_are_left_to_the_tools_of_aws",
            &[
                ("AWS_PROFILE", profile),
                ("AWS_CONFIG_FILE", &path("config")),
                ("PATH", &programs),
                ("NYSSA_TEST_EXPECTED", expected),
            ],
        );
    }
}
