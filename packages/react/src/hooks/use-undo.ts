import type { UndoableWrite } from "@holdfast/sdk";
import { useMemo, useState } from "react";

export interface UndoStack {
  /** Notes a write, so that `undo` can take it back. Returns the write. */
  readonly record: <W extends UndoableWrite>(write: W) => W;
  /** Takes back the newest write that was noted. */
  readonly undo: () => void;
  /** Does again what was taken back last, until another write is noted. */
  readonly redo: () => void;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

interface Stacks {
  readonly done: readonly UndoableWrite[];
  readonly undone: readonly UndoableWrite[];
}

const NOTHING: Stacks = { done: [], undone: [] };

/** Undo and redo for the writes of one component or page. It keeps the last `limit` writes (default: 100). */
export function useUndo({ limit = 100 }: { readonly limit?: number | undefined } = {}): UndoStack {
  const [stacks, setStacks] = useState(NOTHING);
  const acts = useMemo(() => {
    let now = NOTHING;
    const show = (next: Stacks) => {
      now = next;
      setStacks(next);
    };
    const newest = (done: readonly UndoableWrite[], write: UndoableWrite) => [...done, write].slice(-limit);
    /** Takes back the newest write of a list that still has something to take back. */
    const takeBack = (
      writes: readonly UndoableWrite[],
    ): { readonly rest: readonly UndoableWrite[]; readonly made?: UndoableWrite } => {
      for (let end = writes.length - 1; end >= 0; end--) {
        const made = writes[end]?.undo();
        if (made) return { rest: writes.slice(0, end), made };
      }
      return { rest: [] };
    };
    return {
      record: <W extends UndoableWrite>(write: W): W => {
        show({ done: newest(now.done, write), undone: [] });
        return write;
      },
      undo: () => {
        const { rest, made } = takeBack(now.done);
        show({ done: rest, undone: made ? [...now.undone, made] : now.undone });
      },
      redo: () => {
        const { rest, made } = takeBack(now.undone);
        show({ done: made ? newest(now.done, made) : now.done, undone: rest });
      },
    };
  }, [limit]);
  const [canUndo, canRedo] = [stacks.done.length > 0, stacks.undone.length > 0];
  return useMemo(() => ({ ...acts, canUndo, canRedo }), [acts, canUndo, canRedo]);
}
