import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../root.mjs";
import { strictOptions } from "./option-types.ts";

const folder = join(root, "api");

test.each(readdirSync(folder))("[PK14] in %s every option that may be left out accepts undefined", (name) => {
  expect(strictOptions(readFileSync(join(folder, name), "utf8"))).toEqual([]);
});

test("[PK14] an option that does not is found, also one of several lines", () => {
  const report = [
    "interface OneOptions {",
    "    readonly a?: string;",
    "    readonly b?: string | undefined;",
    "    readonly c?: {",
    "        readonly d: string;",
    "    };",
    "    readonly e?: {",
    "        readonly f: string;",
    "    } | undefined;",
    "}",
    "",
    "interface Answer {",
    "    readonly a?: string;",
    "}",
  ];
  expect(strictOptions(report.join("\n"))).toEqual(["OneOptions.a", "OneOptions.c"]);
});
