import { expect, test } from "vitest";
import type { ModuleContext } from "../open/context.ts";
import type { DatabaseModule, Module } from "./module.ts";
import { openModules } from "./open-modules.ts";

const ctx = {} as ModuleContext;
const module = (name: string, openIn: () => DatabaseModule | Promise<DatabaseModule>): Module => ({ name, openIn });

test("what modules do in the background starts when all of them are open", async () => {
  const happened: string[] = [];
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const opening = openModules(ctx, [
    module("first", () => ({ start: () => void happened.push("first starts") })),
    module("slow", async () => {
      await gate;
      happened.push("slow is open");
      return {};
    }),
  ]);
  goOn();
  const { start } = await opening;
  expect(happened).toEqual(["slow is open"]);
  start();
  expect(happened).toEqual(["slow is open", "first starts"]);
});

test("if one cannot be opened, those before it are closed, and nothing starts", async () => {
  const happened: string[] = [];
  const opening = openModules(ctx, [
    module("first", () => ({
      start: () => void happened.push("first starts"),
      close: async () => void happened.push("first is closed"),
    })),
    module("broken", () => Promise.reject(new Error("broken"))),
  ]);
  await expect(opening).rejects.toThrow("broken");
  expect(happened).toEqual(["first is closed"]);
});
