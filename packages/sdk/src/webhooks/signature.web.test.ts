import { expect, test } from "vitest";
import { createWebhookHandler, signWebhook, verifyWebhook } from "./index.ts";
import { secret, slideUpdated } from "./testing/deliveries.ts";

test("[W49] signs, verifies and receives in a browser", async () => {
  const published = {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    body: '{"test": 2432232314}',
    now: 1_614_265_330_000,
  };
  const headers = await signWebhook(published);
  expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  // It is signed well, and is no batch.
  await expect(verifyWebhook({ ...published, headers })).rejects.toMatchObject({ code: "invalid_body" });

  const seen: number[] = [];
  const handler = createWebhookHandler({ secret, onEvent: ({ syncId }) => void seen.push(syncId) });
  const body = JSON.stringify({ data: [slideUpdated(1), slideUpdated(2)], logId: "log_1" });
  const request = new Request("/", { method: "POST", body, headers: await signWebhook({ secret, id: "m", body }) });
  expect((await handler.fetch(request)).status).toBe(200);
  expect(seen).toEqual([1, 2]);
});
