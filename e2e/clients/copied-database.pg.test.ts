import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect, inject, test } from "vitest";
import { agrees, begin, logIdsOf, query, renewLogs, resume, startSetup } from "./moved-server.ts";

const { url } = await freshDatabase();
const { serverUrl } = inject("templateDatabase");

/** Another database of the same Postgres. */
function databaseBeside(name: string): string {
  const beside = new URL(url);
  beside.pathname = name;
  return beside.href;
}

test("[O20] [O35] the logs of a copied database get new ids; `holdfast log renew` gives others while the server runs", async () => {
  const setup = await startSetup(url);
  await begin(setup);
  const before = await logIdsOf(url);
  await setup.stop();
  const original = new URL(url).pathname.slice(1);
  const copy = `${original}_copy`;
  afterAll(() => query(serverUrl, `drop database if exists ${copy} with (force)`));
  await query(serverUrl, `create database ${copy} template ${original}`);

  await setup.start(url);
  const lostFence = await resume(setup);
  await setup.stop();

  await setup.start(databaseBeside(copy));
  expect(await logIdsOf(databaseBeside(copy))).not.toBe(before);
  await setup.write("new", "new");
  await setup.write("newer", "newer");
  expect(await renewLogs(databaseBeside(copy))).toContain("gave 2 logs new ids");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", new: "new", newer: "newer" });
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
});
