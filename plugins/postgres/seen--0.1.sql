-- seen--0.1.sql - the extension seen: CREATE EXTENSION seen;
\echo Use "CREATE EXTENSION seen" to load this file. \quit

-- A filter: the bytes of a native filter file, checked on input.
CREATE TYPE seen;
CREATE FUNCTION seen_in(cstring) RETURNS seen
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_out(seen) RETURNS cstring
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_recv(internal) RETURNS seen
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_send(seen) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
-- External: the bits of a filter do not compress, and a plain value is read faster.
CREATE TYPE seen (INPUT = seen_in, OUTPUT = seen_out, RECEIVE = seen_recv, SEND = seen_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external);
CREATE FUNCTION seen_from_bytea(bytea) RETURNS seen
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS seen) WITH FUNCTION seen_from_bytea(bytea);
CREATE CAST (seen AS bytea) WITHOUT FUNCTION;

-- Asking. The versions for text are for literals, whose type is otherwise unknown.
CREATE FUNCTION seen_has(filter seen, key anyelement) RETURNS boolean
    AS 'MODULE_PATHNAME', 'seen_pg_has' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION seen_has(filter seen, key text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'seen_pg_has' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE OPERATOR @> (LEFTARG = seen, RIGHTARG = anyelement, FUNCTION = seen_has);
CREATE OPERATOR @> (LEFTARG = seen, RIGHTARG = text, FUNCTION = seen_has);
CREATE FUNCTION seen_info(filter seen) RETURNS json
    AS 'MODULE_PATHNAME', 'seen_pg_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Files of the server, for members of pg_read_server_files.
CREATE FUNCTION seen_file(path text) RETURNS seen
    AS 'MODULE_PATHNAME', 'seen_pg_file' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_file_has(path text, key anyelement) RETURNS boolean
    AS 'MODULE_PATHNAME', 'seen_pg_file_has' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION seen_file_has(path text, key text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'seen_pg_file_has' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;

-- Building: seen_build(key [, error [, keys]]).
CREATE FUNCTION seen_build_step(internal, anyelement) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_build_step(internal, anyelement, double precision) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_build_step(internal, anyelement, double precision, bigint) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_build_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_build_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_build_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_build_final(internal) RETURNS seen
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE seen_build(anyelement) (
    SFUNC = seen_build_step, STYPE = internal, FINALFUNC = seen_build_final,
    COMBINEFUNC = seen_build_combine, SERIALFUNC = seen_build_serialize,
    DESERIALFUNC = seen_build_deserialize, PARALLEL = SAFE);
CREATE AGGREGATE seen_build(anyelement, double precision) (
    SFUNC = seen_build_step, STYPE = internal, FINALFUNC = seen_build_final,
    COMBINEFUNC = seen_build_combine, SERIALFUNC = seen_build_serialize,
    DESERIALFUNC = seen_build_deserialize, PARALLEL = SAFE);
CREATE AGGREGATE seen_build(anyelement, double precision, bigint) (
    SFUNC = seen_build_step, STYPE = internal, FINALFUNC = seen_build_final,
    COMBINEFUNC = seen_build_combine, SERIALFUNC = seen_build_serialize,
    DESERIALFUNC = seen_build_deserialize, PARALLEL = SAFE);

-- The union of filters of one size.
CREATE FUNCTION seen_merge_step(internal, seen) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_merge_final(internal) RETURNS seen
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE seen_merge(seen) (
    SFUNC = seen_merge_step, STYPE = internal, FINALFUNC = seen_merge_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);

-- How many different keys, with a standard error of 0.8%.
CREATE FUNCTION seen_distinct_step(internal, anyelement) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_distinct_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION seen_distinct_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_distinct_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION seen_distinct_final(internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE seen_distinct(anyelement) (
    SFUNC = seen_distinct_step, STYPE = internal, FINALFUNC = seen_distinct_final,
    COMBINEFUNC = seen_distinct_combine, SERIALFUNC = seen_distinct_serialize,
    DESERIALFUNC = seen_distinct_deserialize, PARALLEL = SAFE);
