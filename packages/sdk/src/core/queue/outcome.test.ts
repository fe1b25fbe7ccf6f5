import { expect, test } from "vitest";
import { type ErrorCode, errorCodes } from "../../protocol/errors/error-codes.ts";
import { outcomesOf, type Reply, verdictOf } from "./outcome.ts";

const envelope = (code: ErrorCode | (string & {}), type = "validation_error") => ({ code, type, message: "said" });
const answer = (status: number, body?: unknown, retryAfterMs?: number): Reply => ({
  kind: "answer",
  status,
  body,
  retryAfterMs,
});

const requests: [string, Reply, string][] = [
  ["a timeout", { kind: "silence", timedOut: true, reason: "late" }, "again, smaller"],
  ["a cut line", { kind: "silence", timedOut: false, reason: "cut" }, "again"],
  ["no token", { kind: "no-token", reason: "none" }, "sign-in"],
  ["200", answer(200, { data: [] }), "read"],
  ["401 of the server", answer(401, envelope("token_expired", "authentication_error")), "sign-in"],
  ["401 of something between", answer(401, "<html>"), "sign-in"],
  ["429", answer(429, envelope("rate_limited", "rate_limit_error"), 3_000), "again"],
  ["500", answer(500, envelope("internal_error", "internal_error")), "again"],
  ["502 of a proxy", answer(502, undefined), "again"],
  ["503", answer(503, envelope("unavailable", "unavailable_error"), 1_000), "again"],
  ["404 of a proxy", answer(404, "<html>"), "again"],
  ["409 with Retry-After", answer(409, envelope("idempotency_in_progress", "idempotency_error"), 1_000), "again"],
  ["413 of the server", answer(413, envelope("request_too_large", "too_large_error")), "refused"],
  ["a code of a newer server, by its status", answer(400, envelope("brand_new")), "refused"],
  ["a code of a newer server, transient", answer(503, envelope("brand_new")), "again"],
];

test.each(requests)("[Q5] a request that ends in %s", (_, reply, then) => {
  const verdict = verdictOf(reply);
  expect(verdict.then === "again" && verdict.smaller ? "again, smaller" : verdict.then).toBe(then);
});

test("[Q6] Retry-After travels with the verdict", () => {
  expect(verdictOf(answer(503, envelope("unavailable"), 9_000))).toMatchObject({ then: "again", atLeastMs: 9_000 });
});

const receipt = { object: "commit_receipt", clientTxId: "t", serverTxId: "s", success: true, status: "confirmed" };
const rejected = { ...receipt, success: false, status: "rejected" };
const items: [string, object, string][] = [
  ["a confirmed receipt", { httpStatus: 200, ...receipt }, "confirmed"],
  [
    "a held receipt",
    { httpStatus: 200, ...rejected, error: { code: "stale_context", message: "" }, notifications: [{}] },
    "conflicted",
  ],
  [
    "a rejected receipt without notifications",
    { httpStatus: 200, ...rejected, error: { code: "stale_context", message: "" } },
    "refused",
  ],
  ["dependency_blocked", { httpStatus: 409, ...envelope("dependency_blocked", "conflict_error") }, "blocked"],
  ["a claim of another participant", { httpStatus: 409, ...envelope("claim_conflict", "claim_error") }, "refused"],
  ["403", { httpStatus: 403, ...envelope("capability_scope_denied", "permission_error") }, "refused"],
  ["503", { httpStatus: 503, ...envelope("unavailable", "unavailable_error") }, "again"],
  ["429", { httpStatus: 429, ...envelope("rate_limited", "rate_limit_error") }, "again"],
  ["401", { httpStatus: 401, ...envelope("token_revoked", "authentication_error") }, "sign-in"],
  ["nonsense", { hello: "world" }, "again"],
  ["nothing", null as unknown as object, "again"],
];

test.each(items)("[Q5] a commit that is answered with %s", (_, item, kind) => {
  expect(outcomesOf({ data: [item] }, 1)?.map((o) => o.kind)).toEqual([kind]);
});

test("an answer to another number of commits is no answer to ours", () => {
  expect(outcomesOf({ data: [] }, 1)).toBeUndefined();
  expect(outcomesOf("<html>", 1)).toBeUndefined();
});

test("[Q9] whether a refusal ends a write follows from the error table alone", () => {
  for (const [code, row] of Object.entries(errorCodes)) {
    const [outcome] = outcomesOf({ data: [{ httpStatus: row.status, code, type: row.type, message: "" }] }, 1) ?? [];
    const expected = { retry: "again", "sign-in": "sign-in", fix: "refused", "re-read": "refused" } as Record<
      string,
      string
    >;
    const wait = row.type === "rate_limit_error" ? "again" : "refused";
    expect(outcome?.kind, String(code)).toEqual(
      code === "dependency_blocked" ? "blocked" : (expected[row.then] ?? wait),
    );
  }
});
