import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Organization, SecretKey } from "@holdfast/sdk/protocol";
import { callServer } from "../../apps/demo/dev/call-server.ts";
import { referenceSchema } from "../../apps/demo/dev/project.ts";
import { type RunningMirror, runMirror } from "../../apps/demo/dev/run-mirror.ts";
import { runServer } from "../../apps/demo/dev/run-server.ts";
import { addressOf, servePage } from "../../apps/demo/dev/serve-page.ts";
import { base62 } from "../../packages/server/src/ids.ts";
import { tokenOf, tokenPrefixes } from "../../packages/server/src/kernel/tokens/rules/token.ts";
import { copyTemplate } from "../../packages/server/src/testing/template-database.ts";
import { type Demo, importInto } from "./demo.ts";

/**
 * One server on a database of its own, and the built page, for all tests of a worker. Each test gets an organization of
 * its own, so that its log is short and no other test writes to it.
 *
 * The page's server runs in this process and reads from the demo's folder where the sync server is and which key opens
 * it. So another folder makes it the page of another organization.
 */
export interface Host {
  openDemo(withMirror: boolean): Promise<Demo & { close(): Promise<void> }>;
  stop(): Promise<void>;
}

/** The schedule is the server's: the waits before each attempt to deliver to the mirror, in ms. */
export async function startHost(schedule: string): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-e2e-"));
  pointAt(folder);
  const adminToken = `admin_${randomBytes(20).toString("hex")}`;
  const server = await runServer(0, {
    DATABASE_URL: await copyTemplate(JSON.parse(process.env.HOLDFAST_TEST_TEMPLATE ?? "")),
    HOLDFAST_ADMIN_TOKEN: adminToken,
    HOLDFAST_SECRET_KEY: tokenOf(tokenPrefixes.live, base62(30)),
    HOLDFAST_MASTER_KEY: randomBytes(32).toString("base64"),
    HOLDFAST_WEBHOOK_SCHEDULE: schedule,
    HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "1",
  });
  const schema: unknown = JSON.parse(await readFile(referenceSchema, "utf8"));

  let mirror: RunningMirror | undefined;
  const mirrorOfTest: RunningMirror = {
    state: () => mirror?.state(),
    hasEnded: () => mirror?.hasEnded() ?? true,
    order: async (order) => await mirror?.order(order),
    stop: async () => await mirror?.stop(),
  };
  const page = await servePage(process.env.HOLDFAST_TEST_PAGE ?? "", 0, mirrorOfTest, schedule.split(",").map(Number));
  const pageUrl = addressOf(page);

  let organizations = 0;
  return {
    async openDemo(withMirror) {
      organizations += 1;
      const data = join(folder, String(organizations));
      await mkdir(data);
      const asked = <T>(path: string, body: object, key = adminToken) =>
        callServer<T>(server.url, key, "POST", path, body);
      const { id: organization } = await asked<Organization>("/v1/organizations", { name: `Test ${organizations}` });
      const { token: secretKey = "" } = await asked<SecretKey>("/v1/secret_keys", { organization, livemode: true });
      await asked("/v1/schema", schema as object, secretKey);
      await writeFile(join(data, "demo.json"), JSON.stringify({ serverUrl: server.url, pageUrl }));
      await writeFile(join(data, "keys.json"), JSON.stringify({ live: secretKey }));
      pointAt(data);
      if (withMirror) mirror = runMirror();
      return {
        pageUrl,
        serverUrl: server.url,
        secretKey,
        mirrorFile: join(data, "mirror", "mirror.db"),
        ...importInto(data),
        close: async () => {
          await mirror?.stop();
          mirror = undefined;
        },
      };
    },
    stop: async () => {
      await page.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** For the page's server and the programs that it starts. */
function pointAt(data: string): void {
  process.env.HOLDFAST_DATA_DIR = data;
}
