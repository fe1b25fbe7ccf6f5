// A service of an owner's in a process of its own: it has the records of an endpoint datasource, and receives webhooks.
// While it is told to be odd, most of its answers are. It prints its port.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startSourceService } from "../../../packages/server/src/testing/source-service.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { ODD_ANSWERS, oddAnswer } from "../values/odd-answers.ts";

const ODD_PERCENT = 70;

export interface ServiceCounts {
  readonly odd: Readonly<Record<string, number>>;
  readonly sound: number;
}

const [seed = "1", signingKey = ""] = process.argv.slice(2);
const chance = new SeededRandom(Number(seed));
const service = await startSourceService();
service.signingKey = signingKey;
for (let n = 0; n < 250; n++) service.put("task", `k${n}`, { title: `Kept ${n}` });
let isOdd = false;
const odd: Record<string, number> = {};
let sound = 0;

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  response.on("error", () => {});
  incoming.on("error", () => {});
  if (isOdd && chance.percent(ODD_PERCENT)) {
    const name = oddAnswer(chance);
    odd[name] = (odd[name] ?? 0) + 1;
    return void incoming.resume().on("end", () => ODD_ANSWERS[name]?.(response, chance));
  }
  sound += 1;
  if (incoming.url === "/hooks") return void incoming.resume().on("end", () => response.writeHead(204).end());
  const passed = request(service.url, { method: "POST", headers: incoming.headers }, (theirs) => {
    response.writeHead(theirs.statusCode ?? 500, theirs.headers);
    theirs.pipe(response);
  });
  passed.on("error", () => response.destroy());
  incoming.pipe(passed);
}

const server = createServer(answer).listen(0, "127.0.0.1");
server.on("listening", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on("message", (message: { readonly isOdd: boolean }) => {
  isOdd = message.isOdd;
  process.send?.({ odd, sound } satisfies ServiceCounts);
});
// The parent process has ended.
process.on("disconnect", () => process.exit(0));
