//! Versions of ZFS.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;

/// A version of ZFS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
pub enum Era {
    /// The first write throttle, as integrated in March 2008.
    #[serde(rename = "zfs-2008-03")]
    Zfs2008March,
    /// `OpenSolaris` build 103, December 2008.
    #[serde(rename = "zfs-2008-12")]
    Zfs2008December,
    /// Builds 147 and later, 2010 to 2013.
    #[serde(rename = "zfs-2010")]
    Zfs2010,
    /// The new throttle and scheduler of August 2013.
    #[serde(rename = "openzfs-2013")]
    OpenZfs2013,
    /// Version 0.7.
    #[serde(rename = "openzfs-0.7")]
    OpenZfs0_7,
    /// Version 2.1.
    #[default]
    #[serde(rename = "openzfs-2.1")]
    OpenZfs2_1,
    /// Version 2.2.
    #[serde(rename = "openzfs-2.2")]
    OpenZfs2_2,
    /// Versions 2.3 and 2.4.
    #[serde(rename = "openzfs-2.3")]
    OpenZfs2_3,
}

impl Era {
    /// All versions, oldest first.
    pub const ALL: [Self; 8] = [
        Self::Zfs2008March,
        Self::Zfs2008December,
        Self::Zfs2010,
        Self::OpenZfs2013,
        Self::OpenZfs0_7,
        Self::OpenZfs2_1,
        Self::OpenZfs2_2,
        Self::OpenZfs2_3,
    ];

    /// Return the preset's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zfs2008March => "zfs-2008-03",
            Self::Zfs2008December => "zfs-2008-12",
            Self::Zfs2010 => "zfs-2010",
            Self::OpenZfs2013 => "openzfs-2013",
            Self::OpenZfs0_7 => "openzfs-0.7",
            Self::OpenZfs2_1 => "openzfs-2.1",
            Self::OpenZfs2_2 => "openzfs-2.2",
            Self::OpenZfs2_3 => "openzfs-2.3",
        }
    }
}
