//! Every option of fio 3.33 (as `fio --cmdhelp=all` lists them, then those of its local I/O engines) and what becomes of it here.

/// What becomes of an option.
#[derive(Clone, Copy, Debug)]
pub(super) enum Treatment {
    /// It has its effect.
    Modelled,
    /// It makes no difference, for this reason.
    Ignored(&'static str),
    /// It would change the result; only the harmless values, which switch it off, are accepted.
    Refused {
        /// Values that leave the option off.
        harmless: &'static [&'static str],
        /// Why, and what to write instead.
        reason: &'static str,
    },
}

/// An option of fio.
#[derive(Clone, Copy, Debug)]
pub(super) struct FioOption {
    pub(super) name: &'static str,
    pub(super) alias: Option<&'static str>,
    pub(super) treatment: Treatment,
}

impl FioOption {
    const fn or(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }
}

const fn modelled(name: &'static str) -> FioOption {
    FioOption { name, alias: None, treatment: Treatment::Modelled }
}

const fn ignored(name: &'static str, reason: &'static str) -> FioOption {
    FioOption { name, alias: None, treatment: Treatment::Ignored(reason) }
}

const fn refused(name: &'static str, harmless: &'static [&'static str], reason: &'static str) -> FioOption {
    FioOption { name, alias: None, treatment: Treatment::Refused { harmless, reason } }
}

/// The option of this name or alias.
pub(super) fn find(name: &str) -> Option<&'static FioOption> {
    OPTIONS.iter().find(|option| option.name == name || option.alias == Some(name))
}

/// All names and aliases.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().flat_map(|option| std::iter::once(option.name).chain(option.alias))
}

const HOST: &str = "it concerns the host's processors, memory and processes, which are not modelled";
const BUFFERS: &str = "the content and place of buffers make no difference to the modelled devices";
const LOGS: &str = "fio's log files are not written; a run keeps its own time series and operation log";
const REPORT: &str = "the report always has the same form";
const FILES: &str = "files on the modelled storage exist from the start and are not opened or removed";
/// Why buffered I/O is the same as direct I/O here.
pub(super) const PAGE_CACHE: &str = "the page cache is not modelled; requests go straight to the device";
const SEED: &str = "random numbers come from the seed of the run";
const ERRORS: &str = "the modelled devices return no errors";
const VERIFY: &str = "it acts only with verify or trim_percentage, which are refused";
const REPLAY: &str = "it acts only with read_iolog, which is refused";
const ZONES: &str = "it acts only with zonemode, which is refused";
const ENGINE: &str = "it tunes an I/O engine of the host, which is not modelled";

