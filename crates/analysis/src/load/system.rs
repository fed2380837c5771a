//! The system that a configuration is, for the model.

use super::configuration::Configuration;
use super::demands::{Demands, Paged};
use crate::model::{PageSource, Spread, System};

pub fn system(demands: &Demands, configuration: &Configuration) -> System {
    let paged = demands.of_device(configuration.device);
    let of_paged = |of: fn(&Paged) -> f64| paged.map_or(0.0, of);
    System {
        users: configuration.users,
        think_s: demands.usual.think_s.into(),
        eligible: configuration.eligible,
        cpus: configuration.cpus,
        memory_bytes: configuration.memory,
        pages_stay: demands.usual.stays,
        reload_faults: paged.and_then(|paged| paged.reload),
        user_s: demands.user_s,
        system_s: demands.system_s,
        other_wait_s: demands.other_wait_s,
        // What an interaction of the script works does not scatter, but the script has several.
        work_spread: if demands.usual.stays { Spread::Constant } else { Spread::Exponential },
        kinds: demands.kinds(),
        faults: demands.curve(configuration),
        handling_s: of_paged(|paged| paged.handling_s - paged.device_cpu_s).into(),
        handling_crowding: demands.crowded(configuration).map_or(0.0, |crowding| crowding.handling).into(),
        page_device: PageSource {
            name: configuration.device.word().into(),
            service_s: of_paged(|paged| paged.wait_s).into(),
            cpu_s: of_paged(|paged| paged.device_cpu_s).into(),
            channels: None,
            crowding: demands.crowded(configuration).map_or(0.0, |crowding| crowding.wait).into(),
        },
        ..System::default()
    }
}
