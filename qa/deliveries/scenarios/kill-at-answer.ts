import { holdRow } from "./held-row.ts";
import { play, requestsTo, type Scenario, unless } from "./scenario.ts";

export const killAtAnswer = (rounds: number): Scenario => ({
  title:
    "kill -9 of the server between the receiver's 2xx and the cursor: the same batch once more, under the same webhook-id",
  play: (setting) =>
    play(setting, { times: { requestMs: 500, leaseMs: 800 } }, async (environment) => {
      const endpoint = await environment.register("killed");
      const isAnswered = (count: number) => () =>
        [...environment.records.notes.values()].filter(({ status }) => status?.status === 204).length >= count;
      for (let n = 0; n < rounds; n++) {
        // The sender is suspended while the 2xx arrives, and killed before it reads it.
        await environment.receiver.script("killed", ["held"]);
        await environment.fill(10, `unread-${n}`);
        const unread = await environment.receiver.holds("killed");
        const stopped = environment.senders.freeze(0);
        await unread.resume("204");
        await environment.until(isAnswered(4 * n + 1));
        await stopped.kill();
        await environment.settle(setting.patienceMs);
        // The sender has read the 2xx and waits for the lock to write the cursor.
        await environment.receiver.script("killed", ["held"]);
        await environment.fill(10, `unwritten-${n}`);
        const unwritten = await environment.receiver.holds("killed");
        const row = await holdRow(environment.databaseUrl, endpoint.id);
        await unwritten.resume("204");
        await environment.until(async () => (await row.waiting()).length > 0);
        const backends = await row.waiting();
        const killed = environment.senders.kill(0);
        await row.release(backends);
        await killed;
        await environment.settle(setting.patienceMs);
      }
      // The receiver kills the sender, once before its response and once just after it.
      for (const [n, behaviour] of (["the senders are killed", "204, and the senders are killed"] as const).entries()) {
        await environment.receiver.script("killed", [behaviour]);
        await environment.fill(10, `killed-by-receiver-${n}`);
        await environment.until(() => environment.senders.troubles.length > 2 * rounds + n);
        await environment.settle(setting.patienceMs);
      }
      const evidence = await environment.evidence();
      const ids = requestsTo(evidence, endpoint).map(({ webhookId }) => webhookId);
      const pairs = Array.from({ length: 2 * rounds }, (_, i) => ids.slice(2 * i, 2 * i + 2));
      return {
        evidence,
        unmet: unless([
          new Set(pairs.flat()).size === pairs.length && pairs.every(([first, second]) => first === second),
          `what was accepted when the server was killed came as ${ids.join(", ")}`,
        ]),
        figures: { kills: environment.senders.troubles.length },
      };
    }),
});
