/* scripts.c - Lua for Redis and Valkey from version 5 on. Time is the server's, so
 * workers' clocks need not agree. */
#include "scripts.h"

#define NOW                                                                            \
    "local p = KEYS[1]\n"                                                              \
    "local t = redis.call('TIME')\n"                                                   \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* A worker's unfinished addresses go back to the head of the queue, in their order. */
#define GIVE_BACK                                                                      \
    "local function give_back(o)\n"                                                    \
    "  local items = redis.call('LRANGE', p .. 'w:' .. o, 0, -1)\n"                    \
    "  for i = #items, 1, -1 do redis.call('LPUSH', p .. 'q:' .. o, items[i]) end\n"   \
    "  redis.call('DEL', p .. 'w:' .. o)\n"                                            \
    "  redis.call('ZREM', p .. 'lease', o)\n"                                          \
    "  redis.call('HDEL', p .. 'owner', o)\n"                                          \
    "end\n"

/* Bitmaps grow by layers: each twice as large and with half the error of the one
 * before, so that the whole stays below the error asked for. */
#define IS_NEW                                                                         \
    "local mode, cap, err = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])\n"           \
    "local function shape(i)\n"                                                        \
    "  local n = math.min(cap * 2 ^ i, 1.2e8)\n"                                       \
    "  local m = math.ceil(-n * math.log(err * 0.5 ^ (i + 1)) / 0.4804530139182014)\n" \
    "  return n, m, math.max(1, math.floor(m / n * 0.6931471805599453 + 0.5))\n"       \
    "end\n"                                                                            \
    "local function bits(i, op, a, b)\n"                                               \
    "  local n, m, k = shape(i)\n"                                                     \
    "  local args = {}\n"                                                              \
    "  for j = 0, k - 1 do\n"                                                          \
    "    local at = string.format('%.0f', (a + j * b) % m)\n"                          \
    "    args[#args + 1] = op; args[#args + 1] = 'u1'; args[#args + 1] = at\n"         \
    "    if op == 'SET' then args[#args + 1] = 1 end\n"                                \
    "  end\n"                                                                          \
    "  local old = redis.call('BITFIELD', p .. 'bits:' .. i, unpack(args))\n"          \
    "  for j = 1, k do if old[j] == 0 then return false, n end end\n"                  \
    "  return true, n\n"                                                               \
    "end\n"                                                                            \
    "local function is_new(f)\n"                                                       \
    "  if mode == 'set' then return redis.call('SADD', p .. 'set', f) == 1 end\n"      \
    "  if mode == 'module' then\n"                                                     \
    "    return redis.call('BF.INSERT', p .. 'bf', 'CAPACITY', cap, 'ERROR', err,\n"   \
    "                      'ITEMS', f)[1] == 1\n"                                      \
    "  end\n"                                                                          \
    "  local a, b = struct.unpack('<I4I4', f)\n"                                       \
    "  if b % 2 == 0 then b = b + 1 end\n"                                             \
    "  local top = tonumber(redis.call('HGET', p .. 'n', 'top') or 0)\n"               \
    "  for i = 0, top - 1 do if bits(i, 'GET', a, b) then return false end end\n"      \
    "  local there, n = bits(top, 'SET', a, b)\n"                                      \
    "  if there then return false end\n"                                               \
    "  if redis.call('HINCRBY', p .. 'n', 'layer:' .. top, 1) >= n then\n"             \
    "    redis.call('HINCRBY', p .. 'n', 'top', 1)\n"                                  \
    "  end\n"                                                                          \
    "  return true\n"                                                                  \
    "end\n"

