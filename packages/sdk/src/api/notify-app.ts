/** Calls what the app gave. That it throws is the app's fault, and said where faults are: nothing of ours may stop for it. */
export function notifyApp<Args extends readonly unknown[]>(listener: (...args: Args) => void, ...args: Args): void {
  try {
    listener(...args);
  } catch (error) {
    // As an event's listener that throws; Node has no such place.
    if (typeof reportError === "function") reportError(error);
    else console.error(error);
  }
}
