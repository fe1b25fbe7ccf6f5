import type { StoreApi } from "zustand/vanilla";
import { blockedNames } from "../core/queue/blocked.ts";
import { NAMES, nextName } from "../core/queue/next-name.ts";
import { find } from "../core/queue/queue.ts";
import { isOnItsWay } from "../core/select.ts";
import type { ClientState } from "../core/state.ts";
import type { Clock } from "../engine/ports.ts";
import { localError } from "../errors.ts";
import { isAmount } from "../options.ts";
import type { Ending } from "./shutdown.ts";

/**
 * Resolves when every write made so far, including writes of an earlier process in the store, is settled, waits for a
 * person, or depends on a write that does.
 */
export function drained(store: StoreApi<ClientState>, clock: Clock, ending: Ending, timeoutMs?: number): Promise<void> {
  // A timer takes anything else for 0.
  if (timeoutMs !== undefined && !isAmount(timeoutMs))
    return Promise.reject(localError("invalid_options", "timeoutMs must be 0 or more."));
  let names: readonly string[] | undefined;
  let passed = 0;

  /** Scans from the oldest write and stops at the first unfinished one, because it runs after every step. */
  function isDone(): boolean {
    const state = store.getState();
    if (state.life === "starting") return false;
    names ??= state.queue.order;
    const blocked = blockedNames(state);
    while (passed < names.length && !isOnItsWay(state, nameNow(state, names[passed] ?? ""), blocked)) passed += 1;
    return passed === names.length;
  }

  return new Promise((resolve, reject) => {
    const check = () => {
      if (!isDone()) return;
      end();
      resolve();
    };
    const late = () => {
      end();
      const left = (names ?? store.getState().queue.order).length - passed;
      reject(localError("timed_out", `drain timed out after ${timeoutMs} ms with up to ${left} writes pending.`));
    };
    const unsubscribes: (() => void)[] = [store.subscribe(check)];
    const end = () => {
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe();
    };
    if (timeoutMs !== undefined) unsubscribes.push(clock.wait(timeoutMs, late));
    unsubscribes.push(
      ending.listen((error) => {
        end();
        reject(error);
      }),
    );
    check();
  });
}

/** The present name of a write: each replaced log gives pending writes another name. */
function nameNow({ queue }: ClientState, clientTxId: string): string {
  for (let i = 0, name = clientTxId; i < NAMES; i++, name = nextName(name)) if (find(queue, name)) return name;
  return clientTxId;
}
