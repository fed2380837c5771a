//! The URL of a PostgreSQL database, in its parts. It can hold a password, so that only host, port and database are ever shown.

use std::fmt;

/// The parts of `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE`, decoded. Options for the same overrule them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PostgresUrl {
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// Each host, and its port if it is given.
    pub(crate) hosts: Vec<(String, Option<u16>)>,
    pub(crate) database: Option<String>,
    /// All other options, in order.
    pub(crate) options: Vec<(String, String)>,
    /// The password in every form in which it was written.
    secrets: Vec<String>,
}

impl PostgresUrl {
    /// Reads a URL. `None` if it is none, or if a sign in it could be read in two ways; then a password might be taken for a host.
    pub(crate) fn parse(text: &str) -> Option<PostgresUrl> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme))?;
        let mut url = PostgresUrl { secrets: vec![text.into()], ..PostgresUrl::default() };
        let has_user = rest.find(['@', '/']).is_some_and(|at| rest[at..].starts_with('@'));
        let (credentials, rest) = if has_user { rest.split_once('@')? } else { ("", rest) };
        // Either a password with both signs, or an option with an '@'.
        if credentials.contains('?') && credentials.contains('=') {
            return None;
        }
        let (user, password) =
            credentials.split_once(':').map_or((credentials, None), |(user, password)| (user, Some(password)));
        url.set("user", user)?;
        url.set("password", password.unwrap_or_default())?;
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        if place.contains('@') || database.contains('/') {
            return None;
        }
        url.set_hosts(hosts)?;
        url.set("dbname", database)?;
        let options = options.split('&').filter(|option| !option.is_empty());
        let mut options = options.map(|option| option.split_once('=')).collect::<Option<Vec<_>>>()?;
        // Ports are those of all hosts, whatever comes first.
        options.sort_by_key(|(name, _)| *name == "port");
        for (name, value) in options {
            url.set(&decoded(name)?, value)?;
        }
        Some(url)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let (written, value) = (value, decoded(value).filter(|value| !value.contains('\0'))?);
        match name {
            _ if value.is_empty() => {}
            "user" => self.user = Some(value),
            "password" => {
                self.secrets.extend([written.to_owned(), value.clone()]);
                self.password = Some(value);
            }
            "dbname" => self.database = Some(value),
            "host" => self.hosts = value.split(',').map(|host| (host.to_owned(), None)).collect(),
            "port" => {
                let ports = value.split(',').map(|port| port.parse().ok()).collect::<Option<Vec<u16>>>()?;
                let last = *ports.last()?;
                let ports = ports.into_iter().chain(std::iter::repeat(last));
                self.hosts.iter_mut().zip(ports).for_each(|(host, port)| host.1 = Some(port));
                // Then it is the port of the option `hostaddr`.
                if self.hosts.is_empty() {
                    self.options.push((name.to_owned(), value));
                }
            }
            _ => self.options.push((name.to_owned(), value)),
        }
        Some(())
    }

    fn set_hosts(&mut self, hosts: &str) -> Option<()> {
        for host in hosts.split(',').filter(|host| !host.is_empty()) {
            let end_of_address = host.rfind(']').unwrap_or(0);
            let (name, port) = match host[end_of_address..].rfind(':') {
                Some(at) => (&host[..end_of_address + at], Some(host[end_of_address + at + 1..].parse().ok()?)),
                None => (host, None),
            };
            let name = decoded(name.trim_start_matches('[').trim_end_matches(']'))?;
            self.hosts.push((name, port));
        }
        Some(())
    }

    /// The last value of an option, else of an environment variable.
    pub(crate) fn option(&self, name: &str, variable: Option<&str>) -> Option<String> {
        let given = self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        given.or_else(|| std::env::var(variable?).ok()).filter(|value| !value.is_empty())
    }

    /// What distinguishes this database from every other one.
    pub(crate) fn identity(&self) -> String {
        let hosts = self.hosts.iter().map(|(host, port)| format!("{host}\0{}\0", port.unwrap_or(5432)));
        let database = self.database.as_ref().or(self.user.as_ref()).cloned().unwrap_or_default();
        let option = |name: &&str| Some(format!("\0{name}={}", self.option(name, None)?));
        let address = ["hostaddr", "port"].iter().filter(|_| self.hosts.is_empty()).filter_map(option);
        format!("{}\0{database}{}", hosts.collect::<String>(), address.collect::<String>())
    }

    /// A message without the password, in case whoever wrote it repeated it.
    pub(crate) fn redact(&self, message: &str) -> String {
        let secrets = self.secrets.iter().filter(|secret| !secret.is_empty());
        secrets.fold(message.to_owned(), |message, secret| message.replace(secret.as_str(), "***"))
    }
}

