import { type EndpointName, type ErrorCode, errorCodes } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import type { Answer } from "../exchange/wire.ts";
import { envelopeFaults, type Judging, judge } from "./judge.ts";

const URL = "http://127.0.0.1:1";
const ID = `req_${"a".repeat(24)}`;
const SECRET = `sk_live_${"a".repeat(36)}`;
const scope = { operations: ["slide.*"], syncGroups: ["deck:d0"] };
const shown: number[] = [];
const judging: Judging = {
  actors: { holders: new Map(), judged: new Set(["o live"]), organizations: [] },
  schema: { models: { slide: { fields: { deckId: { type: "string" } }, groups: [{ kind: "deck", from: "deckId" }] } } },
  url: URL,
  secrets: new Map([[SECRET, "live"]]),
  adminToken: "admin_x",
  expectResponse: () => undefined,
  shown: (_, syncId) => shown.push(syncId),
};

function faultsOf(endpoint: EndpointName | undefined, status: number, body: unknown, more: Partial<Answer> = {}) {
  const wire = { method: "GET", target: "/", headers: [], body: undefined };
  const who = {
    name: "x",
    token: "",
    authorization: "",
    kind: "rk",
    tenant: "o live",
    organization: "o",
    scope,
  } as const;
  const headers = { "content-type": "application/json", "x-request-id": ID, ...more.headers };
  return judge(
    { who, wire },
    { status, reason: "", text: JSON.stringify(body), ms: 1, ...more, headers },
    endpoint,
    judging,
  );
}

const envelope = (code: ErrorCode, more: object = {}) => ({
  type: errorCodes[code].type,
  message: "No.",
  code,
  doc_url: `${URL}/docs/errors#${code}`,
  request_id: ID,
  ...more,
});
const receipt = { object: "commit_receipt", clientTxId: "t", success: true, status: "confirmed", lastSyncId: 1 };
const rejected = { ...receipt, success: false, status: "rejected", error: { code: "stale_context" } };
const held = { headers: { "holdfast-held": "true" } };
const row = (deckId: string) => ({ id: "a", deckId });
const line = (value: object) => JSON.stringify(value);

test("[F1] correct responses produce no violations", () => {
  const fine: [EndpointName | undefined, number, unknown, Partial<Answer>?][] = [
    ["readRecord", 404, envelope("record_not_found")],
    ["commit", 400, envelope("unknown_model", { type: "validation_error" })],
    [undefined, 404, envelope("route_not_found")],
    ["updateRecord", 200, receipt],
    ["updateRecord", 200, { ...rejected, notifications: [] }, held],
    ["updateRecord", 409, envelope("stale_context", { receipt: rejected })],
    ["readRecord", 200, { model: "slide", data: row("d0") }],
    ["listRecords", 200, { model: "slide", data: [row("d0")] }],
    ["readLog", 200, { data: [{ syncId: 1, model: "slide", data: null }] }],
    ["createSecretKey", 201, { token: SECRET }],
  ];
  for (const [endpoint, status, body, more] of fine)
    expect([endpoint, faultsOf(endpoint, status, body, more)]).toEqual([endpoint, []]);
});

test.each<[string, EndpointName | undefined, number, unknown, Partial<Answer>?]>([
  ["a 500", "readLog", 500, envelope("internal_error")],
  ["a 503 without an end", "readLog", 503, envelope("overloaded")],
  ["a status that does not fit the code", "readRecord", 403, envelope("record_not_found")],
  ["a code of another class", "readRecord", 404, envelope("record_not_found", { type: "conflict_error" })],
  ["an unknown code", "readRecord", 404, envelope("record_not_found", { code: "toString" })],
  ["an error without a message", "readRecord", 404, envelope("record_not_found", { message: "" })],
  ["a stack trace", "readRecord", 404, envelope("record_not_found", { message: "x at f (a.ts:1)" })],
  ["another doc_url", "readRecord", 404, envelope("record_not_found", { doc_url: "https://x" })],
  ["another request_id", "readRecord", 404, envelope("record_not_found", { request_id: "req_b" })],
  ["no x-request-id", "readLog", 200, { data: [] }, { headers: { "x-request-id": undefined } }],
  ["no JSON", "readLog", 200, {}, { text: "{" }],
  ["a status that no stranger gets", undefined, 403, envelope("admin_required")],
  ["a held receipt that does not say so", "updateRecord", 200, { ...rejected, notifications: [] }],
  ["a held receipt without notices", "updateRecord", 200, rejected, held],
  ["a confirmed receipt without success", "commit", 200, { ...receipt, success: false }],
  ["a confirmed receipt without a position", "commit", 200, { ...receipt, lastSyncId: undefined }],
  ["an error with a confirmed receipt", "commit", 409, envelope("stale_context", { receipt })],
  ["an error whose receipt says another", "commit", 409, envelope("claim_lost", { receipt: rejected })],
  ["a record of another group", "readRecord", 200, { model: "slide", data: row("d1") }],
  ["a record of another model", "readRecord", 200, { model: "note", data: row("d0") }],
  ["a listed record of another group", "listRecords", 200, { model: "slide", data: [row("d0"), row("d1")] }],
  ["a record of another group that a query found", "queryRecords", 200, { model: "slide", data: [row("d1")] }],
  ["an entry of another group", "readLog", 200, { data: [{ syncId: 1, model: "slide", data: row("d1") }] }],
  ["an entry of another model", "readHistory", 200, { data: [{ syncId: 1, model: "note", data: null }] }],
  [
    "a row of a snapshot from another group",
    "readSnapshot",
    200,
    {},
    {
      headers: { "content-type": "application/x-ndjson" },
      text: [line({}), line({ model: "slide", data: row("d1") }), line({})].join("\n"),
    },
  ],
  ["a token", "readRecord", 200, { model: "slide", data: { ...row("d0"), title: SECRET } }],
  ["the operator's token", "readRecord", 200, { model: "slide", data: { ...row("d0"), title: "admin_x" } }],
  ["a token in a header", undefined, 200, {}, { headers: { "x-token": SECRET } }],
])("[F1] the judge finds %s", (_, endpoint, status, body, more) => {
  expect(faultsOf(endpoint, status, body, more).length).toBeGreaterThan(0);
});

test("[F1] shown entries are remembered and compared with the whole log", () => {
  shown.length = 0;
  faultsOf("readHistory", 200, { data: [{ syncId: 3, model: "slide", data: row("d0") }] });
  const notice = { model: "slide", observedSyncId: 4, currentValues: {} };
  faultsOf("updateRecord", 200, { ...rejected, notifications: [notice] }, held);
  expect(shown).toEqual([3, 4]);
});

test("[F3] an error frame is an envelope like any other", () => {
  expect(envelopeFaults({ frame: "error", ...envelope("invalid_frame") }, undefined, ID, URL)).toEqual([]);
  expect(envelopeFaults({ frame: "error", message: "No." }, undefined, ID, URL)).toHaveLength(1);
});
