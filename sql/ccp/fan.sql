-- needs: ccp/los.sql
-- All that a hex sees in ccp: the judgement of ccp.los for every hex near enough.

create or replace function ccp._around(position_id bigint, "from" text, radius integer)
returns table (q integer, r integer, label text, range integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  viewer record;
begin
  select * into viewer from ccp._end(_around.position_id, _around."from");
  if viewer.q is null then
    raise exception 'no hex or unit % on the map of this position', _around."from" using errcode = 'no_data_found';
  end if;
  return query
  select
    hex.q,
    hex.r,
    hex.label,
    place.away
  from public.hex
  cross join lateral (select lattice.distance(viewer.q, viewer.r, hex.q, hex.r) as away) as place
  where hex.map_id = viewer.map_id
    and place.away > 0
    -- a maximum of none is no limit: sight itself has none
    and place.away <= coalesce(_around.radius, place.away);
end
$$;

comment on function ccp._around(bigint, text, integer) is
'Every other hex of the map within a range of a hex or unit; without a range, all of them.';

create or replace function ccp.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language sql stable rows 100
as $$
  select
    hex.q,
    hex.r,
    hex.label,
    hex.range
  from ccp._around(fan.position_id, fan."from", fan.radius) as hex
  cross join lateral ccp.los(fan.position_id, fan."from", hex.label, fan.conditions, fan.policy) as los
  where los.effect = 'visible'
$$;

comment on function ccp.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit sees, with its range; the verdicts are those of ccp.los.';

create or replace function ccp.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text)
language sql stable rows 50
as $$
  select
    los.rule,
    los.clause,
    los.at,
    case los.effect when 'blocks' then 'hides' else los.effect end,
    format('%s %s', count(*), case when los.effect = 'blocks' then 'hexes hidden' else 'lines' end),
    los.point
  from ccp._around(fan_reasons.position_id, fan_reasons."from", fan_reasons.radius) as hex
  cross join lateral ccp.los(
    fan_reasons.position_id, fan_reasons."from", hex.label, fan_reasons.conditions, fan_reasons.policy
  ) as los
  where los.effect in ('blocks', 'assumed') or los.point is not null
  group by los.rule, los.clause, los.at, los.effect, los.point
  order by count(*) desc, los.rule, los.clause, los.at
$$;

comment on function ccp.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer, and what was assumed: every rule with its place and how many lines it bears on.';
