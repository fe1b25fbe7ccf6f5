import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { operatorTarget, secretKeyTarget } from "./target.ts";
import { UsageError } from "./usage-error.ts";

const folder = temporaryFolder("target");
const env = { HOLDFAST_DATA_DIR: folder };

test.each(["", "null", "[]", '{"live":1}', '{"live":"sk_l'])(
  "[F4] a keys.json with %j is refused with its name",
  (content) => {
    writeFileSync(join(folder, "keys.json"), content);
    expect(() => secretKeyTarget({}, env)).toThrow(UsageError);
    expect(() => secretKeyTarget({}, env)).toThrow("keys.json has no live key");
  },
);

test.each(["", "two\nlines", "\ud800", "x".repeat(600)])(
  "[F4] a token that no header can have, %j, is refused without being shown",
  (token) => {
    writeFileSync(join(folder, "admin-token"), token);
    expect(() => operatorTarget({}, env)).toThrow("The operator token must be 1 to 512 visible ASCII characters");
  },
);
