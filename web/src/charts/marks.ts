/** The parts of Observable Plot that charts use. Named imports keep the rest of the library out of the bundle. */
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
