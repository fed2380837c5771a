//! A watch that tests script.

use std::cell::RefCell;
use std::rc::Rc;

use operation::Usage;
use record::Reads;

use super::Watch;
use crate::speed::Speed;

/// A machine whose time passes only as the script says.
#[derive(Default)]
pub(crate) struct Script {
    pub now: f64,
    /// What the checks of the core show in turn.
    pub widths: Vec<f64>,
    pub checks: usize,
    pub usage: Usage,
    pub reads: Option<Reads>,
    pub queued: Option<f64>,
}

#[derive(Clone, Default)]
pub(crate) struct ScriptedWatch(pub Rc<RefCell<Script>>);

impl Watch for ScriptedWatch {
    fn now(&mut self) -> f64 {
        self.0.borrow().now
    }

    fn wait_until(&mut self, moment: f64) {
        let mut script = self.0.borrow_mut();
        script.now = script.now.max(moment);
    }

    fn speed(&mut self) -> Speed {
        let mut script = self.0.borrow_mut();
        script.now += 2000.0;
        let width = script.widths.get(script.checks).copied().unwrap_or(1.0);
        script.checks += 1;
        Speed { chain: 1.0, width }
    }

    fn usage(&mut self) -> Usage {
        self.0.borrow().usage
    }

    fn reads(&mut self) -> Option<Reads> {
        self.0.borrow().reads
    }

    fn queued(&mut self) -> Option<f64> {
        self.0.borrow().queued
    }
}
