import { someText } from "../assertions/pattern.ts";
import { NOTE } from "../environment/models.ts";
import { type Answer, dataOf, type Row } from "../protocol/answers.ts";
import { type Agent, agent } from "./claim-kit.ts";
import type { CreatedRecord, Kit } from "./kit.ts";

export const PROPOSALS = "/v1/proposals";
type By = Pick<Agent, "token">;

/** An agent that may only propose changes of notes in this group. */
export const proposer = (t: Kit, group: string, more: object = {}): Promise<Agent> =>
  agent(t, group, { operations: [`${NOTE}.propose`], ...more });

/** A note, an agent that may only propose, and one that may write it. */
export async function reviewScene(t: Kit, data: Row = {}) {
  const note = await t.note(data);
  return { note, author: await proposer(t, note.group), reviewer: await agent(t, note.group) };
}

export const update = (id: string, data: Row) => ({ action: "update", model: NOTE, id, data });
export const create = (id: string, deckId: string) => ({ action: "create", model: NOTE, id, data: { deckId } });

/** The id of the proposal that a write has become. */
export const proposalOf = (t: Kit, answer: Answer): string =>
  String(t.answered(answer, 200, { status: "proposed", success: false, proposal: someText }).body.proposal);

export const propose = async (
  t: Kit,
  { token }: By,
  { path }: Pick<CreatedRecord, "path">,
  data: Row,
  more: object = {},
): Promise<string> => proposalOf(t, await t.patch(path, { data, ...more }, { token }));

export const readProposal = (t: Kit, { token }: By, id: string) => t.get(`${PROPOSALS}/${id}`, { token });

export const decide = (t: Kit, { token }: By, id: string, how: "accept" | "reject" | "withdraw", json: object = {}) =>
  t.post(`${PROPOSALS}/${id}/${how}`, json, { token });

export const recordOf = async (t: Kit, path: string): Promise<Row> => dataOf(t.answered(await t.get(path), 200));
