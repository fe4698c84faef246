/** How large Python is, as the build has measured it, and how that is told before it is loaded. */
declare const pythonSize: { readonly bytes: number; readonly gzip_bytes: number };

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)}\u00a0MB`;

export function pythonInWords(): string {
  return `${megabytes(pythonSize.bytes)}, or ${megabytes(pythonSize.gzip_bytes)} if the server compresses it. The browser keeps it for later visits.`;
}
