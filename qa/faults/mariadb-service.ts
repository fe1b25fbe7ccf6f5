// An endpoint datasource that keeps records of the reference schema in MariaDB. It may be killed at any moment.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDatasourceHandler } from "@holdfast/sdk/datasource";
import { openRecords } from "./mariadb-records.ts";

const { SIGNING_KEY = "", MARIADB_URL = "", PORT = "0" } = process.env;
const store = await openRecords(MARIADB_URL);
const server = createServer(createDatasourceHandler({ signingKey: SIGNING_KEY, ...store }).node);
server.listen(Number(PORT), "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
