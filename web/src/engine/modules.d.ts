declare module "seeklab-engine-wasm?url" {
  const url: string;
  export default url;
}
declare module "seeklab-library?url" {
  const url: string;
  export default url;
}
declare module "seeklab-library?raw" {
  const text: string;
  export default text;
}
declare module "seeklab-engine-wasm?inline" {
  const dataUrl: string;
  export default dataUrl;
}
declare module "*.md?raw" {
  const text: string;
  export default text;
}
declare module "virtual:slides" {
  export const weeks: readonly import("../../vite/slides.ts").Week[];
}
