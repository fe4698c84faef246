/** Ways through the incidents for the time that somebody has. */
export interface LearningPath {
  readonly time: string;
  readonly words: string;
  /** Cases, by their names. */
  readonly cases: readonly string[];
}

export const learningPaths: readonly LearningPath[] = [
  {
    time: "An hour",
    words: "Three incidents, each with a number that hides another. Predict before you look.",
    cases: ["odx-prefetch", "misaligned-io", "throttle-2008"],
  },
  {
    time: "A day",
    words: "One for each layer of the stack: network, processor, controller, write path, cache, disk and monitors.",
    cases: [
      "one-window-per-rtt",
      "tlb-shootdown",
      "vdisk-sharding",
      "openzfs-throttle",
      "l2arc-warmth",
      "sync-serialised",
      "averaged-away",
      "eleven-metrics",
    ],
  },
];

/** The course: a clone of the project. */
export const course = {
  time: "Ten weeks",
  words:
    "The course, with a notebook and an exercise a week, checked as you go. It runs on your own machine, from a clone of the project, with this command:",
  command: "make lab",
} as const;
