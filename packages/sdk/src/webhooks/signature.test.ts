import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bytesOf } from "./raw-body.ts";
import { checkSignature, signWebhook } from "./signature.ts";

// The example that Standard Webhooks publishes with its libraries.
const published = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  body: '{"test": 2432232314}',
  now: 1_614_265_330_000,
};
const publishedSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

const other = `whsec_${btoa("another secret of 32 bytes, no less")}`;
const now = published.now;
const { secret, id, body } = published;

// The scheme's library asks the system's clock.
beforeEach(() => void vi.useFakeTimers({ now, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

test("[W40] the published example is signed as published, and verifies", async () => {
  const headers = await signWebhook(published);
  expect(headers).toEqual({
    "webhook-id": id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": publishedSignature,
  });
  expect(new Webhook(secret).sign(id, new Date(now), body)).toBe(publishedSignature);
  await expect(checkSignature({ ...published, headers })).resolves.toBe(id);
});

test("[W40] the scheme's own library verifies our signature, during a roll with either secret", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.stringMatching(/^msg_\w{1,40}$/), async (text, name) => {
      const headers = await signWebhook({ secret: [secret, other], id: name, body: text });
      expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
      for (const one of [secret, other]) expect(new Webhook(one).verify(text, headers)).toEqual(JSON.parse(text));
    }),
  );
});

test("[W40] we verify a signature of the scheme's own library, alone and among others", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme" }),
      fc.uint8Array({ minLength: 24, maxLength: 64 }),
      async (text, bytes) => {
        const theirs = `whsec_${btoa(String.fromCharCode(...bytes))}`;
        const signature = new Webhook(theirs).sign(id, new Date(now), text);
        const headers = (signatures: string) => ({
          "webhook-id": id,
          "webhook-timestamp": "1614265330",
          "webhook-signature": signatures,
        });
        const verified = { secret: theirs, body: text };
        await checkSignature({ ...verified, headers: headers(signature) });
        await checkSignature({ ...verified, headers: headers(`v1a,AAAA v1, ${publishedSignature} ${signature} v2,x`) });
        await checkSignature({ ...verified, headers: headers(signature), secret: [other, theirs] });
      },
    ),
  );
});

test("[W40] one bit elsewhere, in the body, the name, the time or the signature, and it does not verify", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.nat(7), async (bytes, place, bit) => {
      const headers = await signWebhook({ secret, id, body: bytes });
      await checkSignature({ secret, headers, body: bytes });
      const refused = (change: object) =>
        expect(checkSignature({ secret, headers, body: bytes, ...change })).rejects.toMatchObject({
          code: "signature_mismatch",
        });
      await refused({ body: flipped(bytes, place, bit) });
      await refused({ body: Uint8Array.of(...bytes, 0) });
      await refused({ secret: other });
      await refused({ headers: { ...headers, "webhook-id": `${id}x` } });
      await refused({ headers: { ...headers, "webhook-timestamp": "1614265331" } });
      const signature = headers["webhook-signature"];
      await refused({ headers: { ...headers, "webhook-signature": `${signature}=` } });
      await refused({ headers: { ...headers, "webhook-signature": signature.slice(0, -1) } });
      const at = 3 + (place % 43);
      const char = signature[at] === "A" ? "B" : "A";
      await refused({
        headers: { ...headers, "webhook-signature": signature.slice(0, at) + char + signature.slice(at + 1) },
      });
    }),
  );
});

function flipped(bytes: Uint8Array, place: number, bit: number): Uint8Array {
  const at = place % bytes.length;
  return bytes.map((byte, index) => (index === at ? byte ^ (1 << bit) : byte));
}

test("[W40] the body is taken as text, as bytes, as part of a larger buffer", async () => {
  const text = '{"data":[]} – ü 🎈';
  const headers = await signWebhook({ secret, id, body: text });
  const larger = Buffer.from(`xx${text}xx`);
  const bytes = bytesOf(text);
  for (const raw of [
    bytes,
    bytes.slice().buffer as ArrayBuffer,
    Buffer.from(text),
    larger.subarray(2, -2),
    new DataView(larger.buffer, larger.byteOffset + 2, larger.length - 4),
  ])
    await expect(checkSignature({ secret, headers, body: raw })).resolves.toBe(id);
});

test("[W40] a secret works with and without its prefix, and with the line's end of a file around it", async () => {
  const headers = await signWebhook(published);
  for (const same of [secret.slice("whsec_".length), `${secret}\n`, ` ${secret} `])
    await expect(checkSignature({ ...published, headers, secret: same })).resolves.toBe(published.id);
});

test.each([
  [-300, true],
  [-301, false],
  [300, true],
  [301, false],
])("[W41] a timestamp %i s from the receiver's clock: %s", async (seconds, isTaken) => {
  const headers = await signWebhook({ ...published, now: now + seconds * 1000 });
  const checked = checkSignature({ secret, body, headers, now: now + 999 });
  if (isTaken) await expect(checked).resolves.toBe(id);
  else await expect(checked).rejects.toMatchObject({ code: seconds < 0 ? "timestamp_too_old" : "timestamp_too_new" });
});

test("[W41] the tolerance can be another one, and one that is no number tolerates nothing", async () => {
  const headers = await signWebhook({ ...published, now: now - 3_600_000 });
  await checkSignature({ secret, body, headers, toleranceMs: 3_600_000 });
  await checkSignature({ secret, body, headers, toleranceMs: Number.POSITIVE_INFINITY });
  for (const change of [{ toleranceMs: Number.NaN }, { toleranceMs: 1_000 }, { now: Number.NaN }])
    await expect(checkSignature({ secret, body, headers, ...change })).rejects.toMatchObject({
      code: "timestamp_too_old",
    });
});

test("a webhook-id that could be read in two ways is not signed", async () => {
  for (const odd of ["msg.1", "", "msg 1", "é", "a".repeat(256)])
    await expect(signWebhook({ ...published, id: odd })).rejects.toThrow(TypeError);
});
