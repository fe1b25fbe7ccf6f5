import { SingleBar } from "cli-progress";

/** Tells a person at a terminal how far the work has come. */
export interface Progress {
  at(done: number): void;
  end(): void;
}

const LINE_EVERY_MS = 1_000;

/** A bar where there is a terminal to draw it in; else a plain line now and then, for logs. */
export function createProgress(total: number, print: (line: string) => void): Progress {
  return process.stderr.isTTY ? bar(total) : lines(total, print);
}

function bar(total: number): Progress {
  const drawn = new SingleBar({
    format: "  {bar} {value}/{total} passages",
    barCompleteChar: "█",
    barIncompleteChar: "░",
    barsize: 32,
    hideCursor: true,
    clearOnComplete: true,
  });
  drawn.start(total, 0);
  return { at: (done) => drawn.update(done), end: () => drawn.stop() };
}

function lines(total: number, print: (line: string) => void): Progress {
  let saidAt = Date.now();
  return {
    at(done) {
      if (Date.now() - saidAt < LINE_EVERY_MS || done === total) return;
      saidAt = Date.now();
      print(`  ${done} of ${total} passages`);
    },
    end() {},
  };
}
