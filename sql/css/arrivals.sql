-- needs: css/points.sql, css/passage.sql, css/costs.sql, css/counters.sql
-- Reinforcements in css (Guam): 12.4.2, 15.0, 18.0, 22.1.

create or replace function css._beach(map_id bigint, beach text)
returns table (name text, label text, q integer, r integer, beachhead text, attributes jsonb)
language sql stable rows 1
as $$
  select
    feature.code,
    hex.label,
    hex.q,
    hex.r,
    coalesce(feature.attributes ->> 'beachhead', (
      select cell.value from charts.cell('css', 'beachheads', coalesce(feature.code, beach), 'beachhead') as cell
    )),
    coalesce(feature.attributes, '{}')
  from public.hex
  left join public.map_feature_hex as lies
    on lies.map_id = hex.map_id and lies.q = hex.q and lies.r = hex.r and lies.role = 'at'
    and exists (
      select from public.map_feature as beaches where beaches.id = lies.feature and beaches.kind = 'beach'
    )
  left join public.map_feature as feature on feature.id = lies.feature
  where hex.map_id = _beach.map_id
    and (hex.label = _beach.beach or feature.code = _beach.beach)
$$;

comment on function css._beach(bigint, text) is
'A landing beach by its name or by the label of its hex: the hex, the beachhead, what its zones show (22.0).';

create or replace function css._is_tank_weapon(unit positions.counter)
returns boolean
language sql immutable parallel safe
return unit.kind = 'support_weapon' and coalesce(unit.attributes ->> 'target' = 'tank', false);

comment on function css._is_tank_weapon(positions.counter) is
'Whether a counter is a Tank Support Weapon, which rolls for its arrival (12.4.2).';

create or replace function css._late(conditions jsonb)
returns boolean
language sql immutable parallel safe
-- 4.0 1J: arrivals are of the Preparation Phase, or of the set-up before it
return coalesce(conditions ->> 'phase' <> 'preparation', false);

comment on function css._late(jsonb) is
'Whether the phase in which reinforcements are placed is over (4.0 1J, 18.0).';

