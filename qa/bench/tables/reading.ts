import { readAll } from "../snapshot/snapshot.ts";
import type { ServerReady } from "../stage/server.ts";
import type { Stage } from "../stage/stage.ts";
import { attach } from "./attach.ts";

const ROWS = 100_000;
const LISTS = 200;

/** The same records in a table and kept by Holdfast, read whole and in lists. */
export async function openReading(stage: Stage) {
  const hosted = await stage.server({ database: "hosted_reads" });
  const attached = await stage.server({ database: "attached_reads" });
  const [ofHosted, ofAttached] = [await stage.database("hosted_reads"), await stage.database("attached_reads")];
  await stage.sql(
    ofHosted,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), n, json_build_object('id', md5(n::text), 'deckId', 'deck-' || n % 100, 'title', 'Slide ' || n, 'order', n, 'notes', repeat('n', 200)),
       array['deck:deck-' || n % 100], n, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${ROWS}) n`,
  );
  await stage.sql(
    ofAttached,
    `create table public.slides (id text collate "C" primary key, deck_id text, title text, "order" double precision, notes text)`,
  );
  await stage.sql(
    ofAttached,
    `insert into public.slides select md5(n::text), 'deck-' || n % 100, 'Slide ' || n, n, repeat('n', 200) from generate_series(1, ${ROWS}) n`,
  );
  await stage.sql(ofAttached, `create index on public.slides (deck_id)`);
  await attach(ofAttached, attached.organizations[0], "public.slides");
  for (const url of [ofHosted, ofAttached]) await stage.sql(url, "vacuum analyze");
  const rate = async (work: (server: ServerReady) => Promise<number>) => {
    const shares: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const [a, b] = [await work(hosted), await work(attached)];
      shares.push(b / a);
    }
    return shares.sort((a, b) => a - b)[1] as number;
  };
  return async () => ({
    snapshotOfHosted: await rate((server) =>
      timed(ROWS, async () => void (await readAll(server.url, server.tokens[0] as string, "identity"))),
    ),
    listOfHosted: await rate((server) => timed(LISTS, () => readLists(server))),
  });
}

async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - start);
}

/** Pages of 50 of the whole model, and of one deck. */
async function readLists({ url, tokens: [token = ""] }: ServerReady): Promise<void> {
  for (let n = 0; n < LISTS; n++) {
    const query = n % 2 === 0 ? "order_by=id" : `order_by=id&filter[deckId]=deck-${n % 100}`;
    const answer = await fetch(`${url}/v1/models/slide?limit=50&${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  }
}
