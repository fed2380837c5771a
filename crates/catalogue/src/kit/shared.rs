//! Memory that is shared with a partner process.

use std::marker::PhantomData;
use std::ops::Deref;

use operation::Failure;
use system::mapped::Mapped;

/// A value shared with processes forked from here. It is changed through atomics only, and never dropped.
pub(crate) struct Shared<T: Sync> {
    memory: Mapped,
    value: PhantomData<T>,
}

// SAFETY: it gives out shared references alone, which `T` allows for any task; the value is not dropped.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T: Sync> Shared<T> {
    /// Puts `value` into newly mapped shared memory. Fails if there is no memory.
    pub(crate) fn new(value: T) -> Result<Shared<T>, Failure> {
        let memory = Mapped::shared(size_of::<T>())?;
        // SAFETY: the mapping is writable, large enough, page-aligned and not used by anything else yet.
        unsafe { memory.start().write(value) };
        Ok(Shared { memory, value: PhantomData })
    }

    /// Newly mapped shared memory as it comes, however large: it takes none of the stack, and memory only where it is used.
    ///
    /// # Safety
    /// Bytes of zero must be a value of this type.
    pub(crate) unsafe fn zeroed() -> Result<Shared<T>, Failure> {
        Ok(Shared { memory: Mapped::shared(size_of::<T>())?, value: PhantomData })
    }
}

impl<T: Sync> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mapping holds a value until this is dropped, and other processes change it only as `Sync` allows.
        unsafe { self.memory.start().as_ref() }
    }
}
