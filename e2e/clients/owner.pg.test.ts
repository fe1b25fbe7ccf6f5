import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, fileStorage } from "@holdfast/sdk/node";
import { newMasterKey, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect, test, vi } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { schema } from "./people.ts";

const ADMIN = "admin_token_of_the_owner_tests";
const { url: databaseUrl } = await freshDatabase();
const server = await startServer({ databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0 });
const folder = mkdtempSync(join(tmpdir(), "holdfast-owner-"));
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function request(method: string, path: string, body: unknown, token: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(server.url + path, { method, headers, ...sent });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function tenant(organization: unknown, livemode: boolean) {
  const { token: key } = await request("POST", "/v1/secret_keys", { organization, livemode }, ADMIN);
  await request("POST", "/v1/schema", schema, String(key));
  const token = async (ttlSeconds = 600): Promise<string> => {
    const body = { user: { id: "ann" }, syncGroups: ["deck:d1"], ttlSeconds };
    return String((await request("POST", "/v1/ephemeral_keys", body, String(key))).token);
  };
  const head = async () => Number((await request("GET", "/v1/log?limit=1", undefined, String(key))).stamp);
  return { token, head };
}

const { id: first } = await request("POST", "/v1/organizations", { name: "first" }, ADMIN);
const { id: second } = await request("POST", "/v1/organizations", { name: "second" }, ADMIN);
const home = await tenant(first, true);
const others = { organization: await tenant(second, true), environment: await tenant(first, false) };

test.each(["organization", "environment"] as const)(
  "[D15] on a real server: writes that ann queued in one tenant never reach the other %s",
  async (which) => {
    for (const stream of [true, false]) {
      const file = join(folder, `${which}-${stream}.db`);
      const open = (getToken: () => Promise<string>) =>
        createClient({ schema, url: server.url, user: "ann", getToken, stream, storage: fileStorage(file) });
      const ann = open(home.token);
      await ann.ready();
      await ann.models.slide.create({ deckId: "d1", title: "home" }).receipt;
      ann.pause();
      await ann.models.slide.create({ deckId: "d1", title: "secret" }).queued;
      await ann.close();

      const elsewhere = open(others[which].token);
      await until(() => expect(elsewhere.status().name).toBe("needs-auth"));
      expect(elsewhere.status().reason).toContain(`this store belongs to ${first}/live/user/ann`);
      expect(elsewhere.models.slide.list()).toEqual([]);
      expect(elsewhere.pending()).toEqual([]);
      expect(() => elsewhere.models.slide.create({ deckId: "d1", title: "x" })).toThrow(/belongs to/);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await elsewhere.close();
      expect(await others[which].head()).toBe(0);

      const before = await home.head();
      const back = open(home.token);
      await back.drain({ timeoutMs: 10_000 });
      expect(await home.head()).toBe(before + 1);
      await back.close();
    }
  },
);

test("[N16] on a real server: a token that lives 6 s is renewed repeatedly, unnoticed by the app", async () => {
  let tokenRequests = 0;
  const getToken = () => {
    tokenRequests += 1;
    return home.token(6);
  };
  const warned = vi.spyOn(console, "warn");
  const client = createClient({ schema, url: server.url, getToken });
  await client.ready();
  await until(() => expect(client.status().name).toBe("online"));
  const names = new Set<string>();
  const off = client.subscribe(() => void names.add(client.status().name));
  const made = client.models.slide.create({ deckId: "d1", title: "claimed" });
  await made.receipt;
  const lease = await client.models.slide.claim(made.id);
  const stop = client.claims.watch("slide", [lease.recordId]);
  await until(() => expect(client.claims.of("slide", lease.recordId).state).toBe("known"));
  const states = new Set<string>();
  const offClaims = client.subscribe(() => void states.add(client.claims.of("slide", lease.recordId).state));
  for (let i = 0; i < 26; i++) {
    await client.models.slide.update(lease.recordId, { order: i }).receipt;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  expect(tokenRequests).toBeGreaterThanOrEqual(3);
  expect([...names]).toEqual(["online"]);
  expect([...states]).toEqual(["known"]);
  expect(warned.mock.calls).toEqual([]);
  for (const end of [off, offClaims, stop]) end();
  warned.mockRestore();
  await client.close();
});