const char *const script_text[SCRIPTS] = {
    [SCRIPT_PUSH] = NOW IS_NEW
    "local found = 0\n"
    "for i = 4, #ARGV, 3 do\n"
    "  local o = ARGV[i]\n"
    "  if is_new(ARGV[i + 2]) then\n"
    "    found = found + 1\n"
    "    redis.call('RPUSH', p .. 'q:' .. o, ARGV[i + 1])\n"
    "    if not redis.call('ZSCORE', p .. 'lease', o) and\n"
    "       not redis.call('ZSCORE', p .. 'ready', o) then\n"
    "      local rest = tonumber(redis.call('HGET', p .. 'rest', o) or 0)\n"
    "      redis.call('ZADD', p .. 'ready', math.max(now, rest), o)\n"
    "    end\n"
    "  end\n"
    "end\n"
    "if found > 0 then redis.call('HINCRBY', p .. 'n', 'found', found) end\n"
    "return found\n",

    [SCRIPT_CLAIM] = NOW GIVE_BACK
    "local late = redis.call('ZRANGEBYSCORE', p .. 'lease', '-inf', now, 'LIMIT', 0, "
    "100)\n"
    "for _, o in ipairs(late) do\n"
    "  give_back(o)\n"
    "  if redis.call('EXISTS', p .. 'q:' .. o) == 1 then\n"
    "    redis.call('ZADD', p .. 'ready', now, o)\n"
    "  end\n"
    "end\n"
    "local out = {}\n"
    "local hosts = redis.call('ZRANGEBYSCORE', p .. 'ready', '-inf', now, 'LIMIT', 0, "
    "ARGV[3])\n"
    "for _, o in ipairs(hosts) do\n"
    "  local row = { o }\n"
    "  local items = redis.call('LRANGE', p .. 'q:' .. o, 0, ARGV[4] - 1)\n"
    "  redis.call('LTRIM', p .. 'q:' .. o, #items, -1)\n"
    "  redis.call('ZREM', p .. 'ready', o)\n"
    "  redis.call('HDEL', p .. 'rest', o)\n"
    "  for i = 1, #items do\n"
    "    redis.call('RPUSH', p .. 'w:' .. o, items[i])\n"
    "    row[i + 1] = items[i]\n"
    "  end\n"
    "  if #items > 0 then\n"
    "    redis.call('ZADD', p .. 'lease', now + ARGV[2], o)\n"
    "    redis.call('HSET', p .. 'owner', o, ARGV[1])\n"
    "    out[#out + 1] = row\n"
    "  end\n"
    "end\n"
    "return out\n",

    /* Returns the pages that no longer belonged to the worker. Its last answer is
     * stored: a batch that is sent again because no answer came must not be refused. */
    [SCRIPT_DONE] = NOW
    "local refused = {}\n"
    "local last = redis.call('HGET', p .. 'answer', ARGV[1])\n"
    "if last and string.match(last, '^%d+') == ARGV[3] then\n"
    "  for i in string.gmatch(last, ' (%d+)') do refused[#refused + 1] = i + 0 end\n"
    "  return refused\n"
    "end\n"
    "for i = 4, #ARGV, 2 do\n"
    "  local o, n = ARGV[i], 0\n"
    "  if redis.call('HGET', p .. 'owner', o) == ARGV[1] then\n"
    "    n = redis.call('LREM', p .. 'w:' .. o, 1, ARGV[i + 1])\n"
    "    redis.call('ZADD', p .. 'lease', now + ARGV[2], o)\n"
    "  end\n"
    "  if n > 0 then\n"
    "    redis.call('HINCRBY', p .. 'n', 'done', n)\n"
    "  else\n"
    "    refused[#refused + 1] = (i - 4) / 2\n"
    "  end\n"
    "end\n"
    "local list = ARGV[3]\n"
    "for _, i in ipairs(refused) do list = list .. ' ' .. i end\n"
    "redis.call('HSET', p .. 'answer', ARGV[1], list)\n"
    "return refused\n",

    [SCRIPT_RELEASE] =
        NOW GIVE_BACK "for i = 2, #ARGV, 2 do\n"
                      "  local o = ARGV[i]\n"
                      "  if redis.call('HGET', p .. 'owner', o) == ARGV[1] then\n"
                      "    give_back(o)\n"
                      "    local at = now + ARGV[i + 1]\n"
                      "    if redis.call('EXISTS', p .. 'q:' .. o) == 1 then\n"
                      "      redis.call('ZADD', p .. 'ready', at, o)\n"
                      "    elseif at > now then\n"
                      "      redis.call('HSET', p .. 'rest', o, at)\n"
                      "    end\n"
                      "  end\n"
                      "end\n"
                      "return 1\n",

    [SCRIPT_RENEW] = NOW
    "local out = {}\n"
    "for i = 3, #ARGV do\n"
    "  local mine = redis.call('HGET', p .. 'owner', ARGV[i]) == ARGV[1]\n"
    "  if mine then redis.call('ZADD', p .. 'lease', now + ARGV[2], ARGV[i]) end\n"
    "  out[i - 2] = mine and 1 or 0\n"
    "end\n"
    "return out\n",

    [SCRIPT_STATUS] =
        "local p = KEYS[1]\n"
        "local bytes = 0\n"
        "local top = tonumber(redis.call('HGET', p .. 'n', 'top') or 0)\n"
        "for i = 0, top do bytes = bytes + redis.call('STRLEN', p .. 'bits:' .. i) "
        "end\n"
        "if redis.call('EXISTS', p .. 'set') == 1 then\n"
        "  bytes = redis.call('MEMORY', 'USAGE', p .. 'set')\n"
        "elseif redis.call('EXISTS', p .. 'bf') == 1 then\n"
        "  bytes = redis.call('MEMORY', 'USAGE', p .. 'bf')\n"
        "end\n"
        "return { redis.call('ZCARD', p .. 'ready'), redis.call('ZCARD', p .. "
        "'lease'),\n"
        "         tonumber(redis.call('HGET', p .. 'n', 'found') or 0),\n"
        "         tonumber(redis.call('HGET', p .. 'n', 'done') or 0), bytes }\n",
};
