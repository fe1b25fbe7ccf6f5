import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { startPeople } from "../clients/people.ts";
import { oneFile } from "./agent.ts";
import { openBadGate } from "./bad-gate.ts";

/** The exact text that people copy. */
const readme = readFileSync(new URL("../../packages/sdk/README.md", import.meta.url), "utf8");
export const text = /^```ts\n(\/\/ agent\.ts:.*?)^```$/ms.exec(readme)?.[1] ?? "";

/** A server, and processes of the agent in the README, which all have the same file. */
export async function startReadme() {
  const people = await startPeople();
  const gate = await openBadGate(people.url);
  const folder = temporaryFolder("readme");
  const resolveDir = fileURLToPath(new URL(".", import.meta.url));
  const program = await oneFile({ stdin: { contents: text, loader: "ts", resolveDir } });
  const token = await people.agentToken("reader");
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
    gate.close();
    program.remove();
  });
  return {
    gate,
    folder,
    start() {
      const child = spawn(process.execPath, [program.file], {
        cwd: folder,
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...process.env, SYNC_URL: gate.url, SYNC_TOKEN: token },
      });
      children.push(child);
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (printed += String(bytes)));
      const ended = once(child, "close").then(([code]) => code as number | null);
      return { child, ended, printed: () => printed };
    },
    titles: async () => {
      const { data } = await people.request("GET", "/v1/log?after=0&limit=1000");
      return (data as { data: { title: string } }[]).map((entry) => entry.data.title);
    },
  };
}
