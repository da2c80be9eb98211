//! Reads the files of profiles that the tools of AWS share: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The values of one profile in the files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile(BTreeMap<String, String>);

impl Profile {
    /// Returns the profile that the environment names, or `default`. Missing files are ignored.
    pub fn find(var: &dyn Fn(&str) -> Option<String>) -> Self {
        let name = name(var);
        let path = |variable: &str, file: &str| {
            let home = || Some(PathBuf::from(var("HOME")?).join(".aws").join(file));
            var(variable).map(PathBuf::from).or_else(home)
        };
        let read = |variable: &str, file: &str| {
            path(variable, file).and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
        };
        let mut profile = Self::default();
        let config = read("AWS_CONFIG_FILE", "config");
        profile.add(&config, &[&format!("profile {name}"), &name]);
        profile.add(&read("AWS_SHARED_CREDENTIALS_FILE", "credentials"), &[&name]);
        profile
    }

    /// Returns a value that is not empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the name of the profile if only the tools of AWS can find its keys: from SSO, or from another
    /// profile.
    pub fn of_aws(&self, var: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let keys = ["sso_session", "sso_start_url", "source_profile", "credential_source"];
        // The name becomes a word of a command.
        let name = Some(name(var)).filter(|name| !name.contains(['\'', '\n']));
        name.filter(|_| keys.iter().any(|key| self.get(key).is_some()))
    }

    fn add(&mut self, text: &str, sections: &[&str]) {
        let mut inside = false;
        for line in text.lines() {
            let indented = line.starts_with([' ', '\t']);
            let line = line.trim();
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                inside = sections.contains(&name.trim());
            } else if inside && !indented && !line.starts_with(['#', ';']) {
                // An indented line belongs to a value that is a table.
                if let Some((key, value)) = line.split_once('=') {
                    self.0.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
                }
            }
        }
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
        assert_eq!(of(None).get("region"), Some("eu-west-1"));
        let cern = of(Some("cern"));
        assert_eq!(cern.get("region"), Some("us-east-1"));
        assert_eq!(cern.get("endpoint_url"), Some("https://s3.cern.ch"));
        assert_eq!(cern.get("aws_access_key_id"), Some("id"));
        assert_eq!((cern.get("addressing_style"), cern.get("s3")), (None, None));
        assert_eq!(of(Some("none")), Profile::default());
    }
}
