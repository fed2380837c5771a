//! One pass that writes the whole file, from the state that the point names, in the same way for every method. The file is
//! read back outside the timed region.

use std::cell::RefCell;

use operation::{DeviceWrites, Failure, Loop, Setting, Tally};
use rustix::fs::OFlags;

use super::target::WrittenFile;
use crate::kit::handles;

/// What the parts of the loop share.
struct State<W> {
    writer: W,
    target: WrittenFile,
    passes: u64,
    device: Option<DeviceWrites>,
    device_writes: Tally,
    device_bytes: Tally,
}

/// The loop of a writer, which writes every record once with the content of the pass of this number. It opens the file with `flags`.
pub(crate) fn writing<W: FnMut(u64) -> Result<(), Failure> + 'static>(
    setting: &Setting,
    flags: OFlags,
    open: impl FnOnce(&WrittenFile) -> Result<W, Failure>,
) -> Result<Loop, Failure> {
    let target = WrittenFile::of(setting, flags)?;
    let past_memory = flags.contains(OFlags::DIRECT);
    let [state, before, after] = handles(RefCell::new(State {
        writer: open(&target)?,
        passes: 0,
        device: DeviceWrites::of(&target.file),
        device_writes: setting.tally("device writes"),
        device_bytes: setting.tally("device bytes"),
        target,
    }));
    let passes = Loop::new(move |times| {
        let State { writer, target, passes, .. } = &mut *state.borrow_mut();
        for _ in 0..times {
            *passes += 1;
            writer(*passes)?;
            target.finish()?;
        }
        Ok(())
    });
    let passes = passes.before(move |_| {
        let state = &mut *before.borrow_mut();
        state.target.restore(past_memory)?;
        state.device.iter_mut().for_each(DeviceWrites::restart);
        Ok(())
    });
    let passes = passes.verify(move |_| {
        let state = after.borrow();
        if let Some((count, bytes)) = state.device.as_ref().and_then(DeviceWrites::since) {
            state.device_writes.pass(count);
            state.device_bytes.pass(bytes);
        }
        if past_memory {
            state.target.is_past_memory()?;
        }
        state.target.verify(state.passes)
    });
    // The file after a pass differs from the file before it.
    Ok(passes.skip_warmup().at_most(1))
}
