import { closeCodes, isSyncGroup, limits } from "@holdfast/sdk/protocol";
import { type View, type ViewRequest, viewOf } from "../log/rules/view.ts";
import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import type { SpokenSchema } from "../schema/flows/client-schemas.ts";
import type { LiveSchema } from "../schema/flows/schema-cache.ts";
import type { ClientNames } from "../schema/rules/client-names.ts";
import type { Principal } from "../tokens/rules/participant.ts";
import type { CatchUp, CatchUpPage } from "./catch-up.ts";
import type { Hub } from "./hub.ts";
import { concerns, entriesFrame, isUnder, type News, readerName } from "./news.ts";

/**
 * Reads one tenant's log for one socket. It listens first and reads the log afterwards, so no entry can fall between
 * the two.
 *
 *               begin                 caught up with the tail
 *   listening ────────► catching up ─────────────────────────► live
 *       └───────────────────┴──────────────── end ───────────────┴──► ended
 */
export interface LogReader {
  /** Every entry up to here has been sent or can be read. */
  stamp(): number;
  readonly view: View;
  /** Filters by this view from now on. Returns the position from which what it sends is by this view. */
  follow(view: View): number;
  /**
   * Says how far the log has gone, if the reader has not been told because nothing of it was for it. Returns whether it
   * was so.
   */
  tell(): boolean;
  /**
   * Reads the log from a position until it reaches the tail; from there on the tail delivers. "trimmed": the next
   * entries are no longer kept. "renamed": a push has changed the records or names meanwhile.
   */
  begin(reading: Reading): Promise<"live" | "trimmed" | "renamed" | "ended">;
  /** Reads for a part of the view what it has missed: the entries in (after, to]. */
  missed(missed: Missed): Promise<"read" | "trimmed" | "ended">;
  end(): void;
}

export interface Missed {
  readonly view: View;
  readonly after: number;
  readonly to: number;
  /** Makes the frame of a page from the one of a catch-up. Undefined: the part is not followed any more. */
  frameOf(page: Buffer): Buffer | undefined;
}

/** What is read, from which position, and for whom. */
export interface Reading {
  readonly view: View;
  readonly after: number;
  readonly spoken: SpokenSchema;
  /** The client that wants to hear of its own changes at once. */
  readonly clientId: string | null;
}

export interface LogReaderListeners {
  /** Sends a frame of new entries. */
  send(frame: string | Buffer): void;
  /** Waits until one more page may be in flight. Returns a function that ends its flight. */
  enterPage(): Promise<() => void>;
  /** Sends one page of a catch-up. Resolves when it is written. */
  write(frame: Buffer): Promise<void>;
  onSchemaPushed(schema: LiveSchema, rowsChanged: boolean): void;
  /** News are of records, or under names, that a push has changed. They are not sent. */
  onRenamed(): void;
}

const PAGE = 500;

