/** A text of 100 kB whose words repeat seldom. */
export function longText(seed: number): string {
  let [state, words] = [seed, ""];
  while (words.length < 100_000) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    words += `w${state % 3_000} `;
  }
  return words;
}
