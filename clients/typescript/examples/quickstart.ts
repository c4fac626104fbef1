// The first ten lines: a command, its live output, cancelling, a stored output.
import { AbortError, Shell } from "../src/index.js";

await using sh = await Shell.open();
console.log((await sh.run("echo hello; exit 3")).status);
for await (const event of sh.stream("for i in 1 2 3; do echo $i; sleep 0.1; done")) {
  console.log(event.type, event.type === "delta" ? event.text.trim() : event.result.status);
}
try {
  await sh.run("echo so far; sleep 600", { signal: AbortSignal.timeout(1000) });
} catch (error) {
  if (error instanceof AbortError) console.log("cancelled:", error.result?.text);
}
const result = await sh.run("seq 100000");
console.log((await sh.artifact(result.artifacts[0]!.id).grep("^99999$")).text);
