/** The part of `subset-font` that the build uses; the package has no types. */
declare module "subset-font" {
  interface Options {
    readonly targetFormat: "woff2";
    readonly keepFeatures: readonly string[];
    readonly variationAxes: Readonly<Record<string, { readonly min: number; readonly max: number }>>;
  }
  export default function subsetFont(font: Buffer, characters: string, options: Options): Promise<Buffer>;
}
