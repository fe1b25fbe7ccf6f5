import { CUT, play, type Scenario, unless } from "./scenario.ts";

/** An hour is 10 ms. */
const THREE_DAYS_MS = 720;

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
          [before === CUT.length, `${before} requests came before it was enabled`],
          [isWhole, "not everything came in time"],
        ),
        figures: {
          events,
          "away, ms": Math.round(awayMs),
          "events a second": Math.round(events / seconds),
        },
      };
    }),
});
