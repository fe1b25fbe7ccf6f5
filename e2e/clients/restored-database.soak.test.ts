import { startEmbeddedPostgres } from "@holdfast/server";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { copyFiles, copyRunning, cuttableWay, hasStarted, newDirectory, promote } from "./copied-postgres.ts";
import { agrees, begin, logIdsOf, query, renewLogs, resume, startSetup } from "./moved-server.ts";

function directory(): string {
  const { dataDir, remove } = newDirectory();
  onTestFinished(remove);
  return dataDir;
}

async function postgresIn(dataDir: string, settings: Record<string, string> = {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: "off", ...settings } });
  onTestFinished(() => postgres.stop());
  return postgres;
}

test("[O19] [R13] after a standby is promoted under a running server, clients have its rows and offer their unsent writes", async () => {
  const [first, second] = [directory(), directory()];
  const primary = await postgresIn(first);
  const standbyUrl = primary.url.replace(encodeURIComponent(first), encodeURIComponent(second));
  const hostOf = (url: string) => /@([^/]*)\//.exec(url)?.[1] as string;
  const setup = await startSetup(
    primary.url.replace(hostOf(primary.url), `${hostOf(primary.url)},${hostOf(standbyUrl)}`),
  );
  await begin(setup);
  const before = await logIdsOf(primary.url);

  await copyRunning(primary.url, first, second, "standby.signal");
  const way = await cuttableWay(primary.url);
  const password = decodeURIComponent(new URL(primary.url).password);
  // Its start resolves only after the promotion.
  const standby = postgresIn(second, {
    primary_conninfo: `host=${way.host} port=5432 user=holdfast password=${password}`,
    // The control file has the new timeline only after the next checkpoint, which is slow, so nothing may wait for it.
    checkpoint_timeout: "1h",
    checkpoint_completion_target: "1",
  });
  standby.catch(() => {});
  await query(
    primary.url,
    "create table public.much_to_write as select repeat('x', 7000) as page from generate_series(1, 300)",
  );
  const isBehind = "select bool_or(replay_lsn = pg_current_wal_lsn()) is not true as value from pg_stat_replication";
  await until(async () => expect(await query<boolean>(primary.url, isBehind)).toBe(false));
  way.cut();

  const lostFence = await resume(setup);
  await primary.stop();
  setup.client.models.slide.create({ deckId: "d1", title: "unsent" }, { id: "unsent" });
  expect(hasStarted(second)).toBe(true);
  promote(second);
  await standby;
  // The same positions as those that were lost.
  await until(() => setup.write("new", "new"));
  await setup.write("newer", "newer");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", unsent: "unsent", new: "new", newer: "newer" });
  expect(await logIdsOf(standbyUrl)).not.toBe(before);
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
});

test("[O19] a restored base backup has new log ids before the first response", async () => {
  const [first, second] = [directory(), directory()];
  const primary = await postgresIn(first);
  const setup = await startSetup(primary.url);
  await begin(setup);
  const before = await logIdsOf(primary.url);
  await copyRunning(primary.url, first, second, "recovery.signal");
  const lostFence = await resume(setup);
  await setup.stop();
  await primary.stop();

  setup.client.models.slide.create({ deckId: "d1", title: "unsent" }, { id: "unsent" });
  const restored = await postgresIn(second, { restore_command: "false" });
  await setup.start(restored.url);
  expect(await logIdsOf(restored.url)).not.toBe(before);
  await setup.write("new", "new");
  await setup.write("newer", "newer");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", unsent: "unsent", new: "new", newer: "newer" });
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
  // Only once: a later start on the same database keeps the log ids.
  const after = await logIdsOf(restored.url);
  await setup.stop();
  await setup.start(restored.url);
  expect(await logIdsOf(restored.url)).toBe(after);
});

test("[O20] a cold copy goes unnoticed; `holdfast log renew` gives its logs new ids, also while a server runs", async () => {
  const [first, second] = [directory(), directory()];
  const primary = await postgresIn(first);
  const setup = await startSetup(primary.url);
  await begin(setup);
  const before = await logIdsOf(primary.url);
  await setup.stop();
  await primary.stop();
  copyFiles(first, second);

  const again = await postgresIn(first);
  await setup.start(again.url);
  const lostFence = await resume(setup);
  await setup.stop();
  await again.stop();

  const copy = await postgresIn(second);
  await setup.start(copy.url);
  expect(await logIdsOf(copy.url)).toBe(before);
  await setup.write("new", "new");
  await setup.write("newer", "newer");
  expect(await renewLogs(copy.url)).toContain("gave 2 logs new ids");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", new: "new", newer: "newer" });
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
});
