// Taken when the module is loaded, so that it also works while a test has fake timers. Browsers have it, too.
const { setTimeout: startTimer } = globalThis;

/**
 * Gives what must not happen the time to happen. On a slow machine such a test proves less, but it does not fail. Wait for
 * what must happen with `until`.
 */
export const giveTime = (ms: number): Promise<void> => new Promise((resolve) => void startTimer(resolve, ms));
