import { attributionProblem, FollowedRecords, limits } from "@holdfast/sdk/protocol";
import { Type } from "typebox";
import type { ReadLog } from "../../../kernel/log/flows/read-log.ts";
import type { ReadSnapshot } from "../../../kernel/log/flows/read-snapshot.ts";
import { viewHashOf } from "../../../kernel/log/flows/view-hash.ts";
import type { MadeBy } from "../../../kernel/log/rules/made-by.ts";
import { checkLength, type View, viewOf } from "../../../kernel/log/rules/view.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ClientNames } from "../../../kernel/schema/rules/client-names.ts";
import { whereIn } from "../../../kernel/schema/rules/translate.ts";
import { ownerName, type Principal, readParticipantName } from "../../../kernel/tokens/rules/participant.ts";
import { parseJson } from "../../payload/parse-json.ts";
import { shapeCheck } from "../../payload/shape-check.ts";
import type { Handlers, Query } from "../answer.ts";
import { checkGroups, readInteger } from "../query.ts";

/** Waits until a tenant's log extends beyond a position, or until the timeout. */
export type AwaitNews = (tenant: number, after: number, waitMs: number, signal: AbortSignal) => Promise<void>;

const checkWhere = shapeCheck(Type.Object({ where: FollowedRecords }));

function viewAsked(
  principal: Principal,
  { one, many }: Pick<Query, "one" | "many">,
  names: ClientNames | undefined,
): View | Refusal {
  const sent = one.where === undefined ? undefined : readWhere(one.where);
  if (sent && isRefusal(sent)) return sent;
  const where = sent && names ? whereIn(names, sent) : sent;
  const request = { models: many.model, groups: many.group, where };
  return checkLength(request) ?? viewOf(principal, request);
}

function readWhere(text: string): FollowedRecords | Refusal {
  const parsed = parseJson(Buffer.from(text));
  const refusal = isRefusal(parsed) ? parsed : checkWhere({ where: parsed.value });
  if (!refusal) return (parsed as { readonly value: FollowedRecords }).value;
  const param = isRefusal(parsed) ? "where" : (refusal.param ?? "where");
  return refuse("invalid_value", { param, message: `"${param}" must be conditions as JSON.` });
}

function madeByAsked({ one: { run, actor, on_behalf_of: onBehalfOf } }: Pick<Query, "one">): MadeBy | Refusal {
  const problem = attributionProblem({ run }, Buffer.byteLength);
  if (problem) return refuse("invalid_value", problem);
  for (const [param, name] of Object.entries({ actor, on_behalf_of: onBehalfOf }))
    if (name !== undefined && readParticipantName(name) === undefined)
      return refuse("invalid_value", { param, message: `"${param}" must be a participant, like user:ann.` });
  return { run, actor, onBehalfOf };
}

/** The change feed and the snapshot. */
export function logRoutes(
  readLog: ReadLog,
  readSnapshot: ReadSnapshot,
  awaitNews: AwaitNews,
  recordBytes: number,
): Pick<Handlers, "readLog" | "readSnapshot"> {
  return {
    readLog: async ({ principal, query, spoken, signal, recheck }) => {
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
      const view = viewAsked(principal, query, spoken?.names);
      if (isRefusal(view)) return { refusal: view };
      const madeBy = madeByAsked(query);
      if (isRefusal(madeBy)) return { refusal: madeBy };
      let page = await readLog(tenant, view, { after, limit, madeBy });
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
        page = await readLog(tenant, view, { after: page.examined, limit, madeBy });
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
        recordBytes,
        serverTime: new Date().toISOString(),
      });
      return { text: `{"object":"list","data":[${page.entries.join(",")}],${tail.slice(1)}` };
    },
    readSnapshot: async ({ principal, query: { one, many }, spoken }) => {
      const limit = readInteger(one.limit, {
        name: "limit",
        min: 1,
        max: limits.snapshotPage,
        absent: limits.snapshotPage,
      });
      if (isRefusal(limit)) return { refusal: limit };
      const refusal = checkGroups(many.group);
      if (refusal) return { refusal };
      const view = viewAsked(principal, { one, many }, spoken?.names);
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
