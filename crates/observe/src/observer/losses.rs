//! What could not be counted, in words.

use record::Loss;

use super::Observer;
use crate::bpf::{Counting, Losses};
use crate::counter::Counter;
use crate::stacks::Stacks;
use crate::target::Detail;

impl Observer {
    /// What was lost until now.
    pub(super) fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        let mut lose = |count: u64, what: &str| {
            if count > 0 {
                losses.push(Loss { what: what.into(), count: Some(count) });
            }
        };
        if let Some(counter) = &self.counter {
            let Losses { together, tasks, events } = counter.losses();
            lose(together, "tasks were counted together, because all records were in use");
            lose(tasks, "tasks were not counted, because the kernel had no room for them");
            let what = "wake-ups, pairs, errors, signals, waits, samples or stacks";
            lose(events, &format!("{what} were not counted, because the kernel had no room for them"));
        }
        let [unknown, beyond] = self.stacks.as_ref().map_or([0; 2], |stacks| [stacks.unknown, stacks.beyond]);
        lose(unknown, "calls have no stack: their processes ended too early, or the kernel could not read it");
        lose(beyond, &format!("calls have other stacks than the first {} different ones", Stacks::MOST));
        // What a command used is known by its end.
        let (unknown, what) = match self.uncharged_ends {
            _ if self.command.is_some() => (0, ""),
            0 => (self.unknown_ends, "faults and switches are not known"),
            uncharged => (uncharged, "processor time is not known, so what was charged is not"),
        };
        lose(unknown, &format!("tasks ended whose {what}: that takes CAP_NET_ADMIN"));
        if self.account.is_some() {
            losses.push(Loss { what: "what it started; that takes eBPF or ptrace".into(), count: None });
        }
        let knows_types = self.counter.as_ref().and_then(Counter::programs).map(Counting::knows_objects);
        if self.names.detail == Detail::All && knows_types == Some(false) {
            let what = "what calls are made on (file, pipe, socket), since this kernel does not describe its types in \
                        /sys/kernel/btf/vmlinux: mount /sys, or use a kernel with CONFIG_DEBUG_INFO_BTF";
            losses.push(Loss { what: what.into(), count: None });
        }
        if self.exits.as_ref().is_some_and(|exits| exits.lost) {
            let what = match knows_types {
                Some(true) => "tasks ended too fast for their faults and switches to be told by process",
                _ => "tasks ended too fast for their processor time and faults to be told by process",
            };
            losses.push(Loss { what: what.into(), count: None });
        }
        losses
    }
}
