import { type ClaimQueue, holderName, inQueueOrder, isConflict, isHeld } from "./claim.ts";

/** An edge of the wait graph: one holder waits for another. */
export interface Wait {
  readonly waiter: string;
  readonly blocker: string;
}

/** The edges within one queue: each waiter waits for conflicting holders, and for conflicting waiters ahead of it. */
export function waitsIn(queue: ClaimQueue, now: number): Wait[] {
  const waiters = inQueueOrder(queue);
  const holders = queue.filter((claim) => isHeld(claim, now));
  return waiters.flatMap((waiter, i) =>
    [...holders, ...waiters.slice(0, i)]
      .filter((other) => isConflict(other, waiter))
      .map((other) => ({ waiter: holderName(waiter), blocker: holderName(other) })),
  );
}

/** Whether a new waiter for these blockers would close a cycle, that is, cause a deadlock. */
export function closesCircle(waits: readonly Wait[], waiter: string, blockers: readonly string[]): boolean {
  const blockersOf = new Map<string, string[]>();
  for (const { waiter: who, blocker } of waits) {
    const known = blockersOf.get(who);
    if (known) known.push(blocker);
    else blockersOf.set(who, [blocker]);
  }
  const seen = new Set<string>();
  const open = [...blockers];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === waiter) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(blockersOf.get(next) ?? []));
  }
  return false;
}
