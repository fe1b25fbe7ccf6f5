// The floor of the database: a transaction that writes one log line and one row, over as many connections as asked for.
import pg from "pg";

const { url, connections, seconds } = JSON.parse(process.argv[2] ?? "{}") as {
  url: string;
  connections: number;
  seconds: number;
};
const data = JSON.stringify({ deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) });
const clients = await Promise.all(
  Array.from({ length: connections }, async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  }),
);
await clients[0]?.query(`create table if not exists floor_log (id bigint generated always as identity primary key, data json not null);
  create table if not exists floor_row (id text primary key, data json not null)`);
const text = `with l as (insert into floor_log (data) values ($2)) insert into floor_row (id, data) values ($1, $2) on conflict (id) do update set data = excluded.data`;
let done = 0;
const run = async (until: number) =>
  Promise.all(
    clients.map(async (client, i) => {
      for (let n = 0; Date.now() < until; n++, done++)
        await client.query({ name: "floor", text, values: [`r${i}-${n}-${until}`, data] });
    }),
  );
await run(Date.now() + 500);
done = 0;
const start = performance.now();
await run(Date.now() + seconds * 1_000);
process.stdout.write(JSON.stringify({ perSecond: (done * 1_000) / (performance.now() - start) }));
await Promise.all(clients.map((client) => client.end()));
