/**
 * Resolves in a task of its own, so that the page, or whatever else the process does, can react before. A timer would
 * wait for 4 ms in a browser.
 */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      // An open port would keep a Node process alive.
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
