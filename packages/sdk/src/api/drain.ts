import type { StoreApi } from "zustand/vanilla";
import { blockedNames } from "../core/bulk.ts";
import { isOnItsWay } from "../core/select.ts";
import type { ClientState } from "../core/state.ts";
import type { Clock } from "../engine/ports.ts";
import { localError } from "../errors.ts";

/** Resolves when every write made so far is settled, or waits for a person, itself or what it builds on. */
export function drained(store: StoreApi<ClientState>, clock: Clock, timeoutMs?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = store.getState().queue.order;
    const look = () => {
      const state = store.getState();
      // Usually the first one is still on its way, and that is all there is to know.
      if (left[0] !== undefined && isOnItsWay(state, left[0], NONE)) {
        if (state.queue.waiting.length === 0) return;
      }
      const blocked = blockedNames(state.queue);
      left = left.filter((name) => isOnItsWay(state, name, blocked));
      if (left.length > 0) return;
      end();
      resolve();
    };
    const late = () => {
      end();
      reject(
        localError(
          "timed_out",
          `${left.length} writes were still on their way after ${timeoutMs} ms. They stay queued.`,
        ),
      );
    };
    const off = store.subscribe(look);
    const calledOff = timeoutMs === undefined ? () => {} : clock.wait(timeoutMs, late);
    const end = () => {
      off();
      calledOff();
    };
    look();
  });
}

const NONE: ReadonlySet<string> = new Set();
