import { type Evidence, type Received, readName } from "./evidence.ts";
import { holdRow } from "./held-row.ts";
import { judgeDeliveries, type Verdict } from "./judge.ts";
import type { Owned } from "./owner.ts";
import { type Options, openPlace, type Place } from "./place.ts";

/** What came of something that is done on purpose, which a run at random would meet now and then. */
export interface Finding {
  readonly verdict: Verdict;
  /** What should have come of it, and did not. */
  readonly unmet: readonly string[];
  readonly figures: Readonly<Record<string, number | string>>;
}

type Acted = Omit<Finding, "verdict"> & { readonly evidence: Evidence };
interface Setting extends Pick<Options, "databaseUrl" | "seed" | "sources" | "lateMs" | "house"> {
  /** How long is waited for what should come; where there is a bug, it may never come. */
  readonly patienceMs?: number;
}

export interface Scenario {
  readonly says: string;
  /** It needs processes of its own. */
  readonly kills?: true;
  play(setting: Setting): Promise<Finding>;
}

async function play(
  setting: Setting,
  more: Pick<Options, "servers" | "times">,
  act: (place: Place) => Promise<Acted>,
): Promise<Finding> {
  const place = await openPlace({ ...setting, ...more });
  try {
    const { evidence, unmet, figures } = await act(place);
    return { verdict: judgeDeliveries(evidence), unmet, figures };
  } finally {
    await place.close();
  }
}

/** Sentences for what is not so. */
const unless = (...wishes: readonly (readonly [isSo: boolean, says: string])[]): string[] =>
  wishes.flatMap(([isSo, says]) => (isSo ? [] : [says]));

const requestsTo = ({ requests }: Evidence, { id }: Owned): Received[] =>
  requests.filter(({ endpoint }) => endpoint === id).sort((a, b) => a.begun - b.begun);

const sizes = (requests: readonly Received[], endpoint: Owned): number[] =>
  requests.map(({ webhookId }) => {
    const { from = 0, to = -1 } = readName(webhookId, endpoint.id) ?? {};
    return to - from + 1;
  });

/** (a) */
export const killAtAnswer = (rounds: number): Scenario => ({
  says: "kill -9 of the server between the receiver's 2xx and the cursor: the same batch once more, under the same webhook-id",
  kills: true,
  play: (setting) =>
    play(setting, { times: { requestMs: 500, leaseMs: 800 } }, async (place) => {
      const endpoint = await place.register("killed");
      const isAnswered = (count: number) => () =>
        [...place.records.notes.values()].filter(({ status }) => status?.status === 204).length >= count;
      for (let n = 0; n < rounds; n++) {
        // It stands still while the 2xx arrives, and never comes to read it.
        await place.receiver.script("killed", ["held"]);
        await place.fill(10, `unread-${n}`);
        const goOn = await place.receiver.holds("killed");
        const stopped = place.senders.freeze(0);
        await goOn("204");
        await place.until(isAnswered(4 * n + 1));
        await stopped.kill();
        await place.settle(setting.patienceMs);
        // It has read it, and waits to write the cursor.
        await place.receiver.script("killed", ["held"]);
        await place.fill(10, `unwritten-${n}`);
        const tell = await place.receiver.holds("killed");
        const row = await holdRow(setting.databaseUrl, endpoint.id);
        await tell("204");
        await place.until(async () => (await row.waiting()).length > 0);
        const backends = await row.waiting();
        const killed = place.senders.kill(0);
        await row.release(backends);
        await killed;
        await place.settle(setting.patienceMs);
      }
      // The receiver itself kills it, before it answers, and in the moment in which its answer has left.
      for (const [n, behaviour] of (["the senders are killed", "204, and the senders are killed"] as const).entries()) {
        await place.receiver.script("killed", [behaviour]);
        await place.fill(10, `killed-by-receiver-${n}`);
        await place.until(() => place.senders.troubles.length > 2 * rounds + n);
        await place.settle(setting.patienceMs);
      }
      const evidence = await place.evidence();
      const ids = requestsTo(evidence, endpoint).map(({ webhookId }) => webhookId);
      const pairs = Array.from({ length: 2 * rounds }, (_, i) => ids.slice(2 * i, 2 * i + 2));
      return {
        evidence,
        unmet: unless([
          new Set(pairs.flat()).size === pairs.length && pairs.every(([first, second]) => first === second),
          `what was accepted when the server was killed came as ${ids.join(", ")}`,
        ]),
        figures: { kills: place.senders.troubles.length, requests: requestsTo(evidence, endpoint).length },
      };
    }),
});

const ENOUGH = 60;

