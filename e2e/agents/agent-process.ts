import { createClient, fileStorage } from "@holdfast/sdk/node";
import { type Orders, type Report, schema } from "./agent-messages.ts";

// An agent that writes as fast as its disk allows, and reports each write when it is on disk. The test kills it meanwhile.
const { url, token, file, round, records, shallFinish } = JSON.parse(process.argv[2] ?? "") as Orders;

// A write to a pipe is synchronous, so reports are complete up to the kill.
const send = (report: Report) => void process.stdout.write(`${JSON.stringify(report)}\n`);

const client = createClient({ schema, url, getToken: () => token, storage: fileStorage(file), store: "agent" });
await client.ready();
send({ is: "ready", pending: client.status().pending });

if (shallFinish) {
  await client.drain({ timeoutMs: 60_000 });
  const { name, pending, conflicts, attention, reason } = client.status();
  const rows = Object.fromEntries(client.models.slide.list().map(({ id, order }) => [id, order]));
  send({ is: "finished", name, pending, conflicts, attention, reason, rows });
  await client.close();
} else {
  for (let i = 0; ; i++) {
    const order = round * 1_000_000 + i;
    const id = records[i % records.length] ?? "";
    const write = client.models.slide.update(id, { order });
    void write.queued.then(() => send({ is: "queued", clientTxId: write.clientTxId, id, order }));
    // Sometimes several go to the disk together, sometimes one after the other.
    if (i % 7 !== 0) await write.queued;
    if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
