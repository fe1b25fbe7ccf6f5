import { setTimeout as sleep } from "node:timers/promises";

/**
 * Gives what must not happen the time to happen. On a slow machine such a test proves less, but it does not fail. Wait for
 * what must happen with `until`.
 */
export const giveTime = (ms: number): Promise<void> => sleep(ms);