/** (b) */
export const twoServers: Scenario = {
  says: "two servers: never two requests to one endpoint at the same time",
  play: (setting) =>
    play(setting, { servers: 2 }, async (place) => {
      const hooks = ["two-a", "two-b", "two-c", "two-d"];
      for (const hook of hooks) {
        await place.register(hook);
        await place.receiver.feel(hook, "slow");
      }
      const isEnough = () => place.records.notes.size >= ENOUGH;
      for (let n = 0; n < 1_000 && !(await place.until(isEnough, 0)); n++) await place.fill(3, `two-${n}`);
      await place.settle(setting.patienceMs);
      const evidence = await place.evidence();
      return {
        evidence,
        unmet: unless([isEnough(), `there were only ${evidence.requests.length} requests`]),
        figures: { requests: evidence.requests.length },
      };
    }),
};

const ATTEMPTS = [100, 100, 100, 34, 12, 4, 2, 1];

/** An hour is 10 ms. */
const THREE_DAYS_MS = 720;

/** (c) */
export const threeDays = (events: number): Scenario => ({
  says: "an endpoint that is disabled after eight attempts gets everything that was committed in three days when it is enabled",
  play: (setting) =>
    play(setting, { times: { schedule: [0, 0, 1, 5, 20, 50, 100, 100] } }, async (place) => {
      const endpoint = await place.register("away");
      await place.receiver.feel("away", "broken");
      await place.fill(150, "before");
      const isDisabled = async () => (await place.owner.view(endpoint)).disabledReason === "attempts_exhausted";
      const wasDisabled = await place.until(isDisabled);
      const disabledAt = performance.now();
      await place.receiver.feel("away", "calm");
      await place.fill(events, "while-away");
      await place.until(() => performance.now() > disabledAt + THREE_DAYS_MS);
      const before = place.records.notes.size;
      const awayMs = performance.now() - disabledAt;
      const begun = performance.now();
      await place.owner.act(endpoint, { what: "enable" });
      const isWhole = await place.settle(300_000);
      const seconds = (performance.now() - begun) / 1_000;
      const evidence = await place.evidence();
      return {
        evidence,
        unmet: unless(
          [wasDisabled, "it was not disabled"],
          [before === ATTEMPTS.length, `${before} requests came before it was enabled`],
          [isWhole, "not everything came in time"],
        ),
        figures: {
          events,
          "away, ms": Math.round(awayMs),
          requests: evidence.requests.length,
          "events a second": Math.round(events / seconds),
        },
      };
    }),
});

/** (d) */
export const poison: Scenario = {
  says: "an event that the receiver cannot take is found by halving the batch, and passed by with skip",
  play: (setting) =>
    play(setting, { times: { schedule: [0, 40, 80, 120, 160, 200, 240, 280] } }, async (place) => {
      const endpoint = await place.register("poisoned");
      await place.receiver.feel("poisoned", "poisoned");
      const good = await place.fill(120, "good");
      await place.settle(setting.patienceMs);
      await place.receiver.script("poisoned", []);
      await place.owner.act(endpoint, { what: "disable" });
      const pause = performance.now();
      await place.until(() => performance.now() > pause + 1_200);
      await place.commit([{ action: "create", model: "slide", id: "poison", data: { deckId: "d1" } }]);
      await place.fill(120, "after");
      await place.owner.act(endpoint, { what: "enable" });
      await place.until(async () => (await place.owner.view(endpoint)).disabledReason === "attempts_exhausted");
      const { lastError } = await place.owner.view(endpoint);
      const culprit = good + 1;
      const failed = requestsTo(await place.evidence(), endpoint).filter(({ status }) => status === 500);
      await place.owner.act(endpoint, { what: "skip", to: culprit });
      await place.owner.act(endpoint, { what: "enable" });
      const isWhole = await place.settle(setting.patienceMs);
      const evidence = await place.evidence();
      const attempts = await place.owner.attempts(endpoint);
      const skips = attempts.filter(({ kind }) => kind === "skip");
      return {
        evidence,
        unmet: unless(
          [String(sizes(failed, endpoint)) === String(ATTEMPTS), `the batches had ${sizes(failed, endpoint)} events`],
          [
            lastError?.from === culprit && lastError.to === culprit,
            `lastError names ${lastError?.from} to ${lastError?.to}, not ${culprit}`,
          ],
          [isWhole, "what lay behind it did not come"],
          [skips.length === 1 && skips[0]?.to === culprit, `its attempts tell of the skip ${JSON.stringify(skips)}`],
        ),
        figures: { batches: sizes(failed, endpoint).join(", ") },
      };
    }),
};

