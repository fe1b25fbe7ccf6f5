import { expect, test } from "vitest";
import { outcomeOf } from "./delivery-outcome.ts";

const answered = (status: number, retryAfter?: string) =>
  outcomeOf({ kind: "answered", status, retryAfter, body: "" }, Date.parse("2026-01-01T00:00:00Z"));

test.each([200, 201, 204, 299])("[W15] %i is a success", (status) => {
  expect(answered(status)).toEqual({ kind: "succeeded", status });
});

test("[W3] the error of a redirect names the address that it was sent to", () => {
  const location = "https://www.example.com/hook";
  const redirected = outcomeOf({ kind: "answered", status: 301, retryAfter: undefined, location, body: "" }, 0);
  expect(redirected).toMatchObject({ code: "redirected", message: expect.stringContaining(location) });
});

test.each([301, 302, 307, 308, 304])("[W3] %i is a failure: redirects are not followed", (status) => {
  expect(answered(status)).toMatchObject({ kind: "failed", code: "redirected", status });
});

test.each([199, 400, 404, 410, 418, 429, 500, 503, 599])("[W15] %i is a failure", (status) => {
  expect(answered(status)).toMatchObject({ kind: "failed", code: "unexpected_status", status });
});

test.each([
  ["7", 7_000],
  ["0", 0],
  ["Thu, 01 Jan 2026 00:00:09 GMT", 9_000],
  ["Wed, 31 Dec 2025 23:00:00 GMT", 0],
])("[W10] Retry-After: %s", (text, ms) => {
  expect(answered(503, text)).toMatchObject({ retryAfterMs: ms });
});

test.each(["soon", "-5", "1e3", "99999999999", ""])("[W10] Retry-After: %j asks for nothing", (text) => {
  expect(answered(503, text)).not.toHaveProperty("retryAfterMs");
});

test("[W15] no answer is a failure with its reason, and one that was given up is unknown", () => {
  const late = { kind: "unanswered", code: "timeout", message: "No response within 15 s." } as const;
  expect(outcomeOf(late, 0)).toEqual({ ...late, kind: "failed", status: null });
  expect(outcomeOf({ kind: "interrupted" }, 0)).toMatchObject({ kind: "unknown", code: "interrupted" });
});
