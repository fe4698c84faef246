/** What every page does once: colours, patterns, the service worker. */
import { colourSheet, patterns } from "../base/colours.ts";

export function installTheme(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(colourSheet());
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  document.body.append(patterns());
  // On paper, the link to this very run stands at the end.
  addEventListener("beforeprint", () => {
    const footer = document.querySelector<HTMLElement>("footer.site");
    if (footer !== null) footer.dataset.address = location.href;
  });
}

/** Keeps the site for use without a network. A browser that refuses (private windows do) loses only that. */
export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register("service-worker.js").catch(() => undefined);
}

/** Calls back once, when the element first comes near the window. */
export function whenSeen(element: Element, callback: () => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      callback();
    },
    { rootMargin: "200px" },
  );
  observer.observe(element);
}
