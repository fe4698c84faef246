/** Addresses in the browser's own lab: the course in JupyterLite, in `lab/` of the site. */

/** A notebook, by its path in the course, such as `exercises/disk-time/disk-time.ipynb`. */
export function notebookInLab(path: string): string {
  return `lab/notebooks/index.html?path=${path}`;
}

/** The start page: what is next, and the weeks. Its menu leads to the list of files. */
export const courseInLab = notebookInLab("notebooks/00-start.ipynb");
