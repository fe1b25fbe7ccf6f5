import { CUT, play, requestsTo, type Scenario, sizes, unless } from "./scenario.ts";

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
