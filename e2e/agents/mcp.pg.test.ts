import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { models, startMcpHosts } from "./mcp.ts";

const { people, start, slide, claimsOn, stored } = await startMcpHosts();

/** One host of each kind, which share the tests. */
const [today, older] = await Promise.all([
  start({}, [], { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
  start({}, [], { versionNegotiation: { mode: "legacy" } }),
]);

test.each([
  { host: "today's", mcp: today },
  { host: "an older", mcp: older },
])("[AG7] $host host finds the six tools, with descriptions of the server's models", async ({ mcp }) => {
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(
    ["claim_record", "list_records", "read_proposal", "read_record", "release_record", "update_record"].sort(),
  );
  for (const tool of tools)
    expect(tool).toMatchObject({
      description: expect.stringMatching(/.{40}/),
      inputSchema: {
        type: "object",
        properties: tool.name === "read_proposal" ? { proposal: {} } : { model: { enum: models } },
      },
      annotations: {
        readOnlyHint: /^(read|list)/.test(tool.name),
        destructiveHint: tool.name === "update_record",
      },
    });
  expect(mcp.client.getInstructions()).toContain("stale_context");
  expect(mcp.stderr()).toContain(`serving ${models.length} models`);
});

test("[AG7] a record is read, claimed, updated and released over the protocol; the agent learns of a person's change in between", async () => {
  const id = await slide();
  const record = { model: "slide", id };
  const { call } = today;
  expect(await call("list_records", { model: "slide", where: { title: "Base" } })).toMatchObject({ ok: true });
  // The record reaches the program by its stream.
  const read = async () =>
    expect(await call("read_record", record)).toMatchObject({ ok: true, record: { title: "Base" } });
  await until(read);
  await people.request("PATCH", `/v1/models/slide/${id}`, { data: { title: "Ann's" } });
  const update = () => call("update_record", { ...record, data: { title: "Mine" } });
  expect(await update()).toMatchObject({ ok: false, code: "stale_context", record: { title: "Ann's" } });
  expect(await update()).toMatchObject({ ok: true, status: "confirmed", record: { title: "Mine" } });
  expect(await call("claim_record", { ...record, reason: "Rewriting" })).toMatchObject({ ok: true });
  expect(await claimsOn(id)).toMatchObject([{ actor: "robot", description: "Rewriting" }]);
  expect(await call("release_record", record)).toEqual({ ok: true, released: true });
  expect(await claimsOn(id)).toEqual([]);
  expect(await stored(id)).toMatchObject({ title: "Mine" });
});

test("[AG7] an invalid request gets an error code, and the server continues", async () => {
  const { client, call } = older;
  const id = await slide();
  expect(await call("read_record", { model: "nothing", id })).toMatchObject({ ok: false, code: "invalid_input" });
  expect(await call("read_record", {})).toMatchObject({ ok: false, code: "invalid_input" });
  expect(await call("read_record", { model: "slide", id: "nowhere" })).toMatchObject({ code: "record_not_found" });
  await expect(client.callTool({ name: "drop_everything", arguments: {} })).rejects.toThrow(/drop_everything/);
  await until(async () => expect(await call("read_record", { model: "slide", id })).toMatchObject({ ok: true }));
});

// The last test: it ends both programs.
test.each([
  { how: "SIGTERM", end: () => process.kill(today.transport.pid ?? 0, "SIGTERM"), mcp: today },
  { how: "closed stdin", end: () => older.client.close(), mcp: older },
])("[AG8] $how releases all claims and ends the process", async ({ end, mcp }) => {
  const id = await slide();
  const pid = mcp.transport.pid ?? 0;
  await until(async () => expect(await mcp.call("claim_record", { model: "slide", id })).toMatchObject({ ok: true }));
  expect(await claimsOn(id)).toHaveLength(1);
  await end();
  await until(async () => expect(await claimsOn(id)).toEqual([]));
  // Signal 0 only asks whether the process is there.
  await until(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/));
});
