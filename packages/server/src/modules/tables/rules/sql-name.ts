/** As `%I` writes it, but for words that SQL reserves. */
export const sqlNameOf = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
