//! Every option of fio 3.33 (as `fio --cmdhelp=all` lists them, then those of its local I/O engines, and a few of later versions that its
//! examples use) and what becomes of it here.

/// How an option is treated.
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

const HOST: &str = "it affects the host's processors, memory and processes, which are not modelled";
const BUFFERS: &str = "contents and addresses of buffers do not affect the modelled devices";
const LOGS: &str = "fio's log files are not written; a run keeps its own time series and operation log";
const REPORT: &str = "the report always has the same form";
const FILES: &str = "files on the modelled storage exist from the start and are not opened or removed";
/// Why buffered I/O is the same as direct I/O here.
pub(super) const PAGE_CACHE: &str = "the page cache is not modelled; requests go straight to the device";
const SEED: &str = "random numbers come from the seed of the run";
const ERRORS: &str = "the modelled devices return no errors";
const VERIFY: &str = "blocks are read back, but their contents are not modelled";
const REPLAY: &str = "it has an effect only with read_iolog, which is refused";
const ZONES: &str = "the limits of the drive itself are not modelled";
/// Why priorities make no difference.
const PRIORITY: &str = "the modelled schedulers and drives ignore priorities, as does the scheduler \"none\" of Linux";
const PROTECTION: &str = "blocks carry no metadata and are not checked by the modelled devices";
const ENGINE: &str = "it tunes an I/O engine of the host, which is not modelled";

