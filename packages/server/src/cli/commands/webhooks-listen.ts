import { setTimeout as pause } from "node:timers/promises";
import { type List, type LogEntry, limits, type SchemaRead, webhookLimits } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import { forward, type Page } from "../../modules/webhooks/listen/forward.ts";
import { deliveryJson, deliveryLine } from "../../modules/webhooks/listen/lines.ts";
import { sendBatch } from "../../modules/webhooks/listen/send-batch.ts";
import { checkedSecret, newSecret } from "../../modules/webhooks/listen/signing-secret.ts";
import { headOf } from "../head.ts";
import { modelNames } from "../model-names.ts";
import { RequestError, request, type Target } from "../request.ts";
import { secretKeyTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface Options extends CommonOptions {
  readonly key?: string;
  readonly test?: boolean;
  readonly forward: string;
  readonly events?: string;
  readonly from?: string;
  readonly secret?: string;
}

/** `webhooks listen`. */
export function addListen(webhooks: Command, { env, out, say, interrupted, openSender }: Terminal): void {
  webhooks
    .command("listen")
    .description("send the log to a handler on this machine, signed, without an endpoint, until interrupted")
    .requiredOption("--forward <address>", "the handler's URL, http or https")
    .option("--events <models>", "only these models, separated by commas (default: all that the token may read)")
    .option("--from <position>", "start after this position (default: now; 0: the beginning)")
    .option("--secret <whsec_…>", "the signing secret (default: generated for this run)")
    .option("--key <token>", "any token of the tenant (default: the stored secret key)")
    .option("--test", "the test tenant, with the stored key")
    .addHelpText("after", HELP)
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const address = addressOf(options.forward);
      const secret = options.secret === undefined ? newSecret() : checkedSecret(options.secret);
      const asked = options.from === undefined ? undefined : wholeNumber("--from", options.from);
      const target = secretKeyTarget(options, env);
      const models = await declared(target, options.events);
      const { logId, stamp } = await headOf(target);
      const from = asked ?? stamp;
      if (from > stamp) throw new UsageError(`--from ${from} is beyond the end of the log (${stamp}).`);
      const signal = interrupted();

      if (options.json) {
        out(`${JSON.stringify({ object: "webhook_listener", forward: address, secret, from })}\n`);
      } else {
        out(`Signing secret: ${secret}\n`);
        say(`${models?.join(", ") ?? "All models"} after position ${from} → ${address}. Press Ctrl-C to stop.`);
      }
      const { send, close } = openSender();
      const position = await forward(from, {
        signal,
        read: (after) => readPage(target, after, models, logId, signal),
        isTransient: (error) => error instanceof RequestError && error.isTransient,
        send: (batch) => sendBatch(batch, { url: address, secret, signal, send }),
        pause: (ms) => pause(ms, undefined, { signal }),
        unread: (error, againMs) => say(`${(error as Error).message} Trying again in ${againMs / 1_000} s.`),
        readAgain: () => say("The server is available again."),
        sent: (batch, sent, attempt, againMs) =>
          out(`${options.json ? deliveryJson(batch, sent, attempt) : deliveryLine(batch, sent, againMs)}\n`),
      }).finally(close);
      say(`Stopped after position ${position}. Use --from ${position} to continue.`);
    });
}

function addressOf(text: string): string {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (!address || !/^https?:$/.test(address.protocol))
    throw new UsageError(
      `--forward must be an http or https URL, such as http://localhost:3000/hooks (got "${text}").`,
    );
  if (address.username !== "" || address.password !== "")
    throw new UsageError("--forward must be a URL without user and password: the signature proves the sender.");
  return address.href;
}

/** The models that were named, as they are declared; undefined: all. */
async function declared(target: Target, events: string | undefined): Promise<readonly string[] | undefined> {
  if (events === undefined || events.trim() === "*") return undefined;
  const known = Object.keys((await request<SchemaRead>(target, "GET", "/v1/schema")).models);
  return modelNames(events).map((name) => {
    const model = known.find((one) => one.toLowerCase() === name.toLowerCase());
    if (model === undefined) throw new UsageError(`There is no model "${name}". The models are: ${known.join(", ")}.`);
    return model;
  });
}

/** Until an answer came: the wait that was asked for, and time for it to travel. */
const READ_MS = limits.logWaitMs + 15_000;

async function readPage(
  target: Target,
  after: number,
  models: readonly string[] | undefined,
  logId: string,
  signal: AbortSignal,
): Promise<Page> {
  const only = (models ?? []).map((name) => `&model=${encodeURIComponent(name)}`).join("");
  const path = `/v1/log?after=${after}&limit=${webhookLimits.batchEvents}&wait=${limits.logWaitMs}${only}`;
  const page = await request<List<LogEntry> & { readonly logId: string }>(
    target,
    "GET",
    path,
    undefined,
    AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]),
  );
  if (page.logId !== logId)
    throw new UsageError(
      "The server has another log now, because it was restored or this is another tenant. Start again.",
    );
  return { entries: page.data, examined: Number(page.next_cursor ?? after) };
}

const HELP = `
Each request equals one that the server would send: the same body and headers, signed according to Standard Webhooks.
If the response is not a 2xx, the batch is sent again after 1 s, 2 s … 30 s; later events wait.

Examples:
  holdfast webhooks listen --forward http://localhost:3000/hooks
  holdfast webhooks listen --forward http://localhost:3000/hooks --events Slide,Document --from 0
  holdfast webhooks listen --forward http://localhost:3000/hooks --secret "$WEBHOOK_SECRET" --json`;
