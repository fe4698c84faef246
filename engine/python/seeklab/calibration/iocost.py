"""SSD models as the iocost benchmarks measured them, and a device for each.

    from seeklab.calibration import iocost

    seeklab.run({"devices": [iocost.device("Samsung_SSD_970_EVO_500GB")], "jobs": [...]})

Linux's I/O cost controller describes a drive by six saturation rates: bytes per second, and 4 KiB requests per second
in order and at random, each for reads and writes. The table has the first result of each model in the collection
github.com/iocost-benchmark/iocost-benchmarks (Apache-2.0), which resctl-bench measured. "Up to" figures of data
sheets are often several times higher: the collection has 304,000 random reads per second for a 980 PRO of 1,000,000.

From these rates `device` derives the parameters of a drive:

- interface: the faster of the two byte rates;
- `command` and `write_command`: 1 / requests per second - 4 KiB / interface, from the faster of the two request
  rates;
- dies: twice as many as the reads need, and enough for the byte rate of writes. Where random reads are slower than
  reads in order, the dies are the limit and determine the read time. If it would exceed SLOWEST_READ_US, `command`
  follows from the random reads instead;
- `program`: follows from the dies' byte rate of writes, transfers and erases included;
- `overprovision`: the write amplification A = byte rate / (random writes x 4 KiB), through its closed form (Xiang and
  Kurkoski, 2012). Where A is above MOST_AMPLIFICATION, collection does not explain the rate, and `write_command` is
  taken from the random writes.

The rates do not determine latencies (overhead, stalls of writes), the buffer and the SLC cache: these are assumed.
Where bytes are written faster than read, reads are too fast. Where 4 KiB writes need a higher byte rate than was
measured, large writes are too fast.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

KIB4 = 4096
MOST_AMPLIFICATION = 12.0
LEAST_AMPLIFICATION = 1.02
"""That of 250% of spare flash: as good as none."""
PLANES = 12
"""Pages that a die programs at once: 48 KiB, a word line of TLC."""
READ_US = 60.0
"""Read time of a page where other parts of the drive limit reads."""
SLOWEST_READ_US = 120.0
FASTEST_WRITE_US = 300.0
"""Time of a program with its transfer and its share of an erase, if the drive has just enough dies."""
PAGES_PER_BLOCK = 512
ERASE_US = 2000.0
MOST_UNITS = 256


class Model(NamedTuple):
    """The six measured saturation rates of a model."""

    rbps: int
    """Bytes read per second."""
    rseqiops: int
    """4 KiB reads per second, in order."""
    rrandiops: int
    """4 KiB reads per second, at random."""
    wbps: int
    wseqiops: int
    wrandiops: int


MODELS = {
    "CT1000P3PSSD8": Model(4_579_942_252, 391_807, 134_655, 2_220_783_051, 128_640, 17_024),
    "Fanxiang_S500Pro_1TB": Model(3_449_179_331, 410_455, 276_878, 2_034_855_987, 254_124, 116_737),
    "HFS256GD9TNG-62A0A": Model(1_060_861_522, 54_105, 63_053, 198_813_646, 12_308, 16_085),
    "HFS512GD9TNG-62A0A": Model(1_301_184_436, 72_046, 116_693, 195_808_171, 12_944, 14_937),
    "HFS512GDE9X083N": Model(2_343_445_944, 235_177, 179_295, 1_117_809_730, 13_732, 37_518),
    "INTEL_SSDPEKKA256G7": Model(1_320_294_621, 69_820, 45_012, 119_694_755, 14_744, 17_634),
    "KINGSTON_SA2000M8250G": Model(1_119_251_359, 112_075, 110_634, 299_105_340, 77_975, 66_629),
    "KXG50ZNV256G_TOSHIBA": Model(1_845_739_871, 119_687, 87_939, 713_079_014, 10_805, 21_690),
    "KXG6AZNV512G_TOSHIBA": Model(2_419_411_544, 256_089, 229_994, 833_689_535, 12_618, 22_672),
    "KXG6AZNV512G_TOSHIBA_SAMPLE": Model(2_405_115_803, 247_704, 222_650, 619_726_841, 12_148, 21_573),
    "Lexar_SSD_NM790_2TB": Model(7_070_240_113, 725_474, 331_995, 5_612_792_974, 107_404, 7_694),
    "MTFDHBA256TCK-1AS15ABYY": Model(327_392_352, 85_056, 87_373, 581_850_454, 7_477, 6_752),
    "MTFDHBA512TCK": Model(326_465_335, 87_572, 87_633, 586_937_175, 8_181, 7_007),
    "MTFDKBA512TFH": Model(2_167_752_017, 243_828, 126_744, 2_992_472_013, 118_080, 80_436),
    "MZUL2256HCHQ-00AFB": Model(1_899_833_755, 81_210, 80_432, 413_702_163, 9_825, 9_678),
    "MZUL2512HCJQ-00AFB": Model(2_439_626_981, 157_904, 154_404, 819_673_902, 9_806, 9_686),
    "Patriot_M.2_P300_1024GB": Model(2_334_801_964, 55_516, 151_996, 1_608_004_243, 59_875, 5_246),
    "SAMSUNG_MZVLW256HEHP-00000": Model(1_235_803_696, 130_658, 134_555, 345_351_950, 63_368, 23_437),
    "SHGP31-1000GM-2": Model(1_624_286_375, 384_463, 386_870, 1_004_015_178, 224_677, 227_638),
    "SKhynix_Phoenix": Model(1_201_391_400, 88_572, 114_215, 31_940_421, 12_263, 15_064),
    "Samsung_SSD_860": Model(571_977_404, 94_009, 98_549, 377_003_734, 91_213, 87_471),
    "Samsung_SSD_870": Model(571_729_370, 98_145, 98_441, 539_657_135, 93_090, 90_935),
    "Samsung_SSD_970_EVO_500GB": Model(1_215_197_792, 124_555, 138_950, 759_026_515, 169_949, 40_891),
    "Samsung_SSD_970_PRO_512GB": Model(3_541_620_877, 341_797, 374_941, 2_221_248_938, 237_769, 239_862),
    "Samsung_SSD_980_PRO_1TB": Model(2_548_800_265, 364_653, 304_477, 2_314_893_629, 66_718, 84_113),
    "Samsung_SSD_990_EVO_1TB": Model(3_486_432_981, 534_594, 696_447, 759_173_240, 191_551, 505_898),
    "Samsung_SSD_990_PRO_2TB": Model(6_444_139_408, 596_055, 781_780, 6_596_183_680, 73_312, 73_748),
    "Skhynix_PC711_NVMe_512GB": Model(2_342_618_237, 220_857, 179_931, 1_163_478_144, 13_869, 35_881),
    "WDC_CL_SN720_SDAQNTW-256G-1020": Model(2_319_819_327, 85_438, 91_580, 377_802_583, 18_821, 13_765),
    "WDC_CL_SN720_SDAQNTW-512G-1020": Model(2_261_429_578, 133_520, 172_299, 387_258_257, 20_688, 17_199),
    "WDC_CL_SN720_SDAQNTW-512G-2000": Model(2_282_156_926, 134_421, 174_939, 656_154_630, 22_175, 17_457),
    "WDC_CL_SN730_SDBQNTY-256G-2020": Model(2_318_575_949, 133_833, 124_446, 447_984_567, 20_139, 15_017),
    "WDC_CL_SN730_SDBQNTY-512G-2020": Model(2_267_547_947, 204_164, 235_901, 685_695_191, 23_378, 18_638),
    "WD_BLACK_SN770_1TB": Model(5_189_848_346, 334_463, 191_439, 4_277_425_341, 26_868, 24_667),
    "WD_BLACK_SN850X_1000GB": Model(6_930_200_320, 378_339, 291_533, 3_819_097_619, 23_719, 37_730),
    "WD_Blue_SN580_1TB": Model(4_162_438_684, 333_128, 184_441, 3_901_107_743, 27_165, 24_733),
}
"""By the name that the drive reports."""


def device(name: str) -> dict[str, Any]:
    """Return a device group for the model with this name."""
    model = MODELS[name]
    link = max(model.rbps, model.wbps)
    amplification = model.wbps / (model.wrandiops * KIB4)
    is_collection = amplification <= MOST_AMPLIFICATION
    writes = max(model.wseqiops, model.wrandiops) if is_collection else model.wrandiops
    byte_rate = max(model.wbps, LEAST_AMPLIFICATION * model.wrandiops * KIB4)
    dies = _dies(model, byte_rate)
    transfer_us = 1e6 * PLANES * KIB4 / (link / 2)
    program_us = 1e6 * dies.units * PLANES * KIB4 / byte_rate - transfer_us - ERASE_US * PLANES / PAGES_PER_BLOCK
    flash = {
        "channels": 4,
        "channel_rate": f"{round(link / 2)}B",
        "planes": PLANES,
        "pages_per_block": PAGES_PER_BLOCK,
        "erase": _ns(ERASE_US),
        "command": _command(model.rrandiops if dies.are_slow else max(model.rseqiops, model.rrandiops), link),
        "write_command": _command(writes, link),
        "overprovision": round(100 * spare_share(min(max(amplification, LEAST_AMPLIFICATION), MOST_AMPLIFICATION)), 2),
        "precondition": "random",
        "stripe": 4,
        "collect_parallel": PLANES,
        "channel_reads_first": True,
        "gather": "full",
        "suspend": {"program": {}, "erase": {}},
    }
    return {
        "name": name,
        "ssd": {
            "capacity": "512GB",
            "units": dies.units,
            "page": "4KiB",
            "read": _ns(dies.read_us),
            "program": _ns(program_us),
            "overhead": "15us",
            "interface_rate": f"{link}B",
            "queue_depth": 1024,
            "write_buffer": "64MiB",
            "flash": flash,
        },
    }


def spare_share(amplification: float) -> float:
    """Return the share of spare flash that explains this write amplification of uniform random writes.

    With p, the share of valid pages in a collected block: A = 1 / (1 - p), p = exp(-alpha (1 - p)), alpha = 1 + spare.
    """
    valid = 1 - 1 / amplification
    return -math.log(valid) / (1 - valid) - 1


class Dies(NamedTuple):
    """The dies of a drive."""

    units: int
    read_us: float
    are_slow: bool
    """Whether so many dies would be too fast for the random reads, so that something else must limit them."""


def _dies(model: Model, byte_rate: float) -> Dies:
    for_reads = model.rrandiops * READ_US / 1e6
    for_writes = byte_rate * FASTEST_WRITE_US / 1e6 / (PLANES * KIB4)
    if model.rrandiops < 0.95 * model.rseqiops:
        units = _units(max(for_reads, for_writes))
        read_us = 1e6 * units / model.rrandiops
        if read_us <= SLOWEST_READ_US:
            return Dies(units, read_us, are_slow=False)
        return Dies(_units(max(2 * for_reads, for_writes)), READ_US, are_slow=True)
    return Dies(_units(max(2 * for_reads, for_writes)), READ_US, are_slow=False)


def _units(least: float) -> int:
    """Round up to a number of dies that spreads over four channels."""
    return min(MOST_UNITS, 4 * math.ceil(least / 4))


def _command(rate: int, link: int) -> str:
    return _ns(max(0.0, 1e6 / rate - 1e6 * KIB4 / link))


def _ns(us: float) -> str:
    return f"{round(1000 * us)}ns"
