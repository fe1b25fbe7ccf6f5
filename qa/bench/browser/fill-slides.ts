import type { Stage } from "../stage/stage.ts";

/** As many slides of 330 B in 100 decks, past the log, so that they are there at once. */
export async function fillSlides(stage: Stage, databaseUrl: string, rows: number): Promise<void> {
  await stage.sql(
    databaseUrl,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), n,
       json_build_object('id', md5(n::text), 'deckId', 'deck-' || n % 100, 'title', 'Slide ' || n, 'order', n, 'notes', repeat('n', 200)),
       array['deck:deck-' || n % 100], n, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${rows}) n`,
  );
  await stage.sql(databaseUrl, "vacuum analyze holdfast.record");
}
