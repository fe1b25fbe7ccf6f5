import { play, type Scenario, unless } from "./scenario.ts";

const ENOUGH = 60;

export const twoServers: Scenario = {
  title: "two servers: never two requests to one endpoint at the same time",
  play: (setting) =>
    play(setting, { servers: 2 }, async (environment) => {
      const hooks = ["two-a", "two-b", "two-c", "two-d"];
      for (const hook of hooks) {
        await environment.register(hook);
        await environment.receiver.feel(hook, "slow");
      }
      const isEnough = () => environment.records.notes.size >= ENOUGH;
      for (let n = 0; n < 1_000 && !(await environment.until(isEnough, 0)); n++) await environment.fill(3, `two-${n}`);
      await environment.settle(setting.patienceMs);
      const evidence = await environment.evidence();
      return {
        evidence,
        unmet: unless([isEnough(), `there were only ${evidence.requests.length} requests`]),
        figures: { endpoints: evidence.endpoints.length },
      };
    }),
};
