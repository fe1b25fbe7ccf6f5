import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { signWebhook } from "./signature.ts";
import { schema, secret, slideUpdated } from "./testing/deliveries.ts";
import { type WebhookErrorCode, WebhookVerificationError } from "./verification-error.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const event = (syncId: number, model = "Slide") => ({
  ...slideUpdated(syncId),
  type: `${model.toLowerCase()}.updated`,
  model,
});
const batch = (...events: object[]) => JSON.stringify({ data: events, logId: "log_1" });
const delivery = async (body: string, id = "msg_1") => ({
  secret,
  body,
  headers: (await signWebhook({ secret, id, body })) as Record<string, string>,
});

test("[W40] a delivery gives its id and its events, with every kind of headers object", async () => {
  const { headers, ...rest } = await delivery(batch(event(1), event(2)));
  const shapes = [
    headers,
    new Headers(headers),
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  ];
  for (const shape of shapes)
    await expect(verifyWebhook({ ...rest, headers: shape })).resolves.toEqual({
      id: "msg_1",
      events: [event(1), event(2)],
      logId: "log_1",
    });
});

const id = "webhook-id";
const timestamp = "webhook-timestamp";
const signature = "webhook-signature";

test.each<[string, Record<string, unknown>, WebhookErrorCode]>([
  ["no id", { [id]: undefined }, "missing_header"],
  ["no timestamp", { [timestamp]: undefined }, "missing_header"],
  ["no signature", { [signature]: undefined }, "missing_header"],
  ["an empty signature", { [signature]: "" }, "missing_header"],
  ["an id with a full stop", { [id]: "msg.1" }, "invalid_header"],
  ["an id twice", { [id]: ["msg_1", "msg_2"] }, "invalid_header"],
  ["an id twice, joined", { [id]: "msg_1, msg_2" }, "invalid_header"],
  ["an id that is too long", { [id]: "m".repeat(256) }, "invalid_header"],
  ["a timestamp that is no number", { [timestamp]: "yesterday" }, "invalid_header"],
  ["a timestamp with a sign", { [timestamp]: "-5" }, "invalid_header"],
  ["a timestamp with more behind it", { [timestamp]: "1614265330x" }, "invalid_header"],
  ["a timestamp in milliseconds", { [timestamp]: "1614265330000" }, "invalid_header"],
  ["a timestamp of long ago", { [timestamp]: "1614265330" }, "timestamp_too_old"],
  ["a timestamp far ahead", { [timestamp]: "99999999999" }, "timestamp_too_new"],
  ["a signature of another version", { [signature]: "v1a,AAAA" }, "invalid_header"],
  ["no version", { [signature]: "AAAA" }, "invalid_header"],
  ["a signature that is no base64", { [signature]: "v1,%%%% v1,é" }, "signature_mismatch"],
  ["an empty signature of ours", { [signature]: "v1," }, "signature_mismatch"],
  ["another signature", { [signature]: `v1,${btoa("x".repeat(32))}` }, "signature_mismatch"],
])("[W42] %s", async (_, change, code) => {
  const good = await delivery(batch(event(1)));
  const verified = verifyWebhook({ ...good, headers: { ...good.headers, ...change } as Record<string, string> });
  await expect(verified).rejects.toBeInstanceOf(WebhookVerificationError);
  await expect(verified).rejects.toMatchObject({ code, name: "WebhookVerificationError" });
});

test.each<[string, string]>([
  ["nothing", ""],
  ["no JSON", "{"],
  ["another JSON", '{"test": 2432232314}'],
  ["a list", "[]"],
  ["null", "null"],
  ["data that is no list", '{"data":{}}'],
  ["events without the log of their positions", '{"data":[]}'],
  ["an event that is none", batch(event(1), { ...event(2), syncId: "2" })],
  ["an event without a type", batch({ ...event(1), type: undefined })],
  ["a position that is no whole number", batch({ ...event(1), syncId: 1.5 })],
  ["data that is text", batch({ ...event(1), data: "x" })],
  ["a mark before the JSON", `\uFEFF${batch()}`],
])("[W42] signed, and the body is %s", async (_, body) => {
  await expect(verifyWebhook(await delivery(body))).rejects.toMatchObject({ code: "invalid_body" });
});

