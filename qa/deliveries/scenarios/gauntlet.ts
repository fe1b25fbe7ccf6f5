import { setTimeout as pause } from "node:timers/promises";
import type { TestEnvironment } from "../environment/test-environment.ts";
import type { Evidence } from "../judge/evidence.ts";
import { play, requestsTo, type Scenario, unless } from "./scenario.ts";

/** All faults that need no kill and no second server, at once, with an endpoint for each. */
export const gauntlet: Scenario = {
  title: "failing, cut, redirected, asked to wait, passed over, patched, pushed, rolled and exhausted, all at once",
  play: (setting) =>
    play(
      setting,
      { times: { schedule: [0, 150, 200, 250, 300, 350, 400, 450], rotationMs: 2_500 } },
      async (environment) => {
        const { receiver, owner } = environment;
        const slides = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
        const make = (model: string, id: string) => ({ action: "create", model, id, data: { title: id } });
        for (const hook of ["failing", "redirected", "waiting", "pushed"]) await environment.register(hook);
        await environment.register("documents", ["document"]);
        const patched = await environment.register("patched", ["document", "slide"]);
        const rolled = await environment.register("rolled", ["slide"]);
        const count = (hook: string) =>
          [...environment.records.notes.values()].filter(({ begun }) => begun.hook === hook).length;
        const atLeast = (hook: string, n: number) => environment.until(() => count(hook) >= n);
        await receiver.script("failing", ["500", "reset after it is read", "400", "no HTTP"]);
        await receiver.script("redirected", ["302", "301", "307", "199"]);
        await receiver.script("waiting", ["429", "429", "429", "429", "429", "429"]);
        for (const hook of ["patched", "pushed", "exhausted"]) await receiver.feel(hook, "broken");

        // The same first and last position without the slides: under the same revision, one name for two bodies.
        await environment.commit([
          make("document", "d1"),
          ...slides("first", 7).map((id) => make("slide", id)),
          make("document", "d2"),
        ]);
        await Promise.all(["failing", "patched", "pushed"].map((hook) => atLeast(hook, 1)));
        await environment.commit(slides("more", 3).map((id) => make("slide", id)));
        await owner.act(patched, { what: "subscribe", models: ["document"] });
        await owner.push({
          models: { late: { fields: { title: { type: "string" } } }, ...(await environment.schema()) },
        });
        await owner.act(rolled, { what: "roll" });
        // A schema push makes every endpoint retry, so this follows it.
        const exhausted = await environment.register("exhausted", ["*"], 0);
        const changed = performance.now();
        await atLeast("documents", 1);
        for (let n = 0; n < 4; n++) {
          await environment.commit(slides(`beside-${n}`, 2).map((id) => make("slide", id)));
          // Isolates the unsubscribed events.
          await pause(60);
          await environment.commit([make("document", `d3-${n}`), make("slide", `s3-${n}`)]);
          await pause(60);
        }
        // By then, the owner's changes are certainly in force.
        await environment.until(() => performance.now() > changed + 1_500);
        for (const hook of ["patched", "pushed"]) await receiver.feel(hook, "calm");
        const isDisabled = async () => (await owner.view(exhausted)).disabledReason === "attempts_exhausted";
        const wasDisabled = await environment.until(isDisabled, setting.patienceMs);
        // The receiver's records are read a moment after the server knows the outcome.
        await environment.until(() => count("exhausted") >= 8, 2_000);
        const before = count("exhausted");
        await environment.commit([make("slide", "behind")]);
        await pause(700);
        const meanwhile = count("exhausted") - before;
        await receiver.feel("exhausted", "calm");
        await owner.act(exhausted, { what: "enable" });
        // The secret from before the roll has expired.
        await environment.until(() => performance.now() > changed + 3_700);
        await environment.commit([make("slide", "after-rotation")]);
        const isWhole = await environment.settle(setting.patienceMs);
        const evidence = await environment.evidence();
        const untrue = await untrueAttempts(environment, evidence);
        return {
          evidence,
          unmet: unless(
            [untrue.length === 0, `the attempts that are listed are not those that came: ${untrue.join("; ")}`],
            [wasDisabled && before === 8, `${before} attempts, ${wasDisabled ? "and" : "not"} disabled`],
            [meanwhile === 0, `${meanwhile} requests while it was disabled`],
            [isWhole, "not everything came in time"],
          ),
          figures: { endpoints: evidence.endpoints.length },
        };
      },
    ),
};

/** Endpoints whose listed attempts differ from the received requests. */
async function untrueAttempts({ owner }: TestEnvironment, evidence: Evidence): Promise<string[]> {
  const untrue: string[] = [];
  for (const endpoint of owner.owned) {
    const came = requestsTo(evidence, endpoint).map(({ webhookId, outcome, status }) => [
      webhookId,
      outcome === "accepted" ? "succeeded" : "failed",
      // A lone 199 and cut responses have none.
      status ?? null,
    ]);
    const listed = (await owner.attempts(endpoint)).toReversed();
    const told = listed.map(({ webhookId, outcome, status }) => [webhookId, outcome, status]);
    if (JSON.stringify(told) !== JSON.stringify(came))
      untrue.push(`${endpoint.hook}: ${JSON.stringify(told)}, not ${JSON.stringify(came)}`);
  }
  return untrue;
}
