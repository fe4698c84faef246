/**
 * The site without a network, after the first visit. The build fills in the version and the list of files.
 *
 * Pages come from the network when there is one, so that a new version is seen; everything else has a hash in its name or
 * belongs to a version of the site, and comes from the cache. Python's runtime is kept once it has been used.
 */
const cacheName = "seeklab-%version%";
const files = ["%files%"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then((cache) => cache.addAll(files))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== cacheName).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(request.mode === "navigate" ? fromNetwork(request) : fromCache(request));
});

async function fromNetwork(request) {
  try {
    return await fetch(request);
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
  const response = await fetch(request);
  if (response.ok && new URL(request.url).pathname.includes("/pyodide/")) await cache.put(request, response.clone());
  return response;
}
