//! The two engines that run the guests of `mode`, each in its usual configuration: with the strongest of its compilers, its
//! own way of checking addresses, and without counting the guest's steps. A guest is compiled in the round that runs it,
//! outside the timed region.

mod wasi;

use std::error::Error;

use catalogue::engines::{Guest, GuestProgram};
use operation::Failure;
use rustix::io::Errno;
use wasi::WasiHost;

/// A program run by one of the engines. Their interfaces differ only in how they are set up and how a guest is started.
macro_rules! run_by {
    ($engine:ident, $configuration:expr, $instantiate:ident, $guest:expr) => {{
        type Caller<'a> = $engine::Caller<'a, WasiHost<$engine::Memory>>;
        /// The guest's memory and its host, during a call of the guest.
        fn asked<'a>(caller: &'a mut Caller<'_>) -> (&'a mut [u8], &'a mut WasiHost<$engine::Memory>) {
            match caller.data().memory {
                Some(memory) => memory.data_and_store_mut(caller),
                None => (&mut [], caller.data_mut()),
            }
        }
        let Guest { code, memory: words, files, .. } = $guest;
        let engine = $configuration;
        let module = $engine::Module::new(&engine, code).map_err(failed)?;
        let mut linker = $engine::Linker::new(&engine);
        linker.func_wrap("host", "one", || 1_i64).map_err(failed)?;
        linker
            .func_wrap(
                "wasi_snapshot_preview1",
                "fd_read",
                |mut caller: Caller<'_>, file: i32, vector: i32, count: i32, result: i32| {
                    let (memory, host) = asked(&mut caller);
                    host.read(memory, file, (vector, count), result)
                },
            )
            .map_err(failed)?;
        linker
            .func_wrap(
                "wasi_snapshot_preview1",
                "fd_pread",
                |mut caller: Caller<'_>, file: i32, vector: i32, count: i32, offset: i64, result: i32| {
                    let (memory, host) = asked(&mut caller);
                    host.read_at(memory, file, (vector, count), (offset, result))
                },
            )
            .map_err(failed)?;
        linker
            .func_wrap(
                "wasi_snapshot_preview1",
                "fd_seek",
                |mut caller: Caller<'_>, file: i32, offset: i64, whence: i32, result: i32| {
                    let (memory, host) = asked(&mut caller);
                    host.seek(memory, file, (offset, whence), result)
                },
            )
            .map_err(failed)?;
        let mut store = $engine::Store::new(&engine, WasiHost { files, memory: None });
        let instance = linker.$instantiate(&mut store, &module).map_err(failed)?;
        let memory =
            instance.get_memory(&mut store, "memory").ok_or_else(|| Failure::wrong("the guest exports no memory"))?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(&mut store, 0, &bytes).map_err(|error| Failure::wrong(error.to_string()))?;
        store.data_mut().memory = Some(memory);
        let run = instance.get_typed_func::<i64, i64>(&mut store, "run").map_err(failed)?;
        Ok(Box::new(move |times| Ok(run.call(&mut store, times as i64).map_err(failed)? as u64)))
    }};
}

/// The guest, run in the mode `jit` or `interpreted`.
pub fn program(guest: Guest, mode: &str) -> Result<GuestProgram, Failure> {
    match mode {
        "jit" => translated(guest),
        "interpreted" => interpreted(guest),
        other => Err(Failure::skip(format!("no engine has the mode {other}"), "choose another mode")),
    }
}

/// The guest translated to native code by wasmtime's optimizing compiler, in this thread only.
fn translated(guest: Guest) -> Result<GuestProgram, Failure> {
    translate(guest).map_err(|failure| match failure {
        Failure::Errno { errno: libc::ENOMEM } => Failure::skip(
            "the address space is too small for the 4 GiB that wasmtime reserves",
            "raise the limit on address space (ulimit -v)",
        ),
        other => other,
    })
}

fn translate(guest: Guest) -> Result<GuestProgram, Failure> {
    let mut configuration = wasmtime::Config::new();
    configuration.strategy(wasmtime::Strategy::Cranelift).cranelift_opt_level(wasmtime::OptLevel::Speed);
    run_by!(wasmtime, wasmtime::Engine::new(&configuration).map_err(failed)?, instantiate, guest)
}

/// The guest interpreted by wasmi.
fn interpreted(guest: Guest) -> Result<GuestProgram, Failure> {
    run_by!(wasmi, wasmi::Engine::default(), instantiate_and_start, guest)
}

/// An engine's failure, with the number of the error of the system call that caused it, if any: a system that forbids
/// creating executable code is a reason to skip.
fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
    let error = error.into();
    let mut causes = std::iter::successors(Some(&*error as &(dyn Error + 'static)), |error| (*error).source());
    let number = causes.find_map(|cause| {
        let of_library = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
        of_library.or_else(|| cause.downcast_ref::<Errno>().map(|errno| errno.raw_os_error()))
    });
    match number {
        Some(errno) => Failure::Errno { errno },
        None => Failure::wrong(format!("the guest failed: {error}")),
    }
}
