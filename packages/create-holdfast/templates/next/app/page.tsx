import { readDeck } from "../lib/backend";
import { backendUrl } from "../lib/keys.mjs";
import { Deck } from "./deck";
import { Sync } from "./sync";

// Each request reads the deck as it is then.
export const dynamic = "force-dynamic";

export default async function Page() {
  // Your session says who this is.
  const state = await readDeck("ada");
  return (
    <Sync url={backendUrl} state={state}>
      <h1>A deck</h1>
      <Deck />
    </Sync>
  );
}
