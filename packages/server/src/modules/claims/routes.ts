import { type ClaimRelease, limits } from "@holdfast/sdk/protocol";
import type { Handlers } from "../../edge/http/answer.ts";
import { readInteger } from "../../edge/http/query.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import { fieldIn } from "../../kernel/schema/rules/translate.ts";
import type { Acquired, ClaimFlows } from "./flows/claim-flows.ts";

type ClaimHandlers = Pick<
  Handlers,
  | "acquireClaim"
  | "acquireClaimOn"
  | "releaseRecord"
  | "reorderClaims"
  | "listClaims"
  | "listOwnClaims"
  | "readClaim"
  | "renewClaim"
  | "releaseClaim"
>;

/** Claims: acquire, wait for, renew, release, reorder and list. */
export function claimRoutes(flows: ClaimFlows): ClaimHandlers {
  return {
    acquireClaim: async ({
      principal,
      params: { model = "", id = "" },
      body: { field: sent, ...rest } = {},
      spoken,
    }) => {
      const field = currentField(spoken, model, sent, "field");
      if (isRefusal(field)) return { refusal: field };
      return acquired(await flows.acquire(principal, { model, id, at: "" }, { ...rest, ...field }));
    },
    acquireClaimOn: async ({ principal, body: { target, ...rest }, spoken }) => {
      const { model, id, field: sent } = target;
      const field = currentField(spoken, model, sent, "target.field");
      if (isRefusal(field)) return { refusal: field };
      return acquired(await flows.acquire(principal, { model, id, at: "target." }, { ...rest, ...field }));
    },
    releaseRecord: async ({ principal, params: { model = "", id = "" }, query: { one } }) =>
      released(await flows.releaseRecord(principal, { model, id, at: "" }, one.client_id)),
    reorderClaims: async ({ principal, params: { model = "", id = "" }, body }) =>
      valued(
        await flows.reorder(
          principal,
          model,
          id,
          body.order.map((one) => (typeof one === "string" ? one : one.claimId)),
        ),
      ),
    listClaims: async ({ principal, query: { one } }) => {
      const { model, id } = one;
      if (model === undefined) return { refusal: refuse("missing_field", { param: "model" }) };
      if (id === undefined) return { refusal: refuse("missing_field", { param: "id" }) };
      return valued(await flows.list(principal, model, id));
    },
    listOwnClaims: async ({ principal, query: { one } }) => {
      const limit = readInteger(one.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
      if (isRefusal(limit)) return { refusal: limit };
      const found = await flows.listOwn(principal, { limit, cursor: one.starting_after });
      if (isRefusal(found)) return { refusal: found };
      const { claims, nextCursor } = found;
      return {
        value: { object: "list" as const, data: [...claims], has_more: nextCursor !== null, next_cursor: nextCursor },
      };
    },
    readClaim: async ({ principal, params: { id = "" }, query, signal, recheck }) => {
      const wait = readInteger(query.one.wait, { name: "wait", min: 0, max: limits.claimWaitMs, absent: 0 });
      if (isRefusal(wait)) return { refusal: wait };
      const found = await flows.read(principal, id, wait, signal);
      const ended = wait > 0 ? await recheck() : undefined;
      return ended ? { refusal: ended } : valued(found);
    },
    renewClaim: async ({ principal, params: { id = "" }, body }) => valued(await flows.renew(principal, id, body?.ttl)),
    releaseClaim: async ({ principal, params: { id = "" } }) => released(await flows.release(principal, id)),
  };
}

/** The field that a client with this schema means. */
function currentField(
  spoken: SpokenSchema | undefined,
  model: string,
  sent: string | undefined,
  param: string,
): { readonly field?: string } | Refusal {
  if (sent === undefined) return {};
  const field = spoken?.names ? fieldIn(spoken.names, model, sent, param) : sent;
  return isRefusal(field) ? field : { field };
}

const STATUS = { granted: 201, renewed: 200, waiting: 202 } as const;

const acquired = (result: Acquired | Refusal) =>
  isRefusal(result) ? { refusal: result } : { status: STATUS[result.kind], value: result.claim };

const valued = <T extends object>(result: T | Refusal) => (isRefusal(result) ? { refusal: result } : { value: result });

const released = (count: number | Refusal) =>
  isRefusal(count)
    ? { refusal: count }
    : { value: { object: "claim_release", released: count } satisfies ClaimRelease };
