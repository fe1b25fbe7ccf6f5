import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { signWebhook } from "./webhook-signature.ts";

test("[W7] the scheme's published example comes out as published", () => {
  const signed = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  };
  expect(signWebhook(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], signed)).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

test("[W7] the public verifier library accepts our signature with each secret, and nothing else", () => {
  const [newer, older, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`);
  const body = '{"data":[{"title":"é 😀 \\u2028"}]}';
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook([newer ?? "", older ?? ""], { id: "msg_1", timestamp, body: Buffer.from(body) }),
  };
  for (const secret of [newer, older])
    expect(new Webhook(secret ?? "").verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(newer ?? "").verify(`${body} `, headers)).toThrow("No matching signature");
  expect(() => new Webhook(other ?? "").verify(body, headers)).toThrow("No matching signature");
});
