import { useEffect } from "react";

export interface Undoable {
  readonly says: string;
  undo(): void;
}

const SHOWN_MS = 10_000;

/** Says what has just been done, and takes it back if asked in time. */
export function Undo({ undoable, done }: { undoable: Undoable | undefined; done(): void }) {
  useEffect(() => {
    if (!undoable) return;
    const timer = setTimeout(done, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [undoable, done]);

  return (
    <div className="undo" role="status">
      {undoable && (
        <p>
          {undoable.says}{" "}
          <button
            type="button"
            onClick={() => {
              undoable.undo();
              done();
            }}
          >
            Undo
          </button>
        </p>
      )}
    </div>
  );
}