test("[W42] signed, and the body is no UTF-8", async () => {
  const body = Uint8Array.of(...new TextEncoder().encode('{"data":[],"x":"'), 0xff, 0x22, 0x7d);
  const headers = await signWebhook({ secret, id: "msg_1", body });
  await expect(verifyWebhook({ secret, headers, body })).rejects.toMatchObject({ code: "invalid_body" });
});

test("[W42] a parsed body is refused with a sentence that says what to do", async () => {
  const good = await delivery(batch(event(1)));
  for (const body of [JSON.parse(good.body), undefined, null, 5])
    await expect(verifyWebhook({ ...good, body })).rejects.toMatchObject({ code: "body_not_raw" });
  await expect(verifyWebhook({ ...good, body: {} as string })).rejects.toThrow("Verify it before it is parsed");
});

test("[W42] a secret that cannot be one is said to be wrong, and never repeated", async () => {
  const good = await delivery(batch(event(1)));
  for (const wrong of ["", "whsec_", "whsec_%%%", [], [good.secret, ""], undefined, 5]) {
    const verified = verifyWebhook({ ...good, secret: wrong as string });
    await expect(verified).rejects.toMatchObject({ code: "invalid_secret" });
    await expect(verified).rejects.not.toThrow(/%%%/);
  }
});

test("[W42] invalid headers of any kind throw our own error", async () => {
  const value = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined));
  const headers = fc.oneof(
    fc.dictionary(fc.constantFrom(id, timestamp, signature, "Webhook-Id", "x", "__proto__", "get"), value),
    fc.constant(undefined as never),
  );
  await fc.assert(
    fc.asyncProperty(headers, fc.string(), async (some, body) => {
      await expect(verifyWebhook({ secret, headers: some, body })).rejects.toBeInstanceOf(WebhookVerificationError);
    }),
  );
});

test("[W43] the model, or the type, determines the type of the data", async () => {
  const { events } = await verifyWebhook({ ...(await delivery(batch(event(1)))), schema });
  const [first] = events;
  expect.assertions(2);
  if (first?.model === "Slide") {
    expectTypeOf(first.data).toEqualTypeOf<{
      readonly id: string;
      readonly order: number;
      readonly title?: string;
    } | null>();
    expect(first.data?.title).toBe("Title 1");
  }
  if (first?.type === "slide.updated" && first.data !== null) {
    expectTypeOf(first.data).toEqualTypeOf<{ readonly id: string; readonly order: number; readonly title?: string }>();
    expect(first.data.title).toBe("Title 1");
  }
  if (first?.type === "deck.deleted") expectTypeOf(first.data).toEqualTypeOf<null>();
  if (first?.model === "deck") expectTypeOf(first.data?.name).toEqualTypeOf<string | undefined>();
  if (first?.model === "webhook_endpoint") expectTypeOf(first.data.message).toEqualTypeOf<string>();
  expectTypeOf(first?.model).toEqualTypeOf<"Slide" | "deck" | "webhook_endpoint" | undefined>();
});

test("[W43] without a schema an event is what the wire says", async () => {
  const { events } = await verifyWebhook(await delivery(batch(event(1))));
  expectTypeOf(events[0]?.model).toEqualTypeOf<string | undefined>();
  expectTypeOf(events[0]?.data).toExtend<Readonly<Record<string, unknown>> | null | undefined>();
});

test("[W43] events of models that the schema lacks are left out; model names are spelled as in the schema", async () => {
  const sent = batch(event(1), event(2, "Other"), event(3, "Deck"), event(4, "constructor"));
  const { events } = await verifyWebhook({ ...(await delivery(sent)), schema });
  expect(events.map(({ syncId, model }) => [syncId, model])).toEqual([
    [1, "Slide"],
    [3, "deck"],
  ]);
});
