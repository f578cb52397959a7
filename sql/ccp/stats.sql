-- needs: positions/state.sql, rulings/step.sql
-- What changes the numbers of a ccp counter where it stands: 3.1, 3.3.1.2, 4.1.2, 4.2.2, 19.1, F107.
--
-- Movement, fire and stacking all begin here: who commands in a unit's hex, what veteran and
-- suppressed markers change, whether wire or a melee is there.

drop type if exists ccp.stat cascade;
create type ccp.stat as (
  id bigint,
  code text,
  side text,
  kind text,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  attributes jsonb,
  follows boolean,
  command integer,
  led integer,
  untold text,
  broken_leader text,
  broken_command integer,
  status integer,
  wire boolean,
  melee boolean
);

comment on type ccp.stat is
'A unit on the map with what changes its numbers where it stands.';
comment on column ccp.stat.follows is 'Whether it is a squad or team, which leaders in its hex improve';
comment on column ccp.stat.command is 'The command number that it has itself; null where it has none or none is told';
comment on column ccp.stat.led is 'What leaders in its hex add to it';
comment on column ccp.stat.untold is 'The leader in its hex whose command number is not told';
comment on column ccp.stat.broken_leader is 'The broken leader in its hex; broken_command: what the counters of such leaders say';
comment on column ccp.stat.status is 'Veteran and suppressed together';

drop type if exists ccp.stat_step cascade;
create type ccp.stat_step as (
  n integer,
  code text,
  rule text,
  effect text,
  note text,
  point text
);

comment on type ccp.stat_step is
'A rule that speaks on a hex or on a unit in it, in order of n.';

create or replace function ccp._is_water(terrain text)
returns boolean
language sql immutable parallel safe
return terrain in ('stream', 'swamp', 'water_barrier');

comment on function ccp._is_water(text) is
'Whether a hex of this terrain is water: no weapon fires from it, nothing is built in it (T96, T97, T99).';

create or replace function ccp._figures(kind text)
returns integer
language sql immutable parallel safe
return case kind when 'squad' then 4 when 'team' then 2 when 'aircraft' then 0 else 1 end;

comment on function ccp._figures(text) is
'Soldier figures on a counter (3, 15.2.1).';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function ccp._stats(state positions.state, gone bigint[] default '{}')
returns setof ccp.stat
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with piece as materialized (
    select
      unit.id,
      unit.code,
      unit.side,
      unit.kind,
      unit.q,
      unit.r,
      hex.label,
      hex.terrain,
      hex.level::integer as level,
      unit.attributes,
      unit.kind in ('squad', 'team') as follows,
      coalesce((unit.attributes ->> 'broken')::boolean, false) as broken,
      case
        when unit.kind not in ('leader', 'hero') then null
        when (unit.attributes ->> 'broken')::boolean and state.readings ->> 'ccp-29' = 'a' then 0
        else (unit.attributes ->> 'command')::integer
      end as command
    from public.unit
    inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
    where unit.position_id = state.position_id
  ),
  lead as materialized (
    select
      piece.side,
      piece.q,
      piece.r,
      sum(piece.command)::integer as command,
      min(piece.code) filter (where piece.command is null) as untold,
      min(piece.code) filter (where piece.broken) as broken,
      sum((piece.attributes ->> 'command')::integer) filter (where piece.broken)::integer as broken_command
    from piece
    where piece.kind in ('leader', 'hero')
    group by piece.side, piece.q, piece.r
  ),
  marked as materialized (
    select
      marker.q,
      marker.r,
      bool_or(marker.kind = 'wire') as wire,
      bool_or(marker.kind = 'melee') as melee
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('wire', 'melee')
    group by marker.q, marker.r
  ),
  held as materialized (
    select
      piece.q,
      piece.r,
      min(piece.side) filter (where not piece.id = any(_stats.gone))
      <> max(piece.side) filter (where not piece.id = any(_stats.gone)) as by_both,
      bool_or(piece.id = any(_stats.gone)) as left_by
    from piece
    where piece.kind <> 'aircraft'
    group by piece.q, piece.r
  )
  select
    piece.id,
    piece.code,
    piece.side,
    piece.kind,
    piece.q,
    piece.r,
    piece.label,
    piece.terrain,
    piece.level,
    piece.attributes,
    piece.follows,
    piece.command,
    case when piece.follows then coalesce(lead.command, 0) else 0 end,
    case when piece.follows then lead.untold end,
    case when piece.follows then lead.broken end,
    case when piece.follows then coalesce(lead.broken_command, 0) else 0 end,
    coalesce((piece.attributes ->> 'veteran')::boolean, false)::integer
    - coalesce((piece.attributes ->> 'suppressed')::boolean, false)::integer,
    coalesce(marked.wire, false),
    -- 19.1: units of both sides make a melee hex, whether or not the marker is there
    -- and none is left where one side has gone
    coalesce(held.by_both, false) or coalesce(marked.melee and not held.left_by, false)
  from piece
  left join lead on lead.side = piece.side and lead.q = piece.q and lead.r = piece.r
  left join marked on marked.q = piece.q and marked.r = piece.r
  left join held on held.q = piece.q and held.r = piece.r;
end
$$;

comment on function ccp._stats(positions.state, bigint[]) is
'Every unit on the map with what changes its numbers where it stands: command, status, wire, and melee as it is
when those who are gone have left their hex.';

create or replace function ccp._on_map(position_id bigint, unit text)
returns positions.counter
language plpgsql stable
as $$
declare
  counter positions.counter;
begin
  select * into counter from positions.counter(_on_map.position_id, _on_map.unit);
  if counter.id is null then
    raise exception 'no unit % in this position', _on_map.unit using errcode = 'no_data_found';
  elsif counter.q is null then
    raise exception '% is not on the map', _on_map.unit using errcode = 'no_data_found';
  elsif counter.kind = 'aircraft' then
    raise exception '% is an aircraft, which is a marker and no unit (8)', _on_map.unit
      using errcode = 'no_data_found';
  end if;
  return counter;
end
$$;

comment on function ccp._on_map(bigint, text) is
'The unit that was asked about; refuses one that is not there, is off the map, or flies.';
