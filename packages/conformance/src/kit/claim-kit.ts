import type { Pattern } from "../assertions/pattern.ts";
import { NOTE } from "../environment/models.ts";
import type { Answer, AskOptions } from "../protocol/answers.ts";
import type { CreatedRecord, Kit } from "./kit.ts";

export interface Agent {
  readonly name: string;
  readonly id: string;
  readonly token: string;
}

type Scene<Count extends number, Agents extends readonly Agent[] = []> = Agents["length"] extends Count
  ? [CreatedRecord, ...Agents]
  : Scene<Count, [...Agents, Agent]>;

/** A note, and this many agents that may write it. */
export async function scene<const Count extends number>(t: Kit, count: Count): Promise<Scene<Count>> {
  const note = await t.note();
  const agents: Agent[] = [];
  for (let i = 0; i < count; i++) agents.push(await agent(t, note.group));
  return [note, ...agents] as Scene<Count>;
}

export async function agent(t: Kit, group: string, more: object = {}): Promise<Agent> {
  const name = t.id();
  const scope = { participantId: name, operations: [`${NOTE}.*`], syncGroups: [group], ...more };
  return { name, ...(await t.capability(scope)) };
}

export const claim = (
  t: Kit,
  { token }: Pick<Agent, "token">,
  { path }: Pick<CreatedRecord, "path">,
  json: object = {},
) => t.post(`${path}/claim`, json, { token });
export const renew = (t: Kit, { token }: Pick<Agent, "token">, id: unknown, json?: object) =>
  t.post(`/v1/claims/${id}/renew`, json, { token });
export const release = (t: Kit, { token }: Pick<Agent, "token">, id: unknown) =>
  t.remove(`/v1/claims/${id}`, { token });
export const readClaim = (t: Kit, { token }: Pick<Agent, "token">, id: unknown, wait = 0) =>
  t.get(`/v1/claims/${id}?wait=${wait}`, { token });
export const listClaims = (t: Kit, { id }: Pick<CreatedRecord, "id">, options: AskOptions = {}) =>
  t.get(`/v1/claims?model=${NOTE}&id=${id}`, options);
export const write = (
  t: Kit,
  { token }: Pick<Agent, "token">,
  { path }: Pick<CreatedRecord, "path">,
  rest: object = {},
) => t.patch(path, { data: { title: t.id() }, ...rest }, { token });

export async function granted(t: Kit, who: Agent, note: CreatedRecord, json: object = {}): Promise<string> {
  return String(t.answered(await claim(t, who, note, json), 201, { status: "active" }).body.id);
}
export async function queued(t: Kit, who: Agent, note: CreatedRecord, json: object = {}): Promise<string> {
  return String(t.answered(await claim(t, who, note, { queue: true, ...json }), 202, { status: "queued" }).body.id);
}
/** A person with claim.preempt. */
export const person = async (t: Kit, group: string) => {
  const name = t.id();
  const operations = [`${NOTE}.*`, "claim.preempt"];
  return { name, ...(await t.ephemeral({ user: { id: name }, operations, syncGroups: [group] })) };
};

/** The refusal names the holders: these claims, and no others. */
export const refusedFor = (t: Kit, answer: Answer, code: string, holders: readonly string[], param?: Pattern) =>
  t.refused(answer, code, {
    body: { claims: holders.map((id) => ({ object: "claim", id, status: "active" })) },
    ...(param !== undefined && { param }),
  });
