// Loaded into the server before it starts. A demo that is killed cannot stop its server; the server notices that the
// line between them is cut, and stops as if it had been told to.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
