import type { EvictionMarker } from "../engine/ports.ts";

/** Undefined without `localStorage`: in workers, or if the user has blocked it. */
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
          // There is no space for the marker, so it is missing.
        }
      },
      forget() {
        try {
          localStorage.removeItem(key);
        } catch {
          // Access was blocked since, so the marker cannot be read either.
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
