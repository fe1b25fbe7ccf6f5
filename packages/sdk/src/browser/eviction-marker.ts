import type { EvictionMarker } from "../engine/ports.ts";

/** Where `localStorage` is at hand: not in workers, and not where a person has forbidden it. */
export function browserEvictionMarker(store: string): EvictionMarker | undefined {
  const key = `holdfast:${store}`;
  try {
    const { localStorage } = globalThis;
    if (!localStorage) return undefined;
    return {
      read() {
        try {
          const note: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
          return isNote(note) ? note : undefined;
        } catch {
          return undefined;
        }
      },
      note(note) {
        try {
          localStorage.setItem(key, JSON.stringify(note));
        } catch {
          // Without room for a note there is none.
        }
      },
      forget() {
        try {
          localStorage.removeItem(key);
        } catch {
          // Forbidden since: it cannot be read either.
        }
      },
    };
  } catch {
    return undefined;
  }
}

function isNote(note: unknown): note is ReturnType<EvictionMarker["read"]> & object {
  const { clientId, pending, notedAt } = (note ?? {}) as Record<string, unknown>;
  return typeof clientId === "string" && typeof pending === "number" && typeof notedAt === "number";
}
