import { closeCodes } from "@holdfast/sdk/protocol";
import type { LiveSchema } from "../../flows/schema/schema-cache.ts";
import { type View, viewName, viewOf } from "../../rules/log/view.ts";
import { isRefusal, type Refusal, refuse } from "../../rules/refusal.ts";
import { isSyncGroup } from "../../rules/schema/sync-group.ts";
import type { Principal } from "../../rules/tokens/participant.ts";
import type { CatchUp } from "./catch-up.ts";
import type { Hub } from "./hub.ts";
import { entriesFrame, type News } from "./news.ts";

/**
 * What one socket hears of one tenant's log, from when it listens until it ends.
 *
 *              begin                 caught up with the tail
 *  listening ────────► catching up ─────────────────────────► live
 *      └───────────────────┴──────────────── end ───────────────┴──► ended
 */
export interface LogReader {
  /** Everything up to here is told, or can be read. */
  stamp(): number;
  readonly view: View;
  /** From now on it hears this. */
  follow(view: View): void;
  /**
   * Reads the log from a position until it meets the tail; from there on the tail tells. "trimmed": it cannot be
   * continued, what comes next is no longer kept.
   */
  begin(view: View, after: number, schemaVersion: number): Promise<"live" | "trimmed" | "ended">;
  end(): void;
}

export interface LogReaderListeners {
  /** A frame of news. */
  send(frame: string): void;
  /** The same for one of many pages: resolves when it is written. */
  write(frame: Buffer): Promise<void>;
  schemaPushed(schema: LiveSchema, rowsChanged: boolean): void;
}

const PAGE = 500;

/** Resolves when it listens: what is committed from then on is heard. */
export async function listenToLog(
  hub: Hub,
  catchUp: CatchUp,
  tenant: number,
  listeners: LogReaderListeners,
): Promise<LogReader> {
  let phase: "listening" | "catching up" | "live" | "ended" = "listening";
  let view: View = { models: undefined, groups: undefined };
  let position = 0;
  const { schemaPushed } = listeners;
  const subscription = await hub.listen(tenant, { hear, schemaPushed });

  function hear(news: News): void {
    if (phase !== "live" || news.to <= position) return;
    const frame = position === news.from ? sharedFrame(view, news) : entriesFrame(view, news, position);
    position = news.to;
    listeners.send(frame);
  }

  const isEnded = () => phase === "ended";

  return {
    stamp: subscription.position,
    get view() {
      return view;
    },
    follow(next) {
      view = next;
    },
    async begin(first, after, schemaVersion) {
      if (isEnded()) return "ended";
      phase = "catching up";
      view = first;
      position = after;
      for (;;) {
        const target = subscription.position();
        if (position >= target) {
          phase = "live";
          return "live";
        }
        let written: Promise<void> | undefined;
        const to = Math.min(target, position + PAGE);
        const question = { tenant, after: position, to, erasedTo: subscription.erasedTo(), view, schemaVersion };
        const came = await catchUp.page(question, ({ to, frame }) => {
          if (isEnded()) return;
          written = listeners.write(frame);
          position = to;
        });
        if (isEnded()) return "ended";
        if (came === "trimmed") return "trimmed";
        // Not in its turn: a reader may take its time.
        await written;
        if (isEnded()) return "ended";
      }
    },
    end() {
      phase = "ended";
      subscription.end();
    },
  };
}

/** What a reader asks to hear; undefined: all that it may. */
export interface ViewRequest {
  readonly models: readonly string[] | undefined;
  readonly groups: readonly string[] | undefined;
}

/** The view that a wish gets. */
export function viewOfRequest(
  principal: Principal,
  { models, groups }: ViewRequest,
): View | { readonly refusal: Refusal; readonly closeCode: number } {
  if (groups?.every(isSyncGroup) === false)
    return { refusal: refuse("invalid_sync_group", { param: "groups" }), closeCode: closeCodes.badFrame };
  const view = viewOf(principal, models, groups);
  return isRefusal(view) ? { refusal: { ...view, param: `${view.param}s` }, closeCode: closeCodes.forbidden } : view;
}

/** Readers with the same view get the same bytes: the frame is built once for each piece of news. */
const frames = new WeakMap<News, Map<string, string>>();

function sharedFrame(view: View, news: News): string {
  let known = frames.get(news);
  if (!known) {
    known = new Map();
    frames.set(news, known);
  }
  const key = viewName(view);
  let frame = known.get(key);
  if (frame === undefined) {
    frame = entriesFrame(view, news);
    known.set(key, frame);
  }
  return frame;
}
