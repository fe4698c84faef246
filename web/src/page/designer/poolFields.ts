/** The fields of the designer: one for the layout, one for each part, with the range that the layout leaves it. */
import type { Control, DesignPart } from "../../engine/types.ts";
import type { PoolController } from "./poolController.ts";

interface Layout {
  readonly title: string;
  readonly width: number;
  readonly parity: number;
}

/** Layouts that are offered; the number of disks is a multiple of the width. */
export const layouts: readonly Layout[] = [
  { title: "stripe", width: 1, parity: 0 },
  { title: "mirrors of 2", width: 2, parity: 0 },
  { title: "mirrors of 3", width: 3, parity: 0 },
  { title: "RAID-Z of 4, one parity", width: 4, parity: 1 },
  { title: "RAID-Z of 8, one parity", width: 8, parity: 1 },
  { title: "RAID-Z of 6, two parity", width: 6, parity: 2 },
  { title: "RAID-Z of 11, two parity", width: 11, parity: 2 },
];
export const layoutPath = "layout";
const inLayout = ["width", "parity"];
const choices: Readonly<Record<string, readonly number[]>> = {
  record_kib: [8, 16, 32, 64, 128],
  cache_gib: [0, 4, 8, 16, 32, 64, 96, 128, 192],
};

type Pool = Pick<PoolController, "defaults" | "number">;

export function layoutControl(pool: Pool): Control {
  const here = layouts.findIndex(
    ({ width, parity }) => width === pool.number("width") && parity === pool.number("parity"),
  );
  return {
    path: layoutPath,
    title: "Layout",
    help: "How disks are grouped",
    value: Math.max(0, here),
    choices: layouts.map(({ title }, value) => ({ value, title })),
  };
}

export function partControls(pool: Pool): Control[] {
  return pool.defaults.parts.filter(({ name }) => !inLayout.includes(name)).map((part) => controlOf(pool, part));
}

function controlOf(pool: Pool, { name, title, unit, range }: DesignPart): Control {
  const [least, most, step] = range;
  const width = pool.number("width");
  const isDisks = name === "disks";
  return {
    path: name,
    title,
    help: title,
    unit: unit === "" ? null : unit,
    min: isDisks ? width : least,
    max: isDisks ? Math.floor(most / width) * width : most,
    step: isDisks ? width : step,
    value: pool.number(name),
    choices:
      choices[name]?.map((value) => ({ value, title: value === 0 ? "all it leaves" : `${value} ${unit}` })) ?? null,
  };
}
