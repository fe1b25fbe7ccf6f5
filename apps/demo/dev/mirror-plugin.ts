import type { IncomingMessage } from "node:http";
import type { WebhookAttempt, WebhookEndpoint } from "@holdfast/sdk/protocol";
import type { Plugin } from "vite";
import type { MirrorReport, RunningReport } from "../src/mirror/mirror-report.ts";
import { callServer } from "./call-server.ts";
import { readDemoFile } from "./demo-file.ts";
import { isFromOurPage } from "./our-page.ts";
import type { PageServer } from "./page-server.ts";
import type { RunningMirror } from "./run-mirror.ts";
import { type Answer, sendAnswer } from "./send-answer.ts";
import { secretKey } from "./server-secrets.ts";

/**
 * `GET /mirror` tells the page how the mirror stands; `POST /mirror/fail` and `/mirror/recover` are the buttons. The
 * endpoint's owner asks the server, with the secret key, which never reaches the page.
 */
export function mirrorPlugin(mirror: RunningMirror, scheduleMs: readonly number[]): Plugin {
  const serve = ({ middlewares }: PageServer): void => {
    middlewares.use("/mirror", (request, response) => {
      void sendAnswer(response, answer(request, mirror, scheduleMs));
    });
  };
  return { name: "holdfast-demo-mirror", configureServer: serve, configurePreviewServer: serve };
}

async function answer(request: IncomingMessage, mirror: RunningMirror, scheduleMs: readonly number[]): Promise<Answer> {
  const path = (request.url ?? "").replace(/^\//, "");
  const method = path === "" ? "GET" : "POST";
  if (!["", "fail", "recover"].includes(path)) return { status: 404, body: "There is nothing here." };
  if (request.method !== method) return { status: 405, body: `This address answers ${method}.` };
  if (!isFromOurPage(request.headers, request.socket.remoteAddress))
    return { status: 403, body: "The mirror is shown to this demo’s own page only." };
  const state = mirror.state();
  const { serverUrl } = await readDemoFile();
  if (!state || !serverUrl)
    return path === ""
      ? { status: 200, body: { isRunning: false, isStarting: !mirror.hasEnded() } satisfies MirrorReport }
      : { status: 503, body: "The mirror is not running." };
  const owner = await ownerOf(serverUrl, state.endpointId);

  if (path !== "") {
    const isFailing = path === "fail";
    await mirror.order({ isFailing });
    // Also when the server has given up, or waits for a long while: it is tried again at once.
    if (!isFailing) await owner.enable();
    return { status: 202, body: "Told." };
  }
  const [endpoint, attempts] = await Promise.all([owner.endpoint(), owner.attempts()]);
  return { status: 200, body: report(state, endpoint, attempts, scheduleMs) };
}

async function ownerOf(serverUrl: string, id: string) {
  const key = await secretKey();
  const path = `/v1/webhook_endpoints/${id}`;
  return {
    endpoint: () => callServer<WebhookEndpoint>(serverUrl, key, "GET", path),
    attempts: async () =>
      (await callServer<{ data: WebhookAttempt[] }>(serverUrl, key, "GET", `${path}/attempts?limit=5`)).data,
    enable: () => callServer<WebhookEndpoint>(serverUrl, key, "POST", `${path}/enable`),
  };
}

function report(
  { rows, isFailing }: { rows: number; isFailing: boolean },
  { status, lag, attempt, nextAttemptAt }: WebhookEndpoint,
  attempts: readonly WebhookAttempt[],
  scheduleMs: readonly number[],
): RunningReport {
  return {
    isRunning: true,
    rows,
    isFailing,
    status,
    lag,
    attempt,
    scheduleMs,
    // A span, not a time: the browser's clock may be another.
    nextAttemptInMs: nextAttemptAt === null ? null : Math.max(0, Date.parse(nextAttemptAt) - Date.now()),
    attempts: attempts.map(({ id, startedAt, outcome, status, error, events }) => ({
      id,
      startedAt,
      outcome,
      answer: status === null ? (error?.code ?? "no answer").replaceAll("_", " ") : String(status),
      events,
    })),
  };
}