/** What needs no kill and no second server, all at once: an endpoint for each of it. */
export const gauntlet: Scenario = {
  says: "failing, cut, redirected, asked to wait, passed over, patched, pushed, rolled and exhausted, all at once",
  play: (setting) =>
    play(setting, { times: { schedule: [0, 150, 200, 250, 300, 350, 400, 450] } }, async (place) => {
      const { receiver, owner } = place;
      const slides = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
      const make = (model: string, id: string) => ({ action: "create", model, id, data: { title: id } });
      for (const hook of ["failing", "redirected", "waiting", "pushed"]) await place.register(hook);
      await place.register("documents", ["document"]);
      const patched = await place.register("patched", ["document", "slide"]);
      const rolled = await place.register("rolled", ["slide"]);
      const count = (hook: string) =>
        [...place.records.notes.values()].filter(({ begun }) => begun.hook === hook).length;
      const atLeast = (hook: string, n: number) => place.until(() => count(hook) >= n);
      await receiver.script("failing", ["500", "reset after it is read", "400", "no HTTP"]);
      await receiver.script("redirected", ["302", "301", "307", "199"]);
      await receiver.script("waiting", ["429", "429", "429", "429", "429", "429"]);
      for (const hook of ["patched", "pushed", "exhausted"]) await receiver.feel(hook, "broken");

      // The same first and last position without the slides: under the same revision, one name for two bodies.
      await place.commit([
        make("document", "d1"),
        ...slides("first", 7).map((id) => make("slide", id)),
        make("document", "d2"),
      ]);
      await Promise.all(["failing", "patched", "pushed"].map((hook) => atLeast(hook, 1)));
      await place.commit(slides("more", 3).map((id) => make("slide", id)));
      await owner.act(patched, { what: "subscribe", models: ["document"] });
      await owner.push({ models: { late: { fields: { title: { type: "string" } } }, ...(await place.schema()) } });
      await owner.act(rolled, { what: "roll" });
      // A push has every endpoint try anew: this one comes behind it.
      const exhausted = await place.register("exhausted", ["*"], 0);
      const changed = performance.now();
      await atLeast("documents", 1);
      for (let n = 0; n < 4; n++) {
        await place.commit(slides(`beside-${n}`, 2).map((id) => make("slide", id)));
        // So that what is passed over is passed over by itself.
        await place.pass(60);
        await place.commit([make("document", `d3-${n}`), make("slide", `s3-${n}`)]);
        await place.pass(60);
      }
      // The owner's changes are in force for certain by then.
      await place.until(() => performance.now() > changed + 1_500);
      for (const hook of ["patched", "pushed"]) await receiver.feel(hook, "calm");
      const isDisabled = async () => (await owner.view(exhausted)).disabledReason === "attempts_exhausted";
      const wasDisabled = await place.until(isDisabled, setting.patienceMs);
      const before = count("exhausted");
      await place.commit([make("slide", "behind")]);
      await place.pass(700);
      const meanwhile = count("exhausted") - before;
      await receiver.feel("exhausted", "calm");
      await owner.act(exhausted, { what: "enable" });
      const isWhole = await place.settle(setting.patienceMs);
      const evidence = await place.evidence();
      const untrue = await untrueAttempts(place, evidence);
      return {
        evidence,
        unmet: unless(
          [untrue.length === 0, `the attempts that are listed are not those that came: ${untrue.join("; ")}`],
          [wasDisabled && before === 8, `${before} attempts, ${wasDisabled ? "and" : "not"} disabled`],
          [meanwhile === 0, `${meanwhile} requests while it was disabled`],
          [isWhole, "not everything came in time"],
        ),
        figures: { requests: evidence.requests.length },
      };
    }),
};

/** Endpoints whose listed attempts are others than the requests that came. */
async function untrueAttempts({ owner }: Place, evidence: Evidence): Promise<string[]> {
  const untrue: string[] = [];
  for (const endpoint of owner.owned) {
    const came = requestsTo(evidence, endpoint).map(({ webhookId, outcome, status }) => [
      webhookId,
      outcome === "accepted" ? "succeeded" : "failed",
      // Of a lone 199 and of what is cut there is none.
      status ?? null,
    ]);
    const listed = (await owner.attempts(endpoint)).toReversed();
    const told = listed.map(({ webhookId, outcome, status }) => [webhookId, outcome, status]);
    if (JSON.stringify(told) !== JSON.stringify(came))
      untrue.push(`${endpoint.hook}: ${JSON.stringify(told)}, not ${JSON.stringify(came)}`);
  }
  return untrue;
}
