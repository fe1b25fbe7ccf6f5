/** What the values of a column are. */
export type Kind = "text" | "number" | "boolean" | "datetime" | "json";

/** The value of a field, for a statement. Undefined: the column has no such values. */
export function toSql(kind: Kind, value: unknown): string | number | null | undefined {
  if (value === null) return null;
  switch (kind) {
    case "text":
      return typeof value === "string" ? value : undefined;
    case "number":
      return typeof value === "number" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? Number(value) : undefined;
    case "datetime": {
      const at = new Date(String(value));
      return Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace("T", " ").replace("Z", "");
    }
    case "json":
      return JSON.stringify(value);
  }
}

/** The value of a column, for a record. */
export function fromSql(kind: Kind, value: unknown): unknown {
  if (value === null) return null;
  switch (kind) {
    case "text":
      return String(value);
    case "number":
      return Number(value);
    case "boolean":
      return Number(value) !== 0;
    case "datetime":
      return `${String(value).replace(" ", "T")}Z`;
    case "json":
      return JSON.parse(String(value));
  }
}
