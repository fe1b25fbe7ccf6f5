import { CUT, play, type Scenario, unless } from "./scenario.ts";

/** An hour is 10 ms. */
const THREE_DAYS_MS = 720;

export const threeDays = (events: number): Scenario => ({
  title:
    "an endpoint that is disabled after eight attempts gets everything that was committed in three days when it is enabled",
  play: (setting) =>
    play(setting, { times: { schedule: [0, 0, 1, 5, 20, 50, 100, 100] } }, async (environment) => {
      const endpoint = await environment.register("away");
      await environment.receiver.feel("away", "broken");
      await environment.fill(150, "before");
      const isDisabled = async () => (await environment.owner.view(endpoint)).disabledReason === "attempts_exhausted";
      const wasDisabled = await environment.until(isDisabled);
      const disabledAt = performance.now();
      await environment.receiver.feel("away", "calm");
      await environment.fill(events, "while-away");
      await environment.until(() => performance.now() > disabledAt + THREE_DAYS_MS);
      const before = environment.records.notes.size;
      const awayMs = performance.now() - disabledAt;
      const begun = performance.now();
      await environment.owner.act(endpoint, { what: "enable" });
      const isWhole = await environment.settle(300_000);
      const seconds = (performance.now() - begun) / 1_000;
      const evidence = await environment.evidence();
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
