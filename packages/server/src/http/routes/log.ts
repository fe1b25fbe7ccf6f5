import { limits } from "@holdfast/sdk/protocol";
import type pg from "pg";
import { readHead } from "../../db/heads.ts";
import { readSnapshotPage } from "../../db/snapshot.ts";
import { liveSchema } from "../../flows/live-schema.ts";
import { readLogPage } from "../../flows/read-log.ts";
import type { SchemaCache } from "../../flows/schema-cache.ts";
import { refuse } from "../../rules/refusal.ts";
import { organizationGroup } from "../../rules/sync-group.ts";
import { viewOf } from "../../rules/view.ts";
import type { Handlers } from "../answer.ts";
import type { PageCursors } from "../page-cursor.ts";
import { readGroups, readInteger, snapshotLimit } from "../query.ts";

/** Waits until a world's log reaches beyond a position, or the time is over. */
export type AwaitNews = (world: number, after: number, waitMs: number, signal: AbortSignal) => Promise<void>;

/** The change feed and the snapshot: how a reader gets to know everything, and keeps knowing it. */
export function logRoutes(
  pool: pg.Pool,
  schemas: SchemaCache,
  cursors: PageCursors,
  awaitNews: AwaitNews,
): Pick<Handlers, "readLog" | "readSnapshot"> {
  return {
    readLog: async ({ principal: { world, organization }, query, signal }) => {
      const after = readInteger(query.one.after, { name: "after", min: 0, max: Number.MAX_SAFE_INTEGER, absent: 0 });
      if (typeof after === "object") return { refusal: after };
      const limit = readInteger(query.one.limit, {
        name: "limit",
        min: 1,
        max: limits.logPageMax,
        absent: limits.logPage,
      });
      if (typeof limit === "object") return { refusal: limit };
      const wait = readInteger(query.one.wait, { name: "wait", min: 0, max: limits.logWaitMs, absent: 0 });
      if (typeof wait === "object") return { refusal: wait };
      const refusal = readGroups(query.many.group);
      if (refusal) return { refusal };
      const view = viewOf(organization, query.many.model, query.many.group);
      const schema = await liveSchema(pool, schemas, world);
      let page = await readLogPage(pool, world, view, schema, after, limit);
      if (after < page.trimmedTo) return { refusal: refuse("resync_required", { param: "after" }) };
      if (after > page.stamp) return { refusal: refuse("read_at_in_future", { param: "after" }) };
      const deadline = Date.now() + wait;
      const gone = signal();
      while (page.entries.length === 0 && page.examined >= page.stamp && Date.now() < deadline && !gone.aborted) {
        await awaitNews(world, page.stamp, deadline - Date.now(), gone);
        page = await readLogPage(pool, world, view, schema, page.examined, limit);
      }
      const tail = JSON.stringify({
        has_more: page.stamp > page.examined,
        next_cursor: String(page.examined),
        stamp: page.stamp,
        logId: page.logId,
      });
      return { text: `{"object":"list","data":[${page.entries.join(",")}],${tail.slice(1)}` };
    },
    readSnapshot: async ({ principal: { world, organization }, query }) => {
      const limit = snapshotLimit(query.one.limit);
      if (typeof limit === "object") return { refusal: limit };
      const refusal = readGroups(query.many.group);
      if (refusal) return { refusal };
      const models = query.many.model?.map((name) => name.toLowerCase()).sort();
      const schema = await liveSchema(pool, schemas, world);
      const unknown = models?.find((name) => !schema.models.has(name));
      if (unknown !== undefined) return { refusal: refuse("unknown_model", { param: "model", status: 400 }) };
      const groups = query.many.group?.includes(organizationGroup(organization)) ? undefined : query.many.group;
      const context = JSON.stringify(["snapshot", world, models ?? null, groups ?? null]);
      const given = query.one.starting_after;
      const from = given === undefined ? undefined : (cursors.open(context, given) as SnapshotCursor | undefined);
      if (given !== undefined && !from) return { refusal: refuse("invalid_cursor", { param: "starting_after" }) };
      const head = await readHead(pool, world);
      // A log that was replaced between two pages would mix two pasts.
      if (from && from.logId !== head.logId) return { refusal: refuse("resync_required", { param: "starting_after" }) };
      const stamp = from?.stamp ?? head.syncId;
      const names = new Map([...schema.models].map(([key, { name }]) => [key, name]));
      const page = await readSnapshotPage(pool, { world, models, groups, after: from, limit }, names);
      const next =
        page.count === limit && page.last
          ? cursors.seal(context, { ...page.last, stamp, logId: head.logId } satisfies SnapshotCursor)
          : null;
      const start = JSON.stringify({ object: "snapshot", stamp, logId: head.logId });
      const end = JSON.stringify({ object: "snapshot_end", count: page.count, next_cursor: next });
      return { text: `${start}\n${page.lines}${end}\n`, contentType: "application/x-ndjson; charset=utf-8" };
    },
  };
}

interface SnapshotCursor {
  readonly model: string;
  readonly id: string;
  readonly stamp: number;
  readonly logId: string;
}
