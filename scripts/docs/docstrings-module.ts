import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.mjs";
import { fieldDocs } from "./field-docs.ts";

const PROTOCOL = "packages/sdk/src/protocol";

/** A module with what the protocol's docstrings say, for the description of the interface; it says nothing of frames. */
export function docstringsModule(): string {
  const files = readdirSync(join(root, PROTOCOL), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !/^(stream|presence)\b/.test(name),
  );
  const schemas = files.sort().flatMap((name) => {
    const file = `${PROTOCOL}/${name}`;
    return Object.entries(fieldDocs(file, readFileSync(join(root, file), "utf8")));
  });
  return `// Made from the docstrings of packages/sdk/src/protocol by \`npm run docs:write\`; change them there.

/** What is said of each schema (under "") and of its fields, inner ones with dots between. */
export const docstrings: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(Object.fromEntries(schemas), null, 2)};
`;
}
