import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDatasourceHandler } from "@holdfast/sdk/datasource";
import { openTaskStore } from "./task-store.ts";

const { SIGNING_KEY, PORT = "4000", TASKS_FILE = "tasks.db" } = process.env;
if (!SIGNING_KEY) {
  console.error('SIGNING_KEY is not set: use whsec_ and the output of "openssl rand -base64 32".');
  process.exit(1);
}
const store = openTaskStore(TASKS_FILE);
const server = createServer(createDatasourceHandler({ signingKey: SIGNING_KEY, ...store }).node);
server.once("error", ({ message }) => {
  console.error(`The service cannot start: ${message}. PORT chooses another port.`);
  process.exit(1);
});
server.listen(Number(PORT), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`tasks in ${TASKS_FILE}, at http://127.0.0.1:${port}/`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () =>
    server.close(() => {
      store.close();
      process.exit(0);
    }),
  );
