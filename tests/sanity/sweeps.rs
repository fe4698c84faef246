//! The sweeps, one test for each family. `make test` runs them apart from the other tests: their sample is another at each commit.

use crate::rules::Unit;
use crate::{devices, file_systems, judge, layers};

fn of_devices(belongs: impl Fn(&devices::Preset) -> bool) -> Vec<Unit> {
    devices::presets().iter().filter(|preset| belongs(preset)).flat_map(devices::Preset::units).collect()
}

#[test]
fn disks() {
    judge("disks", 16, &of_devices(|preset| preset.group.hdd.is_some()));
}

#[test]
fn flash() {
    judge("flash", 80, &of_devices(|preset| preset.group.ssd.is_some()));
}

#[test]
fn logical_units() {
    judge("logical units", 8, &of_devices(|preset| preset.group.lun.is_some()));
}

#[test]
fn layouts() {
    judge("layouts", 16, &layers::layouts());
}

#[test]
fn host() {
    judge("host", 8, &layers::host());
}

#[test]
fn network() {
    judge("network", 8, &layers::network());
}

#[test]
fn server() {
    judge("server", 8, &layers::server());
}

#[test]
fn client() {
    judge("client", 8, &layers::client());
}

#[test]
fn controller() {
    judge("controller", 8, &layers::controller());
}

#[test]
fn commit() {
    judge("commit", 8, &layers::commit());
}

#[test]
fn cluster() {
    judge("cluster", 8, &layers::cluster());
}

#[test]
fn tier() {
    judge("tier", 8, &layers::tier());
}

#[test]
fn raid_cache() {
    judge("raid cache", 8, &layers::raid_cache());
}

#[test]
fn read_ahead() {
    judge("read-ahead", 8, &layers::read_ahead());
}

#[test]
fn volume() {
    judge("volume", 8, &file_systems::volume());
}

#[test]
fn page_cache() {
    judge("page cache", 8, &file_systems::page_cache());
}

#[test]
fn zfs() {
    judge("zfs", 8, &file_systems::zfs());
}
