-- Sends the requests of a file in turn, all formatted before the clock starts. Prints one line of JSON at the end.
-- With BENCH_KEY a line is a path; without it, a key, a tab and a body whose ########## becomes a number used once.
local heads, tails = {}, {}
local count, at, serial = 0, 0, 0

function init()
  local key = os.getenv("BENCH_KEY")
  serial = tonumber(os.getenv("BENCH_FROM"))
  for line in io.lines(os.getenv("BENCH_REQUESTS")) do
    count = count + 1
    if key then
      heads[count] = wrk.format("GET", line, { ["X-API-Key"] = key })
    else
      local tab = line:find("\t", 1, true)
      local headers = { ["X-API-Key"] = line:sub(1, tab - 1), ["Content-Type"] = "application/json" }
      local text = wrk.format("POST", "/v1/events", headers, line:sub(tab + 1))
      local first, last = text:find("##########", 1, true)
      heads[count], tails[count] = text:sub(1, first - 1), text:sub(last + 1)
    end
  end
  at = serial % count
end

function request()
  at = at % count + 1
  local tail = tails[at]
  if not tail then return heads[at] end
  serial = serial + 1
  return heads[at] .. string.format("%010d", serial) .. tail
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
