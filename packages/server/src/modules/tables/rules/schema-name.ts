/** What a model and a field may be called. */
export const isSchemaName = (text: string): boolean => /^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(text);

/** `deck_id`, `Deck ID` and `DeckId` → `deckId` */
export function camelCase(name: string): string {
  const words = name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
  return words.map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
}

/**
 * The name of a table's model: its last word in the singular, in camel case. `order_details` → `orderDetail`
 *
 * - `-ies` after at least two letters becomes `-y` (categories), else it loses its `s` (ties)
 * - `-sses`, `-shes`, `-ches`, `-xes` and `-zes` lose `es` (addresses, boxes)
 * - `-ss`, `-us` and `-is` stay (address, status, analysis)
 * - otherwise it loses its `s` (slides), if it has one
 */
export const modelNameOf = (table: string): string => singular(camelCase(table));

function singular(name: string): string {
  if (/[A-Za-z]{2}ies$/.test(name)) return name.replace(/ies$/, "y");
  if (/(ss|sh|ch|x|z)es$/.test(name)) return name.replace(/es$/, "");
  return /(ss|us|is)$/.test(name) ? name : name.replace(/(?<=.)s$/, "");
}
