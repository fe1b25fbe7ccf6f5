import {
  defineSchema,
  type JsonObject,
  type RoomPeer,
  type RowOf,
  type SyncClient,
  type SyncStatus,
} from "@holdfast/sdk";
import type { LiveClaimState, PartState } from "@holdfast/sdk/bindings";

export const boardSchema = defineSchema({
  models: {
    slide: {
      fields: {
        deckId: { type: "string" },
        title: { type: "string", required: true },
        order: { type: "number", default: 0 },
      },
    },
    note: { fields: { deckId: { type: "string" }, body: { type: "string" } } },
  },
});
export type BoardSchema = typeof boardSchema;
export type BoardClient = SyncClient<BoardSchema>;
export type Slide = RowOf<BoardSchema, "slide">;

/** The arguments of a component, which may change while it is mounted. `"skip"`: it reads nothing. */
export interface Inputs {
  readonly deckId: string | "skip";
  readonly id: string | "skip";
  readonly room: string;
}

/** What a component shows, by its name. */
export interface Views {
  readonly list: readonly Slide[];
  /** Two values that change with the same write. */
  readonly listAndCount: { readonly ids: readonly string[]; readonly count: number };
  readonly record: Slide | undefined;
  readonly count: number;
  readonly status: SyncStatus["name"];
  /** The fields in conflict of each. */
  readonly conflicts: readonly string[];
  readonly claim: LiveClaimState["status"];
  /** A component that claims as long as it is there. */
  readonly autoClaim: LiveClaimState["status"];
  readonly me: JsonObject;
  readonly others: readonly RoomPeer[];
  readonly part: PartState["status"];
  /** A component that claims, enters its room and loads its part, and shows nothing of it. */
  readonly nothing: undefined;
  /** The message of the error for a model that the schema lacks. */
  readonly unknownModel: string;
}

/** What a person does with a component. */
export interface Actions {
  create(data: { readonly deckId: string; readonly title: string; readonly order?: number }): void;
  claim(): void;
  release(): void;
  set(state: JsonObject): void;
  takeTheirs(): void;
}

export interface Used<T> extends Partial<Actions> {
  /** Called when the component renders. */
  read(): T;
}

export interface Mounted<T> extends Required<Actions> {
  /** What it has rendered, the first first. */
  readonly rendered: readonly T[];
  /** Reads the value outside of a render. */
  read(): T | undefined;
  /** The text on the page. */
  readonly text: () => string;
  change(inputs: Partial<Inputs>): void;
  unmount(): void;
}

/** A framework, and the binding for it. */
export interface Adapter {
  readonly name: string;
  /** `from`: how the component gets the client. */
  mount<V extends keyof Views>(
    client: BoardClient,
    view: V,
    inputs: Inputs,
    from?: "provider" | "argument" | "nowhere",
  ): Mounted<Views[V]>;
}

export const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

/** The message of what this throws. */
export function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing was thrown";
}
