import type { Owned } from "../environment/owner.ts";
import { type Options, openTestEnvironment, type TestEnvironment } from "../environment/test-environment.ts";
import { type Evidence, type Received, readName } from "../judge/evidence.ts";
import { judgeDeliveries, type Verdict } from "../judge/judge.ts";

/** The result of a deliberate fault, which random runs meet only now and then. */
export interface Finding {
  readonly verdict: Verdict;
  /** Expectations that were not met. */
  readonly unmet: readonly string[];
  readonly figures: Readonly<Record<string, number | string>>;
}

type Acted = Omit<Finding, "verdict"> & { readonly evidence: Evidence };
export interface Setting extends Pick<Options, "databaseUrl" | "seed" | "sources" | "attached"> {
  /** How long to wait for an expected request, which may never come if there is a bug. */
  readonly patienceMs?: number;
}

export interface Scenario {
  readonly title: string;
  play(setting: Setting): Promise<Finding>;
}

export async function play(
  setting: Setting,
  more: Pick<Options, "servers" | "times">,
  act: (environment: TestEnvironment) => Promise<Acted>,
): Promise<Finding> {
  await using environment = await openTestEnvironment({ ...setting, ...more });
  const { evidence, unmet, figures } = await act(environment);
  return { verdict: judgeDeliveries(evidence), unmet, figures };
}

/** The messages of conditions that are not met. */
export const unless = (...conditions: readonly (readonly [isMet: boolean, message: string])[]): string[] =>
  conditions.flatMap(([isMet, message]) => (isMet ? [] : [message]));

export const requestsTo = ({ requests }: Evidence, { id }: Owned): Received[] =>
  requests.filter(({ endpoint }) => endpoint === id).sort((a, b) => a.begun - b.begun);

export const sizes = (requests: readonly Received[], endpoint: Owned): number[] =>
  requests.map(({ webhookId }) => {
    const { from = 0, to = -1 } = readName(webhookId, endpoint.id) ?? {};
    return to - from + 1;
  });
