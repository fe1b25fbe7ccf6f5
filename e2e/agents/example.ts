import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { startPeople } from "../clients/people.ts";

const text = { type: "string" };
export const example = fileURLToPath(new URL("../../packages/create-holdfast/templates/node-agent/", import.meta.url));

/** A server with the models of the template node-agent, and processes of it. */
export async function startExample() {
  const people = await startPeople();
  const folder = temporaryFolder("example");
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });
  await people.request("POST", "/v1/schema", {
    models: {
      slide: {
        fields: { deckId: text, title: text, notes: text, order: { type: "number", default: 0 } },
        groups: [{ kind: "deck", from: "deckId" }],
      },
    },
  });

  let made = 0;
  const notes = async (id: string) =>
    ((await people.request("GET", `/v1/models/slide/${id}`)).data as { notes?: string }).notes;
  return {
    people,
    notes,
    tokenOf: (participantId: string) => people.agentToken(participantId),
    /** `words`: the program, with a file of its own and less time to think than the README gives it. */
    start(name: string, words: readonly string[], token: string, thinkingMs: number) {
      const child = spawn(process.execPath, words, {
        cwd: example,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH: process.env.PATH ?? "",
          HOLDFAST_URL: people.url,
          HOLDFAST_TOKEN: token,
          AGENT_FILE: join(folder, `${name}.db`),
          THINKING_MS: String(thinkingMs),
        },
      });
      children.push(child);
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (printed += String(bytes)));
      const ended = once(child, "close").then(([code]) => code as number | null);
      return { child, ended, printed: () => printed };
    },
    async slides(count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, () => `n${++made}`);
      for (const id of ids)
        await people.request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: `On ${id}` } });
      return ids;
    },
    haveNotes: async (ids: readonly string[]) => (await Promise.all(ids.map(notes))).filter(Boolean).length,
    claimsOn: async (id: string) =>
      (await people.request("GET", `/v1/claims?model=slide&id=${id}`)).claims as { id: string; actor: string }[],
    /** How often the notes of a slide were written. */
    async writes(id: string): Promise<number> {
      const { data } = await people.request("GET", "/v1/log?after=0&limit=1000");
      return (data as { id: string; changedFields?: string[] }[]).filter(
        (entry) => entry.id === id && entry.changedFields?.includes("notes"),
      ).length;
    },
  };
}
