import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startReadme } from "./readme.ts";

const { gate, folder, start, titles } = await startReadme();

test("[D25] the README's agent ends on a signal, and the next process sends its remaining writes", async () => {
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