const OPTIONS: &[FioOption] = &[
    modelled("description"),
    modelled("name"),
    modelled("wait_for"),
    modelled("filename"),
    refused("lockfile", &["none"], "locks on files are not modelled; use lockfile=none"),
    modelled("directory"),
    modelled("filename_format"),
    ignored("unique_filename", FILES),
    refused("opendir", &[], "a directory of existing files is not modelled; name one file with filename"),
    modelled("rw").or("readwrite"),
    modelled("bs").or("blocksize"),
    modelled("ba").or("blockalign"),
    modelled("bsrange").or("blocksize_range"),
    modelled("bssplit"),
    ignored("bs_unaligned", BUFFERS).or("blocksize_unaligned"),
    ignored("randrepeat", SEED),
    ignored("randseed", SEED),
    modelled("norandommap"),
    ignored("ignore_error", ERRORS),
    modelled("rw_sequencer"),
    modelled("ioengine"),
    modelled("iodepth"),
    ignored("iodepth_batch", "preparing requests takes no time, so a batch is submitted with its first request").or("iodepth_batch_submit"),
    modelled("iodepth_batch_complete_min").or("iodepth_batch_complete"),
    ignored("iodepth_batch_complete_max", "reaping completions takes no time, whatever their number"),
    modelled("iodepth_low"),
    refused("serialize_overlap", &["0"], "overlapping requests are not serialised; use 0"),
    ignored("io_submit_mode", "submission cost is not modelled"),
    modelled("size"),
    modelled("io_size").or("io_limit"),
    modelled("fill_device").or("fill_fs"),
    modelled("filesize"),
    refused("file_append", &["0"], "files do not grow; use offset"),
    modelled("offset").or("fileoffset"),
    modelled("offset_increment"),
    refused("offset_align", &["0", "0%"], "offsets are used as given; use 0"),
    modelled("number_ios"),
    ignored("random_generator", SEED),
    modelled("random_distribution"),
    modelled("percentage_random"),
    ignored("allrandrepeat", SEED),
    modelled("nrfiles").or("nr_files"),
    modelled("file_service_type"),
    ignored("openfiles", FILES),
    ignored("fallocate", FILES),
    ignored("fadvise_hint", PAGE_CACHE),
    modelled("fsync"),
    modelled("fdatasync"),
    refused("write_barrier", &["0"], "write barriers are not modelled; use 0"),
    modelled("sync_file_range"),
    modelled("direct"),
    ignored("atomic", PAGE_CACHE),
    modelled("buffered"),
    ignored("overwrite", FILES),
    modelled("loops"),
    modelled("numjobs"),
    modelled("startdelay"),
    modelled("runtime").or("timeout"),
    modelled("time_based"),
    modelled("verify_only"),
    modelled("ramp_time"),
    ignored("clocksource", HOST),
    ignored("mem", HOST).or("iomem"),
    modelled("verify"),
    modelled("do_verify"),
    ignored("verify_interval", VERIFY),
    ignored("verify_offset", VERIFY),
    ignored("verify_pattern", VERIFY),
    ignored("verify_fatal", VERIFY),
    ignored("verify_dump", VERIFY),
    ignored("verify_async", VERIFY),
    ignored("verify_async_cpus", HOST),
    modelled("verify_backlog"),
    modelled("verify_backlog_batch"),
    ignored("experimental_verify", VERIFY),
    ignored("verify_write_sequence", VERIFY),
    ignored("verify_state_load", "verification state is not kept"),
    ignored("verify_state_save", "verification state is not kept"),
    refused("trim_percentage", &["0"], "trims of blocks that are verified are not modelled; use 0, or rw=trimwrite"),
    ignored("trim_verify_zero", "it has an effect only with trim_percentage, which is refused"),
    ignored("trim_backlog", "it has an effect only with trim_percentage, which is refused"),
    ignored("trim_backlog_batch", "it has an effect only with trim_percentage, which is refused"),
    ignored("write_iolog", LOGS),
    refused(
        "read_iolog",
        &[],
        "a job file cannot replay a trace here; run seeklab replay with the trace, or describe the workload with rw, bs and size",
    ),
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
    modelled("zonemode"),
    modelled("zonesize"),
    modelled("zonecapacity"),
    modelled("zonerange"),
    modelled("zoneskip"),
    modelled("read_beyond_wp"),
    modelled("max_open_zones"),
    refused("job_max_open_zones", &["0"], "a limit per job is not modelled; use max_open_zones"),
    ignored("ignore_zone_limits", ZONES),
    refused("zone_reset_threshold", &["0"], "zones are reset when they are full; use 0"),
    refused("zone_reset_frequency", &["0"], "zones are reset when they are full; use 0"),
    ignored("lockmem", HOST),
    modelled("rwmixread"),
    modelled("rwmixwrite"),
    ignored("nice", HOST),
    ignored("prio", PRIORITY),
    ignored("prioclass", PRIORITY),
    modelled("thinktime"),
    ignored("thinktime_spin", HOST),
    modelled("thinktime_blocks"),
    modelled("thinktime_blocks_type"),
    modelled("thinktime_iotime"),
    modelled("rate"),
    modelled("rate_min").or("ratemin"),
    modelled("rate_process"),
    modelled("rate_cycle").or("ratecycle"),
    refused("rate_ignore_thinktime", &["0"], "rate limits include think time; use 0"),
    modelled("rate_iops"),
    modelled("rate_iops_min"),
    modelled("max_latency"),
    modelled("latency_target"),
    modelled("latency_window"),
    modelled("latency_percentile"),
    modelled("latency_run"),
    ignored("invalidate", PAGE_CACHE),
    modelled("sync"),
    ignored("write_hint", BUFFERS),
    ignored("create_serialize", FILES),
    ignored("create_fsync", FILES),
    ignored("create_on_open", FILES),
    refused("create_only", &["0"], "a job that only creates files would not use the storage; use 0"),
    ignored("allow_file_create", FILES),
    ignored("allow_mounted_write", FILES),
    ignored("pre_read", PAGE_CACHE),
    ignored("cpumask", HOST),
    ignored("cpus_allowed", HOST),
    ignored("cpus_allowed_policy", HOST),
    ignored("numa_cpu_nodes", HOST),
    ignored("numa_mem_policy", HOST),
    modelled("end_fsync"),
    modelled("fsync_on_close"),
    ignored("unlink", FILES),
    ignored("unlink_each_loop", FILES),
    modelled("exitall"),
    modelled("exit_what"),
    ignored("exitall_on_error", ERRORS),
    modelled("stonewall").or("wait_for_previous"),
    modelled("new_group"),
    ignored("thread", HOST).or("threads"),
    modelled("per_job_logs"),
    modelled("write_bw_log"),
    ignored("bwavgtime", LOGS),
    modelled("write_lat_log"),
    modelled("write_iops_log"),
    ignored("iopsavgtime", LOGS),
    ignored("log_entries", LOGS),
    modelled("log_avg_msec"),
    ignored("log_hist_msec", LOGS),
    ignored("log_hist_coarseness", LOGS),
    ignored("write_hist_log", LOGS),
    ignored("log_max_value", LOGS),
    modelled("log_offset"),
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
    modelled("clat_percentiles"),
    modelled("lat_percentiles"),
    ignored("slat_percentiles", REPORT),
    modelled("percentile_list"),
    ignored("significant_figures", REPORT),
    ignored("disk_util", REPORT),
    ignored("gtod_reduce", HOST),
    ignored("disable_lat", REPORT),
    ignored("disable_clat", REPORT),
    ignored("disable_slat", REPORT),
    ignored("disable_bw_measurement", REPORT).or("disable_bw"),
    ignored("gtod_cpu", HOST),
    modelled("unified_rw_reporting"),
    ignored("continue_on_error", ERRORS),
    ignored("error_dump", ERRORS),
    refused("profile", &[], "built-in profiles are not modelled; describe the workload with rw, bs and size"),
    ignored("cgroup", HOST),
    ignored("cgroup_nodelete", HOST),
    refused("cgroup_weight", &[], "I/O weights are not modelled; remove it"),
    ignored("uid", HOST),
    ignored("gid", HOST),
    modelled("kb_base"),
    ignored("unit_base", REPORT),
    ignored("hugepage-size", HOST),
    modelled("flow_id"),
    modelled("flow"),
    modelled("flow_sleep"),
    modelled("steadystate").or("ss"),
    modelled("steadystate_duration").or("ss_dur"),
    modelled("steadystate_ramp_time").or("ss_ramp"),
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
    modelled("writefua"),
    modelled("sg_write_mode"),
    ignored("gpu_dev_ids", ENGINE),
    ignored("cuda_io", ENGINE),
    ignored("rocm_io", ENGINE),
    ignored("xnvme_async", ENGINE),
    ignored("xnvme_sync", ENGINE),
    ignored("xnvme_admin", ENGINE),
    ignored("xnvme_dev_nsid", ENGINE),
    ignored("xnvme_iovec", ENGINE),
    ignored("libblkio_driver", ENGINE),
    modelled("libblkio_path"),
    ignored("libblkio_pre_connect_props", ENGINE),
    ignored("libblkio_num_entries", ENGINE),
    ignored("libblkio_queue_size", ENGINE),
    ignored("libblkio_pre_start_props", ENGINE),
    ignored("libblkio_vectored", ENGINE),
    ignored("libblkio_write_zeroes_on_trim", ENGINE),
    ignored("libblkio_wait_mode", ENGINE),
    ignored("libblkio_force_enable_completion_eventfd", ENGINE),
    ignored("md_per_io_size", PROTECTION),
    ignored("pi_act", PROTECTION),
    ignored("pi_chk", PROTECTION),
    ignored("apptag", PROTECTION),
    ignored("apptag_mask", PROTECTION),
    ignored("fdp", "placement of writes by handle is not modelled"),
    ignored("fdp_pli", "placement of writes by handle is not modelled"),
    ignored("fdp_pli_select", "placement of writes by handle is not modelled"),
    ignored("cmdprio_percentage", PRIORITY),
    ignored("cmdprio_class", PRIORITY),
    ignored("cmdprio", PRIORITY),
    ignored("cmdprio_bssplit", PRIORITY),
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
