// Loaded into a program before it starts. A parent that is killed cannot stop its child; the child notices that the
// line between them is cut, and stops as if it had been told to.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
