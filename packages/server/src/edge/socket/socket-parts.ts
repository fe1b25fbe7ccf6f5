import { limits, Part } from "@holdfast/sdk/protocol";
import type { ViewRequest } from "../../kernel/log/rules/view.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { checkModel } from "../../kernel/tokens/rules/scope.ts";
import { shapeCheck } from "../payload/shape-check.ts";

type Conditions = NonNullable<Part["where"]>;

/** The parts that one socket follows, by id. */
export interface SocketParts {
  add(part: Part, principal: Principal): Refusal | undefined;
  /** Whether it was there. */
  remove(id: string): boolean;
  has(part: Part): boolean;
  /** What all of them ask for. */
  request(): ViewRequest;
  requestOf(part: Part): ViewRequest;
}

const checkPart = shapeCheck(Part);

export function createSocketParts(groups: ViewRequest["groups"]): SocketParts {
  const parts = new Map<string, Part>();
  let length = 0;

  function check(part: Part, principal: Principal): Refusal | undefined {
    const mistake = checkPart(part);
    if (mistake) return mistake;
    const no = (message: string, param: string) => refuse("invalid_value", { param, message });
    if (parts.has(part.id)) return no(`The part "${part.id}" is followed already.`, "id");
    if (parts.size >= limits.parts) return no(`A stream can follow up to ${limits.parts} parts.`, "parts");
    if (length + lengthOf(part) > limits.partsLength)
      return no(`The conditions of all parts can have up to ${limits.partsLength} characters as JSON.`, "where");
    return checkModel(principal, part.model);
  }

  return {
    add(part, principal) {
      const refusal = check(part, principal);
      if (refusal) return refusal;
      parts.set(part.id, part);
      length += lengthOf(part);
      return undefined;
    },
    remove(id) {
      const part = parts.get(id);
      if (!part) return false;
      length -= lengthOf(part);
      return parts.delete(id);
    },
    has: (part) => parts.get(part.id) === part,
    request: () => requestFor([...parts.values()], groups),
    requestOf: (part) => requestFor([part], groups),
  };
}

const lengthOf = ({ where }: Part): number => (where ? JSON.stringify(where).length : 0);

/** A model of which one part wants all is not limited. */
function requestFor(parts: readonly Part[], groups: ViewRequest["groups"]): ViewRequest {
  const wanted = new Map<string, Conditions[] | "all">();
  for (const { model, where } of parts) {
    const key = model.toLowerCase();
    const known = wanted.get(key);
    if (!where || known === "all") wanted.set(key, "all");
    else if (known) known.push(where);
    else wanted.set(key, [where]);
  }
  const limited = [...wanted].filter((one): one is [string, Conditions[]] => one[1] !== "all");
  return {
    models: [...wanted.keys()],
    groups,
    ...(limited.length > 0 && { where: Object.fromEntries(limited) }),
  };
}
