import { expect, test } from "vitest";
import { createProgress } from "./progress.ts";

test("[DS39] a command says how far it is after a second, then once a second, and a short one says nothing", () => {
  const said: string[] = [];
  let at = 0;
  const progress = createProgress(
    (line) => said.push(line),
    () => at,
  );
  for (at = 0; at <= 2_600; at += 100) progress(() => `${at}`);
  expect(said).toEqual(["1000", "2000"]);
});
