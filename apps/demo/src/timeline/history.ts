import type { LogEntry } from "@holdfast/sdk/protocol";

/** One line of the log, as far as a timeline needs it. */
export type Entry = Pick<
  LogEntry,
  | "syncId"
  | "model"
  | "id"
  | "verb"
  | "data"
  | "changedFields"
  | "clientTxId"
  | "actor"
  | "participantKind"
  | "createdAt"
  | "reason"
  | "onBehalfOf"
>;

/** What one writer did at one moment: a write of several slides is one step of the timeline. */
export interface Moment {
  /** The last position of it. */
  readonly syncId: number;
  readonly at: string;
  /** `<kind>:<participant>`. */
  readonly by: string;
  /** Why, and for whom (`<kind>:<participant>`), if its writer said so. */
  readonly reason: string | undefined;
  readonly onBehalfOf: string | undefined;
  readonly entries: readonly Entry[];
}

export interface EarlierSlide {
  readonly id: string;
  readonly title: string;
  readonly notes: string;
  readonly order: number;
}

export interface EarlierDeck {
  readonly title: string;
  readonly slides: readonly EarlierSlide[];
  /** Slides that the last of the moments changed. */
  readonly changed: ReadonlySet<string>;
}

/** Entries in the order of the log, put together by the write that they belong to. */
export function momentsOf(entries: readonly Entry[]): readonly Moment[] {
  const moments: (Omit<Moment, "syncId" | "entries"> & { syncId: number; entries: Entry[] })[] = [];
  let name: string | undefined;
  for (const entry of entries) {
    const { syncId, createdAt: at, clientTxId, participantKind, actor, reason, onBehalfOf } = entry;
    const last = moments.at(-1);
    if (last && clientTxId === name) {
      last.entries.push(entry);
      last.syncId = syncId;
    } else moments.push({ syncId, at, by: `${participantKind}:${actor}`, reason, onBehalfOf, entries: [entry] });
    name = clientTxId;
  }
  return moments;
}

/** The deck as it was after the first `count` moments. */
export function deckAt(moments: readonly Moment[], count: number): EarlierDeck {
  const slides = new Map<string, EarlierSlide>();
  let title = "";
  for (const { entries } of moments.slice(0, count)) {
    for (const { model, id, verb, data } of entries) {
      if (model === "document") title = text(data?.title) || title;
      else if (data === null || verb === "archived") slides.delete(id);
      else slides.set(id, { id, title: text(data.title), notes: text(data.notes), order: Number(data.order ?? 0) });
    }
  }
  const last = moments[count - 1]?.entries ?? [];
  return {
    title,
    // As every client sorts them: the place first, then the id.
    slides: [...slides.values()].sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1)),
    changed: new Set(last.filter(({ model }) => model === "slide").map(({ id }) => id)),
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
