import { newSecretToken } from "@holdfast/server";
import { expect, test } from "vitest";
import { loadSections } from "../../packages/conformance/src/run/load-sections.ts";
import { ADMIN, makeOrganization, start } from "./organization.ts";
import { failureOf, runSections, titleOf } from "./run-sections.ts";
import { waiting } from "./waiting.ts";

/** Sends webhooks to receivers on this machine. */
const server = await start(true);
/** Sends them to public addresses only. */
const strict = await start(false);

test("[X1] [X2] our server passes the conformance suite", { timeout: 300_000 }, async () => {
  const webhookSections = (await loadSections()).map(({ name }) => name).filter((name) => name.startsWith("webhook-"));
  const [results, elsewhere] = await Promise.all([
    runSections({ url: server.url, adminToken: ADMIN, ...(await makeOrganization(server)) }),
    runSections(
      { url: strict.url, adminToken: ADMIN, ...(await makeOrganization(strict)) },
      { sections: webhookSections },
    ),
  ]);
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  expect(failed.filter((result) => !waiting.includes(titleOf(result))).map(failureOf)).toEqual([]);
  // Only pending cases are waited for.
  const failing = new Set(failed.map(titleOf));
  expect(waiting.filter((title) => !failing.has(title))).toEqual([]);
  // With both keys, the operator's token and the reference models there is nothing that does not apply, but for
  // addresses of webhooks that only a server refuses that sends nothing to this machine.
  expect(elsewhere.filter(({ outcome }) => outcome === "failed").map(failureOf)).toEqual([]);
  const passed = new Set(elsewhere.filter(({ outcome }) => outcome === "passed").map(titleOf));
  const absent = results.filter(({ outcome }) => outcome === "not_applicable").map(titleOf);
  expect(absent.filter((title) => !passed.has(title))).toEqual([]);
});

test("[X1] [T19] it passes with commits, queries and claims on the stream", async () => {
  const sections = (await loadSections())
    .map(({ name }) => name)
    .filter((name) =>
      /^(writes|bulks|batches|receipts|idempotency|staleness|premises|queries|attribution|budgets|proposals|proposal-.*|claim-.*)$/.test(
        name,
      ),
    );
  expect(sections.length).toBeGreaterThan(16);
  const results = await runSections(
    { url: server.url, adminToken: ADMIN, onStream: true, ...(await makeOrganization(server)) },
    { sections },
  );
  const failed = results.filter(({ outcome }) => outcome === "failed");
  expect(failed.filter((result) => !waiting.includes(titleOf(result))).map(failureOf)).toEqual([]);
});

// The soak suite runs all sections for each of them.
test.each([
  ["[X1] [DS6] in tables of the caller's", "attached"],
  ["[X1] [DS21] in databases of their own", "direct"],
  ["[X1] [DS29] behind an endpoint", "endpoint"],
] as const)("it passes the sections of batches with the records of all models %s", async (_, rows) => {
  const results = await runSections(
    { url: server.url, adminToken: ADMIN, ...(await makeOrganization(server, rows)) },
    { sections: ["batches"] },
  );
  expect(results.length).toBeGreaterThan(10);
  expect(results.filter(({ outcome }) => outcome === "failed").map(failureOf)).toEqual([]);
});

test("[X3] a server that cannot be tested is distinguished from one that fails", async () => {
  const run = (target: { url?: string; key?: string }) =>
    runSections({ url: server.url, key: newSecretToken(true), ...target }, { sections: ["ids"] });
  await expect(run({ url: "http://127.0.0.1:1" })).rejects.toThrow("No server of this interface answers at");
  await expect(run({})).rejects.toThrow("The server does not accept --key (apikey_invalid).");
  await expect(run({ key: ADMIN })).rejects.toThrow("--key takes a secret key");
});
