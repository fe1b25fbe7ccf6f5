import { createHooks, SyncProvider } from "@holdfast/react";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { type Adapter, type BoardSchema, type Inputs, messageOf, textOf, type Used, type Views } from "../board.ts";
import { mountedOn, placeOnPage } from "./mounted.ts";

type UseView<T> = (inputs: Inputs) => Used<T>;

const hooks = createHooks<BoardSchema>();
const inDeck = ({ deckId }: Inputs) => (deckId === "skip" ? deckId : { where: { deckId } });
const sorted = (inputs: Inputs) => {
  const query = inDeck(inputs);
  return query === "skip" ? query : ({ ...query, orderBy: "order" } as const);
};

function useClaimed({ id }: Inputs, auto: boolean): Used<Views["claim"]> {
  const { status, claim, release } = hooks.useClaim("slide", id, { auto });
  return { read: () => status, claim, release };
}

const views: { readonly [V in keyof Views]: UseView<Views[V]> } = {
  list: function useList(inputs) {
    const list = hooks.useQuery("slide", sorted(inputs));
    const { create } = hooks.useMutation("slide");
    return { read: () => list, create };
  },
  listAndCount: function useListAndCount(inputs) {
    const list = hooks.useQuery("slide", sorted(inputs));
    const count = hooks.useCount("slide", inDeck(inputs));
    return { read: () => ({ ids: list.map(({ id }) => id), count }) };
  },
  record: function useShownRecord({ id }) {
    const record = hooks.useRecord("slide", id);
    return { read: () => record };
  },
  count: function useShownCount(inputs) {
    const count = hooks.useCount("slide", inDeck(inputs));
    return { read: () => count };
  },
  status: function useStatusName() {
    const name = hooks.useSyncStatus((status) => status.name);
    return { read: () => name };
  },
  conflicts: function useShownConflicts() {
    const conflicts = hooks.useConflicts();
    return {
      read: () => conflicts.flatMap(({ fields }) => fields),
      takeTheirs: () => conflicts[0]?.takeTheirs(),
    };
  },
  claim: (inputs) => useClaimed(inputs, false),
  autoClaim: (inputs) => useClaimed(inputs, true),
  me: function useMe({ room }) {
    const [state, set] = hooks.useMyPresence(room, { name: "Ann" });
    return { read: () => state, set };
  },
  others: function useShownOthers({ room }) {
    const others = hooks.useOthers(room);
    return { read: () => others };
  },
  // The hooks have no `useLoad`: a query loads its own part.
  part: function usePart({ deckId }) {
    const { status } = hooks.useQueryState("note", deckId === "skip" ? deckId : { where: { deckId }, load: true });
    return { read: () => (deckId === "skip" ? "skipped" : status === "complete" ? "ready" : "loading") };
  },
  nothing: function useNothing({ deckId, id, room }) {
    hooks.useClaim("slide", id, { auto: true });
    hooks.useMyPresence(room, { name: "Ann" });
    hooks.useQuery("note", { where: { deckId }, load: true });
    return { read: () => undefined };
  },
  unknownModel: function useUnknownModel() {
    const message = messageOf(() => hooks.useQuery("slied" as "slide"));
    return { read: () => message };
  },
};

export const react: Adapter = {
  name: "React",
  mount(client, view, initial, from = "provider") {
    const rendered: Views[typeof view][] = [];
    let inputs = initial;
    let used: Used<Views[typeof view]> | undefined;
    const useView: UseView<Views[typeof view]> = views[view];
    function Shown(given: Inputs) {
      const own = useView(given);
      used = own;
      const value = own.read();
      rendered.push(value);
      return createElement("p", undefined, textOf(value));
    }
    const place = placeOnPage();
    const root = createRoot(place);
    const show = () => {
      const shown = createElement(Shown, inputs);
      root.render(from === "provider" ? createElement(SyncProvider<BoardSchema>, { client }, shown) : shown);
    };
    show();
    return mountedOn(place, rendered, () => used, {
      change(next) {
        inputs = { ...inputs, ...next };
        show();
      },
      unmount: () => root.unmount(),
    });
  },
};
