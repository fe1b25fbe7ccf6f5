import type { Tables } from "./store.ts";

/**
 * The app's own tables, as its migrations would make them. This collation compares byte by byte, with blanks at the end:
 * others take "a", "A" and "a " for one id.
 */
export const SCHEMA = [
  `create table if not exists decks (
    id varchar(255) primary key,
    title varchar(200) not null
  ) engine = innodb, collate = utf8mb4_nopad_bin`,
  `create table if not exists slides (
    id varchar(255) primary key,
    deck_id varchar(255) not null,
    title varchar(200) not null check (char_length(title) > 0),
    price double,
    state varchar(20) not null default 'draft' check (state in ('draft', 'done')),
    hidden boolean not null default false,
    shown_at datetime(3),
    notes json,
    foreign key (deck_id) references decks (id)
  ) engine = innodb, collate = utf8mb4_nopad_bin`,
];

/** Which model is which table, and which field is which column. */
export const TABLES: Tables = {
  deck: { name: "decks", columns: { title: { name: "title", kind: "text" } } },
  slide: {
    name: "slides",
    columns: {
      deckId: { name: "deck_id", kind: "text" },
      title: { name: "title", kind: "text" },
      price: { name: "price", kind: "number" },
      state: { name: "state", kind: "text" },
      hidden: { name: "hidden", kind: "boolean" },
      shownAt: { name: "shown_at", kind: "datetime" },
      notes: { name: "notes", kind: "json" },
    },
  },
};
