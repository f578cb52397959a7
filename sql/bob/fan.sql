-- needs: bob/los.sql, bob/views.sql, rulings/fan_reasons.sql
-- All that a hex sees in bob, and why no more.
--
-- What is seen is judged for all lines at once (`bob/views.sql`), by the rules of bob.los; why the rest is not, bob.los
-- tells of every line.

create or replace function bob._near(
  position_id bigint, "from" text, radius integer, conditions jsonb
)
returns table (q integer, r integer, label text)
language sql stable rows 150
as $$
  select
    hex.q,
    hex.r,
    hex.label
  from public.position
  cross join lateral positions.place(_near.position_id, _near."from") as viewer
  cross join lateral (
    -- 55.2: nothing farther than this is seen in a deluge
    select
      case
        when coalesce(_near.conditions, position.conditions) ->> 'weather' = 'monsoon' then 3
        else 24
      end as reach
  ) as sight
  inner join public.drawn_hex as hex
    on hex.map_id = position.map_id
      and hex.q between viewer.q - least(_near.radius, sight.reach) and viewer.q + least(_near.radius, sight.reach)
      and lattice.distance(viewer.q, viewer.r, hex.q, hex.r) between 1 and least(_near.radius, sight.reach)
  where position.id = _near.position_id
$$;

comment on function bob._near(bigint, text, integer, jsonb) is
'The hexes that a fan asks about: all within 24 hexes, or fewer where no more can be seen.';

create or replace function bob.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  start bob.sight_end;
  lines bob.view[];
  hidden integer[];
begin
  select * into start from bob._end(fan.position_id, fan."from");
  if start.q is null then
    raise exception 'no hex or unit % on the map of this position', fan."from" using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(fan.position_id, fan.conditions, fan.policy);
  lines := array(
    select line
    from bob._views(
      state, start, array(select row(near.*)::bob.near from bob._near(fan.position_id, fan."from", fan.radius, fan.conditions) as near)
    ) as line
  );
  hidden := bob._hidden_views(state, start, lines);
  return query
  select line.q, line.r, line.label, line.away
  from unnest(lines) as line
  where not line.i = any(hidden);
end
$$;

comment on function bob.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit sees, with its range; the verdicts are those of bob.los.';

create or replace function bob._beyond_the_deluge(
  position_id bigint, "from" text, radius integer, conditions jsonb
)
returns setof rulings.sight_step
language sql stable rows 100
as $$
  select
    '55.2',
    null,
    null,
    'blocks',
    'in the deluge three hexes are the limit',
    null,
    far.away,
    0
  from public.position
  cross join lateral positions.place(_beyond_the_deluge.position_id, _beyond_the_deluge."from") as viewer
  inner join public.drawn_hex as hex on hex.map_id = position.map_id
  cross join lateral (select lattice.distance(viewer.q, viewer.r, hex.q, hex.r) as away) as far
  where position.id = _beyond_the_deluge.position_id
    and coalesce(_beyond_the_deluge.conditions, position.conditions) ->> 'weather' = 'monsoon'
    and far.away > 3
    and far.away <= coalesce(_beyond_the_deluge.radius, 24)
$$;

comment on function bob._beyond_the_deluge(bigint, text, integer, jsonb) is
'A step for each hex of a fan that is too far to be seen in a deluge (55.2), whatever lies between.';

create or replace function bob.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.step
language sql stable rows 50
as $$
  select reason.*
  from (
    select array_agg(line.told) as lines
    from (
      select los as told
      from bob._near(
        fan_reasons.position_id, fan_reasons."from", fan_reasons.radius, fan_reasons.conditions
      ) as near
      cross join lateral bob.los(
        fan_reasons.position_id, fan_reasons."from", 'hex:' || near.label, fan_reasons.conditions, fan_reasons.policy
      ) as los
      where rulings._bears_on_fan(los.effect, los.point)
      union all
      select far
      from bob._beyond_the_deluge(
        fan_reasons.position_id, fan_reasons."from", fan_reasons.radius, fan_reasons.conditions
      ) as far
    ) as line
  ) as fan
  cross join lateral rulings._fan_reasons(fan.lines) as reason
$$;

comment on function bob.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer: every rule with its place and how many hexes it hides.';
