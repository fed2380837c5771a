//! Memory that is shared with a partner process.

use std::ops::Deref;
use std::ptr::NonNull;

use operation::Failure;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// A value shared with processes forked from here. It is changed through atomics only, and never dropped.
pub(crate) struct Shared<T: Sync> {
    value: NonNull<T>,
}

// SAFETY: it gives out shared references alone, which `T` allows for any task; the value is not dropped.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T: Sync> Shared<T> {
    /// Puts `value` into newly mapped shared memory. Fails if there is no memory.
    pub(crate) fn new(value: T) -> Result<Shared<T>, Failure> {
        let place = Shared::map()?;
        // SAFETY: the mapping is writable, large enough, page-aligned and not used by anything else yet.
        unsafe { place.write(value) };
        Ok(Shared { value: place })
    }

    /// Newly mapped shared memory as it comes, however large: it takes none of the stack, and memory only where it is used.
    ///
    /// # Safety
    /// Bytes of zero must be a value of this type.
    pub(crate) unsafe fn zeroed() -> Result<Shared<T>, Failure> {
        Ok(Shared { value: Shared::map()? })
    }

    fn map() -> Result<NonNull<T>, Failure> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a free address, so no memory in use is replaced.
        let address = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<T>(), access, MapFlags::SHARED) }?;
        NonNull::new(address.cast::<T>()).ok_or_else(|| Failure::wrong("memory was mapped at address zero"))
    }
}

impl<T: Sync> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mapping holds a value until this is dropped, and other processes change it only as `Sync` allows.
        unsafe { self.value.as_ref() }
    }
}

impl<T: Sync> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no reference outlives the value.
        let _ = unsafe { munmap(self.value.as_ptr().cast(), size_of::<T>()) };
    }
}
