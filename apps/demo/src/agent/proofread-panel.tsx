import { useEffect, useRef, useSyncExternalStore } from "react";
import { useRecord } from "../sync.ts";
import type { FieldChange } from "./proofread-event.ts";
import { reportSentence, type SlideChange } from "./proofread-report.ts";
import { type ProofreadRun, startProofreading } from "./proofread-run.ts";
import { textDiff } from "./text-diff.ts";
import { useFollow } from "./use-follow.ts";

export { startProofreading };

/** A chunk of its own, loaded when the proofreader is asked: each of its changes as a diff, and a sentence at the end. */
export function ProofreadPanel({ run, close }: { run: ProofreadRun; close(): void }) {
  const report = useSyncExternalStore(run.subscribe, run.get, run.get);
  const list = useRef<HTMLOListElement>(null);
  const { changes, state } = report;
  useFollow(report.at);
  useEffect(() => {
    if (changes.length > 0) list.current?.lastElementChild?.scrollIntoView({ block: "nearest" });
  }, [changes.length]);
  return (
    <section className="panel proofread" aria-labelledby="proofread-heading">
      <h2 id="proofread-heading">The proofreader</h2>
      <p role="status">{reportSentence(report)}</p>
      {changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard
        <ol ref={list} className="diffs" aria-label="Its changes" tabIndex={0}>
          {changes.map((change) => (
            <Change key={change.slide} change={change} />
          ))}
        </ol>
      )}
      {state !== "working" && (
        <p className="choices">
          <button type="button" onClick={close}>
            Close
          </button>
        </p>
      )}
    </section>
  );
}

function Change({ change }: { change: SlideChange }) {
  const title = useRecord("slide", change.slide, (slide) => slide.title);
  return (
    <li>
      <a href={`#slide-${change.slide}`}>{title?.trim() || "Untitled"}</a>
      {change.fields.map((field) => (
        <Diff key={field.field} change={field} />
      ))}
    </li>
  );
}

function Diff({ change: { before, after } }: { change: FieldChange }) {
  const pieces = textDiff(before, after);
  if (pieces.every(({ kind }) => kind === "kept")) return <p className="diff">Spaces only.</p>;
  return (
    <p className="diff">
      {pieces.map(({ kind, text }, at) => {
        const Piece = tags[kind];
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is nothing but its place
        return <Piece key={at}>{text}</Piece>;
      })}
    </p>
  );
}

const tags = { kept: "span", removed: "del", added: "ins" } as const;
