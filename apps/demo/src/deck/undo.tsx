export interface Undoable {
  readonly says: string;
  /** The slide before the place of the deleted one; undefined: it was the first. */
  readonly behind: string | undefined;
  undo(): void;
}

/** Stands where the slide was, so that it covers nothing, until it is used or closed. */
export function Undo({ undoable, done }: { undoable: Undoable; done(): void }) {
  return (
    <li className="undo">
      <span>{undoable.says}</span>
      <button
        type="button"
        onClick={() => {
          undoable.undo();
          done();
        }}
      >
        Undo
      </button>
      <button type="button" className="quiet" aria-label="Close this note" onClick={done}>
        <span aria-hidden="true">✕</span>
      </button>
    </li>
  );
}
