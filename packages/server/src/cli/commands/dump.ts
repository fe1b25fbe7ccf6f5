import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Command } from "commander";
import { filePath } from "../file-path.ts";
import { linesIn } from "../lines-in.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

/** `dump`, `restore`: a whole organization to and from one file, beside the server, straight from its database. */
export function addDump(program: Command, { env, out, say, dump, restore }: Terminal): void {
  program
    .command("dump <file>")
    .description("write an organization (live and test) to a file, as of one moment; .gz is compressed")
    .option("--org <id>", "the organization (default: the only one)")
    .addHelpText("after", NEEDS_DATABASE)
    .action(async (name: string, _, command: Command) => {
      const file = filePath(name, env);
      const options = command.optsWithGlobals<CommonOptions & { org?: string }>();
      if ((await stat(file).catch(() => undefined))?.isDirectory())
        throw new UsageError(`${file} is a directory: name a file in it.`);
      // Whole or not at all: a dump that was cut off does not lie under the name of one, nor do two at once mix.
      const draft = `${file}.${randomBytes(4).toString("hex")}.unfinished`;
      const written = createWriteStream(draft, { mode: 0o600, flags: "wx", flush: true });
      const gzip = file.endsWith(".gz") ? createGzip() : undefined;
      const sink = gzip ?? written;
      gzip?.pipe(written);
      // Watched from the beginning: a folder that is not there, or a full disk, is told at any time.
      const closed = finished(written).catch((error: Error) => {
        throw new UsageError(`${file} cannot be written: ${error.message}`);
      });
      closed.catch(() => {});
      try {
        const counts = await dump(options.org, async (line) => {
          if (!sink.write(`${line}\n`))
            await Promise.race([new Promise<void>((drained) => void sink.once("drain", () => drained())), closed]);
        });
        sink.end();
        await closed;
        await rename(draft, file).catch((error: Error) => {
          throw new UsageError(`${file} cannot be written: ${error.message}`);
        });
        out(options.json ? `${JSON.stringify(counts)}\n` : `dumped ${spelled(counts)} to ${file}\n`);
      } catch (error) {
        written.destroy();
        await rm(draft, { force: true });
        throw error;
      }
    });
  program
    .command("restore <file>")
    .description("restore an organization from a dump, completely or not at all; its logs get new ids")
    .option("--new-id", "restore as another organization, without the dump's keys")
    .option("--keep-keys", "leave the keys of the dump valid, also one that was revoked after it")
    .addHelpText("after", NEEDS_DATABASE)
    .action(async (file: string, _, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { newId?: boolean; keepKeys?: boolean }>();
      const { organization, counts } = await restore(linesOf(filePath(file, env)), {
        newId: options.newId === true,
        keepKeys: options.keepKeys === true,
      });
      if (options.json) return void out(`${JSON.stringify({ organization, ...counts })}\n`);
      out(`restored ${spelled(counts)} as ${organization}\n`);
      if (options.newId) say("The organization has no keys yet: see keys create.");
      else if (!options.keepKeys)
        out(
          "All keys of the dump are revoked, because a key may have been revoked after the dump: set a new HOLDFAST_SECRET_KEY, or see keys create. --keep-keys leaves them valid.\n",
        );
      else out("The keys of the dump are valid again, including any that was revoked after the dump: see keys list.\n");
    });
}

/** Opened when the first line is asked for: what is read before anybody listens would be lost. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const input = file.endsWith(".gz") ? source.pipe(createGunzip()) : source;
  source.on("error", (error) => input.destroy(error));
  try {
    yield* linesIn(input.setEncoding("utf8"));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

export const NEEDS_DATABASE = `
Uses DATABASE_URL, else the embedded Postgres in HOLDFAST_DATA_DIR, whether the server is running or not.`;

const spelled = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
