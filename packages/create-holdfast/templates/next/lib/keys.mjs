import { readFileSync } from "node:fs";

/** Where the Holdfast server is. */
export const backendUrl = process.env.HOLDFAST_URL ?? "http://127.0.0.1:8787";

/** The key that never leaves the server. `npx @holdfast/server` leaves it in a file; elsewhere it is in the environment. */
export const secretKey = () =>
  process.env.HOLDFAST_SECRET_KEY ?? JSON.parse(readFileSync(".holdfast/keys.json", "utf8")).live;
