import { expect, test } from "vitest";
import type { DeliveryOutcome } from "../rules/delivery.ts";
import { deliveryJson, deliveryLine } from "./lines.ts";

const batch = (...types: string[]) => ({
  from: 41,
  to: 40 + types.length,
  events: types.map((type, i) => ({ syncId: 41 + i, type, text: "{}", bytes: 2 })),
});
const AT = "2026-01-02T03:04:05.678Z";
const sent = (outcome: DeliveryOutcome, response: string | null = "") => ({
  webhookId: "msg_local_1_41_43",
  outcome,
  response,
  startedAt: AT,
  durationMs: 12,
});
const taken = sent({ kind: "succeeded", status: 200 });
const refused = sent(
  {
    kind: "failed",
    code: "connection_refused",
    message: "Connection refused: nothing listens at the address.",
    status: null,
  },
  null,
);

test("[W61] a printed line has the time, the positions, the events and the result", () => {
  expect(deliveryLine(batch("slide.created", "slide.updated", "slide.created"), taken)).toBe(
    `${AT}  41-43  3 events (slide.created ×2, slide.updated)  200  12 ms`,
  );
  expect(deliveryLine(batch("slide.deleted"), refused, 2_000)).toBe(
    `${AT}  41  1 event (slide.deleted)  Connection refused: nothing listens at the address.  12 ms  again in 2 s`,
  );
  expect(deliveryLine(batch("a.created", "b.created", "c.created", "d.created", "e.created"), taken)).toMatch(
    /5 events \(a\.created, b\.created, c\.created, 2 other types\)/,
  );
});

test("[W61] the handler's response is shown in one line, without control characters", () => {
  const said = (response: string) =>
    deliveryLine(
      batch("a.created"),
      sent({ kind: "failed", code: "unexpected_status", message: "", status: 500 }, response),
    );
  expect(said("boom\nat x")).toContain("  500 boom  ");
  expect(said("\u001b[31mred\u009b1m")).toContain("  500  [31mred 1m  ");
  expect(said("y".repeat(200))).toContain(`${"y".repeat(160)}…  `);
  expect(said("")).toContain("  500  12 ms");
  const redirected = sent({ kind: "failed", code: "redirected", message: "Not followed.", status: 302 }, "Found");
  expect(deliveryLine(batch("a.created"), redirected)).toContain("  302 Not followed.  ");
});

test("[W61] the same as JSON, its keys those of the server's attempts", () => {
  expect(JSON.parse(deliveryJson(batch("a.created"), refused, 3))).toEqual({
    object: "webhook_delivery",
    webhookId: "msg_local_1_41_43",
    from: 41,
    to: 41,
    events: 1,
    attempt: 3,
    outcome: "failed",
    status: null,
    error: { code: "connection_refused", message: "Connection refused: nothing listens at the address." },
    response: null,
    startedAt: AT,
    durationMs: 12,
  });
  expect(JSON.parse(deliveryJson(batch("a.created"), taken, 1))).toMatchObject({ outcome: "succeeded", error: null });
});
