import { expect, test } from "vitest";
import { deliveryJson, deliveryLine } from "./lines.ts";

const AT = "2026-01-02T03:04:05.678Z";
const batch = (...types: string[]) => ({ from: 41, to: 40 + types.length, types, body: "" });
const outcome = { webhookId: "msg_local_1_41_43", taken: true, status: 200, ms: 12 };

test("[W61] a line tells when, which positions, what, and what came of it", () => {
  const three = batch("slide.created", "slide.updated", "slide.created");
  expect(deliveryLine(AT, three, outcome)).toBe(`${AT}  41-43  3 events (slide.created ×2, slide.updated)  200  12 ms`);
  const refused = { code: "connection_refused", message: "connection refused: nobody listens there" } as const;
  expect(
    deliveryLine(AT, batch("slide.deleted"), { ...outcome, taken: false, status: null, fault: refused }, 2_000),
  ).toBe(`${AT}  41  1 event (slide.deleted)  connection refused: nobody listens there  12 ms  again in 2 s`);
  expect(deliveryLine(AT, batch("a.created", "b.created", "c.created", "d.created", "e.created"), outcome)).toMatch(
    /5 events \(a\.created, b\.created, c\.created, 2 other types\)/,
  );
});

test("[W61] what a handler says is shown in one line, without what a terminal would obey", () => {
  const said = (message: string) =>
    deliveryLine(AT, batch("a.created"), { ...outcome, status: 500, fault: { code: "unexpected_status", message } });
  expect(said("boom\nat x")).toContain("  500 boom  ");
  expect(said("\u001b[31mred\u009b1m")).toContain("  500  [31mred 1m  ");
  expect(said("y".repeat(200))).toContain(`${"y".repeat(160)}…  `);
  expect(said("")).toContain("  500  12 ms");
});

test("[W61] the same as JSON", () => {
  const fault = { code: "timeout", message: "no answer in time" } as const;
  const failed = { ...outcome, taken: false, status: null, fault };
  expect(JSON.parse(deliveryJson(AT, batch("a.created"), failed, 3))).toEqual({
    object: "webhook_delivery",
    at: AT,
    webhookId: "msg_local_1_41_43",
    from: 41,
    to: 41,
    events: 1,
    attempt: 3,
    status: null,
    error: fault,
    durationMs: 12,
  });
});
