import { paths } from "@holdfast/sdk/protocol";
import type { Holder } from "../exchange/actors.ts";
import { Later, type Memory, type Sent } from "../exchange/memory.ts";
import type { Routes } from "../exchange/routes.ts";
import type { Plan } from "../generate/plan.ts";
import { type Draft, encoded, mutate, spelled } from "./mutate.ts";

/** Turns a plan into a request and its sender, with the data that the run has remembered. */
export function compose(plan: Plan, memory: Memory, routes: Routes): Sent {
  const { who, draft } = drafted(plan, memory);
  return guarded({ who, wire: wired(plan.mutations.reduce(mutate, draft)) }, memory, routes);
}

function drafted(plan: Plan, memory: Memory): { who: Holder; draft: Draft } {
  if (plan.kind === "page") {
    const who = holderOf(plan.who, memory);
    return { who, draft: { ...BLANK, segments: plan.path.split("/").slice(1), headers: authorized(who) } };
  }
  if (plan.kind !== "fresh") {
    const sent = plan.kind === "again" ? memory.earlierWrite(plan.n) : memory.nextPage(plan.n);
    return sent ? { who: sent.who, draft: takenApart(sent) } : drafted(NOTHING_YET, memory);
  }
  const who = holderOf(plan.who, memory);
  const filled = (value: unknown): unknown => fill(value, memory, who);
  const [method, path] = paths[plan.endpoint];
  const body = filled(plan.body);
  return {
    who,
    draft: {
      ...BLANK,
      method,
      segments: path
        .split("/")
        .slice(1)
        .map((part) => (part.startsWith(":") ? encoded(String(filled(plan.parameters[part.slice(1)]))) : part)),
      query: plan.query.map(([name, value]) => `${encoded(name)}=${encoded(String(filled(value)))}`),
      headers: [
        ...authorized(who),
        ...(body === undefined ? [] : [["content-type", "application/json"] as const]),
        ...(plan.key === undefined ? [] : [["idempotency-key", plan.key] as const]),
      ],
      body,
    },
  };
}

const BLANK: Draft = {
  method: "GET",
  segments: [],
  query: [],
  headers: [],
  body: undefined,
  bytes: undefined,
  hangsUp: false,
};

const NOTHING_YET: Plan = { kind: "page", path: "/v1/identity", who: "live", mutations: [] };

const holderOf = (who: string | number, memory: Memory): Holder =>
  typeof who === "string" ? memory.holder(who) : (memory.mintedHolder(who) ?? memory.holder("live"));

const authorized = ({ authorization }: Holder): [string, string][] =>
  authorization === undefined ? [] : [["authorization", authorization]];

function fill(value: unknown, memory: Memory, who: Holder): unknown {
  if (value instanceof Later) return memory.fill(value, who);
  if (Array.isArray(value)) return value.map((item) => fill(item, memory, who));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, memory, who)]));
}

/** An earlier request as a draft again, so that mutations of the address and the bytes can be done to it. */
function takenApart({ wire }: Sent): Draft {
  const [path = "", ...search] = wire.target.split("?");
  let body: unknown;
  try {
    body = wire.body && JSON.parse(wire.body.toString());
  } catch {
    // A body that was not JSON is sent byte for byte.
  }
  return {
    ...BLANK,
    method: wire.method,
    segments: path.split("/").slice(1),
    query: search.join("?").split("&").filter(Boolean),
    headers: wire.headers,
    body,
    bytes: wire.body,
  };
}

/** Encodes characters beyond Latin-1, which no client may send in a URL. */
function wired({ method, segments, query, headers, body, bytes, hangsUp }: Draft) {
  const target = `/${segments.join("/")}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  return {
    method,
    target: target.replace(/[^\u0021-\u00ff]/gu, encoded),
    headers,
    body: bytes ?? (body === undefined ? undefined : spelled(body)),
    hangsUp,
  };
}

/** Schema changes go to a separate tenant, because the other tenants are judged by their first schema. */
function guarded(sent: Sent, memory: Memory, routes: Routes): Sent {
  const { who, wire } = sent;
  if (routes.endpointOf(wire) !== "pushSchema" || who.kind !== "sk" || !memory.actors.judged.has(who.tenant ?? ""))
    return sent;
  const other = memory.holder("pushed");
  const headers = wire.headers.map(([name, value]): readonly [string, string] =>
    name === "authorization" && value === who.authorization ? [name, other.authorization ?? ""] : [name, value],
  );
  return { who: other, wire: { ...wire, headers } };
}