/// A text with its `%41` as letters. `None` if they are no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = || u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        match (first, code()) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = |port: Option<u16>| port.map_or(String::new(), |port| format!(":{port}"));
        let hosts: Vec<String> = self.hosts.iter().map(|(host, number)| format!("{host}{}", port(*number))).collect();
        let database = self.database.as_deref().unwrap_or_default();
        out.write_str(&record::printable(&format!("postgres://{}/{database}", hosts.join(","))))
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [&str; 5] = ["s3c", "r3t", "s3cr3t", "s3c?r3t", "s3c@r3t"];

    #[test]
    fn every_part_is_read_and_the_password_is_never_shown() {
        for (url, password) in [
            ("postgres://ann:s3cr3t@db.example:5433/costs?sslmode=disable", "s3cr3t"),
            ("postgres://ann:s3c?r3t@db.example:5433/costs", "s3c?r3t"),
            ("postgres://ann:s3c%40r3t@db.example:5433/costs", "s3c@r3t"),
            ("postgresql://db.example:5433/costs?user=ann&password=s3c%40r3t", "s3c@r3t"),
            ("postgres://x:other@nowhere/z?port=5433&host=db.example&dbname=costs&user=ann&password=s3cr3t", "s3cr3t"),
        ] {
            let read = PostgresUrl::parse(url).expect("a URL");
            assert_eq!((read.user.as_deref(), read.password.as_deref()), (Some("ann"), Some(password)), "{url}");
            assert_eq!((format!("{read}"), format!("{read:?}")).0, "postgres://db.example:5433/costs");
            let message = read.redact(&format!("cannot open {url}: no {password}"));
            assert!(PARTS.iter().all(|part| !message.contains(part)), "{message}");
        }
        let socket = PostgresUrl::parse("postgres://ann@%2Ftmp%2Fx,[::1]:1/d").expect("a URL");
        assert_eq!(socket.hosts, [("/tmp/x".to_owned(), None), ("::1".to_owned(), Some(1))]);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for url in [
            "postgres://ann:s3c@r3t@db.example/costs",
            "postgres://ann:s3c/r3t@db.example/costs",
            "postgres://ann:12/34@db.example/costs",
            "postgres://db.example?user=ann&password=s3c@r3t",
            "postgres://db.example:s3cr3t/costs",
            "postgres://ann:%ff@db.example/costs",
            "mysql://ann:s3cr3t@db.example/costs",
        ] {
            assert!(PostgresUrl::parse(url).is_none(), "{url}");
        }
    }

    #[test]
    fn databases_are_distinguished() {
        let urls = [
            "postgres://u@h/a_b",
            "postgres://u@h_a/b",
            "postgres://u@h,i/b",
            "postgres://u@h:1/b",
            "postgres://u@h/b",
            "postgres://b@h",
            "postgres://u@h:5432/c",
            "postgres:///c?hostaddr=10.0.0.1",
            "postgres:///c?hostaddr=10.0.0.2",
            "postgres:///c?port=5433&hostaddr=10.0.0.1",
        ];
        let read = urls.map(|url| PostgresUrl::parse(url).expect("a URL").identity());
        for (place, one) in read.iter().enumerate() {
            let same: Vec<_> = (0..place).filter(|other| read[*other] == *one).collect();
            // The database of a URL without one has the user's name.
            assert_eq!(same, if place == 5 { vec![4] } else { vec![] }, "{}", urls[place]);
        }
    }
}
