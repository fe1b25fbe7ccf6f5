import { createTopics, type Topic } from "../../../kernel/stream/topics.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import type { ChangedProposal, ProposalFlows } from "../flows/proposal-flows.ts";

/** Tells the listeners of this process that proposals which they may see have changed. A tenant without listeners costs nothing. */
export interface ProposalHub {
  /** Calls `tell` after changes that the reader may see. Resolves with a function that ends that. */
  listen(tenant: number, reader: () => Principal | undefined, tell: () => void): Promise<() => void>;
  /** Proposals of a tenant have changed, here or in another process. */
  changed(tenant: number): void;
  forget(): void;
}

/** Hints between processes can be lost, and a proposal expires without one. */
const READ_EVERY_MS = 5_000;
/** A change can become visible so long after its time. */
const LATE_MS = 60_000;

interface ProposalTopic extends Topic {
  readonly listeners: Set<{ readonly reader: () => Principal | undefined; readonly tell: () => void }>;
  readOn(): void;
}

export function createProposalHub(
  { changedSince, sightOf }: Pick<ProposalFlows, "changedSince" | "sightOf">,
  failed: (error: unknown) => void,
): ProposalHub {
  const topics = createTopics<ProposalTopic, readonly ChangedProposal[]>({
    read: async (tenant) => await changedSince(tenant, LATE_MS),
    open(tenant, start) {
      const listeners: ProposalTopic["listeners"] = new Set();
      let known = namesOf(start);
      let isReading = false;
      let again = false;

      async function read(): Promise<void> {
        do {
          again = false;
          const found = await changedSince(tenant, LATE_MS);
          const news = found.filter((one) => !known.has(nameOf(one)));
          known = namesOf(found);
          if (news.length > 0) await tellAll(news);
        } while (again);
      }

      async function tellAll(news: readonly ChangedProposal[]): Promise<void> {
        const isSeenBy = await sightOf(tenant, news);
        for (const { reader, tell } of [...listeners]) {
          const who = reader();
          if (who && isSeenBy(who)) tell();
        }
      }

      const readOn = () => {
        again = true;
        if (isReading) return;
        isReading = true;
        void read()
          .catch(failed)
          .finally(() => {
            isReading = false;
          });
      };
      const timer = setInterval(readOn, READ_EVERY_MS).unref();
      return { listeners, readOn, close: () => clearInterval(timer) };
    },
  });
  return {
    async listen(tenant, reader, tell) {
      const { topic, end } = await topics.subscribe(tenant);
      const listener = { reader, tell };
      topic.listeners.add(listener);
      return () => {
        topic.listeners.delete(listener);
        end();
      };
    },
    changed: (tenant) => topics.whenOpen(tenant, ({ readOn }) => readOn()),
    forget: topics.closeAll,
  };
}

const nameOf = ({ id, status }: ChangedProposal): string => `${id} ${status}`;
const namesOf = (all: readonly ChangedProposal[]): ReadonlySet<string> => new Set(all.map(nameOf));
