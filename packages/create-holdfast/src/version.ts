import { readFileSync } from "node:fs";

/** The version of this package, and of all packages of Holdfast: they are released together. */
export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
