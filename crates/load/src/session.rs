//! An experiment from its beginning to its end: what an earlier one has left is removed, what the machine allows is found out,
//! and each configuration gets a group, a page device and users, which are gone after it.

use std::path::Path;
use std::time::{Duration, Instant};

use analysis::load::{Configuration, FaultCost, Outcome, PageDevice, Usual};
use measure::Signals;
use system::guard::Cleaner;
use system::machine::remedy_of_refusal;

use crate::drive::{Ending, Script, Setting, cpus_of, drive, seed_of};
use crate::error::LoadError;
use crate::fault;
use crate::plan::Plan;
use crate::site::{Controllers, Device, Group, Ledger, Remains, ledger_folders};
use crate::users::{Spin, Users, Work, find, user_folder};

/// An experiment on this machine. Dropping it leaves nothing behind.
pub struct Session<'a> {
    plan: &'a Plan,
    script: Script,
    controllers: Controllers,
    scratch: measure::Scratch,
    spin: Spin,
    signals: Signals,
    seed: u64,
    costs: Vec<(PageDevice, FaultCost)>,
    /// Users whose folders are ready.
    prepared: u32,
    /// What could not be had here, in whole sentences.
    pub notes: Vec<String>,
    ledger: Ledger,
    /// Removes what is left, also if this process is killed. Dropped last: nothing else is left for it then.
    _cleaner: Cleaner,
}

impl<'a> Session<'a> {
    /// Prepares an experiment with scratch files below `root`. From now on SIGINT, SIGTERM and SIGHUP end it early. Forks: call it
    /// while the process has one thread. Fails if the plan requires what this machine does not have, or nothing can be
    /// written.
    pub fn open(
        plan: &'a Plan,
        configurations: &[Configuration],
        root: &Path,
        seed: u64,
    ) -> Result<Session<'a>, LoadError> {
        plan.check()?;
        let script = Script::of(plan)?;
        let controllers = Controllers::find();
        let mut notes = allowed(plan, configurations, &controllers)?;
        notes.extend(script.notes.iter().cloned());
        notes.extend(controllers.version().and_then(|_| overfull(plan, configurations, &script)));
        let process = std::process::id();
        let cleaner = Cleaner::start(|| tidy(process, root)).map_err(|lost| LoadError::Driver(lost.to_string()))?;
        let ledgers = ledger_folders();
        let ledger = Ledger::open(&ledgers).map_err(|error| {
            let last = ledgers.last().map_or(String::new(), |folder| folder.display().to_string());
            LoadError::setup(format!("write to {last}"), &error, "set XDG_RUNTIME_DIR to a folder of yours")
        })?;
        Ok(Session {
            plan,
            script,
            controllers,
            scratch: measure::Scratch::make(root)?,
            spin: Spin::calibrate(),
            signals: Signals::watch(),
            seed,
            costs: Vec::new(),
            prepared: 0,
            notes,
            ledger,
            _cleaner: cleaner,
        })
    }

    /// The interactions' names, in the order of the script.
    pub fn interactions(&self) -> &[String] {
        &self.script.names
    }

    /// What the script has for all configurations.
    pub fn usual(&self) -> Usual {
        self.script.usual()
    }

    /// How limits are set here; `None` if they cannot be.
    pub fn limited_by(&self) -> Option<&'static str> {
        self.controllers.name()
    }

    /// Measures one configuration. `progress` is called now and then with the seconds left. Forks: call it while the process
    /// has one thread. Fails if its group, its page device or its users cannot be made.
    pub fn measure(
        &mut self,
        configuration: &Configuration,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Ending, LoadError> {
        if let Some(signal) = self.signals.come() {
            return Ok(Ending::Interrupted(signal));
        }
        let cpus = cpus_of(configuration.cpus).ok_or_else(|| too_few_cpus(configuration.cpus))?;
        self.prepare_folders(configuration.users)?;
        self.let_go_of_files(configuration.users);
        let folder = self.scratch.path().to_path_buf();
        let device = Device::make(configuration.device, self.plan.device_size.0, &folder, &self.ledger)?;
        let fault = self.fault_cost(configuration.device, &cpus)?;
        let swap = configuration.device != PageDevice::None;
        let group = Group::make(&self.controllers, &self.ledger, configuration.memory, swap)?;
        let work = Work {
            steps: &self.script.steps,
            limit: Duration::from_secs_f64(self.plan.limit.0),
            relief: configuration.relief,
            cpus: &cpus,
            spin: self.spin,
            folder: self.plan.folder.as_deref(),
        };
        let (users, listener) = Users::start(configuration.users, &work, &folder, &group)?;
        let setting = Setting {
            configuration,
            script: &self.script,
            plan: self.plan,
            group: &group,
            device: device.as_ref(),
            cpus: &cpus,
            fault,
            seed: seed_of(self.seed, configuration),
            signals: &self.signals,
        };
        drive(&setting, users, listener, progress)
    }

    /// What a fault costs with this device, which is on. Measured once.
    fn fault_cost(&mut self, device: PageDevice, cpus: &[u32]) -> Result<FaultCost, LoadError> {
        if let Some((_, known)) = self.costs.iter().find(|(of, _)| *of == device) {
            return Ok(*known);
        }
        let cost = fault::cost(&self.controllers, &self.ledger, device, cpus)?;
        self.costs.push((device, cost));
        Ok(cost)
    }

    /// Lets the users' files leave memory. Their pages are charged to the group that reads them first, and must count there.
    fn let_go_of_files(&self, users: u32) {
        for user in 0..users {
            let folder = user_folder(self.scratch.path(), user);
            for file in &self.plan.files {
                if let Ok(file) = std::fs::File::open(folder.join(&file.name)) {
                    let _ = file.sync_all();
                    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
                }
            }
        }
    }

    /// Makes the folders of so many users, with the plan's files.
    fn prepare_folders(&mut self, users: u32) -> Result<(), LoadError> {
        const SPACE: &str = "set TMPDIR to a folder on a disk with more space";
        for user in self.prepared..users {
            let folder = user_folder(self.scratch.path(), user);
            let write = || -> std::io::Result<()> {
                std::fs::create_dir_all(&folder)?;
                self.plan.files.iter().try_for_each(|file| std::fs::write(folder.join(&file.name), file.content()))
            };
            write().map_err(|error| LoadError::setup("write the files of a user", &error, SPACE))?;
            self.plan.setup.iter().try_for_each(|words| prepare(words, &folder))?;
        }
        self.prepared = self.prepared.max(users);
        Ok(())
    }
}

