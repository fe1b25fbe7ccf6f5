import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.mjs";
import { type Docs, fieldDocs } from "./field-docs.ts";

const PROTOCOL = "packages/sdk/src/protocol";

/** A module with what the protocol's docstrings say, for the description of the interface. */
export function docstringsModule(): string {
  const files = readdirSync(join(root, PROTOCOL), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  const schemas = files.sort().flatMap((name) => {
    const file = `${PROTOCOL}/${name}`;
    return Object.entries(fieldDocs(file, readFileSync(join(root, file), "utf8")));
  });
  return `// Made from the docstrings of packages/sdk/src/protocol by \`npm run docs:write\`; change them there.

/** What is said of each schema (under "") and of its fields, inner ones with dots between. */
export const docstrings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${schemas.map(([name, docs]) => `  ${name}: {\n${Object.entries(docs).map(line).join("")}  },\n`).join("")}};
`;
}

/** As the formatter of this project would write it. */
function line([path, text]: [string, Docs[string]]): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(path) ? path : JSON.stringify(path);
  const quoted = text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text);
  const whole = `    ${key}: ${quoted},\n`;
  // It leaves a value beside a key of two characters, however long it is.
  return whole.length - 1 <= 120 || key.length <= 2 ? whole : `    ${key}:\n      ${quoted},\n`;
}
