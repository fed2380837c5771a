//! What `howslow model` reads: a system, or measured configurations to fit. `howslow load --predict` writes it.

use serde::{Deserialize, Serialize};

use super::measured::{MeasuredConfiguration, MeasuredMeans};
use super::system::System;

/// A file: a system, or measured configurations and the one to predict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFile {
    /// The system. With it, nothing is fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// The same system with other page devices, chosen by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternative: Vec<System>,
    /// Without a system: the configuration to predict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<MeasuredConfiguration>,
    /// Measured configurations. Without a system they are fitted. With one, that of the same configuration stands beside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<MeasuredMeans>,
}

impl ModelFile {
    /// Why it describes nothing; `None` if it does.
    pub fn wrong(&self) -> Option<&'static str> {
        match (&self.system, self.measured.is_empty()) {
            (None, true) => Some("it has neither [system] nor [[measured]]"),
            (Some(_), _) if self.configuration.is_some() => {
                Some("[configuration] belongs to [[measured]]; [system] has its own keys")
            }
            (None, _) if !self.alternative.is_empty() => Some("[[alternative]] belongs to [system]"),
            _ => None,
        }
    }

    /// The names of the page devices of its systems.
    pub fn devices(&self) -> Vec<&str> {
        self.system.iter().chain(&self.alternative).map(|system| system.page_device.name.as_str()).collect()
    }

    /// The system with the page device of this name; without a name the first.
    pub fn system_with(&self, device: Option<&str>) -> Option<&System> {
        let named = |system: &&System| device.is_none_or(|name| system.page_device.name == name);
        self.system.iter().chain(&self.alternative).find(named)
    }
}

impl System {
    pub fn configuration(&self) -> MeasuredConfiguration {
        MeasuredConfiguration {
            users: self.users,
            eligible: self.eligible,
            cpus: self.cpus,
            memory_bytes: self.memory_bytes,
            think_s: self.think_s.value,
            pages_stay: self.pages_stay,
            page_device: self.page_device.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system_on(device: &str) -> System {
        let mut system = System { users: 8, think_s: 1.5.into(), user_s: 0.1.into(), ..System::default() };
        system.page_device.name = device.into();
        system
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let measured = MeasuredMeans {
            configuration: system_on("swap").configuration(),
            interactions: 7,
            ..MeasuredMeans::default()
        };
        let file = ModelFile {
            system: Some(system_on("swap")),
            alternative: vec![system_on("zram")],
            measured: vec![measured],
            configuration: None,
        };
        let text = serde_json::to_string(&file).expect("JSON");
        assert_eq!(serde_json::from_str::<ModelFile>(&text).expect("a file"), file, "{text}");
        assert_eq!(file.wrong(), None);
        assert_eq!(file.system_with(Some("zram")).map(|system| system.users), Some(8));
        assert_eq!(file.system_with(Some("tape")), None);
        assert_eq!(file.devices(), ["swap", "zram"]);
    }

    #[test]
    fn what_describes_nothing_is_refused() {
        assert!(ModelFile::default().wrong().is_some_and(|why| why.contains("neither")));
        let both = ModelFile {
            system: Some(system_on("swap")),
            configuration: Some(MeasuredConfiguration::default()),
            ..ModelFile::default()
        };
        assert!(both.wrong().is_some_and(|why| why.contains("[configuration]")));
        let lone = ModelFile {
            alternative: vec![system_on("zram")],
            measured: vec![MeasuredMeans::default()],
            ..both.clone()
        };
        let lone = ModelFile { system: None, configuration: None, ..lone };
        assert!(lone.wrong().is_some_and(|why| why.contains("[[alternative]]")));
    }
}