/** Resolves once it listens: it receives everything that is committed from then on. */
export async function listenToLog(
  hub: Hub,
  catchUp: CatchUp,
  tenant: number,
  listeners: LogReaderListeners,
): Promise<LogReader> {
  let phase: "listening" | "catching up" | "live" | "ended" = "listening";
  let view: View = { models: undefined, groups: undefined };
  let position = 0;
  /** Up to where the reader knows of the log. Between it and `position`, and on to what was delivered, is nothing for it. */
  let told = 0;
  let clientId: string | null = null;
  let spoken: SpokenSchema = { version: 0, rowsVersion: 0, shownRowsVersion: 0, names: undefined };
  const { onSchemaPushed } = listeners;
  const subscription = await hub.listen(tenant, { onNews, onGoneOn: tell, onSchemaPushed });

  function onNews(news: News): void {
    if (phase !== "live" || news.to <= position) return;
    // The news can be faster than the message that a schema was pushed.
    if (!isUnder(news, spoken)) return listeners.onRenamed();
    if (!concerns(view, news, position, clientId)) return;
    position = Math.max(position, news.from);
    tellPosition();
    const { names } = spoken;
    const frame = position === news.from ? sharedFrame(view, news, names) : entriesFrame(view, news, names, position);
    position = news.to;
    told = position;
    listeners.send(frame);
  }

  function tell(): boolean {
    const delivered = subscription.delivered();
    if (phase !== "live" || !delivered) return false;
    if (delivered.to > position) {
      if (!isUnder(delivered, spoken)) {
        listeners.onRenamed();
        return false;
      }
      position = delivered.to;
    }
    return tellPosition();
  }

  function tellPosition(): boolean {
    if (told === position) return false;
    listeners.send(`{"frame":"entries","from":${told},"to":${position},"entries":[]}`);
    told = position;
    return true;
  }

  const isEnded = () => phase === "ended";

  async function sendPage(
    { view, after, to }: { readonly view: View; readonly after: number; readonly to: number },
    frameOf: (page: CatchUpPage) => Buffer | undefined,
  ): Promise<"sent" | "trimmed" | "renamed" | "ended"> {
    // A page has its place until it is written: thousands of sockets could leave theirs unread.
    const leave = await listeners.enterPage();
    if (isEnded()) {
      leave();
      return "ended";
    }
    let written: Promise<void> | undefined;
    const erasedTo = subscription.erasedTo();
    const question = { tenant, after, to: Math.min(to, after + PAGE), erasedTo, view, spoken };
    const page = catchUp.page(question, (read) => {
      const frame = isEnded() ? undefined : frameOf(read);
      if (!frame) return;
      written = listeners.write(frame);
      // A reader that never reads is closed for more than this only.
      if (frame.length < limits.frameBytes) leave();
      else void written.finally(leave);
    });
    const came = await page.finally(() => {
      if (!written) leave();
    });
    if (came !== "sent") return isEnded() ? "ended" : came;
    // Wait outside the fair queue: a slow client must not block the other readers.
    await written;
    return isEnded() || !written ? "ended" : "sent";
  }

  return {
    stamp: subscription.position,
    get view() {
      return view;
    },
    follow(next) {
      // What it was not told of was for no reader of the former view, but may be for one of the next.
      tell();
      view = next;
      if (phase === "live") subscription.hear({ view, clientId });
      return position;
    },
    tell,
    async begin(reading) {
      if (isEnded()) return "ended";
      phase = "catching up";
      ({ view, after: position, spoken, clientId } = reading);
      for (;;) {
        const target = subscription.position();
        if (position >= target) {
          told = position;
          phase = "live";
          subscription.hear({ view, clientId });
          return "live";
        }
        const came = await sendPage({ view, after: position, to: target }, ({ to, frame }) => {
          position = to;
          return frame;
        });
        if (came !== "sent") return came;
      }
    },
    async missed({ view, after, to, frameOf }) {
      let at = after;
      while (at < to) {
        const came = await sendPage({ view, after: at, to }, (page) => {
          at = page.to;
          return frameOf(page.frame);
        });
        if (came === "renamed") listeners.onRenamed();
        if (came !== "sent") return came === "trimmed" ? "trimmed" : "ended";
      }
      return "read";
    },
    end() {
      phase = "ended";
      subscription.end();
    },
  };
}

/** The view for a request, limited to the token's scope. */
export function viewOfRequest(
  principal: Principal,
  requested: ViewRequest,
): View | { readonly refusal: Refusal; readonly closeCode: number } {
  if (requested.groups?.every(isSyncGroup) === false)
    return { refusal: refuse("invalid_sync_group", { param: "groups" }), closeCode: closeCodes.badFrame };
  const view = viewOf(principal, requested);
  if (!isRefusal(view)) return view;
  if (view.param === "where") return { refusal: view, closeCode: closeCodes.badFrame };
  return { refusal: { ...view, param: `${view.param}s` }, closeCode: closeCodes.forbidden };
}

/** Readers with the same view get the same bytes: the frame is built once per batch of news. */
const frames = new WeakMap<News, Map<string, Buffer>>();

function sharedFrame(view: View, news: News, names: ClientNames | undefined): Buffer {
  let known = frames.get(news);
  if (!known) {
    known = new Map();
    frames.set(news, known);
  }
  const key = readerName(view, names);
  let frame = known.get(key);
  if (frame === undefined) {
    frame = Buffer.from(entriesFrame(view, news, names));
    known.set(key, frame);
  }
  return frame;
}
