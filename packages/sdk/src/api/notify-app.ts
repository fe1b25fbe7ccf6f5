/** Calls a listener of the app. If it throws, the error is reported globally and does not stop the client. */
export function notifyApp<Args extends readonly unknown[]>(listener: (...args: Args) => void, ...args: Args): void {
  try {
    listener(...args);
  } catch (error) {
    reportToApp(error);
  }
}

/** Reports an error of the app like one in an event listener. Node has no `reportError`. */
export function reportToApp(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
