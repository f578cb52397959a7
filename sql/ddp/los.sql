-- needs: lattice/trace.sql, positions/place.sql, positions/state.sql, rulings/fan_reasons.sql, ddp/overnight.sql
-- Ranged fire in ddp (D-Day at Peleliu): 8.1, 8.11, 8.27, 16.0.
--
-- Infantry fires at an adjacent hex always, and with a range of two over one hex that is
-- neither jungle nor mountain. `ddp._between` judges what lies between; `ddp.los` tells it
-- in words, `ddp.fan` keeps the hexes that nothing bars, so the two cannot disagree.
--
-- Ties. At two hexes the line passes one hex or runs along the side between two; which of
-- them is the intervening one the rule does not say (ddp-38). Along the rim the one hex
-- that is on the map decides, and a line over ground off the map is barred.

drop type if exists ddp.firer cascade;
create type ddp.firer as (
  map_id bigint,
  q integer,
  r integer,
  reach integer,
  barred_by_terrain boolean,
  rule text,
  note text
);

comment on type ddp.firer is
'Who fires: where it stands, how far it reaches (null where its counter does not say), and by which rule.';

create or replace function ddp._firer(position_id bigint, "from" text, conditions jsonb)
returns setof ddp.firer
language sql stable parallel safe rows 1
as $$
  -- a hex is asked about as infantry with range; where the counter states too little, reach is null
  select
    position.map_id,
    place.q,
    place.r,
    case
      when place.side <> 'us' then 0
      when now.overnight then 1
      when place.unit is null then 2
      when printed.range is not null then greatest(printed.range, 1)
      when unit.kind = 'infantry' then case when printed.steps >= 4 then 2 when printed.steps < 4 then 1 end
      when unit.kind = 'heavy_infantry' then case when printed.steps >= 2 then 2 when printed.steps < 2 then 1 end
      when printed.gun or unit.kind is null then null
      else 1
    end,
    not printed.gun,
    case
      when place.side <> 'us' then '6.2'
      when now.overnight then '16.0'
      when place.unit is null or unit.kind in ('infantry', 'heavy_infantry') then '8.27'
      else '8.1'
    end,
    case
      when place.side <> 'us' then 'a Japanese unit fires into its printed field and has no range'
      when now.overnight then 'on the overnight turn no US unit fires at range'
      when place.unit is null then 'infantry with range fires two hexes'
      when printed.range is not null then format('its counter prints a range of %s', printed.range)
      when unit.kind is null then format('the kind of %s', _firer."from")
      when printed.gun then format('the range of %s', _firer."from")
      when unit.kind not in ('infantry', 'heavy_infantry') then 'it has no range'
      when printed.steps is null then format('the steps or the range of %s', _firer."from")
      else format('%s of steps: %s', replace(unit.kind, '_', ' '), printed.steps)
    end
  from public.position
  cross join lateral positions.place(_firer.position_id, _firer."from") as place
  left join public.unit on unit.id = place.unit
  cross join lateral (
    select
      -- 2.21: U is anywhere on the map
      case when place.attributes ->> 'range' = 'U' then 999 else (place.attributes ->> 'range')::integer end as range,
      (place.attributes ->> 'steps')::integer as steps,
      coalesce(unit.kind in ('tank', 'amphibious_tank', 'artillery'), false) as gun
  ) as printed
  cross join lateral (
    select ddp._overnight(coalesce(_firer.conditions, position.conditions)) as overnight
  ) as now
  where position.id = _firer.position_id
    and place.q is not null
$$;

comment on function ddp._firer(bigint, text, jsonb) is
'The hex or unit that fires; no row where it is not on the map.';

create or replace function ddp._between(firer ddp.firer, q integer, r integer, either text)
returns table (
  kind text, label1 text, label2 text, terrain1 text, terrain2 text, bars1 boolean, bars2 boolean, bars boolean
)
language sql stable parallel safe rows 1
as $$
  select
    trace.kind,
    one.label,
    two.label,
    one.terrain,
    two.terrain,
    coalesce(ground1.sight = 'blocks', false),
    coalesce(ground2.sight = 'blocks', false),
    case
      when one.label is null and two.label is null then true
      when one.label is null or two.label is null or _between.either = 'b'
        then coalesce(ground1.sight = 'blocks', false) or coalesce(ground2.sight = 'blocks', false)
      else coalesce(ground1.sight = 'blocks', false) and coalesce(ground2.sight = 'blocks', false)
    end
  from lattice.trace
  left join public.hex as one
    on one.map_id = firer.map_id and one.q = firer.q + trace.q1 and one.r = firer.r + trace.r1
  left join public.terrain as ground1 on ground1.ruleset = 'ddp' and ground1.code = one.terrain
  left join public.hex as two
    on trace.kind = 'spine'
      and two.map_id = firer.map_id
      and two.q = firer.q + trace.q2
      and two.r = firer.r + trace.r2
  left join public.terrain as ground2 on ground2.ruleset = 'ddp' and ground2.code = two.terrain
  where trace.dq = _between.q - firer.q
    and trace.dr = _between.r - firer.r
    and trace.kind in ('hex', 'spine')
    and lattice.distance(0, 0, trace.dq, trace.dr) = 2
$$;

comment on function ddp._between(ddp.firer, integer, integer, text) is
'The hex, or the two hexes, between a firer and a target two hexes away, and whether they bar infantry (8.1).';

