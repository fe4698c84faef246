/** Charts are drawn at once in the tests: what pages load when it is needed is there. */
import { loadPlot } from "../src/charts/plot.ts";

await loadPlot();
