import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { keyOf, newSecret, signed } from "./sign.ts";

test("[W60] the scheme's published example comes out as published", () => {
  const key = keyOf("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  expect(signed(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}', 1_614_265_330_999)).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("[W60] somebody else's verifier takes what is signed, and nothing else", () => {
  const secret = newSecret();
  const body = '{"data":[{"title":"é 😀 \\u2028"}]}';
  const headers = { ...signed(keyOf(secret), "msg_local_1_1_2", body, Date.now()) };
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow("No matching signature");
  expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow("No matching signature");
});

test.each([
  "whsec_",
  "whsec_c2hvcnQ=",
  `whsec_${Buffer.alloc(23).toString("base64")}`,
  `whsec_${Buffer.alloc(65).toString("base64")}`,
  Buffer.alloc(32).toString("base64"),
  `whsec_${Buffer.alloc(32).toString("base64")} `,
  `whsec_${Buffer.alloc(32).toString("hex")}!`,
  "sk_live_0000",
])("[W63] %j is no secret to sign with", (secret) => {
  expect(() => keyOf(secret)).toThrow("--secret takes whsec_ and the base64 of 24 to 64 bytes.");
});

test("[W63] secrets of 24 to 64 bytes sign; one that is made has 32, and is another each time", () => {
  for (const bytes of [24, 32, 64])
    expect(keyOf(`whsec_${Buffer.alloc(bytes, 7).toString("base64")}`)).toHaveLength(bytes);
  expect(keyOf(newSecret())).toHaveLength(32);
  expect(newSecret()).not.toBe(newSecret());
});
