import type { Found } from "../../support/report.ts";
import { reportScenario } from "../report.ts";
import { gauntlet } from "./gauntlet.ts";
import { killAtAnswer } from "./kill-at-answer.ts";
import type { Scenario, Setting } from "./scenario.ts";
import { stalledSender } from "./stalled-sender.ts";
import { threeDays } from "./three-days.ts";
import { twoServers } from "./two-servers.ts";

const KILLS = 5;

/** Plays the chosen scenarios, one after the other. `events`: as many are committed while an endpoint is offline. */
export async function* playScenarios(
  chosen: readonly string[],
  events: number,
  { print, ...setting }: Setting & { print(line: string): void },
): AsyncGenerator<Found> {
  const scenarios: Readonly<Record<string, Scenario>> = {
    kill: killAtAnswer(KILLS),
    two: twoServers,
    stall: stalledSender,
    days: threeDays(events),
    gauntlet,
  };
  for (const [name, { title, play }] of Object.entries(scenarios)) {
    if (!chosen.includes(name)) continue;
    print(`${name}: ${title}`);
    yield reportScenario(title, await play(setting));
  }
}
