import { useCallback, useEffect, useRef, useState } from "react";
import { useClient } from "../sync.ts";

const PAUSE_MS = 800;

export interface Draft {
  /** What the field shows: the text being typed, or else the record's. */
  readonly text: string;
  type(text: string): void;
  /** Saves now: on blur, on Enter. */
  save(): void;
  /** Back to the record's text: on Escape. */
  drop(): void;
}

interface Typed {
  readonly text: string;
  /** How far this window had read when the typing began: what the text was written against. */
  readonly readAt: number;
}

/**
 * A field that is edited in place. What is typed becomes one change at a pause or on blur, not one for each key.
 *
 * While a person types, another person's change to the same field is not shown in it. This window has read it all the
 * same, so the typed change is sent with the position at which the typing began: otherwise the server would take it for
 * a change in view of text that the person has not seen.
 */
export function useDraft(shown: string, commit: (text: string, readAt: number) => void): Draft {
  const client = useClient();
  const [text, setText] = useState<string>();
  const typed = useRef<Typed>(undefined);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ shown, commit });
  useEffect(() => {
    latest.current = { shown, commit };
  });

  const set = useCallback((next: Typed | undefined) => {
    clearTimeout(pause.current);
    typed.current = next;
    setText(next?.text);
  }, []);

  const save = useCallback(() => {
    const now = typed.current;
    set(undefined);
    if (now && now.text !== latest.current.shown) latest.current.commit(now.text, now.readAt);
  }, [set]);

  const type = (next: string) => {
    set({ text: next, readAt: typed.current?.readAt ?? client.status().syncId });
    pause.current = setTimeout(save, PAUSE_MS);
  };

  // A window that is closed or hidden in the middle of a word, or a card that leaves the page, saves what it has.
  useEffect(() => {
    addEventListener("pagehide", save);
    return () => {
      removeEventListener("pagehide", save);
      save();
    };
  }, [save]);

  return { text: text ?? shown, type, save, drop: () => set(undefined) };
}
