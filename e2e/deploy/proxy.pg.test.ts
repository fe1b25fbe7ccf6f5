import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { KillableServer } from "../../qa/support/killable-server.ts";
import { root } from "../../scripts/root.mjs";
import { until } from "../../scripts/testing/until.ts";
import { type RunningProxy, startCaddy, whyNoCaddy } from "./caddy.ts";

const reason = whyNoCaddy();
const { url: databaseUrl } = await freshDatabase();

test("the deployment page shows deploy/Caddyfile unchanged", () => {
  const page = readFileSync(join(root, "docs/deploy.md"), "utf8");
  expect(page).toContain(`\`\`\`caddyfile\n${readFileSync(join(root, "deploy/Caddyfile"), "utf8")}\`\`\``);
});

describe.skipIf(reason !== undefined)(
  `deploy/Caddyfile in a real proxy${reason ? ` (skipped: ${reason})` : ""}`,
  () => {
    const key = newSecretToken(true);
    const servers: KillableServer[] = [];
    let folder = "";
    let proxy: RunningProxy;

    // Here and not where each is started: Vitest runs no after-hook that a before-hook registers.
    afterAll(async () => {
      await proxy?.stop();
      await Promise.all(servers.map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    });

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "holdfast-proxy-"));
      const env = {
        DATABASE_URL: databaseUrl,
        HOLDFAST_SECRET_KEY: key,
        HOLDFAST_MASTER_KEY: newMasterKey(),
        HOLDFAST_TRUST_PROXY: "127.0.0.1",
        HOLDFAST_RATE_FAILED_AUTH: "1",
      };
      for (const name of ["1", "2"]) servers.push(new KillableServer(join(folder, name), { env }));
      await Promise.all(servers.map((server) => server.start()));
      proxy = await startCaddy(servers.map(({ url }) => url));
    });

    test("requests pass over TLS with a certificate that the client checks", async () => {
      const answer = await sendRequest("GET", "/v1/log", { authorization: `Bearer ${key}` });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ object: "list" });
      await expect(sendRequest("GET", "/livez", {}, { ca: [] })).rejects.toThrow(/certificate/);
    });

    test("plain HTTP is sent to HTTPS", async () => {
      const sent = httpRequest(`${proxy.httpUrl}/v1/log`).end();
      const [response] = (await once(sent, "response")) as [{ statusCode: number; headers: { location: string } }];
      expect(response.statusCode).toBe(308);
      expect(response.headers.location).toMatch(/^https:\/\/localhost/);
      sent.destroy();
    });

    test("a WebSocket passes, and receives a commit that is sent through the proxy", async () => {
      const socket = new WebSocket(`${proxy.url.replace("https", "wss")}/v1/stream`, ["holdfast.v1"], {
        ca: proxy.authority,
      });
      const frames: { frame: string; entries?: { modelId: string }[] }[] = [];
      socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString())));
      await once(socket, "open");
      socket.send(JSON.stringify({ frame: "hello", token: key }));
      await until(async () => expect(await frames.map(({ frame }) => frame)).toContain("welcome"));
      const id = "slide_by_way_of_the_proxy";
      const answer = await sendRequest(
        "POST",
        "/v1/commits",
        { authorization: `Bearer ${key}`, "idempotency-key": "proxy-1" },
        {
          body: {
            operations: [{ action: "create", model: "slide", id, data: { title: "Hello", deckId: "d", order: 1 } }],
          },
        },
      );
      expect(answer).toMatchObject({ status: 200, body: { status: "confirmed" } });
      await until(async () =>
        expect(await JSON.stringify(frames.filter(({ frame }) => frame === "entries"))).toContain(id),
      );
      socket.close();
      await once(socket, "close");
    });

    test("the servers count each client by its real address, whatever its headers claim", async () => {
      const from = (localAddress: string, claimed: string) =>
        sendRequest("GET", "/v1/log", { "x-forwarded-for": claimed }, { localAddress }).then(({ status }) => status);
      // Enough for both processes: each counts for itself.
      const guesses = await Promise.all(Array.from({ length: 40 }, (_, i) => from("127.0.0.2", `192.0.2.${i}`)));
      // If their claims were believed, all of them would be strangers.
      expect(new Set(guesses)).toEqual(new Set([401, 429]));
      expect(await from("127.0.0.3", "127.0.0.2")).toBe(401);
    });

    test("while one process is down every request reaches the other", async () => {
      await servers[0]?.end();
      const statuses = new Set<number>();
      for (let i = 0; i < 40; i += 1) statuses.add((await sendRequest("GET", "/livez")).status);
      expect([...statuses]).toEqual([200]);
      await servers[0]?.start();
    });

    interface RequestOptions {
      readonly body?: object;
      readonly ca?: string[];
      readonly localAddress?: string;
    }

    function sendRequest(
      method: string,
      path: string,
      headers: Record<string, string> = {},
      { body, ca = [proxy.authority], localAddress = "127.0.0.1" }: RequestOptions = {},
    ): Promise<{ status: number; body: Record<string, unknown> }> {
      return new Promise((resolve, reject) => {
        const type = body === undefined ? {} : { "content-type": "application/json" };
        const sent = request(`${proxy.url}${path}`, {
          ...{ method, ca, localAddress, family: 4, agent: false },
          headers: { ...headers, ...type },
        });
        sent.once("error", reject);
        sent.once("response", (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.once("end", () => {
            const isJson = response.headers["content-type"]?.startsWith("application/json");
            resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : {} });
          });
        });
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      });
    }
  },
);
