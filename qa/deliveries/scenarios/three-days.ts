import { play, requestsTo, type Scenario, sizes, unless } from "./scenario.ts";

/** An hour is 10 ms. */
const THREE_DAYS_MS = 720;
/** A batch of a hundred that fails eight times. */
const CUT = "100, 100, 100, 34, 12, 4, 2, 1";

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
      const failed = sizes(requestsTo(evidence, endpoint).slice(0, before), endpoint).join(", ");
      return {
        evidence,
        unmet: unless(
          [wasDisabled, "it was not disabled"],
          [failed === CUT, `before it was enabled came batches of ${failed}`],
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
