import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly ports?: readonly string[];
}

const text = readFileSync(join(root, "deploy/compose.yaml"), "utf8");
const example = readFileSync(join(root, "deploy/.env.example"), "utf8");
const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, Service>> };
const { "server-1": first, "server-2": second, proxy, postgres } = services;
const proxyAddress = Object(proxy?.networks).inside?.ipv4_address as string | undefined;

test("there are a database, two servers that are set up alike, and a proxy", () => {
  expect(Object.keys(services).sort()).toEqual(["postgres", "proxy", "server-1", "server-2"]);
  expect(second).toEqual(first);
});

test("the servers trust only the proxy's address", () => {
  expect(proxyAddress).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  expect(first?.environment?.HOLDFAST_TRUST_PROXY).toBe(proxyAddress);
});

test("only the proxy publishes ports", () => {
  expect(first?.ports).toBe(undefined);
  expect(postgres?.ports).toBe(undefined);
  expect(proxy?.ports).toHaveLength(2);
});

test("the proxy's configuration names services of this file and reads variables that are set", () => {
  const caddyfile = readFileSync(join(root, "deploy/Caddyfile"), "utf8");
  const upstreams = /\{\$HOLDFAST_SERVERS:([^}]+)\}/.exec(caddyfile)?.[1]?.split(" ");
  expect(upstreams).toEqual(["server-1:8787", "server-2:8787"]);
  expect(Object.keys(proxy?.environment ?? {})).toEqual(["HOLDFAST_SITE"]);
  expect(caddyfile).toContain("{$HOLDFAST_SITE:");
});

test("the server accepts every setting in the file", async () => {
  const { flags, file } = sourceProgram(join(root, "packages/server/src/holdfast.ts"));
  const { stdout } = await ending(runIn(root, process.execPath, [...flags, file, "--help"]));
  const given = Object.keys(first?.environment ?? {});
  expect(given).toContain("DATABASE_URL");
  expect(given.filter((name) => !stdout.includes(`  ${name}`))).toEqual([]);
});

test(".env.example has each variable that the file needs, and none that it does not read", () => {
  const read = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  const needed = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
  const written = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  expect([...needed].filter((name) => !written.includes(name))).toEqual([]);
  expect(written.filter((name) => !read.has(name))).toEqual([]);
});
