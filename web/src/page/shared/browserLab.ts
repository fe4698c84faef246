/** Addresses in the browser's own lab: the course in JupyterLite, in `lab/` of the site. */

/** A notebook, by its path in the course, such as `exercises/disk-time/disk-time.ipynb`. */
export function notebookInLab(path: string): string {
  return `lab/notebooks/index.html?path=${path}`;
}

/** The list of all files, where work is downloaded and uploaded. */
export const courseInLab = "lab/tree/index.html";
