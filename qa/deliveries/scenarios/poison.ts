import { CUT, play, requestsTo, type Scenario, sizes, unless } from "./scenario.ts";

export const poison: Scenario = {
  title: "an event that the receiver cannot take is found by halving the batch, and passed by with skip",
  play: (setting) =>
    play(setting, { times: { schedule: [0, 40, 80, 120, 160, 200, 240, 280] } }, async (environment) => {
      const endpoint = await environment.register("poisoned");
      await environment.receiver.feel("poisoned", "poisoned");
      const good = await environment.fill(120, "good");
      await environment.settle(setting.patienceMs);
      await environment.receiver.script("poisoned", []);
      await environment.owner.act(endpoint, { what: "disable" });
      const pause = performance.now();
      await environment.until(() => performance.now() > pause + 1_200);
      await environment.commit([{ action: "create", model: "slide", id: "poison", data: { deckId: "d1" } }]);
      await environment.fill(120, "after");
      await environment.owner.act(endpoint, { what: "enable" });
      await environment.until(
        async () => (await environment.owner.view(endpoint)).disabledReason === "attempts_exhausted",
      );
      const { lastError } = await environment.owner.view(endpoint);
      const culprit = good + 1;
      const failed = requestsTo(await environment.evidence(), endpoint).filter(({ status }) => status === 500);
      await environment.owner.act(endpoint, { what: "skip", to: culprit });
      await environment.owner.act(endpoint, { what: "enable" });
      const isWhole = await environment.settle(setting.patienceMs);
      const evidence = await environment.evidence();
      const attempts = await environment.owner.attempts(endpoint);
      const skips = attempts.filter(({ kind }) => kind === "skip");
      return {
        evidence,
        unmet: unless(
          [String(sizes(failed, endpoint)) === String(CUT), `the batches had ${sizes(failed, endpoint)} events`],
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
