const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INTEGER = /^(0|-?[1-9]\d{0,18})$/;
const BITS: Readonly<Record<string, bigint>> = { smallint: 16n, integer: 32n, bigint: 64n };

/** Whether an id is a key of this SQL type, in the form in which Postgres writes it. */
export function isKeyOf(type: string, id: string): boolean {
  if (type === "uuid") return UUID.test(id);
  const [, most] = /^character varying\((\d+)\)$/.exec(type) ?? [];
  if (most !== undefined) return [...id].length <= Number(most);
  const bits = BITS[type];
  return bits === undefined || (INTEGER.test(id) && BigInt.asIntN(Number(bits), BigInt(id)) === BigInt(id));
}
