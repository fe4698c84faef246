import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";

const template = readFileSync(join(import.meta.dirname, "../../src/serviceWorker.js"), "utf8");
const home = "https://name.example/seeklab/";

/** A browser's part: caches by name, a network, and the worker's listeners. */
function workerOf({ caches: named = [] as string[], version = "2" } = {}) {
  const stores = new Map(named.map((name) => [name, new Map<string, string>()]));
  const listeners = new Map<string, (event: never) => void>();
  const network = { isThere: true, asked: [] as string[] };
  const addressOf = (request: string | Request, ignoreSearch = false) => {
    const url = new URL(typeof request === "string" ? request : request.url, home);
    return ignoreSearch ? url.origin + url.pathname : url.href;
  };
  const open = (name: string) => {
    const store = stores.get(name) ?? new Map<string, string>();
    stores.set(name, store);
    return {
      match: async (request: Request, { ignoreSearch = false } = {}) => {
        const text = store.get(addressOf(request, ignoreSearch));
        return text === undefined ? undefined : new Response(text);
      },
      put: async (request: string, response: Response) => void store.set(addressOf(request), await response.text()),
      addAll: async (requests: Request[]) => requests.forEach((request) => store.set(addressOf(request), "at once")),
    };
  };
  const scope = {
    addEventListener: (name: string, listener: (event: never) => void) => listeners.set(name, listener),
    location: new URL("service-worker.js", home),
    registration: { scope: home },
    skipWaiting: async () => undefined,
    clients: { claim: async () => undefined },
  };
  class Asked extends Request {
    constructor(input: string, init?: RequestInit) {
      super(new URL(input, home), init);
    }
  }
  runInNewContext(template.replace("%version%", version).replace('["%files%"]', '["./", "index.html"]'), {
    self: scope,
    URL,
    Request: Asked,
    Promise,
    caches: {
      open: async (name: string) => open(name),
      keys: async () => [...stores.keys()],
      delete: async (name: string) => stores.delete(name),
      match: async (request: Request, options: object) => {
        for (const name of stores.keys()) {
          const found = await open(name).match(request, options);
          if (found !== undefined) return found;
        }
        return undefined;
      },
    },
    fetch: async (request: Request) => {
      if (!network.isThere) throw new TypeError("Failed to fetch");
      network.asked.push(new URL(request.url).pathname);
      return new Response(`from the network: ${request.url}`);
    },
  });
  return {
    stores,
    network,
    async happens(name: string, event: object = {}) {
      let done: Promise<unknown> = Promise.resolve();
      const waitUntil = (work: Promise<unknown>) => void (done = work);
      listeners.get(name)!({ ...event, waitUntil } as never);
      await done;
    },
    async get(path: string, mode = "cors") {
      let answer: Promise<Response> | undefined;
      const url = new URL(path, home).href;
      const request = { url, method: "GET", mode };
      const respondWith = (given: Promise<Response>) => (answer = given);
      listeners.get("fetch")!({ request, respondWith } as never);
      return (await answer!).text();
    },
  };
}

describe("the service worker", () => {
  it("deletes its own old caches, and nobody else's", async () => {
    const worker = workerOf({ caches: ["seeklab-1", "seeklab-2", "another-project", "JupyterLite"] });
    await worker.happens("activate");
    expect([...worker.stores.keys()]).toEqual(["seeklab-2", "another-project", "JupyterLite"]);
  });

  it("keeps the lab once it was used: files from the cache, pages from the network first", async () => {
    const worker = workerOf();
    const file = "lab/build/1.abc.js?v=abc";
    const page = "lab/notebooks/index.html?path=notebooks/01.ipynb";
    const fresh = [await worker.get(file), await worker.get(page, "navigate")];
    await worker.get(file);
    await worker.get(page, "navigate");
    expect(worker.network.asked.filter((path) => path.endsWith(".js"))).toHaveLength(1);
    expect(worker.network.asked.filter((path) => path.endsWith(".html"))).toHaveLength(2);
    worker.network.isThere = false;
    expect(await worker.get(file)).toBe(fresh[0]);
    // The same page, for another notebook.
    expect(await worker.get("lab/notebooks/index.html?path=notebooks/02.ipynb", "navigate")).toBe(fresh[1]);
  });

  it("keeps no page of the playground twice, and nothing outside of the lab and Python", async () => {
    const worker = workerOf();
    await worker.get("somewhere/else.json");
    await worker.get("lab.json");
    expect([...(worker.stores.get("seeklab-2")?.keys() ?? [])]).toEqual([]);
  });

  it("keeps the library that Python takes, so that the incident room opens again without a network", async () => {
    const worker = workerOf();
    const library = await worker.get("assets/library-BnwFyCRN.json");
    await worker.get("assets/other-BnwFyCRN.json");
    worker.network.isThere = false;
    expect(await worker.get("assets/library-BnwFyCRN.json")).toBe(library);
    expect([...worker.stores.get("seeklab-2")!.keys()]).toEqual([`${home}assets/library-BnwFyCRN.json`]);
  });

  it("stores what a page loaded before it was there, as far as it is the lab's", async () => {
    const worker = workerOf();
    const keep = [`${home}lab/config-utils.js?_=1`, `${home}index.html`, "https://other.example/lab/a.js"];
    await worker.happens("message", { data: { keep } });
    expect([...worker.stores.get("seeklab-2")!.keys()]).toEqual([`${home}lab/config-utils.js`]);
  });
});