const OPTIONS: &[FioOption] = &[
    modelled("description"),
    modelled("name"),
    refused("wait_for", &[], "jobs start together or after all earlier ones; use stonewall"),
    modelled("filename"),
    refused("lockfile", &["none"], "locks on files are not modelled; use lockfile=none"),
    modelled("directory"),
    modelled("filename_format"),
    ignored("unique_filename", FILES),
    refused("opendir", &[], "a folder of existing files is not modelled; name one file with filename"),
    modelled("rw").or("readwrite"),
    modelled("bs").or("blocksize"),
    refused("ba", &[], "requests are aligned to their own size; leave it out").or("blockalign"),
    modelled("bsrange").or("blocksize_range"),
    refused("bssplit", &[], "mixes of several request sizes are not modelled; use bs or bsrange"),
    ignored("bs_unaligned", BUFFERS).or("blocksize_unaligned"),
    ignored("randrepeat", SEED),
    ignored("randseed", SEED),
    modelled("norandommap"),
    ignored("ignore_error", ERRORS),
    ignored("rw_sequencer", "it acts only on rw=...:N, which is refused"),
    modelled("ioengine"),
    modelled("iodepth"),
    refused("iodepth_batch", &["1"], "requests are submitted one by one; use 1").or("iodepth_batch_submit"),
    refused("iodepth_batch_complete_min", &["0", "1"], "completions are taken one by one; use 1").or("iodepth_batch_complete"),
    refused("iodepth_batch_complete_max", &["0", "1"], "completions are taken one by one; use 1"),
    refused("iodepth_low", &[], "the queue is refilled as soon as a request completes; leave it out"),
    refused("serialize_overlap", &["0"], "requests that overlap are not held back; use 0"),
    ignored("io_submit_mode", "requests are submitted in no time, whoever submits them"),
    modelled("size"),
    modelled("io_size").or("io_limit"),
    refused("fill_device", &["0"], "the modelled storage does not fill up; give a size").or("fill_fs"),
    modelled("filesize"),
    refused("file_append", &["0"], "files do not grow; use offset"),
    modelled("offset").or("fileoffset"),
    modelled("offset_increment"),
    refused("offset_align", &["0"], "offsets are taken as given; use 0"),
    modelled("number_ios"),
    ignored("random_generator", SEED),
    modelled("random_distribution"),
    refused("percentage_random", &["100"], "a job is either random or sequential; use 100"),
    ignored("allrandrepeat", SEED),
    modelled("nrfiles").or("nr_files"),
    ignored("file_service_type", FILES),
    ignored("openfiles", FILES),
    ignored("fallocate", FILES),
    ignored("fadvise_hint", PAGE_CACHE),
    modelled("fsync"),
    modelled("fdatasync"),
    refused("write_barrier", &["0"], "write barriers are not modelled; use 0"),
    refused("sync_file_range", &[], "flushes of a part of a file are not modelled; leave it out"),
    modelled("direct"),
    ignored("atomic", PAGE_CACHE),
    modelled("buffered"),
    ignored("overwrite", FILES),
    modelled("loops"),
    modelled("numjobs"),
    modelled("startdelay"),
    modelled("runtime").or("timeout"),
    modelled("time_based"),
    refused("verify_only", &["0"], "verification reads are not modelled; use 0"),
    modelled("ramp_time"),
    ignored("clocksource", HOST),
    ignored("mem", HOST).or("iomem"),
    refused("verify", &["0"], "verification reads are not modelled; use 0"),
    ignored("do_verify", VERIFY),
    ignored("verify_interval", VERIFY),
    ignored("verify_offset", VERIFY),
    ignored("verify_pattern", VERIFY),
    ignored("verify_fatal", VERIFY),
    ignored("verify_dump", VERIFY),
    ignored("verify_async", VERIFY),
    ignored("verify_backlog", VERIFY),
    ignored("verify_backlog_batch", VERIFY),
    ignored("experimental_verify", VERIFY),
    ignored("verify_state_load", VERIFY),
    ignored("verify_state_save", VERIFY),
    refused("trim_percentage", &["0"], "trims are not modelled; use 0"),
    ignored("trim_verify_zero", VERIFY),
    ignored("trim_backlog", VERIFY),
    ignored("trim_backlog_batch", VERIFY),
    ignored("write_iolog", LOGS),
    refused("read_iolog", &[], "job files that replay a trace are not modelled; describe the workload with rw, bs and size"),
    ignored("read_iolog_chunked", REPLAY),
    ignored("replay_no_stall", REPLAY),
    ignored("replay_redirect", REPLAY),
    ignored("replay_scale", REPLAY),
    ignored("replay_align", REPLAY),
    ignored("replay_time_scale", REPLAY),
    ignored("replay_skip", REPLAY),
    ignored("merge_blktrace_file", REPLAY),
    ignored("merge_blktrace_scalars", REPLAY),
    ignored("merge_blktrace_iters", REPLAY),
    ignored("exec_prerun", HOST),
    ignored("exec_postrun", HOST),
    ignored("ioscheduler", HOST),
    refused("zonemode", &["none"], "zoned access is not modelled; use none"),
    ignored("zonesize", ZONES),
    ignored("zonecapacity", ZONES),
    ignored("zonerange", ZONES),
    ignored("zoneskip", ZONES),
    ignored("read_beyond_wp", ZONES),
    ignored("max_open_zones", ZONES),
    ignored("job_max_open_zones", ZONES),
    ignored("ignore_zone_limits", ZONES),
    ignored("zone_reset_threshold", ZONES),
    ignored("zone_reset_frequency", ZONES),
    ignored("lockmem", HOST),
    modelled("rwmixread"),
    modelled("rwmixwrite"),
    ignored("nice", HOST),
    refused("prio", &["0"], "I/O priorities are not modelled; use 0"),
    refused("prioclass", &["0"], "I/O priorities are not modelled; use 0"),
    modelled("thinktime"),
    ignored("thinktime_spin", HOST),
    modelled("thinktime_blocks"),
    refused("thinktime_blocks_type", &["complete"], "pauses count from completions; use complete"),
    refused("thinktime_iotime", &["0"], "pauses are counted in requests; use thinktime and thinktime_blocks"),
    modelled("rate"),
    refused("rate_min", &["0"], "jobs are not stopped for being slow; use 0").or("ratemin"),
    modelled("rate_process"),
    ignored("rate_cycle", "it acts only on rates with rate_min, which is refused").or("ratecycle"),
    refused("rate_ignore_thinktime", &["0"], "a rate and a pause hold together; use 0"),
    modelled("rate_iops"),
    refused("rate_iops_min", &["0"], "jobs are not stopped for being slow; use 0"),
    refused("max_latency", &["0"], "jobs are not stopped for being slow; use 0"),
    refused("latency_target", &["0"], "the queue depth does not adapt; use 0"),
    ignored("latency_window", "it acts only with latency_target, which is refused"),
    ignored("latency_percentile", "it acts only with latency_target, which is refused"),
    ignored("latency_run", "it acts only with latency_target, which is refused"),
    ignored("invalidate", PAGE_CACHE),
    modelled("sync"),
    ignored("write_hint", BUFFERS),
    ignored("create_serialize", FILES),
    ignored("create_fsync", FILES),
    ignored("create_on_open", FILES),
    refused("create_only", &["0"], "a job that only creates files would ask nothing of the storage; use 0"),
    ignored("allow_file_create", FILES),
    ignored("allow_mounted_write", FILES),
    ignored("pre_read", PAGE_CACHE),
    ignored("cpumask", HOST),
    ignored("cpus_allowed", HOST),
    ignored("cpus_allowed_policy", HOST),
    ignored("numa_cpu_nodes", HOST),
    ignored("numa_mem_policy", HOST),
    refused("end_fsync", &["0"], "a flush at a file's end is not modelled; use 0"),
    refused("fsync_on_close", &["0"], "a flush at a file's end is not modelled; use 0"),
    ignored("unlink", FILES),
    ignored("unlink_each_loop", FILES),
    refused("exitall", &["0"], "jobs end on their own; use runtime or size"),
    ignored("exit_what", "it acts only with exitall, which is refused"),
    ignored("exitall_on_error", ERRORS),
    modelled("stonewall").or("wait_for_previous"),
    modelled("new_group"),
    ignored("thread", HOST),
    ignored("per_job_logs", LOGS),
    ignored("write_bw_log", LOGS),
    ignored("bwavgtime", LOGS),
    ignored("write_lat_log", LOGS),
    ignored("write_iops_log", LOGS),
    ignored("iopsavgtime", LOGS),
    ignored("log_entries", LOGS),
    ignored("log_avg_msec", LOGS),
    ignored("log_hist_msec", LOGS),
    ignored("log_hist_coarseness", LOGS),
    ignored("write_hist_log", LOGS),
    ignored("log_max_value", LOGS),
    ignored("log_offset", LOGS),
    ignored("log_prio", LOGS),
    ignored("log_compression", LOGS),
    ignored("log_compression_cpus", LOGS),
    ignored("log_store_compressed", LOGS),
    ignored("log_unix_epoch", LOGS),
    ignored("log_alternate_epoch", LOGS),
    ignored("log_alternate_epoch_clock_id", LOGS),
    ignored("block_error_percentiles", REPORT),
    modelled("group_reporting"),
    ignored("stats", REPORT),
    ignored("zero_buffers", BUFFERS),
    ignored("refill_buffers", BUFFERS),
    ignored("scramble_buffers", BUFFERS),
    ignored("buffer_pattern", BUFFERS),
    ignored("buffer_compress_percentage", BUFFERS),
    ignored("buffer_compress_chunk", BUFFERS),
    ignored("dedupe_percentage", BUFFERS),
    ignored("dedupe_mode", BUFFERS),
    ignored("dedupe_working_set_percentage", BUFFERS),
    ignored("dedupe_global", BUFFERS),
    ignored("clat_percentiles", REPORT),
    ignored("lat_percentiles", REPORT),
    ignored("slat_percentiles", REPORT),
    ignored("percentile_list", REPORT),
    ignored("significant_figures", REPORT),
    ignored("disk_util", REPORT),
    ignored("gtod_reduce", HOST),
    ignored("disable_lat", REPORT),
    ignored("disable_clat", REPORT),
    ignored("disable_slat", REPORT),
    ignored("disable_bw_measurement", REPORT).or("disable_bw"),
    ignored("gtod_cpu", HOST),
    ignored("unified_rw_reporting", REPORT),
    ignored("continue_on_error", ERRORS),
    ignored("error_dump", ERRORS),
    refused("profile", &[], "built-in profiles are not modelled; describe the workload with rw, bs and size"),
    ignored("cgroup", HOST),
    ignored("cgroup_nodelete", HOST),
    refused("cgroup_weight", &[], "I/O weights are not modelled; leave it out"),
    ignored("uid", HOST),
    ignored("gid", HOST),
    modelled("kb_base"),
    ignored("unit_base", REPORT),
    ignored("hugepage-size", HOST),
    ignored("flow_id", "it acts only with flow, which is refused"),
    refused("flow", &["0"], "flow between jobs is not modelled; use rate or rate_iops"),
    ignored("flow_sleep", "it acts only with flow, which is refused"),
    refused("steadystate", &[], "jobs end by size, number_ios or runtime; use one of them").or("ss"),
    ignored("steadystate_duration", "it acts only with steadystate, which is refused").or("ss_dur"),
    ignored("steadystate_ramp_time", "it acts only with steadystate, which is refused").or("ss_ramp"),
    ignored("userspace_reap", ENGINE),
    ignored("hipri", ENGINE),
    ignored("hipri_percentage", ENGINE),
    ignored("fixedbufs", ENGINE),
    ignored("registerfiles", ENGINE),
    ignored("sqthread_poll", ENGINE),
    ignored("sqthread_poll_cpu", ENGINE),
    ignored("nonvectored", ENGINE),
    ignored("uncached", ENGINE),
    ignored("nowait", ENGINE),
    ignored("force_async", ENGINE),
    ignored("cmd_type", ENGINE),
    ignored("readfua", ENGINE),
    ignored("stream_id", ENGINE),
    ignored("thp", ENGINE),
    ignored("busy_poll", ENGINE),
    refused("writefua", &["0"], "flushes are not modelled; use 0"),
    refused("sg_write_mode", &["write"], "only plain writes are modelled; use write"),
    refused("cmdprio_percentage", &["0"], "I/O priorities are not modelled; use 0"),
    refused("cmdprio_class", &["0"], "I/O priorities are not modelled; use 0"),
    refused("cmdprio", &["0"], "I/O priorities are not modelled; use 0"),
    refused("cmdprio_bssplit", &["0"], "I/O priorities are not modelled; use 0"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_stands_for_two_options() {
        assert_eq!(names().collect::<BTreeSet<_>>().len(), names().count());
    }

    #[test]
    fn aliases_lead_to_the_option() {
        assert_eq!(find("blocksize").map(|option| option.name), Some("bs"));
        assert_eq!(find("wait_for_previous").map(|option| option.name), Some("stonewall"));
        assert!(find("iodepht").is_none());
    }

    #[test]
    fn refusals_say_what_to_write_instead() {
        for option in OPTIONS {
            if let Treatment::Refused { reason, .. } = option.treatment {
                assert!(reason.contains("; "), "{}", option.name);
            }
        }
    }
}