create or replace function ddp._range_steps(firer ddp.firer, "to" text, away integer)
returns setof rulings.sight_step
language sql immutable parallel safe rows 2
as $$
  select
    fact.rule,
    null,
    "to",
    fact.effect,
    fact.note,
    null,
    away,
    null::integer
  from (
    values
    (
      away = 1 and firer.reach is distinct from 0,
      '8.1', 'passes', 'an adjacent hex is fired at without range'
    ),
    (
      away > 1 or firer.reach = 0,
      firer.rule,
      case when firer.reach is null then 'unknown' when away > firer.reach or firer.reach = 0 then 'blocks' else 'passes' end,
      firer.note
    ),
    (
      away > 1 and not firer.barred_by_terrain,
      '8.1', 'passes', 'ground in between stops infantry only'
    )
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function ddp._range_steps(ddp.firer, text, integer) is
'Whether a hex is near enough to be fired at (8.1, 8.27).';

create or replace function ddp._between_steps(
  firer ddp.firer, q integer, r integer, either text, away integer
)
returns setof rulings.sight_step
language sql stable parallel safe rows 1
as $$
  select
    '8.1',
    null,
    fact.at,
    fact.effect,
    fact.note,
    fact.point,
    away,
    null::integer
  from ddp._between(firer, _between_steps.q, _between_steps.r, either) as cell
  cross join lateral (
    select
      positions.side_label(cell.label1, cell.label2) as spot,
      cell.label1 is not null and cell.label2 is not null as two
  ) as place
  cross join lateral (
    values
    (
      cell.kind = 'spine', place.spot, 'graze', 'the line runs along this side',
      case when place.two then 'ddp-38' end
    ),
    (place.spot is null, null, 'blocks', 'the line leaves the map', null),
    (cell.bars and cell.bars1, cell.label1, 'blocks', format('%s is %s', cell.label1, cell.terrain1), null),
    (cell.bars and cell.bars2, cell.label2, 'blocks', format('%s is %s', cell.label2, cell.terrain2), null),
    (
      not cell.bars and (cell.bars1 or cell.bars2), place.spot, 'passes',
      'one of the two hexes between is open', 'ddp-38'
    ),
    (
      not cell.bars1 and not cell.bars2 and place.spot is not null,
      place.spot, 'passes', 'neither jungle nor mountain lies between', null
    )
  ) as fact (holds, at, effect, note, point)
  where fact.holds
    and firer.barred_by_terrain
    and firer.reach is distinct from 0
$$;

comment on function ddp._between_steps(ddp.firer, integer, integer, text, integer) is
'What the ground between a firer and a target two hexes away does to infantry (8.1, ddp-38).';

create or replace function ddp.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.sight_step
language plpgsql stable rows 6
as $$
declare
  firer ddp.firer;
  target record;
  away integer;
  step rulings.sight_step;
  barred boolean := false;
  untold boolean := false;
begin
  select * into firer from ddp._firer(los.position_id, los."from", los.conditions);
  select * into target from positions.place(los.position_id, los."to");
  if firer.q is null or target.q is null then
    raise exception 'no line of fire from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  away := lattice.distance(firer.q, firer.r, target.q, target.r);
  for step in
    select * from ddp._range_steps(firer, positions.spoken(los."to"), away)
    union all
    select *
    from ddp._between_steps(
      firer, target.q, target.r, positions.readings(los.position_id, los.policy) ->> 'ddp-38', away
    )
  loop
    barred := barred or step.effect = 'blocks';
    untold := untold or step.effect = 'unknown';
    return next step;
  end loop;
  return next row(
    '8.1',
    null,
    positions.spoken(los."to"),
    case when barred then 'blocked' when untold then 'unknown' else 'visible' end,
    case
      when barred then 'it cannot be fired at from there'
      when untold then 'the counter does not say what would decide it'
      else 'it can be fired at'
    end,
    null,
    away,
    null
  )::rulings.sight_step;
end
$$;

comment on function ddp.los(bigint, text, text, jsonb, jsonb) is
'Whether a hex or unit may be fired at by ranged infantry: a row for every rule that speaks, the verdict last.';

create or replace function ddp.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language sql stable rows 18
as $$
  select
    hex.q,
    hex.r,
    hex.label,
    lattice.distance(firer.q, firer.r, hex.q, hex.r)
  from ddp._firer(fan.position_id, fan."from", fan.conditions) as firer
  cross join positions.state(fan.position_id, fan.conditions, fan.policy) as state
  cross join lateral lattice.disc(firer.q, firer.r, least(fan.radius, coalesce(firer.reach, 1))) as disc
  inner join public.hex on hex.map_id = firer.map_id and hex.q = disc.hq and hex.r = disc.hr
  where (disc.dq <> 0 or disc.dr <> 0)
    and not exists (
      select from ddp._between(firer, hex.q, hex.r, state.readings ->> 'ddp-38') as cell
      where cell.bars
        and firer.barred_by_terrain
    )
$$;

comment on function ddp.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit may fire at, with its range; the verdicts are those of ddp.los.';

create or replace function ddp.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.step
language sql stable rows 12
as $$
  select reason.*
  from (
    select array_agg(los) as lines
    from ddp._firer(fan_reasons.position_id, fan_reasons."from", fan_reasons.conditions) as firer
    cross join lateral lattice.disc(
      firer.q, firer.r, least(fan_reasons.radius, greatest(coalesce(firer.reach, 1), 1))
    ) as disc
    inner join public.hex on hex.map_id = firer.map_id and hex.q = disc.hq and hex.r = disc.hr
    cross join lateral ddp.los(
      fan_reasons.position_id, fan_reasons."from", 'hex:' || hex.label, fan_reasons.conditions, fan_reasons.policy
    ) as los
    where (disc.dq <> 0 or disc.dr <> 0)
      and rulings._bears_on_fan(los.effect, los.point)
  ) as fan
  cross join lateral rulings._fan_reasons(fan.lines, 'barred') as reason
$$;

comment on function ddp.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What bars hexes from a firer: every rule with its place and how many hexes it bars.';
