import { setTimeout as pause } from "node:timers/promises";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import type { Answer } from "../../protocol/answers.ts";

/** Sends up to this many requests, some at a time, until the server refuses one with 429. */
async function hammer(count: number, ask: () => Promise<Answer>): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let left = count;
  const one = async () => {
    while (left-- > 0) answers.push(await ask());
  };
  await Promise.all(Array.from({ length: 24 }, one));
  return answers;
}

function checkRefusals(t: Kit, answers: readonly Answer[]): void {
  const refused = answers.filter(({ status }) => status === 429);
  t.that(
    refused.length > 0,
    "some 429 among the answers",
    answers.map(({ status }) => status).filter((s, i, all) => all.indexOf(s) === i),
  );
  for (const answer of refused) {
    t.refused(answer, "rate_limited");
    t.fits(answer.headers["retry-after"], /^[1-9]\d*$/, "retry-after");
  }
}

export const section: SuiteSection = {
  title: "Rate limits",
  alone: true,
  cases: [
    check(
      "[B1] A capability has 100 requests a second with a burst of 200: beyond it 429 rate_limited with Retry-After and RateLimit-*.",
      async (t) => {
        const { token } = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [t.deck().group] });
        const answers = await hammer(900, () => t.get("/v1/identity", { token, noRetry: true }));
        checkRefusals(t, answers);
        const passed = answers.filter(({ status }) => status === 200).length;
        t.that(passed >= 195, "the burst of 200 to pass", passed);
        const { headers } = answers.find(({ status }) => status === 429) as Answer;
        for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
          t.fits(headers[name], /^\d+/, name);
        t.fits(headers["ratelimit-remaining"], /^0\b/, "ratelimit-remaining of a refusal");
        await pause(1_000 * Number(headers["retry-after"]) + 100);
        t.answered(await t.get("/v1/identity", { token, noRetry: true }), 200);
      },
    ),
    check("[B1] Each token has its own limit: other tokens of the organization are not affected.", async (t) => {
      const scope = { operations: [`${NOTE}.read`], syncGroups: [t.deck().group] };
      const [busy, calm] = [await t.capability(scope), await t.capability(scope)];
      const answers = await hammer(900, () => t.get("/v1/identity", { token: busy.token, noRetry: true }));
      t.that(
        answers.some(({ status }) => status === 429),
        "the busy one to be refused",
      );
      t.answered(await t.get("/v1/identity", { token: calm.token, noRetry: true }), 200);
    }),
    check("[B1] An ephemeral key has the same limit.", async (t) => {
      const { token } = await t.ephemeral({ user: { id: t.id() } });
      checkRefusals(t, await hammer(900, () => t.get("/v1/identity", { token, noRetry: true })));
    }),
    check("[B1] A secret key does not have this limit.", async (t) => {
      const answers = await hammer(600, () => t.get("/v1/identity", { noRetry: true }));
      t.is(answers.filter(({ status }) => status !== 200).length, 0, "answers that are not 200");
      const names = new Set(answers.flatMap(({ headers }) => Object.keys(headers)));
      t.is(
        [...names].filter((name) => name.startsWith("ratelimit")),
        [],
        "headers that say what is left",
      );
    }),
    check(
      "[B4] Requests without a valid token are limited to 50 a second per address; requests with one are not affected.",
      async (t) => {
        const answers = await hammer(400, () => t.get("/v1/log", { token: "sk_live_nothing", noRetry: true }));
        checkRefusals(t, answers);
        t.answered(await t.get("/v1/log?limit=1", { noRetry: true }), 200);
        await pause(1_500);
        t.answered(await t.get("/v1/log", { token: "sk_live_nothing", noRetry: true }), 401);
      },
    ),
  ],
};
