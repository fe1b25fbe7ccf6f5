import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundlePrograms } from "../../../scripts/bundle-programs.ts";
import { deliverDuringKills, end, type Mirror, mirrorProcesses, slide } from "./testing/mirror-process.ts";
import { readMirror } from "./testing/records.ts";
import type { MirrorState } from "./words.ts";

// As a bundle it starts in a fifth of the time.
const PROGRAM = "apps/demo/mirror/main";
const cache = fileURLToPath(new URL("../node_modules/.cache/", import.meta.url));
let bundles = "";
beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  bundles = mkdtempSync(join(cache, "mirror-"));
  await bundlePrograms([`${PROGRAM}.ts`], bundles);
});
afterAll(() => rmSync(bundles, { recursive: true, force: true }));

let mirror: Mirror;
let folder: Mirror["folder"];
let service: Mirror["service"];
let start: Mirror["start"];
let databaseFile: Mirror["databaseFile"];
beforeEach(async () => {
  mirror = await mirrorProcesses([join(bundles, `${PROGRAM}.mjs`)]);
  ({ folder, service, start, databaseFile } = mirror);
});
afterEach(() => mirror.close());

/** Where its port is taken meanwhile it also moves its endpoint; it never makes another one. */
const registrations = () => service.asked.filter((one) => one.startsWith("POST"));

const keptFile = () => join(folder, "mirror", "endpoint.json");

test("[W51] the mirror registers once, keeps its secret private, and finds its registration again", async () => {
  await end(await start(), "SIGTERM");
  expect(service.asked).toEqual(["POST /v1/webhook_endpoints"]);
  expect(service.endpoints()).toMatchObject([{ cursor: 0, description: expect.stringContaining(folder) }]);
  expect(statSync(keptFile()).mode & 0o777).toBe(0o600);
  const { id, secret } = JSON.parse(readFileSync(keptFile(), "utf8")) as { id: string; secret: string };

  await end(await start(), "SIGKILL");
  expect(registrations()).toHaveLength(1);
  expect(await service.deliver([slide(1, "created", "a")])).toBe("no answer");
  await start();
  expect(service.endpoints()).toMatchObject([{ id, secret }]);
  expect(await service.deliver([slide(1, "created", "a")])).toBe(200);
  expect(readMirror(databaseFile())).toMatchObject({ position: 1, records: [{ id: "a", syncId: 1 }] });
});

test("[W51] without its file it rolls the secret, without its copy it begins from the start", async () => {
  await end(await start(), "SIGTERM");
  rmSync(keptFile());
  const child = await start();
  expect(service.asked.some((one) => one.endsWith("/roll_secret"))).toBe(true);
  expect(await service.deliver([slide(1, "created", "a")])).toBe(200);
  await end(child, "SIGTERM");
  rmSync(join(folder, "mirror"), { recursive: true });
  const again = await start();
  expect(service.endpoints()).toMatchObject([{ cursor: 0 }]);
  expect(await service.deliver([slide(1, "created", "a"), slide(2, "created", "b")])).toBe(200);
  expect(readMirror(databaseFile()).records).toHaveLength(2);
  await end(again, "SIGTERM");
  // The server begins another log.
  service.log.id = "log_2";
  await start();
  expect(readMirror(databaseFile())).toEqual({ position: 0, records: [] });
  expect(service.endpoints()).toMatchObject([{ cursor: 0 }]);
});

test("the mirror fails when set to fail, and continues where it stopped", async () => {
  const child = await start();
  const told = async (isFailing: boolean) => {
    child.send({ isFailing });
    const [state] = (await once(child, "message")) as [MirrorState];
    expect(state).toMatchObject({ isFailing });
  };
  expect(await service.deliver([slide(1, "created", "a")])).toBe(200);
  await told(true);
  expect(await service.deliver([slide(2, "updated", "a")])).toBe(500);
  await told(false);
  expect(await service.deliver([slide(2, "updated", "a")])).toBe(200);
  expect(readMirror(databaseFile())).toMatchObject({ position: 2, records: [{ data: { title: "Title 2" } }] });
});

test("[W50] killed during deliveries, its records are those of its position", async () => {
  const kills = [
    { answered: 1, onDisk: 1 },
    { answered: 0, onDisk: 20 },
  ];
  let found = 0;
  for await (const { answer, position, records, expected, cursor } of deliverDuringKills(mirror, 400, kills)) {
    expect(answer ?? 200).toBe(200);
    expect(position).toBeGreaterThanOrEqual(cursor);
    expect(records).toEqual(expected);
    found += 1;
  }
  expect(found).toBeGreaterThan(kills.length);
  expect(readMirror(mirror.databaseFile()).position).toBe(400);
  expect(registrations()).toHaveLength(1);
});
