import { limits, type Part } from "@holdfast/sdk/protocol";
import type { View, ViewRequest } from "../../kernel/log/rules/view.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { LogReader } from "../../kernel/stream/log-reader.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { createSocketParts } from "./socket-parts.ts";

/*
 * A client's parts on one stream, from its hello on:
 *
 *   hello, subscribe ──► followed ──► subscribed (unless the part is at the stream's position)
 *                │            └─────► partEntries, for what it has missed since it was followed last
 *                └──────────────────► refused
 */

export interface PartSubscriptionsDeps {
  readonly reader: LogReader;
  readonly groups: ViewRequest["groups"];
  /** Up to which position the log is kept no longer. */
  readonly trimmedTo: number;
  /** The view of a request, under the names and the token that the client has now. */
  viewOf(request: ViewRequest): View;
  send(frame: object): void;
  refuse(id: string, refusal: Refusal): void;
  /** What a part has missed could not be read. */
  failed(): void;
}

export interface PartSubscriptions {
  /** What all parts ask for. */
  request(): ViewRequest;
  /** Follows the parts of a hello. Returns what answers them, once the stream begins at a position. */
  begin(parts: readonly Part[], principal: Principal): (position: number) => void;
  /** Sends what they have missed, one after the other. */
  catchUp(): void;
  subscribe(parts: readonly Part[], principal: Principal): void;
  unsubscribe(ids: readonly string[]): void;
}

export function createPartSubscriptions(deps: PartSubscriptionsDeps): PartSubscriptions {
  const { reader, groups, trimmedTo, viewOf, send } = deps;
  const parts = createSocketParts(groups);
  let missed: { readonly part: Part; readonly to: number }[] = [];
  let reading: Promise<void> = Promise.resolve();

  function add(wanted: readonly Part[], principal: Principal) {
    const added: Part[] = [];
    const refused: (readonly [id: string, refusal: Refusal])[] = [];
    for (const part of wanted) {
      const refusal = parts.add(part, principal);
      if (refusal) refused.push([part.id, refusal]);
      else added.push(part);
    }
    return { added, refused };
  }

  function answer({ added, refused }: ReturnType<typeof add>, position: number): void {
    for (const [id, refusal] of refused) deps.refuse(id, refusal);
    for (const part of added) {
      const { id, since = position } = part;
      const isKnown = since !== null && since >= trimmedTo && position - since <= limits.partBehind;
      if (part.since !== undefined) send({ frame: "subscribed", id, position, read: !isKnown });
      if (isKnown && since < position) missed.push({ part, to: position });
    }
  }

  function catchUp(): void {
    const next = missed;
    missed = [];
    reading = next
      .reduce((before, { part, to }) => before.then(() => readMissed(part, to)), reading)
      .catch(deps.failed);
  }

  async function readMissed(part: Part, to: number): Promise<void> {
    if (!parts.has(part)) return;
    const { id, since } = part;
    const came = await reader.missed({
      ...{ view: viewOf(parts.requestOf(part)), after: since ?? to, to },
      frameOf: (page) => (parts.has(part) ? framed(id, page) : undefined),
    });
    // The log was trimmed meanwhile.
    if (came === "trimmed" && parts.has(part)) send({ frame: "subscribed", id, position: to, read: true });
  }

  /** Returns where the stream goes on by the parts that there are now. */
  function follow(): number {
    return reader.follow(viewOf(parts.request()));
  }

  return {
    request: parts.request,
    begin(wanted, principal) {
      const begun = add(wanted, principal);
      return (position) => answer(begun, position);
    },
    catchUp,
    subscribe(wanted, principal) {
      const asked = add(
        wanted.map((part) => ({ since: null, ...part })),
        principal,
      );
      answer(asked, asked.added.length > 0 ? follow() : 0);
      catchUp();
    },
    unsubscribe(ids) {
      const gone = [...new Set(ids)].filter((id) => {
        if (parts.remove(id)) return true;
        deps.refuse(id, refuse("invalid_value", { param: "ids", message: `There is no part "${id}".` }));
        return false;
      });
      if (gone.length === 0) return;
      follow();
      send({ frame: "unsubscribed", ids: gone });
    },
  };
}

const ENTRIES = Buffer.from('{"frame":"entries",');

const framed = (id: string, page: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`{"frame":"partEntries","id":${JSON.stringify(id)},`), page.subarray(ENTRIES.length)]);
