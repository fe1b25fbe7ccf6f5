import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDatasourceHandler } from "@holdfast/sdk/datasource";
import { openStore } from "./store.ts";
import { SCHEMA, TABLES } from "./tables.ts";

const { SIGNING_KEY, PORT = "4000", MARIADB_URL = "mysql://app:secret@127.0.0.1:3307/slides" } = process.env;
if (!SIGNING_KEY) {
  console.error('SIGNING_KEY is not set: use whsec_ and the output of "openssl rand -base64 32".');
  process.exit(1);
}
const store = await openStore(MARIADB_URL, SCHEMA, TABLES).catch((error: Error) => {
  console.error(`MariaDB cannot be used: ${error.message || String(error)}. MARIADB_URL chooses another one.`);
  process.exit(1);
});
const server = createServer(createDatasourceHandler({ signingKey: SIGNING_KEY, ...store }).node);
server.once("error", ({ message }) => {
  console.error(`The service cannot start: ${message}. PORT chooses another port.`);
  process.exit(1);
});
server.listen(Number(PORT), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`decks and slides in ${new URL(MARIADB_URL).host}, at http://127.0.0.1:${port}/`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => server.close(() => void store.close().then(() => process.exit(0))));
