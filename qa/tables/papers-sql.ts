/**
 * A table of rows with large values. Its records are compared by digests, so that no process has to hold all of the
 * values. A paper that is in a deck touches it, as slides do, so its changes are captured as those of a trigger are.
 */
export const PAPERS_SQL = `
create table public.papers (
  id text primary key,
  deck_id text references public.decks on delete cascade,
  mark text,
  body text,
  doc jsonb
);

create function public.paper_digest(id text, deck_id text, mark text, body text, doc jsonb) returns json language sql
  immutable as $$ select json_build_object('id', id, 'deckId', deck_id, 'mark', mark, 'body', md5(body), 'doc', md5(doc::text)) $$;
create function public.paper_bytes(id text, deck_id text, mark text, body text, doc jsonb) returns integer language sql
  immutable as $$ select octet_length(json_build_object('id', id, 'deckId', deck_id, 'mark', mark, 'body', '', 'doc', '')::text)
    + coalesce(octet_length(to_json(body)::text), 0) + coalesce(octet_length(doc::text), 0) $$;

create function public.note_paper() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into public.noted (model, id) values ('paper', old.id);
  else
    insert into public.noted (model, id, mark, body, doc, bytes) values ('paper', new.id, new.mark, md5(new.body), md5(new.doc::text),
      public.paper_bytes(new.id, new.deck_id, new.mark, new.body, new.doc));
  end if;
  return null;
end $$;
create trigger a_note_change after insert or update or delete on public.papers
  for each row execute function public.note_paper();
create trigger b_touch_deck after insert or update on public.papers
  for each row execute function public.touch_deck();

-- A value of about so many bytes of JSON, in one of several forms, made of the mark. Postgres looks for repetitions only
-- in the last 4 KiB, so a block of 64 KiB that is repeated is not compressed, and costs little to make.
create function public.large_text(mark text, form text, bytes integer) returns text language sql as $$
  select case form
    when 'repeated' then repeat(mark || ' ', bytes / (length(mark) + 1))
    when 'escaped' then repeat(E'\\x01', bytes / 6)
    else (select string_agg(md5(mark || n), '') from generate_series(1, bytes / 32) n) end
$$;
create function public.large_items(mark text, bytes integer) returns jsonb language sql as $$
  select jsonb_agg(jsonb_build_object('mark', mark, 'n', n)) from generate_series(1, bytes / (length(mark) + 24)) n
$$;
`;

/** How a value can be large. `document`: a text in jsonb; `items`: jsonb with very many values. */
export const FORMS = ["plain", "repeated", "escaped", "document", "items"] as const;
export type Form = (typeof FORMS)[number];

/** The columns `body` and `doc` of a paper: $1 is the mark, $2 the form, $3 the bytes. */
export const LARGE_COLUMNS = `
  case when $2 in ('plain', 'repeated', 'escaped') then large_text($1, $2, $3) end,
  case when $2 = 'document' then jsonb_build_object('text', large_text($1, 'plain', $3)) when $2 = 'items' then large_items($1, $3) end`;

/** What a paper's JSON says, digested, whatever is null or a text or number in place of it. */
export const digestSql = (json: string, model: string): string => `
  case when json_typeof(${json}) <> 'object' then null when ${model} <> 'paper' then ${json}
    else (select public.paper_digest(d.id, d."deckId", d.mark, d.body, d.doc)
      from json_to_record(${json}) d (id text, "deckId" text, mark text, body text, doc jsonb)) end`;

/** Papers that all writers change. */
export const SHARED_PAPERS = 8;
