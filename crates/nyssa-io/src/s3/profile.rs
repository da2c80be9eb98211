//! Reads the files of profiles that the tools of AWS share: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// The values of one profile in the files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile(BTreeMap<String, String>);

impl Profile {
    /// Returns the profile that the environment names, or `default`. Missing files are ignored.
    ///
    /// # Errors
    /// `InvalidInput` if no file has the profile of `AWS_PROFILE`: without its keys, requests would come from another
    /// user, or from nobody. A file cannot be read.
    pub(super) fn find(var: &dyn Fn(&str) -> Option<String>) -> io::Result<Self> {
        let name = name(var);
        let path = |variable: &str, file: &str| {
            let home = || Some(PathBuf::from(var("HOME")?).join(".aws").join(file));
            var(variable).map(PathBuf::from).or_else(home)
        };
        let config = path("AWS_CONFIG_FILE", "config");
        let shared = path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        let mut profile = Self::default();
        let in_config = profile.add(&read(&config)?, &[&format!("profile {name}"), &name]);
        let in_shared = profile.add(&read(&shared)?, &[&name]);
        if in_config || in_shared || var("AWS_PROFILE").is_none() {
            return Ok(profile);
        }
        let files: Vec<_> =
            [config, shared].iter().flatten().map(|path| path.display().to_string()).collect();
        let why = format!(
            "there is no profile {name:?} (AWS_PROFILE) in {}: correct or remove AWS_PROFILE",
            files.join(" or ")
        );
        Err(io::Error::new(ErrorKind::InvalidInput, why))
    }

    /// Returns the key and the secret, if the profile has them.
    ///
    /// # Errors
    /// `InvalidInput` if it has only one of them.
    pub(super) fn keys(&self) -> io::Result<Option<(String, String)>> {
        pair(
            &|key| self.get(key).map(str::to_owned),
            ["aws_access_key_id", "aws_secret_access_key"],
        )
    }

    /// Returns a value that is not empty.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the name of the profile if only the tools of AWS can find its keys: from SSO, or from another
    /// profile.
    pub(super) fn of_aws(&self, var: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let keys = ["sso_session", "sso_start_url", "source_profile", "credential_source"];
        // The name becomes a word of a command.
        let name = Some(name(var)).filter(|name| !name.contains(['\'', '\n']));
        name.filter(|_| keys.iter().any(|key| self.get(key).is_some()))
    }

    /// Adds the values in some sections of a file. Returns whether the file has one of the sections.
    fn add(&mut self, text: &str, sections: &[&str]) -> bool {
        let (mut inside, mut is_there) = (false, false);
        for line in text.lines() {
            let indented = line.starts_with([' ', '\t']);
            let line = line.trim();
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                inside = sections.contains(&name.trim());
                is_there |= inside;
            } else if inside && !indented && !line.starts_with(['#', ';']) {
                // An indented line belongs to a value that is a table.
                if let Some((key, value)) = line.split_once('=') {
                    self.0.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
                }
            }
        }
        is_there
    }
}

/// Returns two values that belong together, if they are there.
///
/// # Errors
/// `InvalidInput` if only one of them is there.
pub(super) fn pair(
    get: &dyn Fn(&str) -> Option<String>,
    names: [&str; 2],
) -> io::Result<Option<(String, String)>> {
    let (there, missing) = match names.map(get) {
        [Some(first), Some(second)] => return Ok(Some((first, second))),
        [None, None] => return Ok(None),
        [Some(_), None] => (names[0], names[1]),
        [None, Some(_)] => (names[1], names[0]),
    };
    let why = format!("{there} is set and {missing} is not: set both or none");
    Err(io::Error::new(ErrorKind::InvalidInput, why))
}

/// Reads a file. One that is not there is empty.
fn read(path: &Option<PathBuf>) -> io::Result<String> {
    let Some(path) = path else { return Ok(String::new()) };
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| {
            let why = format!("cannot read the profiles in {}: {error}", path.display());
            io::Error::new(error.kind(), why)
        }),
    }
}

fn name(var: &dyn Fn(&str) -> Option<String>) -> String {
    var("AWS_PROFILE").unwrap_or_else(|| "default".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_found_in_both_files() {
        let folder = tempfile::tempdir().unwrap();
        let aws = folder.path().join(".aws");
        fs::create_dir(&aws).unwrap();
        fs::write(
            aws.join("config"),
            "[default]\nregion = eu-west-1\n[profile cern]\n# no\nregion=us-east-1\ns3 =\n  \
             addressing_style = path\nendpoint_url = https://s3.cern.ch\n[other]\nregion = x\n",
        )
        .unwrap();
        fs::write(aws.join("credentials"), "[cern]\naws_access_key_id = id\n").unwrap();
        let home = folder.path().display().to_string();
        let of = |profile: Option<&'static str>| {
            let home = home.clone();
            Profile::find(&move |name| match name {
                "HOME" => Some(home.clone()),
                "AWS_PROFILE" => profile.map(str::to_owned),
                _ => None,
            })
        };
        assert_eq!(of(None).unwrap().get("region"), Some("eu-west-1"));
        let cern = of(Some("cern")).unwrap();
        assert_eq!(cern.get("region"), Some("us-east-1"));
        assert_eq!(cern.get("endpoint_url"), Some("https://s3.cern.ch"));
        assert_eq!(cern.get("aws_access_key_id"), Some("id"));
        assert_eq!((cern.get("addressing_style"), cern.get("s3")), (None, None));
        let error = of(Some("none")).unwrap_err();
        let expected = format!(
            "there is no profile \"none\" (AWS_PROFILE) in {home}/.aws/config or {home}/.aws/credentials: correct \
             or remove AWS_PROFILE"
        );
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidInput, expected));
        // A file that is there and cannot be read is not taken for an empty one.
        fs::write(aws.join("credentials"), b"[cern]\xff").unwrap();
        let error = of(None).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the profiles in "), "{error}");
    }
}
