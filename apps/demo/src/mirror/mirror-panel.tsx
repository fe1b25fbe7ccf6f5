import type { ReactNode } from "react";
import type { MirrorAttempt, RunningReport } from "./mirror-report.ts";
import { changes, mirrorHint, mirrorWords, records } from "./mirror-words.ts";
import { useMirror } from "./use-mirror.ts";

/** A receiver of webhooks, seen from its owner's side: how far it is behind, and what became of the last attempts. */
export function MirrorPanel() {
  const { report, says, isOnline, order } = useMirror();
  if (!report) return null;
  return (
    <section className="panel mirror" aria-labelledby="mirror-heading">
      <h2 id="mirror-heading">A mirror elsewhere</h2>
      <p>Another process keeps a copy of every record in its own database, fed by webhooks.</p>
      {report.isRunning ? (
        <Mirror report={report} isOnline={isOnline}>
          <button type="button" disabled={!isOnline} onClick={() => void order(report.isFailing ? "recover" : "fail")}>
            {report.isFailing ? "Let it recover" : "Make it fail"}
          </button>
        </Mirror>
      ) : (
        <p className="mirror-state">
          {report.isStarting ? "It is starting." : "It is not running; mirror.log beside the demo’s data says why."}
        </p>
      )}
      <p role="status" className="hint">
        {says}
      </p>
    </section>
  );
}

interface MirrorProps {
  readonly report: RunningReport;
  readonly isOnline: boolean;
  readonly children: ReactNode;
}

function Mirror({ report, isOnline, children }: MirrorProps) {
  const { mood, says, next } = mirrorWords(report, isOnline);
  return (
    <>
      <p className="mirror-state" data-mood={mood}>
        <span className="dot" aria-hidden="true" />
        <span>{says}</span>
        {next && <span className="mirror-next">{next}</span>}
      </p>
      {/* A screen reader says only what goes wrong, not each change that arrives. */}
      <p role="status" className="unseen">
        {mood === "waiting" || mood === "trouble" ? `The mirror: ${says}` : ""}
      </p>
      <dl className="mirror-numbers">
        <div>
          <dt>Behind by</dt>
          <dd>{changes(report.lag)}</dd>
        </div>
        <div>
          <dt>In its copy</dt>
          <dd>{records(report.rows)}</dd>
        </div>
      </dl>
      <p className="choices">{children}</p>
      <p className="hint">{mirrorHint(report)}</p>
      {report.attempts.length > 0 && (
        <>
          <h3 id="attempts-heading">Last attempts, with the answer to each</h3>
          <ol className="attempts" aria-labelledby="attempts-heading">
            {report.attempts.map((attempt) => (
              <Attempt key={attempt.id} attempt={attempt} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function Attempt({ attempt }: { attempt: MirrorAttempt }) {
  const { startedAt, outcome, answer } = attempt;
  return (
    <li data-outcome={outcome}>
      <span aria-hidden="true">{outcome === "succeeded" ? "✓" : "✕"}</span>
      <time dateTime={startedAt}>{clockTime.format(new Date(startedAt))}</time>
      <span className="attempt-answer">
        {outcomes[outcome]}: {answer}
      </span>
      <span>{changes(attempt.events)}</span>
    </li>
  );
}

const outcomes = { succeeded: "taken", failed: "not taken", unknown: "unknown" } as const;

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
