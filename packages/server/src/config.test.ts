import { type ServerLimits, serverLimits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { ConfigError, limitSettings, readConfig } from "./config.ts";
import { tokenOf } from "./kernel/tokens/rules/token.ts";

const masterKey = `${"A".repeat(43)}=`;
const live = tokenOf("sk_live_", "0".repeat(30));

test("[O1] nothing set: an embedded Postgres on this machine only", () => {
  expect(readConfig({})).toEqual({
    host: "127.0.0.1",
    port: 8787,
    database: {},
    databaseUrl: undefined,
    dataDir: ".holdfast",
    secretKey: undefined,
    masterKeys: undefined,
    metricsLoopback: false,
    webhooks: {},
    adminToken: undefined,
    datasourcesAllowPrivate: false,
    schemaFile: undefined,
    modules: [],
    origins: undefined,
    publicUrl: undefined,
    laneCommits: undefined,
    logRetentionDays: undefined,
    logLevel: "info",
    logFormat: undefined,
    limits: {},
    unknown: [],
  });
  expect(readConfig({ PORT: "", DATABASE_URL: "", HOLDFAST_ORIGINS: "" })).toEqual(readConfig({}));
});

test("[O1] all settings are read from the environment", () => {
  expect(
    readConfig({
      HOST: "::",
      PORT: "0",
      DATABASE_URL: "postgresql://db/x",
      HOLDFAST_SECRET_KEY: live,
      HOLDFAST_MASTER_KEY: `${masterKey}, ${"B".repeat(43)}=`,
      HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "1",
      HOLDFAST_WEBHOOK_SCHEDULE: "0, 1, 2,3,4,5,6,7",
      HOLDFAST_WEBHOOK_ROTATION_SECONDS: "60",
      HOLDFAST_ADMIN_TOKEN: "x".repeat(16),
      HOLDFAST_METRICS_TOKEN: "y".repeat(512),
      HOLDFAST_ORIGINS: "https://a.example, http://localhost:3000,capacitor://localhost,null",
      HOLDFAST_LOG_RETENTION_DAYS: "90",
      HOLDFAST_LANE_COMMITS: "1",
    }),
  ).toMatchObject({
    host: "::",
    masterKeys: [masterKey, `${"B".repeat(43)}=`],
    webhooks: { allowPrivate: true, schedule: [0, 1, 2, 3, 4, 5, 6, 7], rotationMs: 60_000 },
    adminToken: "x".repeat(16),
    metricsToken: "y".repeat(512),
    port: 0,
    origins: ["https://a.example", "http://localhost:3000", "capacitor://localhost", "null"],
    logRetentionDays: 90,
    laneCommits: 1,
  });
  for (const [given, address] of [
    ["https://sync.example", "https://sync.example"],
    ["http://localhost:8787/", "http://localhost:8787"],
    ["https://x.example/sync//", "https://x.example/sync"],
  ])
    expect(readConfig({ HOLDFAST_PUBLIC_URL: given }).publicUrl).toBe(address);
});

test("[O12] a variable that looks like a setting and is none is logged by its name", () => {
  const known = Object.fromEntries(Object.values(limitSettings).map(([name, min]) => [name, String(min)]));
  expect(
    readConfig({
      ...known,
      HOLDFAST_URL: "http://x",
      HOLDFAST_TOKEN: "x",
      HOLDFAST_ORIGINS: "",
      HOLDFAST_RATESK: "7",
      holdfast_x: "",
      PATH: "",
    }).unknown,
  ).toEqual(["HOLDFAST_RATESK"]);
});

test("[B6] every limit of the server has a setting, and both ends of it", () => {
  expect(Object.keys(limitSettings)).toEqual(Object.keys(serverLimits));
  for (const [limit, [name, min, max]] of Object.entries(limitSettings)) {
    for (const value of [min, max, serverLimits[limit as keyof ServerLimits]])
      expect(readConfig({ [name]: String(value) }).limits).toEqual({ [limit]: value });
    for (const value of [min - 1, max + 1, 1.5])
      expect(() => readConfig({ [name]: String(value) })).toThrow(
        `${name} must be a whole number from ${min} to ${max}`,
      );
  }
  expect(readConfig({ HOLDFAST_RATE_SK: "" }).limits).toEqual({});
});

test.each<[Record<string, string>, RegExp]>([
  [{ PORT: "x" }, /PORT must be a whole number/],
  [{ PORT: "65536" }, /PORT must be a whole number from 0 to 65535/],
  [{ PORT: "-1" }, /PORT/],
  [{ PORT: "8e3" }, /PORT/],
  [{ DATABASE_URL: "mysql://x", HOLDFAST_SECRET_KEY: live }, /DATABASE_URL must begin with postgres:/],
  [{ DATABASE_URL: "postgres://x" }, /set HOLDFAST_SECRET_KEY/],
  [{ DATABASE_URL: "postgres://x", HOLDFAST_SECRET_KEY: live }, /set HOLDFAST_MASTER_KEY/],
  [{ HOLDFAST_MASTER_KEY: "short" }, /HOLDFAST_MASTER_KEY must be 32 bytes in base64/],
  [{ HOLDFAST_MASTER_KEY: `${masterKey},` }, /HOLDFAST_MASTER_KEY/],
  [{ HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "yes" }, /HOLDFAST_WEBHOOK_ALLOW_PRIVATE must be 1 or 0/],
  [{ HOLDFAST_WEBHOOK_SCHEDULE: "0,1,2" }, /HOLDFAST_WEBHOOK_SCHEDULE must be 8/],
  [{ HOLDFAST_WEBHOOK_SCHEDULE: "0,1,2,3,4,5,6,soon" }, /HOLDFAST_WEBHOOK_SCHEDULE must be a whole number/],
  [{ HOLDFAST_WEBHOOK_ROTATION_SECONDS: "-1" }, /HOLDFAST_WEBHOOK_ROTATION_SECONDS/],
  [{ HOLDFAST_SECRET_KEY: "secret" }, /HOLDFAST_SECRET_KEY must be an sk_live_/],
  [{ HOLDFAST_SECRET_KEY: `${live}x` }, /HOLDFAST_SECRET_KEY/],
  [{ HOLDFAST_SECRET_KEY: live.replace("1yMVfD", "1yMVfE") }, /checksum/],
  [{ HOLDFAST_SECRET_KEY: tokenOf("rk_", "0".repeat(30)) }, /HOLDFAST_SECRET_KEY/],
  [{ HOLDFAST_ADMIN_TOKEN: "short" }, /HOLDFAST_ADMIN_TOKEN must be 16/],
  [{ HOLDFAST_ADMIN_TOKEN: "with a space in it" }, /HOLDFAST_ADMIN_TOKEN/],
  [{ HOLDFAST_METRICS_LOOPBACK: "yes" }, /HOLDFAST_METRICS_LOOPBACK must be 1 or 0/],
  [{ HOLDFAST_METRICS_TOKEN: "short" }, /HOLDFAST_METRICS_TOKEN must be 16/],
  [{ HOLDFAST_METRICS_TOKEN: "z".repeat(513) }, /HOLDFAST_METRICS_TOKEN/],
  [{ HOLDFAST_ORIGINS: "app.example" }, /HOLDFAST_ORIGINS must be origins/],
  [{ HOLDFAST_ORIGINS: "https://a.example/" }, /HOLDFAST_ORIGINS/],
  [{ HOLDFAST_ORIGINS: "*" }, /HOLDFAST_ORIGINS must be .*"\*": it would allow every page/],
  [{ HOLDFAST_ORIGINS: "capacitor:" }, /HOLDFAST_ORIGINS/],
  [{ HOLDFAST_PUBLIC_URL: "sync.example" }, /HOLDFAST_PUBLIC_URL must be a URL/],
  [{ HOLDFAST_PUBLIC_URL: "ftp://sync.example" }, /HOLDFAST_PUBLIC_URL/],
  [{ HOLDFAST_PUBLIC_URL: "https://me:pass@sync.example" }, /HOLDFAST_PUBLIC_URL/],
  [{ HOLDFAST_PUBLIC_URL: "https://@sync.example/" }, /HOLDFAST_PUBLIC_URL/],
  [{ HOLDFAST_PUBLIC_URL: "https://sync.example?a=1" }, /HOLDFAST_PUBLIC_URL/],
  [{ HOLDFAST_LANE_COMMITS: "0" }, /HOLDFAST_LANE_COMMITS/],
  [{ HOLDFAST_LOG_RETENTION_DAYS: "0" }, /HOLDFAST_LOG_RETENTION_DAYS/],
  [{ HOLDFAST_LOG_RETENTION_DAYS: "1.5" }, /HOLDFAST_LOG_RETENTION_DAYS/],
  [{ HOLDFAST_LOG_FORMAT: "xml" }, /HOLDFAST_LOG_FORMAT must be json or text/],
  [{ HOLDFAST_LOG_LEVEL: "loud" }, /HOLDFAST_LOG_LEVEL must be one of/],
])("[O1] %j is refused with a sentence that keeps secrets", (env, sentence) => {
  const refusal = (() => {
    try {
      return readConfig(env);
    } catch (error) {
      return error as Error;
    }
  })();
  expect(refusal).toBeInstanceOf(ConfigError);
  expect((refusal as Error).message).toMatch(sentence);
  for (const name of ["HOLDFAST_SECRET_KEY", "HOLDFAST_ADMIN_TOKEN", "HOLDFAST_METRICS_TOKEN"])
    if (env[name]) expect((refusal as Error).message).not.toContain(env[name]);
});

test("[B9] trusted proxies are a count, or addresses and networks", () => {
  const trusted = (value: string) => readConfig({ HOLDFAST_TRUST_PROXY: value }).trustProxy;
  expect(trusted("2")).toBe(2);
  expect(trusted("10.0.0.0/8, ::1,uniquelocal")).toEqual(["10.0.0.0/8", "::1", "uniquelocal"]);
  for (const none of ["true", "0", "100", "10.0.0.300", "10.0.0.0/64", "*"])
    expect(() => trusted(none)).toThrow(/HOLDFAST_TRUST_PROXY/);
});
