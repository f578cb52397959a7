-- What a question is asked of: a position as it stands, the readings in force, and a unit in it.
--
-- Each is one composite. A function takes them whole instead of position, conditions, policy and
-- the dozen facts of a counter.

drop type if exists positions.state cascade;
create type positions.state as (
  position_id bigint,
  map_id bigint,
  ruleset text,
  conditions jsonb,
  readings jsonb
);

comment on type positions.state is
'A position as a question sees it: on which map, under which conditions, its contested points read how.';

create or replace function positions.state(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof positions.state
language sql stable parallel safe rows 1
as $$
  select
    position.id,
    position.map_id,
    position.ruleset,
    coalesce(state.conditions, position.conditions),
    ruleset.presets || coalesce(state.policy, position.policy)
  from public.position
  inner join public.ruleset on ruleset.code = position.ruleset
  where position.id = state.position_id
$$;

comment on function positions.state(bigint, jsonb, jsonb) is
'A position with its own conditions and policy, or with those given in their place.';

create or replace function positions.readings(position_id bigint, policy jsonb default null)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return (select state.readings from positions.state(readings.position_id, null, readings.policy) as state);
end
$$;

comment on function positions.readings(bigint, jsonb) is
'The readings in force, by contested point: the policy given, else the position''s own; beyond it the defaults.';

drop type if exists positions.counter cascade;
create type positions.counter as (
  position_id bigint,
  map_id bigint,
  id bigint,
  code text,
  side text,
  kind text,
  q integer,
  r integer,
  label text,
  attributes jsonb
);

comment on type positions.counter is
'A unit of a position, with the label of its hex; hex and label are null off the map.';

create or replace function positions.counter(position_id bigint, unit text)
returns setof positions.counter
language sql stable parallel safe rows 1
as $$
  select
    found.position_id,
    found.map_id,
    found.id,
    found.code,
    found.side,
    found.kind,
    found.q,
    found.r,
    hex.label,
    found.attributes
  from public.unit as found
  left join public.hex on hex.map_id = found.map_id and hex.q = found.q and hex.r = found.r
  where found.position_id = counter.position_id
    and found.code = counter.unit
$$;

comment on function positions.counter(bigint, text) is
'The unit of that id; no row where the position has none.';

create or replace function positions._asked_counter(position_id bigint, unit text)
returns positions.counter
language plpgsql stable parallel safe
as $$
declare
  asked positions.counter;
begin
  select * into asked from positions.counter(_asked_counter.position_id, _asked_counter.unit);
  if not found then
    raise exception 'there is no unit % in this position', _asked_counter.unit using errcode = 'no_data_found';
  end if;
  return asked;
end
$$;

comment on function positions._asked_counter(bigint, text) is
'The unit that was asked about, or an error that says that there is none.';
