import { openNotices } from "./notifications.ts";

const COALESCE_MS = 10;
/** Most marks in one notification, which has room for 8 000 bytes. */
const MOST_MARKS = 250;

/** Messages from other processes. */
export interface WakeListeners {
  /** A tenant's log extends at least to this position. */
  log(tenant: number, position: number): void;
  schema(tenant: number): void;
  claims(tenant: number): void;
  proposals(tenant: number): void;
  /** A token was revoked, or will be after its grace period. */
  token(id: string): void;
  /** A tenant lives in another database now. */
  moved(tenant: number): void;
  /** The logs got new ids, as the process that renewed them reports (see log-epoch.ts). */
  renewed(): void;
  /** Hints are received from now on. Earlier ones were missed. */
  opened(): void;
}

/**
 * Hints between processes that a tenant has news, or that a token ends. NOTIFY takes a database-wide lock when its
 * transaction commits, so it never runs inside a write: hints are sent on a separate connection, batched, at most every
 * 10 ms. A hint may be lost; polling guarantees delivery.
 *
 *   `7:123`  the log of tenant 7 extends to position 123
 *   `s7`     tenant 7 has another schema
 *   `c7`     claims of tenant 7 have changed
 *   `p7`     proposals of tenant 7 have changed
 *   `tkey_1` token key_1 ends
 *   `h7`     tenant 7 lives in another database
 *   `e`      the logs have new ids
 */
export interface Wake {
  /** Calls these functions for messages of other processes from now on. */
  subscribe(listeners: Partial<WakeListeners>): void;
  log(tenant: number, position: number): void;
  schema(tenant: number): void;
  claims(tenant: number): void;
  proposals(tenant: number): void;
  token(id: string): void;
  moved(tenant: number): void;
  close(): Promise<void>;
}

export function openWake(url: string): Wake {
  const subscribers: Partial<WakeListeners>[] = [];
  const notices = openNotices(url, {
    channel: "holdfast_wake",
    opened: () => {
      for (const { opened } of subscribers) opened?.();
    },
    received: (_, marks) => {
      for (const mark of marks.split(" ")) for (const listeners of subscribers) notify(mark, listeners);
    },
  });
  /** Subject of a mark → the newest position, if it has one. */
  const waiting = new Map<string, string>();
  let closed = false;
  let sending: NodeJS.Timeout | undefined;

  /** One notification at a time: marks that are added meanwhile go with the next one. */
  async function flush(): Promise<void> {
    const marks = [...waiting].slice(0, MOST_MARKS);
    for (const [about] of marks) waiting.delete(about);
    await notices.send([marks.map(([about, position]) => about + position).join(" ")]);
    sending = undefined;
    if (waiting.size > 0 && !closed) schedule();
  }

  function schedule(): void {
    sending ??= setTimeout(() => void flush(), COALESCE_MS).unref();
  }

  const send = (about: string, position = "") => {
    waiting.set(about, position);
    schedule();
  };

  return {
    subscribe: (listeners) => void subscribers.push(listeners),
    log: (tenant, position) => send(`${tenant}`, `:${position}`),
    schema: (tenant) => send(`s${tenant}`),
    claims: (tenant) => send(`c${tenant}`),
    proposals: (tenant) => send(`p${tenant}`),
    token: (id) => send(`t${id}`),
    moved: (tenant) => send(`h${tenant}`),
    async close() {
      closed = true;
      clearTimeout(sending);
      await notices.close();
    },
  };
}

function notify(mark: string, { log, schema, claims, proposals, token, moved, renewed }: Partial<WakeListeners>): void {
  const rest = mark.slice(1);
  if (mark === "e") return renewed?.();
  if (mark.startsWith("c")) return claims?.(Number(rest));
  if (mark.startsWith("p")) return proposals?.(Number(rest));
  if (mark.startsWith("s")) return schema?.(Number(rest));
  if (mark.startsWith("t")) return token?.(rest);
  if (mark.startsWith("h")) return moved?.(Number(rest));
  const [tenant, position] = mark.split(":");
  log?.(Number(tenant), Number(position));
}
