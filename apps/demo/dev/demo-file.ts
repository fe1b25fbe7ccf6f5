import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dataDirectory } from "./project.ts";

/** What the running demo keeps beside the server's data: where it runs. */
export interface DemoFile {
  readonly serverUrl?: string;
  readonly pageUrl?: string;
  /** The process that runs the demo, while it runs. */
  readonly pid?: number;
}

const path = () => join(dataDirectory(), "demo.json");

export async function readDemoFile(): Promise<DemoFile> {
  try {
    return JSON.parse(await readFile(path(), "utf8")) as DemoFile;
  } catch {
    // Not there yet, or torn by a crash: it is written again.
    return {};
  }
}

let lastWrite: Promise<unknown> = Promise.resolve();

/** Writes one change after the other, each as a whole. */
export function changeDemoFile(change: (file: DemoFile) => DemoFile): Promise<void> {
  const written = lastWrite.then(async () => {
    const next = change(await readDemoFile());
    await mkdir(dataDirectory(), { recursive: true });
    const draft = `${path()}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(next, null, 2)}\n`);
    await rename(draft, path());
  });
  lastWrite = written.catch(() => {});
  return written;
}
