import { expect, test } from "vitest";
import type { Reply } from "../core/queue/outcome.ts";
import { withOmittedValues } from "./omitted-values.ts";

const { signal } = new AbortController();
const answer = (status: number, body: unknown): Reply => ({ kind: "answer", status, body });
const notice = (id: string, rest: object) => ({
  ...{ object: "stale_notification", model: "task", id, conflictingFields: ["title", "notes"] },
  ...rest,
});
const held = (...notifications: object[]) => ({ object: "commit_receipt", status: "rejected", notifications });
const CONFIRMED = { object: "commit_receipt", status: "confirmed" };
const bulk = (...data: unknown[]) => answer(200, { object: "list", data });

function server(replies: Readonly<Record<string, Reply>>) {
  const asked: string[] = [];
  const request = async (name: string, { params = {} }: { params?: Readonly<Record<string, string>> }) => {
    asked.push(`${name} ${params.model}/${params.id}`);
    return replies[params.id ?? ""] ?? answer(404, { code: "record_not_found" });
  };
  return { request, asked };
}

test("[S13] the client reads the records whose values were left out, each once, before any tab learns of the conflict", async () => {
  const { request, asked } = server({ a: answer(200, { data: { id: "a", title: "theirs", other: 1 } }) });
  const whole = notice("b", { currentValues: { title: "there" } });
  const omitted = { currentValuesOmitted: true };
  const reply = bulk(CONFIRMED, held(whole, notice("a", omitted)), held(notice("a", omitted), notice("gone", omitted)));
  expect(await withOmittedValues(reply, { request }, signal)).toEqual(
    bulk(
      CONFIRMED,
      held(whole, notice("a", { currentValues: { title: "theirs", notes: null } })),
      held(notice("a", { currentValues: { title: "theirs", notes: null } }), notice("gone", { currentValues: {} })),
    ),
  );
  expect(asked).toEqual(["readRecord task/a", "readRecord task/gone"]);
});

test("[S13] if a record cannot be read now, the bulk counts as not answered, so it is sent again", async () => {
  const silence: Reply = { kind: "silence", timedOut: true, reason: "No response." };
  const reply = bulk(held(notice("a", { currentValuesOmitted: true })));
  for (const failed of [silence, answer(429, { code: "too_many_answers" }), answer(401, {})])
    expect(await withOmittedValues(reply, server({ a: failed }), signal)).toBe(failed);
});

test.each([
  ["a refusal", answer(429, {})],
  ["silence", { kind: "silence", timedOut: false, reason: "" } as const],
  ["a body that is not ours", answer(200, undefined)],
  ["receipts that have their values", bulk(CONFIRMED, held(notice("a", { currentValues: {} })), null)],
])("[S13] nothing is read for %s", async (_, reply) => {
  const { request, asked } = server({});
  expect(await withOmittedValues(reply, { request }, signal)).toBe(reply);
  expect(asked).toEqual([]);
});
