import type { DatasourceArgs } from "./args.ts";
import { cases } from "./cases.ts";
import { Broken, createDatasourceKit } from "./datasource-kit.ts";

export interface DatasourceResult {
  readonly says: string;
  /** Why it is not kept. */
  readonly failure?: string;
}

/** Tests a handler, one case after the other. */
export async function runDatasource(
  args: DatasourceArgs,
  heard: (result: DatasourceResult) => void = () => {},
): Promise<DatasourceResult[]> {
  const kit = createDatasourceKit(args);
  const results: DatasourceResult[] = [];
  try {
    for (const { says, run } of cases) {
      const failure = await run(kit).then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof Broken) return error.message;
          throw error;
        },
      );
      const result = { says, ...(failure !== undefined && { failure }) };
      results.push(result);
      heard(result);
    }
    return results;
  } finally {
    await kit.cleanUp();
  }
}

/** Returns the exit code. */
export async function reportDatasource(args: DatasourceArgs, out: (text: string) => void): Promise<number> {
  const results = await runDatasource(args, ({ says, failure }) =>
    out(failure === undefined ? `ok      ${says}\n` : `FAILED  ${says}\n        ${failure}\n`),
  );
  const failed = results.filter(({ failure }) => failure !== undefined).length;
  out(`\n${results.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}
