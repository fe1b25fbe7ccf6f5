/** Calls a listener of the app. If it throws, the error is reported globally and does not stop the client. */
export function notifyApp<Args extends readonly unknown[]>(listener: (...args: Args) => void, ...args: Args): void {
  try {
    listener(...args);
  } catch (error) {
    // Reports it like an error in an event listener. Node has no `reportError`.
    if (typeof reportError === "function") reportError(error);
    else console.error(error);
  }
}
