import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { templateNames } from "../../packages/create-holdfast/src/templates.ts";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { freePort } from "../examples/install-example.ts";
import { create, createApp, linkPackages, startApp, violationsOf } from "./created-app.ts";
import { ending, runIn } from "./run-command.ts";
import { editInBothWindows, editOffline, openTwoPeople, SAVED } from "./two-people.ts";

/** The models that `holdfast init` writes for the table below. */
const TASKS = `import { defineSchema } from "@holdfast/sdk";

export const schema = defineSchema({
  models: { task: { fields: { title: { type: "string", required: true } }, table: { name: "public.tasks", key: "id" } } },
});
`;

test("[CR1] [CR6] without a terminal the packed program takes the defaults, installs nothing, and says what comes next", async () => {
  const folder = temporaryFolder("create", onTestFinished);
  const { code, stdout } = await create(folder, []);
  expect(code).toBe(0);
  expect(readdirSync(folder)).toEqual(["holdfast-app"]);
  expect(existsSync(join(folder, "holdfast-app", "src", "parts", "conflict-card.tsx"))).toBe(true);
  expect(existsSync(join(folder, "holdfast-app", "node_modules"))).toBe(false);
  expect(stdout).toContain("(template react)");
  expect(stdout).toContain("Next:\n  cd holdfast-app\n  npm install\n  npm run dev\n");

  const again = await create(folder, []);
  expect(again).toMatchObject({ code: 1, stdout: "" });
  expect(again.output).toMatch(/^create-holdfast: The folder \S+holdfast-app is not empty: it has .* Name another/);
  expect(await create(folder, ["--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("--template") });
  expect((await create(folder, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each(templateNames)("[CR7] the template %s type-checks, and its own test passes", async (template) => {
  const app = await createApp(template);
  linkPackages(app);
  if (template === "existing-postgres") writeFileSync(join(app, "schema.ts"), TASKS);
  const [types, tests] = await Promise.all([
    ending(runIn(app, "npm", ["run", "types", "--silent"])),
    ending(runIn(app, "npm", ["test", "--silent"])),
  ]);
  expect(types, types.output).toMatchObject({ code: 0, output: "" });
  expect(tests.code, tests.output).toBe(0);
  expect(tests.stdout).toMatch(/# pass 1\b|1 passed/);
});

test("[CR8] [CR9] [CR10] two people use the app of the template react, and one Ctrl-C ends it", async () => {
  const app = await createApp("react");
  linkPackages(app);
  // Another program has the server's port.
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await until(() => other.listening);
  const taken = String((other.address() as { port: number }).port);
  const running = await startApp(app, [process.execPath, "dev.mjs"], {
    HOLDFAST_PORT: taken,
    PORT: String(await freePort()),
  });
  expect(new URL(running.urls.server).port).not.toBe(taken);

  const { ann, ben } = await openTwoPeople(running.urls.page);
  await ann.page.getByRole("list", { name: "People here" }).getByText("ben").waitFor();
  await editInBothWindows(ann, ben);
  const [first] = await ann.page.getByRole("textbox", { name: "Title" }).all();
  await first?.focus();
  await ben.page.getByText("ann is editing").waitFor();
  const readOnly = () => ben.page.getByRole("textbox", { name: "Title" }).first().getAttribute("readonly");
  expect(await readOnly()).toBe("");
  await first?.blur();
  await until(async () => expect(await readOnly()).toBeNull());
  await editOffline(ann, ben);

  await ann.page.getByRole("button", { name: "Go offline" }).click();
  await ann.write(0, "Ann’s");
  await ann.says("You are offline. 1 change kept on this device.");
  expect(await violationsOf(ann.page)).toEqual([]);
  await ben.write(0, "Ben’s");
  await ben.says(SAVED);
  await ann.page.getByRole("button", { name: "Go online" }).click();
  const card = ann.page.getByRole("region", { name: "You and ben changed the title." });
  await card.waitFor();
  expect(await violationsOf(ann.page)).toEqual([]);
  expect(await card.getByRole("button").allInnerTexts()).toEqual(["Keep mine", "Take theirs", "Save the merge"]);
  await card.getByRole("textbox", { name: "Merged title" }).fill("Ann’s and Ben’s");
  await ann.page.keyboard.press("Enter");
  await card.waitFor({ state: "detached" });
  await until(async () => expect((await ben.titles())[0]).toBe("Ann’s and Ben’s"));
  await ann.says(SAVED);

  const ended = await running.interrupt();
  expect(ended.code, ended.output).toBe(0);
  await expect(fetch(running.urls.server)).rejects.toThrow();
  expect(existsSync(join(app, ".holdfast", "keys.json"))).toBe(true);
  // It says when it was not closed.
  const again = await startApp(app, [process.execPath, "dev.mjs"], {
    PORT: String(await freePort()),
    HOLDFAST_PORT: "0",
  });
  expect((await again.interrupt()).output).not.toMatch(/WARN|ERROR/);
});
