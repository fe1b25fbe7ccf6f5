import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startProgram } from "../stage/processes.ts";

/** As an operator does it. */
export async function attach(databaseUrl: string, organization = "", table = ""): Promise<void> {
  const program = new URL("../../../packages/server/dist/holdfast.js", import.meta.url);
  const child = startProgram(program, ["tables", "attach", table, "--yes", "--org", organization], {
    DATABASE_URL: databaseUrl,
  });
  child.stdout?.pipe(process.stderr);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${fileURLToPath(program)} tables attach ended with ${code}.`);
}
