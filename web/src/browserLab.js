/**
 * What the lab in the browser does beyond JupyterLite: an extension of it, in the form that its loader takes.
 *
 * - Commitments are kept: `commits.json` beside the notebook in the browser's storage, where the file list shows it, is what a
 *   kernel begins with, and gets what the kernel adds.
 * - Stop stops. This kernel cannot be interrupted; it is restarted, and the reader is told what that means.
 * - Outputs of notebooks from elsewhere are not trusted, whatever these notebooks say.
 * - In a frame of another site, the lab shows only a way out.
 * - The site's service worker is registered from here too, and stores what was loaded before it was there.
 *
 * Nothing is imported: the application hands over everything that is needed.
 */
(() => {
  const target = "seeklab.commits";
  const fileName = "commits.json";

  // A notification shows 140 characters.
  const stopped =
    "Stopped: Python was started again. Text and commitments are kept, variables are not: " +
    "menu Run, Run All Above Selected Cell.";
  const kept =
    "Kept in this browser, in commits.json beside the notebook. A private window forgets it when closed; " +
    "File, Open… downloads it.";
  const notKept =
    "This browser lets the lab store nothing. Work on, and keep your notebook with File, Download before you close the page.";

  /** Whether a page of another origin shows this one, which could have clicks meant for itself land here. */
  function isFramedByOthers() {
    if (top === self) return false;
    try {
      return top.location.origin !== location.origin;
    } catch {
      return true; // its address cannot be read: it is of another origin
    }
  }

  function hide() {
    document.body.style.setProperty("display", "none", "important");
    const link = document.createElement("a");
    Object.assign(link, { href: location.href, target: "_blank", rel: "noopener", textContent: "Open the lab" });
    document.documentElement.append(link);
  }

  /**
   * Removes the mark `trusted` from the cells of each file that becomes a notebook without having been one: by an upload or
   * by its new name. JupyterLab believes the mark, and runs the scripts in a trusted output when the notebook opens.
   */
  function distrustFiles(contents) {
    const [save, rename] = [contents.save.bind(contents), contents.rename.bind(contents)];
    const isNotebook = (path) => /\.ipynb$/i.test(path);

    async function distrust(path) {
      const { content } = await contents.get(path, { content: true, type: "notebook", format: "json" });
      const marked = [content?.cells].flat().filter((cell) => cell?.metadata?.trusted !== undefined);
      for (const cell of marked) delete cell.metadata.trusted;
      if (marked.length > 0) await save(path, { type: "notebook", format: "json", path, content });
    }

    contents.save = async (path, options = {}) => {
      const saved = await save(path, options);
      const isComplete = options.chunk === undefined || options.chunk === -1;
      if (isNotebook(path) && options.type !== "notebook" && isComplete) await distrust(path);
      return saved;
    };
    contents.rename = async (path, to) => {
      const renamed = await rename(path, to);
      if (isNotebook(to) && !isNotebook(path)) await distrust(to);
      return renamed;
    };
  }

  function activate(app) {
    distrustFiles(app.serviceManager.contents);
    const say = (message, type) =>
      void app.commands.execute("apputils:notify", { message, type, options: { autoClose: type === "info" && 8000 } });
    const seen = new WeakSet();
    const look = () => {
      const panel = app.shell.currentWidget;
      if (panel?.sessionContext === undefined || seen.has(panel)) return;
      seen.add(panel);
      const record = recordOf(app.serviceManager.contents, panel.context.path, say);
      const { sessionContext } = panel;
      const begin = (kernel) => kernel && care(kernel, { record, sessionContext, say });
      sessionContext.kernelChanged.connect((_, { newValue }) => begin(newValue));
      begin(sessionContext.session?.kernel);
    };
    app.shell.currentChanged.connect(look);
    look();
    // Notifications are there when the application is.
    void app.restored.then(async () => {
      await tryStorage().catch(() => say(notKept, "warning"));
      await keepSite(app.serviceManager.serverSettings.baseUrl).catch(() => undefined);
    });
  }

  /** The commitments of a notebook's folder. */
  function recordOf(contents, notebook, say) {
    const path = notebook.replace(/[^/]*$/, fileName);
    let last = Promise.resolve();

    async function names() {
      const folder = await contents.get(path.replace(/\/?[^/]*$/, ""), { content: true });
      return folder.content.map(({ name }) => name);
    }

    /** Returns the list, an empty one where there is no file, or undefined where the file holds none. */
    async function read() {
      if (!(await names()).includes(fileName)) return [];
      const { content } = await contents.get(path, { content: true, type: "file", format: "text" });
      try {
        const list = typeof content === "string" ? JSON.parse(content) : content;
        return Array.isArray(list) ? list : undefined;
      } catch {
        return undefined;
      }
    }

    /** Renames a file that holds no list, as the package does (`_commitments.py`), and returns an empty list. */
    async function setAside() {
      const taken = await names();
      let aside = `${fileName}.broken`;
      for (let number = 1; taken.includes(aside); number++) aside = `${fileName}.broken${number}`;
      await contents.rename(path, path.slice(0, -fileName.length) + aside);
      say(`${fileName} held no list of commitments. It is now ${aside}.`, "warning");
      return [];
    }

    async function write(entry) {
      const list = (await read()) ?? (await setAside());
      const content = JSON.stringify([...list, entry], null, 1) + "\n";
      await contents.save(path, { type: "file", format: "text", name: fileName, path, content });
      if (list.length === 0) say(kept, "info");
    }

    return {
      read,
      /** Adds an entry, one after the other. */
      add(entry) {
        last = last
          .then(() => write(entry))
          .catch((error) => say(`Remembered until Python stops, but not kept in ${path}: ${error.message}`, "warning"));
        return last;
      },
    };
  }

  /** Cares for a kernel from its first moment on: what it begins with, what it commits, how it stops. */
  function care(kernel, { record, sessionContext, say }) {
    const restart = kernel.restart.bind(kernel);

    async function hand() {
      const list = await record
        .read()
        .catch((error) => say(`Your commitments cannot be read: ${error.message}.`, "warning"));
      // The next commitment sets a file aside that holds no list, and says so.
      if (!list?.length) return;
      // A text in JSON is a text in Python.
      const code = `__import__("pathlib").Path("${fileName}").write_text(${JSON.stringify(JSON.stringify(list, null, 1) + "\n")})`;
      kernel.requestExecute({ code, silent: true, store_history: false, stop_on_error: false });
    }

    kernel.registerCommTarget(target, (comm, message) => void record.add(message.content.data));
    kernel.restart = async () => {
      await restart();
      await hand(); // before the cells of whoever asked for the restart
    };
    kernel.interrupt = async () => {
      if (kernel.status !== "busy") {
        say("Nothing is running.", "info");
        return;
      }
      await sessionContext.restartKernel();
      say(stopped, "warning");
    };
    void hand();
  }

  /** Fails where the browser stores nothing: JupyterLite uses the one, or else the other. */
  async function tryStorage() {
    const name = "seeklab-try";
    try {
      await new Promise((done, failed) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => done(request.result.close());
        request.onerror = () => failed(request.error);
      });
      indexedDB.deleteDatabase(name);
    } catch {
      localStorage.setItem(name, "");
      localStorage.removeItem(name);
    }
  }

  async function keepSite(lab) {
    if (!("serviceWorker" in navigator)) return;
    await navigator.serviceWorker.register(new URL("../service-worker.js", lab));
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    active.postMessage({ keep: [location.href, ...loaded] });
  }

  if (isFramedByOthers()) hide();

  const plugin = {
    id: "seeklab:browser-lab",
    description: "Commitments, stopping, use without a network, and distrust of other notebooks",
    autoStart: true,
    activate,
  };
  globalThis._JUPYTERLAB ??= {};
  globalThis._JUPYTERLAB.seeklab = {
    init: () => undefined,
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
