/**
 * Caches this page for a start without a network (see `offlineStart` in vite.config.ts): a page that was opened once opens again, with
 * the records read and written here. A page in development is not cached, and removes an earlier cache.
 */
export function keepPage(): void {
  // Only there in a secure context, like https or this machine.
  if (!("serviceWorker" in navigator)) return;
  const { serviceWorker } = navigator;
  if (import.meta.env.DEV) {
    void serviceWorker.getRegistrations().then((all) => all.forEach((each) => void each.unregister()));
    return;
  }
  // After the page's own files: what is kept is fetched once more, from the browser's cache or the server.
  const begin = () => void serviceWorker.register("/shell-worker.js").catch(() => {});
  if (document.readyState === "complete") begin();
  else addEventListener("load", begin, { once: true });
}
