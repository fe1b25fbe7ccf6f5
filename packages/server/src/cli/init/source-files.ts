import type { ModelSchema } from "@holdfast/sdk/protocol";

/** `schema.ts`: the models, for `createClient` and the hooks. */
export const schemaSource = (
  schema: ModelSchema,
): string => `// The models of your tables. Written by "holdfast init"; yours from now on.
import { defineSchema } from "@holdfast/sdk";

export const schema = defineSchema(${spelled(schema)});
`;

/** What an app adds to the `models` of a `schema.ts` that it has. */
export const modelsSource = (models: ModelSchema["models"]): string =>
  Object.entries(models)
    .map(([name, model]) => `${name}: ${spelled(model)},\n`)
    .join("");

const WIDTH = 120;
const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** As in TypeScript: names without quotes where they need none. What holds only plain values is on one line, if it fits. */
function spelled(value: unknown, indent = "", before = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const entries = isArray ? value.map((one) => ["", one] as const) : namedEntries(value);
  if (entries.length === 0) return isArray ? "[]" : "{}";
  const spell = (within: string) => entries.map(([name, one]) => `${name}${spelled(one, within, name)}`);
  const line = isArray ? `[${spell("").join(", ")}]` : `{ ${spell("").join(", ")} }`;
  const isPlain = entries.every(([, one]) => typeof one !== "object" || one === null || Array.isArray(one));
  if (isPlain && !line.includes("\n") && `${indent}${before}${line},`.length <= WIDTH) return line;
  const lines = spell(`${indent}  `).map((text) => `${indent}  ${text},\n`);
  return isArray ? `[\n${lines.join("")}${indent}]` : `{\n${lines.join("")}${indent}}`;
}

const namedEntries = (value: object) => Object.entries(value).map(([name, one]) => [`${nameOf(name)}: `, one] as const);

/** `first.mjs`: a program that lists the records of a model, and then prints each change. */
export const programSource = (
  modelName: string,
): string => `// Prints the records of a model, and again after each change. Written by "holdfast init"; yours from now on.
//
//   npx holdfast                        the server, in a terminal of its own
//   node --env-file=.env first.mjs
import { createClient } from "@holdfast/sdk/node";

const model = ${JSON.stringify(modelName)};
const url = process.env.HOLDFAST_URL ?? "http://127.0.0.1:8787";

async function ask(method, path, body) {
  const headers = { authorization: \`Bearer \${process.env.HOLDFAST_SECRET_KEY}\`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(\`\${path} answered \${answer.status}: \${await answer.text()}\`);
  return answer.json();
}

const { organization } = await ask("GET", "/v1/identity");
const client = createClient({
  url,
  schema: await ask("GET", "/v1/schema"),
  // In your app: a route of your backend, for the person who is signed in.
  getToken: async () => (await ask("POST", "/v1/ephemeral_keys", { user: { id: "first" }, syncGroups: [\`org:\${organization}\`] })).token,
});

let shown;
function show() {
  if (client.status().name !== "online") return;
  const rows = client.models[model].list();
  const text = rows.map((row) => JSON.stringify(row)).slice(0, 10).join("\\n");
  if (text === shown) return;
  shown = text;
  console.log(\`\${model}: \${rows.length} record\${rows.length === 1 ? "" : "s"}\${rows.length > 10 ? ", the first 10" : ""}\\n\${text}\`);
  // This is how "holdfast init" runs it.
  if (process.argv[2] === "once") void client.close();
}

client.subscribe(show);
show();
`;
