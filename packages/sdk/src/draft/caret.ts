/**
 * Where the caret is in the focused text, if that is this text. Returns a function that puts it at the same place of
 * the text's next version: a browser moves it to the end when the value is set.
 */
export function caretIn(text: string): ((next: string) => void) | undefined {
  if (typeof document === "undefined") return undefined;
  const input = document.activeElement;
  if (!(input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement) || input.value !== text)
    return undefined;
  const { selectionStart: start, selectionEnd: end, selectionDirection: direction } = input;
  // An input for numbers or emails has no selection.
  if (start === null || end === null) return undefined;
  return (next) => {
    if (input.value !== next) return;
    input.setSelectionRange(placeIn(text, next, start), placeIn(text, next, end), direction ?? undefined);
  };
}

/** The place in the next version of a text: what is before or behind all changes keeps its neighbours. */
export function placeIn(text: string, next: string, at: number): number {
  const most = Math.min(text.length, next.length);
  let start = 0;
  while (start < most && text[start] === next[start]) start += 1;
  if (at <= start) return at;
  let end = 0;
  while (end < most - start && text[text.length - 1 - end] === next[next.length - 1 - end]) end += 1;
  return Math.max(start, next.length - Math.min(end, text.length - at));
}
