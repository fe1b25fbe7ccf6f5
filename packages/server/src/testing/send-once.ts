import { createWebhookSender } from "../outbound/send-webhook.ts";

// Sends to each address once, and prints what came of it: a process of its own, as certificates are trusted at the start of one.
const sender = createWebhookSender({ allowPrivate: true, connectMs: 2_000, requestMs: 5_000 });
for (const url of process.argv.slice(2)) {
  const signed = { id: "msg_1", timestamp: 1, body: Buffer.from('{"data":[]}'), secrets: ["whsec_AAAA"] };
  const answer = await sender.send({ url, ...signed }, new AbortController().signal);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await sender.close();
