import type { WebhookAttempt, WebhookEndpoint } from "@holdfast/sdk/protocol";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { startApp } from "../testing/app.ts";
import { commandLine } from "../testing/programs/command-line.ts";
import { startReceiver } from "../testing/receiver.ts";

const app = await startApp({ webhooks: { allowPrivate: true } });
const { call, keys } = app;
const folder = temporaryFolder("webhooks");
const { start, run } = commandLine(app, folder);

const webhooks = (...words: string[]) => run("webhooks", ...words);
const asJson = async <T>(...words: string[]) => JSON.parse((await run("--json", "webhooks", ...words)).out) as T;
const write = async () =>
  Number((await call("POST", "/v1/models/slide", { json: { data: {}, id: `w${++made}` } })).body.lastSyncId);
let made = 0;

/** An endpoint that leads to a receiver that verifies with its secret. */
async function created(...words: string[]) {
  const receiver = await startReceiver();
  const { out, err } = await webhooks("create", receiver.url, ...words);
  const secret = out.trim();
  receiver.secrets = [secret];
  const id = /^(we_\w+): enabled/.exec(err)?.[1] ?? "";
  onTestFinished(async () => void (await webhooks("rm", id)));
  return { receiver, secret, id, err };
}

test("[W65] an endpoint is registered, listed, shown and removed; its secret is printed once", async () => {
  expect((await webhooks("list")).err).toBe("There are no endpoints yet: see webhooks create.\n");
  const first = await write();
  const words = ["--events", "SLIDE, document", "--from", String(first - 1), "--description", "a mirror"];
  const { receiver, secret, id, err } = await created(...words);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(err).toBe(`${id}: enabled, cursor ${first - 1}, 1 behind. Its signing secret is shown only once:\n`);
  await until(() => expect(receiver.received.length).toBe(1));
  expect(receiver.received[0]?.events[0]?.syncId).toEqual(first);
  expect(receiver.refused).toEqual([]);

  const [shown] = await asJson<WebhookEndpoint[]>("list");
  expect(shown).toMatchObject({ id, description: "a mirror", enabledEvents: ["slide", "document"] });
  await until(async () =>
    expect(await (await webhooks("list")).out).toMatch(
      new RegExp(`\n${id} +enabled +${first} +0 +0 +- +- +slide,document +${receiver.url}\n`),
    ),
  );
  expect((await webhooks("list")).out).toMatch(
    /^ID +STATUS +CURSOR +LAG +ATTEMPT +NEXT ATTEMPT +LAST ERROR +EVENTS +URL\n/,
  );
  const attempts = await webhooks("attempts", id);
  expect(attempts.out).toMatch(/^AT +KIND +RANGE +EVENTS +ATTEMPT +OUTCOME +STATUS +MS +ERROR\n/);
  expect(attempts.out).toMatch(new RegExp(`Z +delivery +${first} +1 +1 +succeeded +204 +\\d+ +-\n$`));
  for (const { out } of [await webhooks("list"), attempts, await run("--json", "webhooks", "list")])
    expect(out).not.toContain(secret.slice(6));

  expect((await webhooks("rm", id)).out).toBe(`removed ${id}\n`);
  const again = await webhooks("rm", id);
  expect([again.code, again.err]).toEqual([
    1,
    expect.stringMatching(/The webhook endpoint does not exist\. \(webhook_/),
  ]);
});

test("[W65] an endpoint is disabled, enabled, rolled, tested, and skips events that it does not accept", async () => {
  const { receiver, secret, id } = await created();
  expect((await webhooks("disable", id)).out).toMatch(`${id}: disabled (owner), cursor `);
  const missed = await write();
  expect((await webhooks("enable", id)).out).toMatch(`${id}: enabled, cursor ${missed - 1}, 1 behind\n`);
  // Until its outcome is saved, the endpoint is busy and refuses a test.
  const listed = async () => (await webhooks("list")).out;
  await until(async () => expect(await listed()).toMatch(new RegExp(`${id} +enabled +${missed} +0 `)));

  const rolled = await webhooks("roll", id);
  expect(rolled.code).toBe(0);
  expect(rolled.err).toEqual(expect.stringContaining("The new one is shown only once"));
  receiver.secrets = [secret, rolled.out.trim()];
  const tested = await webhooks("test", id);
  expect(tested).toEqual({ code: 0, err: "", out: expect.stringMatching(/^succeeded with 204 in \d+ ms\n$/) });
  expect(receiver.received.at(-1)?.events[0]?.type).toBe("webhook_endpoint.test");
  expect(receiver.refused).toEqual([]);

  receiver.always(418);
  const failed = await webhooks("test", id);
  expect(failed.code).toBe(1);
  expect(failed.out).toEqual(
    expect.stringMatching(/^failed with 418 in \d+ ms: unexpected_status: The receiver answered 418\.\n$/),
  );
  expect(failed.err).toEqual(`${id} did not accept the test event.\n`);
  const poison = await write();
  await until(async () => expect(await listed()).toMatch(/unexpected_status 418 at \d+ /));
  expect((await asJson<WebhookEndpoint[]>("list"))[0]?.nextAttemptAt).toMatch(/^2/);
  expect((await webhooks("list")).out).toMatch(new RegExp(`${id} +enabled +${poison - 1} +1 +1 +2\\S+Z `));
  expect((await webhooks("skip", id, "--to", String(poison))).out).toBe(`${id}: enabled, cursor ${poison}, 0 behind\n`);
  const [newest] = await asJson<WebhookAttempt[]>("attempts", id, "--limit", "1");
  expect(newest).toMatchObject({ kind: "skip", from: poison, to: poison });
  expect((await webhooks("attempts", id)).out).toMatch(new RegExp(`Z +skip +${poison} +0 +0 +succeeded +- +0 +-\n`));
});

test("[W65] a webhooks command that cannot be carried out fails with a sentence", async () => {
  const refusals: [string[], RegExp][] = [
    [["create", "ftp://x.example/"], /must be an https URL\. \(invalid_url, at url; x-request-id req_/],
    [["create", "https://x.example/", "--events", "nothing"], /unknown_model, at enabledEvents\[0\]/],
    [["create", "https://x.example/", "--events", "slide,"], /model names separated by commas, or \*/],
    [["create", "https://x.example/", "--from", "x"], /--from must be a whole number \(got "x"\)/],
    [["create", "https://x.example/", "--from", "100000"], /read_at_in_future/],
    [["create"], /missing required argument 'url'/],
    [["skip", "we_none"], /required option '--to <position>'/],
    [["skip", "we_none", "--to", "-1"], /--to must be a whole number/],
    [["skip", "we_none", "--to", "1"], /webhook_endpoint_not_found/],
    [["attempts", "we_none", "--limit", "101"], /invalid_limit/],
    [["test", "../identity"], /webhook_endpoint_not_found/],
    [["wave", "we_none"], /unknown command 'wave'/],
    [["list", "--key", "sk_live_none"], /apikey_invalid/],
  ];
  for (const [words, sentence] of refusals) {
    const { code, out, err } = await webhooks(...words);
    expect(code, String(words)).toBe(1);
    expect(out, String(words)).toBe("");
    expect(err, String(words)).toEqual(expect.stringMatching(sentence));
  }
  const { token } = await app.capability({ operations: ["slide.read"], syncGroups: ["deck:1"] });
  expect((await webhooks("list", "--key", token)).err).toMatch(/secret_key_required/);
});

test("[W65] as a program of its own it speaks JSON, for the tenant of its key", async () => {
  const { code, out, err } = await start(["--json", "webhooks", "create", "https://x.example/"], {
    HOLDFAST_SECRET_KEY: keys.test,
  }).ended;
  const made = JSON.parse(out) as WebhookEndpoint;
  expect(code).toBe(0);
  expect(err).toBe("");
  onTestFinished(async () => void (await webhooks("rm", made.id, "--key", keys.test)));
  expect(made.secret).toEqual(expect.stringMatching(/^whsec_/));
  expect((await asJson<WebhookEndpoint[]>("list", "--key", keys.test)).map(({ id }) => id)).toEqual([made.id]);
  expect(await asJson<WebhookEndpoint[]>("list")).toEqual([]);
  const help = (await webhooks("--help")).out;
  for (const word of ["create", "list", "roll", "enable", "disable", "rm", "attempts", "test", "skip", "listen"])
    expect(help).toMatch(new RegExp(`^  ${word} `, "m"));
  expect(help).toMatch(/Examples:\n {2}holdfast webhooks create https:/);
});
