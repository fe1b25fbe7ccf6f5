import { limits } from "@holdfast/sdk/protocol";
import type { ReadLog } from "../../flows/log/read-log.ts";
import type { ReadSnapshot } from "../../flows/log/read-snapshot.ts";
import { viewHashOf } from "../../flows/log/view-hash.ts";
import { viewOf } from "../../rules/log/view.ts";
import { isRefusal, refuse } from "../../rules/refusal.ts";
import { ownerName } from "../../rules/tokens/participant.ts";
import type { Handlers } from "../answer.ts";
import { checkGroups, readInteger } from "../query.ts";

/** Waits until a tenant's log extends beyond a position, or until the timeout. */
export type AwaitNews = (tenant: number, after: number, waitMs: number, signal: AbortSignal) => Promise<void>;

/** The change feed and the snapshot. */
export function logRoutes(
  readLog: ReadLog,
  readSnapshot: ReadSnapshot,
  awaitNews: AwaitNews,
): Pick<Handlers, "readLog" | "readSnapshot"> {
  return {
    readLog: async ({ principal, query, signal, recheck }) => {
      const { tenant } = principal;
      const after = readInteger(query.one.after, { name: "after", min: 0, max: Number.MAX_SAFE_INTEGER, absent: 0 });
      const limit = readInteger(query.one.limit, {
        name: "limit",
        min: 1,
        max: limits.logPageMax,
        absent: limits.logPage,
      });
      const wait = readInteger(query.one.wait, { name: "wait", min: 0, max: limits.logWaitMs, absent: 0 });
      const refusal = [after, limit, wait].find(isRefusal) ?? checkGroups(query.many.group);
      if (isRefusal(after) || isRefusal(limit) || isRefusal(wait) || refusal)
        return { refusal: refusal ?? refuse("invalid_value") };
      const view = viewOf(principal, query.many.model, query.many.group);
      if (isRefusal(view)) return { refusal: view };
      let page = await readLog(tenant, view, after, limit);
      if (page.models.length === 0 && query.many.model)
        return { refusal: refuse("unknown_model", { param: "model", status: 400 }) };
      if (after > page.stamp) return { refusal: refuse("read_at_in_future", { param: "after" }) };
      const deadline = performance.now() + wait;
      const msLeft = () => deadline - performance.now();
      const gone = signal();
      while (page.entries.length === 0 && page.examined >= page.stamp && msLeft() > 0 && !gone.aborted) {
        await awaitNews(tenant, page.stamp, msLeft(), gone);
        const ended = await recheck();
        if (ended) return { refusal: ended };
        page = await readLog(tenant, view, page.examined, limit);
      }
      if (page.examined < page.trimmedTo) return { refusal: refuse("resync_required", { param: "after" }) };
      const tail = JSON.stringify({
        has_more: page.stamp > page.examined,
        next_cursor: String(page.examined),
        stamp: page.stamp,
        logId: page.logId,
        rowsVersion: page.rowsVersion,
        owner: ownerName(principal),
        viewHash: viewHashOf(principal),
        models: page.models,
      });
      return { text: `{"object":"list","data":[${page.entries.join(",")}],${tail.slice(1)}` };
    },
    readSnapshot: async ({ principal, query: { one, many } }) => {
      const limit = readInteger(one.limit, {
        name: "limit",
        min: 1,
        max: limits.snapshotPage,
        absent: limits.snapshotPage,
      });
      if (isRefusal(limit)) return { refusal: limit };
      const refusal = checkGroups(many.group);
      if (refusal) return { refusal };
      const view = viewOf(principal, many.model, many.group);
      if (isRefusal(view)) return { refusal: view };
      const page = await readSnapshot({
        reader: principal,
        view,
        limit,
        cursor: one.starting_after,
      });
      return isRefusal(page) ? { refusal: page } : { text: page, contentType: "application/x-ndjson; charset=utf-8" };
    },
  };
}
