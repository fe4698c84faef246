declare module "seeklab-engine-wasm?url" {
  const url: string;
  export default url;
}
declare module "seeklab-engine-wasm?inline" {
  const dataUrl: string;
  export default dataUrl;
}
