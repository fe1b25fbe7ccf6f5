import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "../clients/people.ts";
import { oneFile } from "./agent.ts";
import { openBadGate } from "./bad-gate.ts";

/** The exact text that people copy. */
const readme = readFileSync(new URL("../../packages/sdk/README.md", import.meta.url), "utf8");
const text = /^```ts\n(\/\/ agent\.ts:.*?)^```$/ms.exec(readme)?.[1] ?? "";

const people = await startPeople();
const gate = await openBadGate(people.url);
const folder = mkdtempSync(join(tmpdir(), "holdfast-readme-"));
const resolveDir = fileURLToPath(new URL(".", import.meta.url));
const program = await oneFile({ stdin: { contents: text, loader: "ts", resolveDir } });
const { token } = await people.request("POST", "/v1/capabilities", {
  participantId: "reader",
  operations: ["slide.*"],
  syncGroups: ["deck:d1"],
});
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  gate.close();
  program.remove();
  rmSync(folder, { recursive: true });
});

function start() {
  const child = spawn(process.execPath, [program.file], {
    cwd: folder,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, SYNC_URL: gate.url, SYNC_TOKEN: String(token) },
  });
  children.push(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (printed += String(bytes)));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, ended, printed: () => printed };
}

const titles = async () => {
  const { data } = await people.request("GET", "/v1/log?after=0&limit=1000");
  return (data as { data: { title: string } }[]).map((entry) => entry.data.title);
};

test("[D25] the README's agent ends on a signal, and the next process sends its remaining writes", async () => {
  expect(text).toContain("SIGTERM");
  const first = start();
  first.child.stdin.write("one\ntwo\n");
  await until(async () => expect(await first.printed()).toContain("kept two"));
  await until(async () => expect(await titles()).toEqual(["one", "two"]));
  gate.turn("down");
  first.child.stdin.write("three\n");
  await until(async () => expect(await first.printed()).toContain("kept three"));
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  // It may not know yet that the first two are in the log.
  expect(first.printed()).toMatch(/writes pending\..*left: [123] to send, 0 conflicts, 0 refused/s);
  expect(readdirSync(folder)).toEqual(["agent.db"]);

  gate.turn("up");
  const second = start();
  second.child.stdin.end("four\n");
  expect(await second.ended).toBe(0);
  expect(second.printed()).toMatch(/kept four\nleft: 0 to send/);
  expect(await titles()).toEqual(["one", "two", "three", "four"]);
});

test("[D21] a second process with the same store fails at once and names the file in use", async () => {
  const first = start();
  first.child.stdin.write("five\n");
  await until(async () => expect(await first.printed()).toContain("kept five"));
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.printed()).toMatch(/agent\.db is in use/);
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);
});
