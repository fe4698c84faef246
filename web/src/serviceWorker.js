/**
 * The site without a network, after the first visit. The build fills in the version and the list of files.
 *
 * Pages come from the network when there is one, so that a new version is seen; everything else has a hash in its name or
 * belongs to a version of the site, and comes from the cache. Python's runtime and the lab are kept once they have been used.
 * This is the only worker of the site: the lab's own is switched off, since it would unregister this one.
 */
const cacheName = "seeklab-%version%";
const files = ["%files%"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then((cache) => cache.addAll(files.map((file) => new Request(file, { cache: "no-cache" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  // Other sites of this origin have caches too.
  const isOld = (name) => name.startsWith("seeklab-") && name !== cacheName;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(request.mode === "navigate" ? fromNetwork(request) : fromCache(request));
});

// A page tells what it loaded before this worker was there.
self.addEventListener("message", (event) => {
  const isOurs = (url) => isKept(url) && new URL(url).origin === self.location.origin;
  const told = event.data?.keep ?? [];
  event.waitUntil(Promise.allSettled(told.filter(isOurs).map((url) => fromCache(new Request(url)))));
});

/** Kept once it has been used: Python, the lab, pages of notebooks, and the library with all cases that Python takes. */
function isKept(url) {
  const { pathname } = new URL(url);
  return (
    pathname.startsWith(pathOf("pyodide/")) ||
    pathname.startsWith(pathOf("lab/")) ||
    /\/\d\d-[a-z0-9-]+\.html$/.test(pathname) ||
    (pathname.startsWith(pathOf("assets/")) && /\/library-[^/]*\.json$/.test(pathname))
  );
}

function pathOf(folder) {
  return new URL(folder, self.registration.scope).pathname;
}

async function fromNetwork(request) {
  try {
    const response = await fetch(request);
    if (response.ok && isKept(request.url)) await keep(request, response);
    return response;
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

async function fromCache(request) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept !== undefined) return kept;
  if (!isKept(request.url)) return fetch(request);
  // A copy that the browser holds may be of an older version of the site.
  const response = await fetch(request, { cache: "no-cache" });
  if (response.ok) await keep(request, response);
  return response;
}

/** Stores under the address without the query: a lab's page is one, whichever notebook it opens. */
async function keep(request, response) {
  const cache = await caches.open(cacheName);
  const { origin, pathname } = new URL(request.url);
  await cache.put(origin + pathname, response.clone());
}
