/** The moment from which a large download no longer delays what the reader sees. */

/** A page that is not drawn for so long (in a frame out of sight, say) goes on without it. */
const mostWait_ms = 3000;

/** Resolves once the page has drawn something; at once if it is in the background, where nothing is drawn. */
export function firstPaint(): Promise<void> {
  if (document.hidden || performance.getEntriesByName("first-contentful-paint").length > 0) return Promise.resolve();
  return new Promise((resolve) => {
    const observer = new PerformanceObserver(() => end());
    const end = () => {
      observer.disconnect();
      resolve();
    };
    observer.observe({ type: "paint", buffered: true });
    setTimeout(end, mostWait_ms);
  });
}
