import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, runProgram } from "../support/program.ts";
import { report } from "../support/report.ts";
import { type Subject, subjects } from "./subjects.ts";

// Each subject has actors and a judge of its own; what they run on and what hurts them is `support/fault-environment.ts`.
const [first = "", ...rest] = process.argv.slice(2);
const isChosen = Object.hasOwn(subjects, first);
const name = isChosen ? first : "writes";
const subject = subjects[name] as Subject<Options>;

await runProgram(
  {
    name: isChosen ? `faults ${name}` : "faults",
    says: isChosen ? subject.says : `${subject.says}\n\n${listed()}`,
    options: subject.options,
    async run(args, print) {
      let isFine = true;
      for await (const found of subject.run(args, print)) {
        process.stdout.write(report(found));
        if (found.violations.length === 0) continue;
        isFine = false;
        if (found.seen) print(`all that was seen is in ${keep(found.seen)}`);
      }
      return isFine;
    },
  },
  isChosen ? rest : process.argv.slice(2),
);

function listed(): string {
  const lines = Object.entries(subjects).map(([name, { title }]) => `  ${name.padEnd(10)}  ${title}`);
  return `That is the subject writes. Each subject has options of its own: npm run faults -- <subject> --help\n\n${lines.join("\n")}`;
}

function keep(seen: object): string {
  const file = join(mkdtempSync(join(tmpdir(), `holdfast-${name}-seen-`)), `${name}.json`);
  writeFileSync(file, JSON.stringify(seen));
  return file;
}
