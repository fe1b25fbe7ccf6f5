import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";
import { started } from "./npm-commands.ts";

// `start` and `server` are started and used by the end-to-end tests and those of the packages.
const tried = Object.entries(started).filter(([name]) => name !== "start" && name !== "server");

test.each(tried)("[DP7] npm run %s works without options", async (name, sign) => {
  // A separate process group, so that the signal reaches child processes too, like Ctrl-C.
  const child = spawn(process.execPath, ["scripts/run.mjs", ...name.split(" ")], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const code = await new Promise<number | null>((resolve) => {
    const onData = (chunk: Buffer) => {
      output += chunk.toString();
      if (sign.test(output)) resolve(null);
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.once("close", resolve);
  });
  if (code === null) {
    const closed = new Promise((resolve) => child.once("close", resolve));
    process.kill(-(child.pid as number), "SIGINT");
    const late = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), 20_000);
    await closed;
    clearTimeout(late);
  }
  expect(output).toMatch(sign);
  expect(output).not.toMatch(/ReferenceError|TypeError|SyntaxError|before initialization/);
});

test.concurrent.each(Object.keys(started))("[DP7] npm run %s -- --help ends with 0", async (name) => {
  const { code, output } = await ending(
    runIn(root, process.execPath, ["scripts/run.mjs", ...name.split(" "), "--help"]),
  );
  expect(code, String(name)).toBe(0);
  expect(output).toMatch(/Usage|npm (run|start)/);
});
