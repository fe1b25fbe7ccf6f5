// The part of the app that has the secret key. It must never reach a page.
import { readFileSync } from "node:fs";
import { createBackend } from "@holdfast/sdk/backend";
import { LIST_GROUP, LIST_ID, schema } from "./src/schema.ts";

const url = process.env.VITE_HOLDFAST_URL ?? "http://127.0.0.1:8787";

/** In production the key is in the environment; here the server has left it in a file. */
const secretKey = () =>
  process.env.HOLDFAST_SECRET_KEY ?? (JSON.parse(readFileSync(".holdfast/keys.json", "utf8")) as { live: string }).live;

const backend = () => createBackend({ url, key: secretKey() });

/** A token for this person, good for 15 minutes: read and write the tasks of one list. */
export const tokenFor = (user: string) => backend().tokenFor(user, { syncGroups: [LIST_GROUP] });

/** Tells the server the models, and writes the first tasks into an empty database. */
export async function prepare(): Promise<void> {
  const { version, unchanged } = await backend().pushSchema(schema);
  if (version > 1 || unchanged) return;
  const titles = [
    "Open this page in a second window",
    "Change a title in both",
    "Go offline in one, and change it again",
  ];
  await backend().commit(
    titles.map((title, order) => ({
      action: "create" as const,
      model: "task",
      id: `first-${order}`,
      data: { listId: LIST_ID, title, order },
    })),
  );
}
