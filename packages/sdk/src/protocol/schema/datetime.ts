const RFC3339 =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * A date-time of RFC 3339 from year 1 to 9999, on a day that exists. Leap seconds and lower-case letters are not taken.
 */
export function isDateTime(text: string): boolean {
  if (!RFC3339.test(text)) return false;
  const day = Number(text.slice(8, 10));
  // Of a day that does not exist, some engines make one of the next month, others none.
  return day < 29 || new Date(text.slice(0, 10)).getUTCDate() === day;
}
