import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { createAsk } from "../../packages/conformance/src/transport/ask.ts";

/** Two processes of the server on one database, and a key of the tenant that both serve. */
export interface TwoProcesses {
  readonly databaseUrl: string;
  readonly servers: readonly { readonly url: string }[];
  readonly key: string;
}

/**
 * Makes the second process write between two rounds that the first one has already sent, and checks whether the first one
 * noticed: the head has to name that entry as the newest by another writer, and a premise on the whole log has to fail.
 * Returns violations as sentences.
 *
 *   head locked by us ─► second process waits ─► round 1 waits ─► round 2 is sent behind it ─► unlocked
 */
export async function judgeForeignEntry({ databaseUrl, servers, key }: TwoProcesses): Promise<string[]> {
  const [first, second] = servers.map(({ url }) => createAsk(url, key)) as [
    ReturnType<typeof createAsk>,
    ReturnType<typeof createAsk>,
  ];
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  const write = (clientId: string, { ask }: typeof first = first, reads: readonly object[] = []) => {
    const id = randomUUID();
    const operations = [{ action: "create", model: "slide", id, data: {} }];
    return ask("POST", "/v1/commits", { json: { clientTxId: id, clientId, operations, reads } });
  };
  const blocked = async (count: number) => {
    for (const until = performance.now() + 150; performance.now() < until; ) {
      const { rows } = await holder.query<{ n: number }>(
        "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      if ((rows[0]?.n ?? 0) >= count) return;
    }
  };
  try {
    await write("theirs", second);
    const readAt = Number((await write("ours")).body.lastSyncId);
    await holder.query("begin");
    await holder.query("select from holdfast.head for update");
    const foreign = write("theirs", second);
    await blocked(1);
    const rounds = [write("ours")];
    await blocked(2);
    rounds.push(...Array.from({ length: 4 }, () => write("ours")));
    await pause(20);
    await holder.query("commit");
    const position = Number((await foreign).body.lastSyncId);
    await Promise.all(rounds);
    const { rows } = await holder.query<{ other: string }>(
      "select other_sync_id as other from holdfast.head order by sync_id desc limit 1",
    );
    const other = Number(rows[0]?.other);
    const { organization } = (await first.ask("GET", "/v1/identity")).body;
    const premise = [{ group: `org:${organization}`, readAt, onStale: "reject" }];
    const { status } = await write("ours", first, premise);
    return [
      ...(other === position
        ? []
        : [`the head takes ${other} for the newest entry by another writer, not ${position}`]),
      ...(status === 409 ? [] : [`a premise that another process's entry made stale is answered with ${status}`]),
    ];
  } finally {
    first.close();
    second.close();
    await holder.end();
  }
}
