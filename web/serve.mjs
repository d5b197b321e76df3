// serve.mjs - one file at http://127.0.0.1:PORT/, for browsers that cannot open files.
//
//   node web/serve.mjs PAGE [PORT]     a free port is chosen if it is 0 or not given
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [page, port = "0"] = process.argv.slice(2);
const server = createServer((request, response) => {
  if (request.method !== "GET" || new URL(request.url, "http://x/").pathname !== "/") {
    response.writeHead(404, { "Content-Type": "text/plain" }).end("Only / is here.\n");
    return;
  }
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" }).end(readFileSync(page));
});
server.on("error", (e) => {
  console.error(`page: cannot serve on port ${port}: ${e.message}; give another port, or none`);
  process.exit(2);
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
