import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { NEW, rewriting } from "../../testing/waiting/rewriting.ts";

// The soak suite has several pushes at once, and kills.

const app = await startApp();
const { sql } = app;
const ROWS = 3_000;
const { openTenant, settled, readings } = rewriting(app, ROWS);

test("[M12] commits are answered while a push prepares records, and what they write is prepared too", async () => {
  const one = await openTenant();
  const { ask, prepared } = one;
  const holder = await app.connect();
  await holder.query("begin; lock table holdfast.rewritten_record in share mode");
  const pushed = ask("POST", "/v1/schema", NEW);
  // The push waits in the middle of its preparation.
  await until(async () =>
    expect(
      await sql("select from pg_stat_activity where wait_event_type = 'Lock' and query like '%rewritten_record%'"),
    ).toHaveLength(1),
  );
  expect((await ask("PATCH", "/v1/models/note/n0001", { data: { title: "written" } })).status).toBe(200);
  expect((await ask("PATCH", "/v1/models/note/n2000", { data: { size: "s9", rest: "kept" } })).status).toBe(200);
  expect((await ask("DELETE", "/v1/models/note/n0002")).status).toBe(200);
  expect((await ask("POST", "/v1/models/note", { id: "made", data: { title: "new", size: "s1" } })).status).toBe(200);
  expect(await prepared()).toBe(0);
  await holder.query("rollback");
  const { status, body } = await pushed;
  expect(status).toBe(201);
  expect(body.version).toBe(2);
  const { snapshot } = await readings(one);
  expect(snapshot.size).toBe(ROWS);
  expect(snapshot.get("n0001")).toEqual({ id: "n0001", deck: "d1", heading: "written", size: "s1" });
  expect(snapshot.get("n0003")).toEqual({ id: "n0003", deck: "d3", heading: "note 3", size: "s3" });
  expect(snapshot.get("made")).toEqual({ id: "made", heading: "new", size: "s1" });
  await settled(one);
  const [row] = await sql("select data, hidden, groups from holdfast.record where tenant = $1 and id = 'n2000'", [
    one.tenant,
  ]);
  expect(row).toEqual({
    data: { id: "n2000", deck: "d0", heading: "note 2000", size: "s9" },
    hidden: { rest: "kept" },
    groups: ["deck:s9"],
  });
});
