import type {
  List,
  WebhookAttempt,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookEndpointBody,
} from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import type { Static } from "typebox";
import { attemptTable, endpointLine, endpointTable, outcomeText } from "../endpoint-tables.ts";
import { modelNames } from "../model-names.ts";
import { request } from "../request.ts";
import { secretKeyTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";
import { addListen } from "./webhooks-listen.ts";

interface Options extends CommonOptions {
  readonly key?: string;
  readonly test?: boolean;
}

/** `webhooks create`, `list`, `roll`, `enable`, `disable`, `rm`, `attempts`, `test`, `skip`, `listen`. */
export function addWebhooks(program: Command, terminal: Terminal): void {
  const { env, out, say } = terminal;
  const webhooks = program
    .command("webhooks")
    .description("endpoints that receive the log, signed and in order")
    .addHelpText("after", HELP);
  const command = (words: string, says: string): Command =>
    webhooks
      .command(words)
      .description(says)
      .option("--key <sk_…>", "secret key (default: HOLDFAST_SECRET_KEY, else the one in the data directory)")
      .option("--test", "the test tenant, with the stored key");
  const targetOf = (options: Options) => secretKeyTarget(options, env);

  command("create <url>", "register an endpoint; its signing secret is printed once")
    .option("--events <models>", "only these models, separated by commas (default: all)")
    .option("--from <position>", "start after this position (default: now; 0: the beginning of the log)")
    .option("--description <text>", "a description")
    .action(async (url: string, _, self: Command) => {
      const options = self.optsWithGlobals<Options & { events?: string; from?: string; description?: string }>();
      const body: WebhookEndpointBody = {
        url,
        ...(options.events !== undefined && { enabledEvents: [...modelNames(options.events)] }),
        ...(options.from !== undefined && { from: wholeNumber("--from", options.from) }),
        ...(options.description !== undefined && { description: options.description }),
      };
      const made = await request<WebhookEndpoint>(targetOf(options), "POST", ROUTE, body);
      if (options.json) return void out(`${JSON.stringify(made)}\n`);
      say(`${endpointLine(made)}. Its signing secret is shown only once:`);
      out(`${made.secret}\n`);
    });

  command("list", "list endpoints, with their cursor and any problem").action(async (_, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    const { data } = await request<List<WebhookEndpoint>>(targetOf(options), "GET", ROUTE);
    if (options.json) return void out(`${JSON.stringify(data)}\n`);
    if (data.length === 0) return void say("There are no endpoints yet: see webhooks create.");
    out(endpointTable(data));
  });

  command(
    "roll <id>",
    "give an endpoint a new signing secret, which is printed once; the old one also signs for a day",
  ).action(async (id: string, _, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    const rolled = await request<WebhookEndpoint>(targetOf(options), "POST", routeOf(id, "roll_secret"));
    if (options.json) return void out(`${JSON.stringify(rolled)}\n`);
    say(`${id} signs with both secrets for a while. The new one is shown only once:`);
    out(`${rolled.secret}\n`);
  });

  for (const [word, says] of [
    ["enable", "resume deliveries from the cursor; a pending retry is sent now"],
    ["disable", "stop deliveries; nothing is lost, the cursor stays"],
  ] as const)
    command(`${word} <id>`, says).action(async (id: string, _, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const changed = await request<WebhookEndpoint>(targetOf(options), "POST", routeOf(id, word));
      out(options.json ? `${JSON.stringify(changed)}\n` : `${endpointLine(changed)}\n`);
    });

  command("rm <id>", "remove an endpoint, its attempts and its secret").action(async (id: string, _, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    const gone = await request<Static<typeof WebhookDeleted>>(targetOf(options), "DELETE", routeOf(id));
    out(options.json ? `${JSON.stringify(gone)}\n` : `removed ${id}\n`);
  });

  command("attempts <id>", "list requests to an endpoint, newest first")
    .option("--limit <number>", "how many (default: 20; up to 100)")
    .action(async (id: string, _, self: Command) => {
      const options = self.optsWithGlobals<Options & { limit?: string }>();
      const limit = wholeNumber("--limit", options.limit ?? "20");
      const route = routeOf(id, `attempts?limit=${limit}`);
      const { data } = await request<List<WebhookAttempt>>(targetOf(options), "GET", route);
      if (options.json) return void out(`${JSON.stringify(data)}\n`);
      if (data.length === 0) return void say(`Nothing has been sent to ${id} yet.`);
      out(attemptTable(data));
    });

  command("test <id>", "send an endpoint a test event; exits with 1 if it was not accepted").action(
    async (id: string, _, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const attempt = await request<WebhookAttempt>(targetOf(options), "POST", routeOf(id, "test"));
      out(options.json ? `${JSON.stringify(attempt)}\n` : `${outcomeText(attempt)}\n`);
      if (attempt.outcome !== "succeeded") throw new UsageError(`${id} did not accept the test event.`);
    },
  );

  command("skip <id>", "skip events that an endpoint cannot accept: they are not delivered")
    .requiredOption("--to <position>", "the last position to skip")
    .action(async (id: string, _, self: Command) => {
      const options = self.optsWithGlobals<Options & { to: string }>();
      const body = { to: wholeNumber("--to", options.to) };
      const skipped = await request<WebhookEndpoint>(targetOf(options), "POST", routeOf(id, "skip"), body);
      out(options.json ? `${JSON.stringify(skipped)}\n` : `${endpointLine(skipped)}\n`);
    });

  addListen(webhooks, terminal);
}

const ROUTE = "/v1/webhook_endpoints";
const routeOf = (id: string, action?: string): string =>
  `${ROUTE}/${encodeURIComponent(id)}${action === undefined ? "" : `/${action}`}`;

const HELP = `
Examples:
  holdfast webhooks create https://example.com/hooks --events Slide,Document --from 0
  holdfast webhooks list
  holdfast webhooks attempts we_…
  holdfast webhooks test we_…
  holdfast webhooks skip we_… --to 4711
  holdfast webhooks listen --forward http://localhost:3000/hooks`;
