import type { Hub } from "./hub.ts";

/** Waits until a tenant's log extends beyond a position, for at most `waitMs` or until the client disconnects. */
export async function awaitNews(
  hub: Hub,
  tenant: number,
  after: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const subscription = await hub.listen(tenant, { onNews: () => wake(), onSchemaPushed: () => {} });
  subscription.hear({ view: { models: undefined, groups: undefined }, clientId: null });
  const timer = setTimeout(wake, waitMs);
  signal.addEventListener("abort", wake, { once: true });
  if (subscription.position() > after || signal.aborted) wake();
  await woken;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
  subscription.end();
}
