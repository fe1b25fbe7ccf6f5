import { createWebhookSender } from "../../modules/webhooks/send-webhook.ts";

// Sends one request to each URL and prints the results. A separate process, because Node reads trusted certificates
// only at its start.
const sender = createWebhookSender({ allowPrivate: true, connectMs: 2_000, requestMs: 5_000 });
for (const url of process.argv.slice(2)) {
  const signed = { id: "msg_1", timestamp: 1, body: Buffer.from('{"data":[]}'), secrets: ["whsec_AAAA"] };
  const answer = await sender.send({ url, ...signed }, new AbortController().signal);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await sender.close();
