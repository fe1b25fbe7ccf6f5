import type { EarlierDeck, Entry, Moment } from "./history.ts";

/** What happened at a moment, and why. `before` is the deck that it happened to; `nameOf` says whose `<kind>:<participant>` is. */
export function momentWords(moment: Moment, before: EarlierDeck, nameOf: (participant: string) => string): string {
  const first = moment.entries.find(({ model }) => model === "slide") ?? moment.entries[0];
  if (!first) return "";
  const others = new Set(moment.entries.filter(({ model }) => model === "slide").map(({ id }) => id)).size - 1;
  const more = others > 0 ? `, and ${others} more` : "";
  const { by, reason, onBehalfOf } = moment;
  const sentBy = onBehalfOf === undefined ? "" : ` for ${nameOf(onBehalfOf)}`;
  return `${capital(nameOf(by))} ${did(first, before)}${more}${sentBy}.${reason === undefined ? "" : ` ${reason}.`}`;
}

function did(entry: Entry, before: EarlierDeck): string {
  const { model, id, verb, data, changedFields } = entry;
  if (model !== "slide") return verb === "created" ? "began this deck" : "changed this deck";
  const was = before.slides.find((slide) => slide.id === id);
  const titleNow = typeof data?.title === "string" ? data.title : "";
  const name = quoted(was?.title || titleNow);
  switch (verb) {
    case "created":
      return titleNow ? `added ${quoted(titleNow)}` : "added a slide";
    case "deleted":
      return `deleted ${name}`;
    case "erased":
      return "erased a slide";
    case "archived":
      return `put ${name} away`;
    case "unarchived":
      return `brought ${name} back`;
    case "updated": {
      const fields = new Set(changedFields ?? []);
      if (fields.has("title") && fields.has("notes")) return `changed the title and text of ${name}`;
      if (fields.has("title")) return was?.title ? `renamed ${name} to ${quoted(titleNow)}` : `named a slide ${name}`;
      if (fields.has("notes")) return `changed the text of ${name}`;
      return fields.has("order") ? `moved ${name}` : `changed ${name}`;
    }
  }
}

const quoted = (title: string): string => (title.trim() ? `“${title.trim()}”` : "an untitled slide");

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
