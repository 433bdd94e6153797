// Upper limit of throughput: plain node:http. With SIZE, it returns a constant body of that many bytes; without SIZE, it
// parses the request's JSON and serialises it again.
import { createServer } from 'node:http';

const { PORT, SIZE } = process.env;
const TYPE = 'application/json; charset=utf-8';
const body = 'x'.repeat(Number(SIZE ?? 0));

const constant = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': body.length });
  response.end(body, 'latin1');
});

const echo = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const sent = Buffer.concat(parts).toString('utf8');
    const text = sent === '' ? '' : JSON.stringify(JSON.parse(sent));
    response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  });
});

(SIZE === undefined ? echo : constant).listen(Number(PORT), '127.0.0.1');
