import { readFileSync } from "node:fs";
import { createBackend } from "@holdfast/sdk/backend";

/** What has the secret key. In production the key is in the environment; here the server has left it in a file. */
export const backendOf = (url) =>
  createBackend({
    url,
    key: process.env.HOLDFAST_SECRET_KEY ?? JSON.parse(readFileSync(".holdfast/keys.json", "utf8")).live,
  });
