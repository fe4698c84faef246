//! What a plain WebAssembly host sees. The mirror of `js`, name for name.
//!
//! Text goes in as (pointer, length) of UTF-8 in memory that the host took with `sl_alloc`; the host keeps it and frees it.
//! Bytes come out as one `u64`: pointer in the high half, length in the low half. The host copies them, then gives them back
//! with `sl_free(pointer, length)`. Pointers are good until the next call, which may grow the memory.
//!
//! Runs are numbered from 1. Numbers are not used twice, so that a stale one is refused instead of meeting another run.

use std::cell::RefCell;
use std::collections::BTreeMap;

use seeklab_api::{self as api, Column};

use crate::{ENGINE, refusal};

#[derive(Default)]
struct OpenRuns {
    by_handle: BTreeMap<u32, api::Run>,
    last_handle: u32,
}

thread_local! {
    static OPEN_RUNS: RefCell<OpenRuns> = RefCell::default();
}

fn with_run<T>(handle: u32, ask: impl FnOnce(&mut api::Run) -> T) -> Option<T> {
    OPEN_RUNS.with_borrow_mut(|runs| runs.by_handle.get_mut(&handle).map(ask))
}

fn no_such_run(handle: u32) -> String {
    refusal("handle", &format!("{handle} is not an open run; sl_run_open returns one"))
}

/// Takes bytes of the module's memory for the host to write into. Zero bytes are allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sl_alloc(len: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; len].into_boxed_slice()).cast()
}

/// Gives back bytes taken with `sl_alloc` or received from a call.
///
/// # Safety
/// `ptr` and `len` are a pair that this module handed out and that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sl_free(ptr: *mut u8, len: usize) {
    // SAFETY: the pair came from Box<[u8]>::into_raw (in sl_alloc or hand_out), which is the caller's promise.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(ptr, len)) });
}

/// Asks the engine one question. Returns its envelope.
///
/// # Safety
/// Both pairs name readable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sl_call(name_ptr: *const u8, name_len: usize, json_ptr: *const u8, json_len: usize) -> u64 {
    // SAFETY: the caller's promise for this function.
    let (name, json) = unsafe { (text_in(name_ptr, name_len), text_in(json_ptr, json_len)) };
    hand_out_text(match (name, json) {
        (Some(name), Some(json)) => ENGINE.with_borrow_mut(|engine| engine.call(name, json)),
        (None, _) => refusal("name", NOT_UTF8),
        (_, None) => refusal("", NOT_UTF8),
    })
}

/// Checks the input and prepares a run. Returns `{"ok": handle}` or the errors envelope.
///
/// # Safety
/// The pair names readable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sl_run_open(json_ptr: *const u8, json_len: usize) -> u64 {
    // SAFETY: the caller's promise for this function.
    let Some(json) = (unsafe { text_in(json_ptr, json_len) }) else {
        return hand_out_text(refusal("", NOT_UTF8));
    };
    hand_out_text(match ENGINE.with_borrow(|engine| engine.open(json)) {
        Ok(run) => OPEN_RUNS.with_borrow_mut(|runs| {
            runs.last_handle += 1;
            runs.by_handle.insert(runs.last_handle, run);
            format!("{{\"ok\":{}}}", runs.last_handle)
        }),
        Err(envelope) => envelope,
    })
}

/// Advances a run by at most `max_events` events. Returns the progress from 0 to 1; -1 when the run failed or there is no
/// such run, in which case `sl_run_summary` holds the reason.
#[unsafe(no_mangle)]
pub extern "C" fn sl_run_step(handle: u32, max_events: u32) -> f64 {
    with_run(handle, |run| run.step(max_events)).unwrap_or(-1.0)
}

/// The envelope of the question that the run waits with (`sl_run_step` gave 2); of null when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn sl_run_question(handle: u32) -> u64 {
    hand_out_text(with_run(handle, seeklab_api::Run::question).unwrap_or_else(|| no_such_run(handle)))
}

/// Answers the question. Returns an envelope; a refused answer leaves the question standing.
///
/// # Safety
/// The pair names readable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sl_run_answer(handle: u32, json_ptr: *const u8, json_len: usize) -> u64 {
    // SAFETY: the caller's promise for this function.
    let Some(json) = (unsafe { text_in(json_ptr, json_len) }) else {
        return hand_out_text(refusal("", NOT_UTF8));
    };
    hand_out_text(with_run(handle, |run| run.answer(json)).unwrap_or_else(|| no_such_run(handle)))
}

/// The envelope of metrics, units and the fingerprint.
#[unsafe(no_mangle)]
pub extern "C" fn sl_run_summary(handle: u32) -> u64 {
    hand_out_text(with_run(handle, |run| run.summary()).unwrap_or_else(|| no_such_run(handle)))
}

/// The envelope that lists the columns.
#[unsafe(no_mangle)]
pub extern "C" fn sl_run_columns(handle: u32) -> u64 {
    hand_out_text(with_run(handle, |run| run.columns()).unwrap_or_else(|| no_such_run(handle)))
}

/// A column's values, little-endian, as its dtype says. Returns 0 when there is no such run or column.
///
/// # Safety
/// The pair names readable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sl_run_column(handle: u32, name_ptr: *const u8, name_len: usize) -> u64 {
    // SAFETY: the caller's promise for this function.
    let Some(name) = (unsafe { text_in(name_ptr, name_len) }) else {
        return 0;
    };
    match with_run(handle, |run| run.column(name)).flatten() {
        Some(Column::F64(values)) => hand_out(little_endian(&values, f64::to_le_bytes)),
        Some(Column::U32(values)) => hand_out(little_endian(&values, u32::to_le_bytes)),
        None => 0,
    }
}

/// The envelope of what an observation tool would have printed.
///
/// # Safety
/// The pair names readable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sl_run_text(handle: u32, json_ptr: *const u8, json_len: usize) -> u64 {
    // SAFETY: the caller's promise for this function.
    let Some(json) = (unsafe { text_in(json_ptr, json_len) }) else {
        return hand_out_text(refusal("", NOT_UTF8));
    };
    hand_out_text(with_run(handle, |run| run.text(json)).unwrap_or_else(|| no_such_run(handle)))
}

/// Forgets a run and frees what it holds. Closing a run twice does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn sl_run_close(handle: u32) {
    OPEN_RUNS.with_borrow_mut(|runs| runs.by_handle.remove(&handle));
}

const NOT_UTF8: &str = "the input is not UTF-8 text; write it as UTF-8";

/// Reads the host's text; `None` when it is not UTF-8.
///
/// # Safety
/// The pair names readable memory that is not written while the result is in use.
unsafe fn text_in<'a>(ptr: *const u8, len: usize) -> Option<&'a str> {
    // A slice may not start at null, not even an empty one, and for an empty text a host may well pass 0.
    if len == 0 {
        return Some("");
    }
    // SAFETY: the pair names readable memory (the caller's promise), and it is not null unless the host broke that promise.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(ptr, len) }).ok()
}

fn little_endian<T: Copy, const N: usize>(values: &[T], bytes_of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * N);
    for value in values {
        bytes.extend_from_slice(&bytes_of(*value));
    }
    bytes
}

fn hand_out_text(text: String) -> u64 {
    hand_out(text.into_bytes())
}

fn hand_out(bytes: Vec<u8>) -> u64 {
    let len = bytes.len() as u64;
    let ptr = Box::into_raw(bytes.into_boxed_slice()).cast::<u8>() as usize as u64;
    (ptr << 32) | len
}