/// Removes what a process has left: what stands in its ledger, and its scratch files. The kernel releases the locks of a killed process
/// in no order that is promised, so it is tried again while something of its name is there.
fn tidy(process: u32, root: &Path) {
    const PATIENCE: Duration = Duration::from_secs(5);
    const PAUSE: Duration = Duration::from_millis(5);
    let its_own = format!("-{process}-");
    let is_its_own = |name: &str| name.starts_with("howslow-") && name.contains(&its_own);
    let folders = [ledger_folders(), vec![root.to_path_buf()]].concat();
    let start = Instant::now();
    loop {
        Remains::sweep();
        measure::Scratch::sweep(root);
        let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
        if !entries.map(|entry| entry.file_name()).any(|name| name.to_str().is_some_and(is_its_own))
            || start.elapsed() > PATIENCE
        {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Runs one of the plan's commands that prepare a user's folder. One whose program is missing is needed by interactions that
/// are missing too.
fn prepare(words: &[String], folder: &Path) -> Result<(), LoadError> {
    const LIMIT: Duration = Duration::from_secs(60);
    let Some(program) = find(&[words.to_vec()]) else { return Ok(()) };
    match program.run(folder, LIMIT, |_| {}) {
        Outcome::Done => Ok(()),
        other => {
            let why = format!("it {}", other.described(LIMIT.as_secs_f64()));
            Err(LoadError::Preparing { command: record::printable(&words.join(" ")), why })
        }
    }
}

fn too_few_cpus(wanted: u32) -> LoadError {
    LoadError::Lacking {
        what: format!("{} are requested, and this process may use fewer", record::units::counted(wanted.into(), "CPU")),
        remedy: "give axes.cpus (or --cpus) smaller numbers".into(),
    }
}

/// The page devices of these configurations.
fn devices(all: &[Configuration]) -> impl Iterator<Item = PageDevice> {
    PageDevice::ALL.into_iter().filter(|device| all.iter().any(|configuration| configuration.device == *device))
}

/// Checks what the configurations need. Returns what will be otherwise, in whole sentences.
fn allowed(plan: &Plan, all: &[Configuration], on: &Controllers) -> Result<Vec<String>, LoadError> {
    if let Some(most) = all.iter().map(|configuration| configuration.cpus).max()
        && cpus_of(most).is_none()
    {
        return Err(too_few_cpus(most));
    }
    let limits = all.iter().any(|configuration| configuration.memory.is_some());
    let is_limited = on.version().is_some();
    if limits && !is_limited && plan.needs_limits {
        return Err(LoadError::Lacking {
            what: format!("the plan {} needs limits of memory, and {}", record::printable(&plan.name), on.why_not),
            remedy: format!("{}, or with a control group of your own", remedy_of_refusal()),
        });
    }
    devices(all).try_for_each(Device::check)?;
    let note = || format!("Memory is not limited: {}. All configurations have all the memory there is.", on.why_not);
    Ok((limits && !is_limited).then(note).into_iter().collect())
}

/// Which users' pages fit neither into memory nor onto the page device: the kernel kills some of them, which is a result.
fn overfull(plan: &Plan, all: &[Configuration], script: &Script) -> Option<String> {
    let pages = |configuration: &Configuration| script.pages_bytes().saturating_mul(configuration.users.into());
    let room = |configuration: &Configuration| match configuration.device {
        PageDevice::None => configuration.memory,
        _ => configuration.memory.map(|bytes| bytes.saturating_add(plan.device_size.0)),
    };
    let worst = all
        .iter()
        .filter(|configuration| room(configuration).is_some_and(|room| pages(configuration) > room))
        .max_by_key(|configuration| pages(configuration))?;
    let size = |bytes: u64| record::Bytes(bytes).to_string();
    Some(format!(
        "The pages of {} users ({}) fit neither into their memory nor onto the page device, together {}: the kernel will kill some. {}",
        worst.users,
        size(pages(worst)),
        size(room(worst).unwrap_or(0)),
        if worst.device == PageDevice::None { "Take a page device." } else { "Give the plan a larger device_size." },
    ))
}

/// What an experiment would do, line by line, without doing it. Fails as [`Session::open`] does, as far as that can be
/// known beforehand.
pub fn dry_run(plan: &Plan, configurations: &[Configuration], root: &Path) -> Result<Vec<String>, LoadError> {
    let script = Script::of(plan)?;
    let controllers = Controllers::find();
    let notes = allowed(plan, configurations, &controllers)?;
    let by = controllers.name().map_or("not limited".into(), |name| format!("limited by {name}"));
    let mut lines = vec![format!("users are {by}; scratch files below {}", root.display())];
    let size = record::Bytes(plan.device_size.0);
    lines.extend(devices(configurations).filter_map(|device| match device {
        PageDevice::None => None,
        PageDevice::Swap => {
            Some(format!("makes a swap file of {size}, turns it on, and removes it after each configuration"))
        }
        PageDevice::Zram => Some(format!("adds a zram device of {size}, and removes it after each configuration")),
    }));
    if controllers.version().is_some() {
        let largest = configurations.iter().filter_map(|configuration| configuration.memory).max();
        let most = largest.map(|bytes| format!(", with at most {}", record::Bytes(bytes)));
        lines.push(format!("makes a control group for each configuration{}", most.unwrap_or_default()));
    }
    lines.push(format!("interactions: {}", script.names.join(", ")));
    lines.extend(notes);
    lines.extend(controllers.version().and_then(|_| overfull(plan, configurations, &script)));
    lines.extend(script.notes);
    let each = plan.settle.0 + plan.time.0;
    lines.extend(configurations.iter().map(|configuration| format!("{each:.0} s: {}", configuration.described())));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_needs_limits_is_refused_where_there_are_none() {
        let text = "name = 'x'\nneeds_limits = true\n[[interaction]]\nname = 'a'\njob = { working_set = '8MiB' }\n";
        let needs = Plan::from_toml(text).expect("a plan");
        let free = Plan { needs_limits: false, ..needs.clone() };
        let none = Controllers::default();
        let one = |memory| Configuration { memory, ..Configuration::default() };
        let limited = [one(None), one(Some(16 << 20))];
        let refused = allowed(&needs, &limited, &none).expect_err("there are no limits");
        assert!(refused.is_misuse() && refused.to_string().contains("the plan x needs limits of memory"), "{refused}");
        let notes = allowed(&free, &limited, &none).expect("it runs without");
        assert!(notes[0].starts_with("Memory is not limited") && notes.len() == 1, "{notes:?}");
        assert_eq!(allowed(&needs, &[one(None)], &none).expect("nothing is limited"), Vec::<String>::new());
    }

    #[test]
    fn users_whose_pages_have_no_room_are_reported() {
        let text = "name = 'x'\ndevice_size = '64MiB'\n[[interaction]]\nname = 'a'\njob = { working_set = '8MiB' }\n";
        let plan = Plan::from_toml(text).expect("a plan");
        let script = Script::of(&plan).expect("a script");
        let one = |users, device| Configuration { users, memory: Some(16 << 20), device, ..Configuration::default() };
        let warning = |all: &[Configuration]| overfull(&plan, all, &script);
        assert_eq!(warning(&[one(2, PageDevice::None), one(10, PageDevice::Swap)]), None);
        let swap = warning(&[one(2, PageDevice::Swap), one(11, PageDevice::Swap)]).expect("too many");
        assert!(
            swap.contains("11 users (88 MiB)") && swap.contains("80 MiB") && swap.contains("device_size"),
            "{swap}"
        );
        assert!(warning(&[one(3, PageDevice::None)]).is_some_and(|text| text.contains("Take a page device")));
        assert_eq!(warning(&[Configuration { memory: None, ..one(99, PageDevice::None) }]), None);
    }
}
