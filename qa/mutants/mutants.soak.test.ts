import { freshDatabases } from "@holdfast/server/testing";
import { afterAll, describe, expect, test } from "vitest";
import { openWorkerHost } from "../deliveries/servers/worker-host.ts";
import { claims } from "./claims.ts";
import { commits } from "./commits.ts";
import { conformance } from "./conformance.ts";
import { deliveries } from "./deliveries.ts";
import { simulation } from "./simulation.ts";
import { isAsItShouldBe, type Suite, type TestEnvironment } from "./suite.ts";
import { tables } from "./tables.ts";

// One of each suite; `npm run planted` looks for all of them.

const quick = ({ planted }: Suite) => planted.filter(({ isQuick }) => isQuick);
let workerHost: ReturnType<typeof openWorkerHost> | undefined;
afterAll(async () => (await workerHost)?.close());

const environment: TestEnvironment = {
  database: freshDatabases(),
  workerHost: () => (workerHost ??= openWorkerHost()),
  seed: 5_000,
  processes: 1,
};

function plant(suite: Suite): void {
  test.each(quick(suite))("$name", { timeout: 600_000 }, async (one) => {
    const found = await one.find(environment);
    expect(isAsItShouldBe(one, found), found ?? "it was not found").toBe(true);
  });
}

describe.concurrent("[X2] the conformance suite finds a planted bug", () => plant(conformance));
describe.concurrent("[L12] two processes on one database show a planted bug", () => plant(commits));
describe.concurrent("[A19] the checker of claims finds a planted bug", () => plant(claims));
describe.concurrent("the judge of deliveries finds a planted bug", () => plant(deliveries));
describe.concurrent("[DS19] the checker of tables finds a planted bug", () => plant(tables));
describe.concurrent("[R15] the simulation finds a planted bug", () => plant(simulation));