create or replace function css.reinforce(
  position_id bigint, unit text, place jsonb, company text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  at constant text := place ->> 'at';
  beach constant text := place ->> 'beach';
  run constant text := place ->> 'run';
  box constant text := place ->> 'box';
  shore record;
  there record;
  bar record;
  facts jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into shore from css._beach(state.map_id, beach);
  select hex.q, hex.r into there from public.hex where hex.map_id = state.map_id and hex.label = at;
  for bar in
    select *
    from (
      values
      ('18.0', at is null and beach is null and box is null and asked.kind <> 'truck', 'where it arrives is not told'),
      ('4.0', css._late(state.conditions), 'reinforcements come in the Preparation Phase'),
      ('18.0', asked.q is not null or asked.attributes ? 'zone', 'it is in play already'),
      ('18.0', asked.attributes ->> 'status' = 'eliminated', 'it is out of the game'),
      ('22.0', beach is not null and asked.side <> 'us', 'only Americans come by sea'),
      ('22.0', beach is not null and asked.kind = 'support_weapon', 'no Support Weapon is in a naval zone'),
      ('22.0', beach is not null and shore.label is null, 'there is no such beach'),
      ('22.1', run <> 'transport', 'reinforcements wait in the Transport Zone first'),
      (
        '12.4.2', asked.side = 'us' and css._is_tank_weapon(asked),
        'a Tank Support Weapon rolls for its arrival, by tank_arrival'
      ),
      (
        '18.0',
        at is not null and css._held_by(
          position_id, case asked.side when 'us' then 'japan' else 'us' end, there.q, there.r
        ),
        'the enemy holds the hex'
      )
    ) as bars (rule, holds, note)
    where bars.holds
  loop
    return next css._entry(bar.rule, null, 'forbids', bar.note, unit, null, null, at);
    return next css._sum(bar.rule, 'refused', bar.note, '{}', at);
    return;
  end loop;
  facts := case
    when beach is not null then jsonb_build_object(
      'zone', jsonb_build_object('beach', shore.label, 'run', 'transport'),
      -- 22.1: behind all who came before and have not moved; who comes at the same time has the same place
      'order', 1 + coalesce((
        select max((waiting.attributes ->> 'order')::integer)
        from public.unit as waiting
        where waiting.position_id = position_id
          and waiting.attributes -> 'zone' ->> 'beach' = shore.label
          and waiting.attributes -> 'zone' ->> 'run' = 'transport'
          and waiting.code <> all(company)
      ), 0),
      'posture', case when css._is_unit(asked.kind) then 'column' end
    )
    when at is not null then jsonb_build_object('at', at)
    -- 15.0: trucks go to the pool of their Division
    else jsonb_build_object('box', coalesce(box, 'truck_pool'))
  end;
  if not facts ? 'box' and asked.attributes ? 'box' then
    facts := facts || '{"box": null}';
  end if;
  if asked.attributes ->> 'posture' is not distinct from facts ->> 'posture' then
    facts := facts - 'posture';
  end if;
  return next css._entry(
    case when beach is not null then '22.1' else '18.0' end, null, 'arrives',
    case
      when beach is not null then format('behind those who wait off %s', coalesce(shore.name, shore.label))
      when at is not null then format('in %s', at)
      else format('in the box %s', replace(facts ->> 'box', '_', ' '))
    end,
    unit
  );
  return next css._sum('18.0', 'arrives', format('%s arrives', unit), facts, at);
end
$$;

comment on function css.reinforce(bigint, text, jsonb, text[], jsonb, jsonb) is
'Where a reinforcement comes, with its company: a hex, the Transport Zone of a beach behind the others, or a box (12.4.2, 15.0, 18.0, 22.1).';

create or replace function css.tank_due(
  position_id bigint, unit text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  place record;
  crowd record;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select hex.q, hex.r, hex.label, css._ground_at(position_id, hex.terrain, hex.features, hex.q, hex.r) as ground
  into place
  from positions.place(position_id, "to") as spot
  inner join public.hex on hex.map_id = state.map_id and hex.q = spot.q and hex.r = spot.r;
  select
    count(*) filter (where css._is_unit(unit.kind)) as units,
    count(*) filter (where unit.kind = 'support_weapon') as weapons,
    bool_or(css._is_unit(unit.kind) and coalesce(unit.attributes ->> 'division' = asked.attributes ->> 'division', true)) as kin
  into crowd
  from public.unit
  where unit.position_id = position_id and (unit.q, unit.r) = (place.q, place.r) and unit.side = asked.side;
  return query
  select * from css._barred(
    array(
      select css._entry(bar.rule, null, 'forbids', bar.note, unit, null, null, place.label)
      from (
        values
        ('12.4.2', not css._is_tank_weapon(asked), 'only Tank Support Weapons roll for their arrival'),
        ('4.0', css._late(state.conditions), 'reinforcements come in the Preparation Phase'),
        (
          '12.4.2', asked.q is not null or coalesce(asked.attributes ->> 'box', 'off_board') <> 'off_board',
          'it has arrived already'
        ),
        ('12.4.2', asked.attributes ->> 'status' = 'eliminated', 'it is out of the game'),
        ('12.4.2', (asked.attributes ->> 'due')::integer > 0, 'it has been delayed'),
        ('22.0', "to" is not null and place.label is null, 'no Support Weapon is in a naval zone'),
        ('12.4.1', place.label is not null and not coalesce(crowd.kin, false), 'no Unit of its Division is there'),
        ('12.1', crowd.kin and crowd.weapons >= crowd.units, 'there are as many Support Weapons as Units already'),
        ('6.2.1', place.ground = 'swamp', 'no tank is assigned to a Unit in a swamp')
      ) as bar (rule, holds, note)
      where bar.holds
    ),
    '12.4.2', 'due',
    case
      when place.label is null then format('%s rolls for its arrival', unit)
      else format('the scenario lets %s be attached as it arrives', unit)
    end,
    jsonb_build_object('at', place.label), place.label
  );
end
$$;

comment on function css.tank_due(bigint, text, text, jsonb, jsonb) is
'Whether a Tank Support Weapon rolls for its arrival, and whether it may be attached at once to a Unit that is named (12.4.2).';

create or replace function css._tank_table(position_id bigint, chart text, unit text, die integer)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  result text;
begin
  select cell.value into result from charts.cell('css', chart, die::text, 'result') as cell;
  return next css._entry('12.4.2', null, result, format('a roll of %s', die), unit);
  return next css._sum('12.4.2', result, format('%s: %s', unit, replace(result, '_', ' ')), jsonb_build_object('result', result));
end
$$;

comment on function css._tank_table(bigint, text, text, integer) is
'A row of one of the two tables of 12.4.2.';

create or replace function css.tank_arrival(
  position_id bigint, unit text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select * from css._tank_table(position_id, 'tank_reinforcement_table', unit, die)
$$;

comment on function css.tank_arrival(bigint, text, integer, jsonb, jsonb) is
'Whether a Tank Support Weapon arrives (12.4.2).';

create or replace function css.tank_incident(
  position_id bigint, unit text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select * from css._tank_table(position_id, 'landing_incident_table', unit, die)
$$;

comment on function css.tank_incident(bigint, text, integer, jsonb, jsonb) is
'What has happened to a Tank Support Weapon that did not arrive (12.4.2).';

create or replace function css.tank_delay(
  position_id bigint, unit text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select (css._entry(
    '12.4.2', null, '+' || said.turns, format('turns later, by a roll of %s', die), unit, 2 * said.turns,
    case when die = 0 then 'css-83' end
  )).*
  from positions.state(position_id, conditions, policy) as state
  cross join lateral (
    select case when die = 0 and state.readings ->> 'css-83' = 'a' then 1 else die end as turns
  ) as said
  union all
  select (css._sum(
    '12.4.2', 'delayed', format('%s is delayed', unit),
    jsonb_build_object(
      'turns', case when die = 0 and state.readings ->> 'css-83' = 'a' then 1 else die end,
      'again', die = 0 and state.readings ->> 'css-83' = 'b'
    )
  )).*
  from positions.state(position_id, conditions, policy) as state
$$;

comment on function css.tank_delay(bigint, text, integer, jsonb, jsonb) is
'By how many turns a Tank Support Weapon is delayed; by none it rolls again at once (12.4.2, css-83).';

create or replace function css.tank_obstacle(
  position_id bigint, unit text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  display css.display;
  passes boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into display from css._displays(state) as told where told.name = asked.attributes ->> 'division';
  passes := case
    -- css-59 b: 0 and 9 decide every check
    when state.readings ->> 'css-59' = 'b' and die in (0, 9) then die = 0
    else die <= display.troop_quality
  end;
  return next css._entry(
    '12.4.2', null, case when passes then 'passes' when not passes then 'fails' else 'unknown' end,
    case
      when display.troop_quality is null then format('the Troop Quality of %s', coalesce(display.name, 'its Division'))
      else format('%s against a Troop Quality of %s', die, display.troop_quality)
    end,
    unit, null, case when die in (0, 9) then 'css-59' end
  );
  return next css._sum(
    '12.4.2', case when passes is null then 'unknown' when passes then 'obstacle' else 'eliminated' end,
    case when passes then 'it overcomes the obstacle' else 'it is lost in the surf' end,
    jsonb_build_object('result', case when passes then 'obstacle' when not passes then 'eliminated' end)
  );
end
$$;

comment on function css.tank_obstacle(bigint, text, integer, jsonb, jsonb) is
'The Troop Quality Check of a Tank Support Weapon before an obstacle (12.4.2).';
