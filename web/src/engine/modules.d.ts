declare module "seeklab-engine-wasm?url" {
  const url: string;
  export default url;
}
declare module "seeklab-cases?url" {
  const url: string;
  export default url;
}
declare module "seeklab-cases?raw" {
  const text: string;
  export default text;
}
declare module "seeklab-engine-wasm?inline" {
  const dataUrl: string;
  export default dataUrl;
}
