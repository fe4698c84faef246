/** What charts use of Observable Plot: named one by one, the rest of the library stays out of the bundle. */
export {
  areaY,
  barX,
  dot,
  line,
  lineY,
  link,
  plot,
  rect,
  rectY,
  ruleX,
  ruleY,
  stackY,
  text,
  tickX,
} from "@observablehq/plot";
