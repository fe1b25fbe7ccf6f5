/** Longer than this is a paragraph, which belongs on a page. */
const LONGEST = 360;

/** Why a message is not one that people read easily. */
export const judgeMessage = (text: string): string[] => [
  ...(/^(None|What|Of which|Which|Whatever)\b/.test(text) ? ["begins with a word that stands for another"] : []),
  ...(/\b(please|oops|sorry|invalid input|something went wrong)\b/i.test(text) ? ["says nothing that helps"] : []),
  ...(text.length > LONGEST ? [`has ${text.length} characters (up to ${LONGEST})`] : []),
];
