/* shared_scripts.c - the scripts themselves; shared_scripts.h has what they keep. */
#include "shared_scripts.h"

#define NOW                                                                            \
    "local S = KEYS[1] "                                                               \
    "local function now() local t = redis.call('TIME') "                               \
    "return t[1] * 1000 + math.floor(t[2] / 1000) end "

/* The tokens of a mark but TOKEN. A minute after their deadline they become one, of
 * owner 0; after an hour more that one is forgotten, if FORGET. */
#define TOKENS                                                                         \
    "local function tokens(was, t, token, forget) local out, doubt = '', 0 "           \
    "for who, at in string.gmatch(was or '', '(%w+)@(%d+);') do at = tonumber(at) "    \
    "if who ~= token then if at + 60000 >= t then out = out .. who .. '@' .. at .. "   \
    "';' "                                                                             \
    "elseif at > doubt then doubt = at end end end "                                   \
    "if doubt > 0 and not (forget and doubt + 3600000 < t) then "                      \
    "out = out .. '0@' .. string.format('%.0f', doubt) .. ';' end return out end "

const char *const sn_shared_script[SHARED_SCRIPTS] = {
    /* run, tag, secret, epoch, rep, e, l */
    [SCRIPT_STATE] = NOW
    "local f = redis.call('HMGET', S, 'srv', 'live', 'next', 'rep', 'e', 'l') "
    "local t = now() "
    "if not f[1] then "
    "redis.call('HSET', S, 'srv', ARGV[1], 'tag', ARGV[2], 'secret', ARGV[3], 'epoch', "
    "ARGV[4], 'born', t, 'live', '', 'next', '', 'fl', '', 'fn', '', 'why', 'loading', "
    "'susp', 0, 'gen', 0, 'built', 0, 'added', 0, 'deleted', 0, 'cap', 0, 'rep', 0, "
    "'e', 0, 'l', 0, 'until', 0, 'lock', '', 'lockt', 0, 'touched', '', 'conf', 0) "
    "elseif f[1] ~= ARGV[1] then "
    "for i = 2, 3 do if f[i] and f[i] ~= '' then "
    "redis.call('UNLINK', S .. ':bits:' .. f[i]) end end "
    "redis.call('HSET', S, 'srv', ARGV[1], 'epoch', ARGV[4], 'born', t, 'live', '', "
    "'next', '', 'why', 'lost', 'until', 0, 'lock', '', 'lockt', 0, 'conf', 0) end "
    "for i, name in ipairs({'rep', 'e', 'l'}) do "
    "if tonumber(redis.call('HGET', S, name)) < tonumber(ARGV[4 + i]) then "
    "redis.call('HSET', S, name, ARGV[4 + i]) end end "
    "local r = redis.call('HMGET', S, 'srv', 'tag', 'seed', 'epoch', 'live', 'fl', "
    "'next', 'fn', 'why', 'susp', 'gen', 'built', 'added', 'deleted', 'cap', 'rep', "
    "'until') "
    "r[3] = r[3] or redis.call('HGET', S, 'secret') "
    "r[17] = r[16] == '0' and '1' or string.format('%.0f', math.max(0, r[17] - t)) "
    "r[18] = tostring(redis.call('HLEN', S) - 24) return r",

    /* bits, entry; run, live, epoch, mark, ask the filter, bytes, lease, its ms, bits
     */
    [SCRIPT_ASK] = NOW
    "local f = redis.call('HMGET', S, 'srv', 'live', 'epoch', 'rep', 'until', 'born', "
    "'l', ARGV[4]) "
    "if f[1] ~= ARGV[1] or f[2] ~= ARGV[2] or f[3] ~= ARGV[3] then return {'S'} end "
    "local t, v = now(), 'O' "
    "local sure = f[4] == '0' or t < tonumber(f[5]) "
    "if f[2] ~= '' and ARGV[5] == '1' and sure then "
    "if redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[6]) then "
    "redis.call('HSET', S, 'live', '', 'why', 'lost') return {'S'} end "
    "for i = 9, #ARGV do "
    "if redis.call('GETBIT', KEYS[2], ARGV[i]) == 0 then return {'R'} end end "
    "v = 'M' end "
    "if f[8] or not sure or t < tonumber(f[6]) + tonumber(f[7]) then return {v, 'P'} "
    "end local e = redis.call('GET', KEYS[3]) if e then return {v, 'E', e} end "
    "redis.call('SET', KEYS[3], ARGV[7], 'PX', ARGV[8]) return {v, 'F'}",

    /* entry (as KEYS[1]); lease, text or '' to remove it, ms */
    [SCRIPT_FILL] =
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'G'} end "
        "if ARGV[2] == '' then redis.call('UNLINK', KEYS[1]) else "
        "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end return {'K'}",

    /* bits live, bits next; run, live, next, epoch, token, bytes live, bytes next,
     * probes live, probes next, keys; for each: mark, bits live, bits next */
    [SCRIPT_BEGIN] = NOW TOKENS
    "local f = redis.call('HMGET', S, 'srv', 'live', 'next', 'born', 'rep', 'e', 'l', "
    "'conf', 'epoch') "
    "if f[1] ~= ARGV[1] or f[2] ~= ARGV[2] or f[3] ~= ARGV[3] or "
    "f[9] ~= ARGV[4] then return {'S'} end "
    "local t, p, added = now(), 11, 0 "
    "if f[5] ~= '0' and f[8] == '0' then return {'C'} end "
    "local wait = tonumber(f[4]) + tonumber(f[6]) - t "
    "if f[5] ~= '0' and wait > 0 then return {'W', string.format('%.0f', wait)} end "
    "if f[2] ~= '' and redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[6]) then "
    "redis.call('HSET', S, 'live', '', 'why', 'lost') return {'S'} end "
    "if f[3] ~= '' and redis.call('STRLEN', KEYS[3]) ~= tonumber(ARGV[7]) then "
    "redis.call('HSET', S, 'next', '') return {'S'} end "
    "local mine = ARGV[5] .. '@' .. string.format('%.0f', t + tonumber(f[7])) .. ';' "
    "for i = 1, tonumber(ARGV[10]) do local m, new = ARGV[p], 0 p = p + 1 "
    "redis.call('HSET', S, m, tokens(redis.call('HGET', S, m), t, ARGV[5]) .. mine) "
    "for j = 1, tonumber(ARGV[8]) do "
    "if redis.call('SETBIT', KEYS[2], ARGV[p], 1) == 0 then new = 1 end p = p + 1 end "
    "for j = 1, tonumber(ARGV[9]) do "
    "redis.call('SETBIT', KEYS[3], ARGV[p], 1) p = p + 1 end "
    "added = added + new end "
    "if added > 0 then redis.call('HINCRBY', S, 'added', added) end return {'K'}",

    /* token, outcome, deleted, keys; for each: mark, key */
    [SCRIPT_END] = NOW TOKENS
    "local epoch = redis.call('HGET', S, 'epoch') if not epoch then return {'K'} end "
    "local t = now() "
    "for i = 1, tonumber(ARGV[4]) do local m, key = ARGV[3 + 2 * i], ARGV[4 + 2 * i] "
    "if ARGV[2] == 'committed' then "
    "redis.call('UNLINK', S .. ':c:' .. epoch .. ':' .. key) end "
    "if ARGV[2] ~= 'unknown' then local was = redis.call('HGET', S, m) "
    "if was then local left = tokens(was, t, ARGV[1]) "
    "if left == '' then redis.call('HDEL', S, m) "
    "else redis.call('HSET', S, m, left) end end end end "
    "redis.call('HINCRBY', S, 'deleted', ARGV[3]) return {'K'}",

    /* run, token, id, epoch, bytes, shape, asked, ms */
    [SCRIPT_ANNOUNCE] = NOW
    "local f = redis.call('HMGET', S, 'srv', 'lock', 'lockt', 'susp', 'born', 'l', "
    "'next', 'deleted', 'rep', 'conf', 'epoch') "
    "if f[1] ~= ARGV[1] or f[11] ~= ARGV[4] then return {'S'} end local t = now() "
    "if f[2] ~= '' and f[2] ~= ARGV[2] and t < tonumber(f[3]) then return {'B'} end "
    "if f[4] == '1' and ARGV[7] == '0' then return {'N'} end "
    "local wait = tonumber(f[5]) + tonumber(f[6]) - t "
    "if f[9] ~= '0' and f[10] == '0' then wait = 200 end "
    "if wait > 0 then return {'W', string.format('%.0f', wait)} end "
    "if f[7] ~= '' then redis.call('UNLINK', S .. ':bits:' .. f[7]) end "
    "redis.call('SETRANGE', S .. ':bits:' .. ARGV[3], ARGV[5] - 1, string.char(1)) "
    "redis.call('HSET', S, 'next', ARGV[3], 'fn', ARGV[6], 'lock', ARGV[2], 'lockt', "
    "t + ARGV[8], 'susp', 0) "
    "local r = {'K', f[8]} "
    "for _, m in ipairs(redis.call('HKEYS', S)) do "
    "if #m == 17 then r[#r + 1] = string.sub(m, 2) end end return r",

    /* run, token, id, ms; 0: gives the build up */
    [SCRIPT_RENEW] = NOW
    "local f = redis.call('HMGET', S, 'srv', 'lock', 'next') "
    "if f[1] ~= ARGV[1] or f[2] ~= ARGV[2] or f[3] ~= ARGV[3] then return {'G'} end "
    "if ARGV[4] == '0' then redis.call('UNLINK', S .. ':bits:' .. f[3], S .. ':part:' "
    ".. f[3]) redis.call('HSET', S, 'next', '', 'fn', '', 'lock', '') return {'K'} end "
    "redis.call('HSET', S, 'lockt', now() + ARGV[4]) return {'K'}",

    /* run, token, id, bytes, built, room, deleted */
    [SCRIPT_PUBLISH] = NOW TOKENS
    "local f = redis.call('HMGET', S, 'srv', 'lock', 'next', 'live', 'fn') "
    "if f[1] ~= ARGV[1] or f[2] ~= ARGV[2] or f[3] ~= ARGV[3] then return {'G'} end "
    "local bits, part = S .. ':bits:' .. f[3], S .. ':part:' .. f[3] "
    "if redis.call('STRLEN', bits) ~= tonumber(ARGV[4]) or "
    "redis.call('STRLEN', part) ~= tonumber(ARGV[4]) then "
    "redis.call('HSET', S, 'next', '') return {'G'} end "
    "redis.call('BITOP', 'OR', bits, bits, part) redis.call('UNLINK', part) "
    "if f[4] ~= '' then redis.call('UNLINK', S .. ':bits:' .. f[4]) end "
    "redis.call('HSET', S, 'live', f[3], 'fl', f[5], 'next', '', 'fn', '', 'built', "
    "ARGV[5], 'added', 0, 'cap', ARGV[6], 'lock', '') "
    "redis.call('HINCRBY', S, 'deleted', 0 - ARGV[7]) redis.call('HINCRBY', S, 'gen', "
    "1) local t = now() "
    "for _, m in ipairs(redis.call('HKEYS', S)) do if #m == 17 then "
    "local left = tokens(redis.call('HGET', S, m), t, '', true) "
    "if left == '' then redis.call('HDEL', S, m) "
    "else redis.call('HSET', S, m, left) end end end return {'K'}",

    /* run */
    [SCRIPT_SUSPEND] =
        "local S = KEYS[1] local f = redis.call('HMGET', S, 'srv', 'live', 'next') "
        "if f[1] ~= ARGV[1] then return {'S'} end "
        "for i = 2, 3 do if f[i] ~= '' then "
        "redis.call('UNLINK', S .. ':bits:' .. f[i]) end end "
        "redis.call('HSET', S, 'susp', 1, 'live', '', 'next', '') return {'K'}",

    /* run, something new */
    [SCRIPT_TOUCH] = NOW
    "if redis.call('HGET', S, 'srv') ~= ARGV[1] then return {'S'} end "
    "redis.call('HSET', S, 'touched', ARGV[2]) return {'K', string.format('%.0f', "
    "now())}",

    /* run, the time that TOUCH gave */
    [SCRIPT_ENFORCE] =
        NOW "local f = redis.call('HMGET', S, 'srv', 'e', 'until', 'conf') "
            "if f[1] ~= ARGV[1] then return {'S'} end "
            "if f[4] == '0' then redis.call('HSET', S, 'conf', 1, 'born', now()) end "
            "local to = tonumber(ARGV[2]) + tonumber(f[2]) "
            "if to > tonumber(f[3]) then redis.call('HSET', S, 'until', to) end "
            "return {'K'}"};
