import type { FrameDown } from "@holdfast/sdk/protocol";
import type { Holder } from "../exchange/actors.ts";
import { envelopeFaults, type Judging, secretFault } from "./judge.ts";
import { hiddenRow, readsModel, seesGroups } from "./sight.ts";

type Plain = Readonly<Record<string, unknown>>;

export interface Listener {
  /** The client sends this token on the socket. */
  authenticated(who: Holder): void;
  receive(text: string): void;
}

/** Checks the frames of a socket against the tokens that the client sent on it. */
export function createListener(judging: Judging, report: (fault: string) => void): Listener {
  const named = new Set<Holder>();
  let position: number | undefined;
  let participant: unknown;

  /** The scopes of the sent tokens, any of which may be in effect; undefined: one of them sees everything. */
  function judgedScopes() {
    const judged = [...named].filter(({ tenant }) => judging.actors.judged.has(tenant ?? ""));
    const scopes = judged.flatMap(({ scope }) => scope ?? []);
    return judged.length > 0 && scopes.length === judged.length ? scopes : undefined;
  }

  function judgeEntry(entry: Plain): void {
    const hidden = judgedScopes()?.every(
      (scope) =>
        !readsModel(scope, String(entry.model)) ||
        (entry.data && hiddenRow(judging.schema, scope, String(entry.model), entry.data as Plain)),
    );
    if (hidden) report(`a stream was told of the ${entry.model} ${entry.id}, which its token does not cover`);
  }

  const judges: Readonly<Record<FrameDown["frame"], (frame: Plain) => void>> = {
    welcome(frame) {
      position = Number(frame.resumeFrom);
      participant = frame.participant;
    },
    resync() {
      position = undefined;
    },
    error(frame) {
      for (const fault of envelopeFaults(frame, undefined, String(frame.request_id), judging.url))
        report(`a frame: ${fault}`);
      if (!/^req_[0-9A-Za-z]{24}$/.test(String(frame.request_id))) report(`an error frame with ${frame.request_id}`);
    },
    entries({ from, to, entries }) {
      if (position !== undefined && from !== position) report(`(${from}, ${to}] came at position ${position}`);
      position = Number(to);
      let last = Number(from);
      for (const entry of entries as Plain[]) {
        const syncId = Number(entry.syncId);
        if (syncId <= last || syncId > Number(to)) report(`entry ${syncId} came after ${last} in (${from}, ${to}]`);
        last = syncId;
        judgeEntry(entry);
      }
    },
    proposals() {},
    subscribed() {},
    unsubscribed() {},
    refused(frame) {
      for (const fault of envelopeFaults(frame, undefined, String(frame.request_id), judging.url))
        report(`a refused part: ${fault}`);
    },
    partEntries({ entries }) {
      for (const entry of entries as Plain[]) judgeEntry(entry);
    },
    answer() {},
    presence({ room }) {
      if (judgedScopes()?.every((scope) => !seesGroups(scope, [String(room)])))
        report(`a stream was told of the room ${room}, which its token does not cover`);
    },
    claim(frame) {
      const { id, participantKind, actor } = frame.claim as Plain;
      const holder = `${participantKind}:${actor}`;
      if (holder !== participant) report(`${participant} was told of the claim ${id} as its own, which is ${holder}'s`);
    },
    claims({ model, id }) {
      if (judgedScopes()?.every((scope) => !readsModel(scope, String(model))))
        report(`a stream was told who claims the ${model} ${id}, which its token does not cover`);
    },
    schema() {},
    renewed({ owner }) {
      if (!String(owner).endsWith(`/${String(participant).replace(":", "/")}`))
        report(`a stream of ${participant} was renewed as ${owner}`);
    },
    pong() {},
  };

  return {
    authenticated: (who) => void named.add(who),
    receive(text) {
      const leak = secretFault(text, judging);
      if (leak !== undefined) report(`a frame: ${leak}`);
      let frame: Plain;
      try {
        frame = JSON.parse(text) as Plain;
      } catch {
        return report("a frame that is no JSON");
      }
      const name = String(frame.frame);
      if (Object.hasOwn(judges, name)) judges[name as FrameDown["frame"]](frame);
      else report(`a frame "${name}"`);
    },
  };
}
