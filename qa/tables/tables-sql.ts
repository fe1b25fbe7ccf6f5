import { PAPERS_SQL } from "./papers-sql.ts";

/**
 * The tables that are attached. Slides and decks note each change of a row themselves, so the checker knows the order
 * in which rows were changed; a slide also touches its deck. Notes have no triggers, because then the server writes
 * several rows with one statement: a writer in SQL notes its own changes, and what it found. Papers have large values.
 */
export const TABLES_SQL = `
create table public.decks (id text primary key, title text, mark text, touched integer not null default 0);
create table public.slides (
  id text primary key,
  deck_id text references public.decks on delete cascade,
  title text unique,
  mark text
);
create table public.notes (id text primary key, mark text, found text);

create table public.noted (
  seq bigint generated always as identity primary key,
  tx xid8 not null default pg_current_xact_id(),
  model text not null,
  id text not null,
  mark text,
  body text,
  doc text,
  bytes integer,
  is_sql boolean not null default coalesce(current_setting('writer.mark', true), '') <> ''
);
create function public.note_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into public.noted (model, id) values (tg_argv[0], old.id);
  else
    insert into public.noted (model, id, mark) values (tg_argv[0], new.id, new.mark);
  end if;
  return null;
end $$;
create function public.note_truncate() returns trigger language plpgsql as $$
begin
  insert into public.noted (model, id) select 'slide', id from public.slides order by id;
  return null;
end $$;
create function public.touch_deck() returns trigger language plpgsql as $$
begin
  update public.decks set touched = touched + 1, mark = new.mark where id = new.deck_id;
  return null;
end $$;

insert into public.decks (id) select 'deck-' || n from generate_series(0, 9) n;
insert into public.slides (id, deck_id) select 'slide-' || n, 'deck-' || n % 10 from generate_series(0, 39) n;

create trigger a_note_change after insert or update or delete on public.decks
  for each row execute function public.note_change('deck');
create trigger a_note_change after insert or update or delete on public.slides
  for each row execute function public.note_change('slide');
create trigger a_note_truncate before truncate on public.slides
  for each statement execute function public.note_truncate();
create trigger b_touch_deck after insert or update on public.slides
  for each row execute function public.touch_deck();
${PAPERS_SQL}`;

export const ATTACHED = ["public.decks", "public.slides", "public.notes", "public.papers"];

/** The table of each model, and its rows as records have to be: those of papers digested, with the bytes of their JSON. */
export const ROWS_SQL = `
select 'deck' as model, id, json_build_object('id', id, 'title', title, 'mark', mark, 'touched', touched) as data, 0 as bytes
  from public.decks
union all
select 'slide', id, json_build_object('id', id, 'deckId', deck_id, 'title', title, 'mark', mark), 0 from public.slides
union all
select 'note', id, json_build_object('id', id, 'mark', mark, 'found', found), 0 from public.notes
union all
select 'paper', id, paper_digest(id, deck_id, mark, body, doc), paper_bytes(id, deck_id, mark, body, doc) from public.papers`;

export const NOTED_SQL = `
select tx::text, model, id, mark, body, doc, coalesce(bytes, 0) as bytes, is_sql as "isSql" from public.noted order by seq`;
/** Slides, decks and papers note all of their changes. */
export const UNNOTED = ["note"];
export const SHARED = { decks: 10, slides: 40, notes: 20 };
