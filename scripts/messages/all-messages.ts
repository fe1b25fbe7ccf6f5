import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../root.mjs";
import { sourceFiles } from "../source-files.ts";
import { messagesIn } from "./messages-in.ts";

/** Texts of protocol pages and tests are for other readers. */
const isOurs = (file: string): boolean =>
  !/\.(test|spec)\.|\/testing\/|-endpoints\.ts$|docstrings\.ts$|packages\/conformance\//.test(file);

/** By file: every sentence that our packages say to people. */
export const allMessages = (): ReadonlyMap<string, readonly string[]> =>
  new Map(
    sourceFiles([join(root, "packages")])
      .map((path) => relative(root, path))
      .filter(isOurs)
      .sort()
      .map((file) => [file, messagesIn(file, readFileSync(join(root, file), "utf8"))] as const)
      .filter(([, messages]) => messages.length > 0),
  );

/** api/messages.txt: to be read as a whole. */
export const messagesText = (): string =>
  [...allMessages()].map(([file, messages]) => `${file}\n${messages.map((one) => `  ${one}\n`).join("")}`).join("\n");
