import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { runCommand } from "./command.mjs";

test("the answer is the exit code of the command", async () => {
  expect(await runCommand(process.execPath, ["-e", "process.exit(7)"])).toBe(7);
});

test("a signal to us reaches the command, whose orderly end is awaited", async () => {
  const command = `process.on("SIGTERM", () => setTimeout(() => { console.log("closed"); process.exit(7); }, 50));
    setInterval(() => {}, 1000); console.log("ready");`;
  const us = `import { runCommand } from ${JSON.stringify(new URL("./command.mjs", import.meta.url).href)};
    process.exitCode = await runCommand(process.execPath, ["-e", ${JSON.stringify(command)}]);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", us], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said === "ready\n") child.kill("SIGTERM");
  });
  const [code] = await once(child, "exit");
  expect(said).toBe("ready\nclosed\n");
  expect(code).toBe(7);
});
