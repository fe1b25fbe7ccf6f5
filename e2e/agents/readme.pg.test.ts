import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startReadme, text } from "./readme.ts";

const { start, titles } = await startReadme();

test("[D21] [D25] a second process with the store of the README's agent fails at once and names the file; the first one ends on a signal", async () => {
  expect(text).toContain("SIGTERM");
  const first = start();
  first.child.stdin.write("one\ntwo\n");
  await until(() => expect(first.printed()).toContain("kept two"));
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.printed()).toMatch(/agent\.db is in use/);
  await until(async () => expect(await titles()).toEqual(["one", "two"]));
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  expect(first.printed()).toContain("left: 0 to send, 0 conflicts, 0 refused");
});
