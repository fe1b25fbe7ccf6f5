import { connectTo } from "../../kernel/connection/connection.ts";
import { session } from "../../kernel/connection/pool.ts";

// Connects to databases as the server does, in a process with its own certificates. Prints one line for each.
for (const url of process.argv.slice(2)) {
  const said = await connectTo(url, session).then(
    (client) => client.end().then(() => "connected"),
    (error: Error) => error.message,
  );
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
