-- needs: fpb/boats.sql, fpb/move.sql
-- How US units come ashore in fpb (Forgotten Pacific Battles), four ways: 10.3, 11.2, 12.0, 12.1, 13.0, 18.1.

drop type if exists fpb.landing cascade;
create type fpb.landing as (
  unit positions.counter,
  shore fpb.shore,
  way text,
  turn integer,
  phase text,
  leg boolean,
  friends integer,
  shares boolean,
  zoned boolean,
  afoot integer,
  early integer,
  beaches integer,
  onward boolean
);

comment on type fpb.landing is
'A landing: who, where, in which of the four ways, and what it meets there.';
comment on column fpb.landing.way is
'boats: with a marker that flipped on the first game turn; assault: into the sea beside a held hex; beach: a '
'reinforcement after all movement; mobile: in the Mobile Movement Phase';
comment on column fpb.landing.friends is 'US units in the beach hex';
comment on column fpb.landing.shares is 'Whether one more would be a stack that 10.6 allows';
comment on column fpb.landing.afoot is 'Leg units that have landed in this Mobile Movement Phase';
comment on column fpb.landing.early is 'Units that have come over the beaches in this Movement Phase';

create or replace function fpb._landing_way(landing fpb.landing, assaulted boolean)
returns text
language sql immutable parallel safe
return case
  when not ((landing.shore).boat or (landing.shore).beach) then null
  when (landing.shore).boat and assaulted then 'assault'
  when landing.phase = 'mobile_movement' then 'mobile'
  when landing.phase is null and not landing.leg and (landing.friends > 0 or (landing.onward and landing.turn is distinct from 1))
    then 'mobile'
  -- 12.0: one to a marker with the boats, then one as a reinforcement
  when landing.turn = 1 and landing.early < landing.beaches then 'boats'
  else 'beach'
end;

comment on function fpb._landing_way(fpb.landing, boolean) is
'In which way a unit lands: by the marker, the phase and the game turn (11.2, 12.0, 12.1).';

create or replace function fpb._landing(state positions.state, unit text, at text, onward boolean)
returns fpb.landing
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  landing fpb.landing;
  shore fpb.shore;
begin
  landing.unit := positions._asked_counter(state.position_id, unit);
  select * into shore from fpb._shore(state, array[at]);
  landing.shore := shore;
  landing.turn := (state.conditions ->> 'turn')::integer;
  landing.phase := state.conditions ->> 'phase';
  landing.leg := coalesce((landing.unit).attributes ->> 'mobility', 'leg') = 'leg';
  landing.onward := onward;
  select
    count(*) filter (where other.q = shore.q and other.r = shore.r),
    count(*) filter (where other.q = shore.q and other.r = shore.r) = 1
    and (
      not coalesce(((landing.unit).attributes ->> 'zoc')::boolean, true)
      or bool_or(not fpb._exerts(other)) filter (where other.q = shore.q and other.r = shore.r)
    ),
    count(*) filter (
      where other.attributes ->> 'landed' = 'mobile_movement' and coalesce(other.attributes ->> 'mobility', 'leg') = 'leg'
    ),
    count(*) filter (where other.attributes ->> 'landed' = 'movement' and not other.attributes ? 'assaulting')
  into landing.friends, landing.shares, landing.afoot, landing.early
  from fpb._units(state) as other
  where other.side = 'us' and other.code <> unit;
  landing.zoned := exists (
    select
    from fpb._enemy_zones(state, landing.unit) as zone
    where zone.q = shore.q and zone.r = shore.r and zone.counts
  );
  select count(*)
  into landing.beaches
  from public.marker
  where marker.position_id = state.position_id
    and (marker.kind = 'landing_beach' or (marker.kind = 'assault_boat' and marker.q = shore.q and marker.r = shore.r));
  landing.way := fpb._landing_way(landing, fpb._assaulted(state, shore));
  return landing;
end
$$;

comment on function fpb._landing(positions.state, text, text, boolean) is
'A unit that would land in a hex, and move on or not; an error where there is no such unit.';

create or replace function fpb._command_islands(command text, readings jsonb)
returns text[]
language sql immutable parallel safe
return case command
  when '81st_infantry' then array['angaur']
  when '22nd_marines' then array['engebi', 'parry']
  when '106th_infantry' then array['eniwetok']
  when 'iii_corps' then array['guam', 'tinian']
  when '77th_infantry' then array[
    case readings ->> 'fpb-48' when 'a' then 'guam' when 'b' then 'parry' else 'tinian' end
  ]
end;

comment on function fpb._command_islands(text, jsonb) is
'The islands of a US command, by its insignia (10.3, fpb-48).';

create or replace function fpb._availability_steps(state positions.state, landing fpb.landing)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    entry.rule,
    null,
    (landing.unit).label,
    entry.effect,
    entry.note,
    entry.point,
    (landing.unit).code,
    null::integer,
    null::jsonb
  from (
    select
      (landing.unit).attributes as said,
      state.conditions ->> 'island' as island,
      fpb._command_islands((landing.unit).attributes ->> 'command', state.readings) as islands,
      state.conditions ->> 'scenario' in ('individual', 'sequenced') as historical
  ) as now
  cross join lateral (
    values
    (1, (landing.unit).side <> 'us', '11.2', 'forbids', 'only US units land', null),
    (2, now.said ->> 'status' = 'eliminated', '11.2', 'forbids', 'an eliminated unit never returns', null),
    (3, (landing.unit).q is not null, '18.1', 'forbids', 'it is on the map', null),
    (
      4, now.said ->> 'status' = 'repulsed' and now.said ? 'attacked',
      '12.1', 'forbids', 'it was repulsed in this game turn', null
    ),
    (
      5, now.said ->> 'island' <> now.island, '18.1', 'forbids',
      format('it belongs to %s', initcap(now.said ->> 'island')), null
    ),
    (
      6, now.historical and now.islands is not null and now.island is not null and not now.said ? 'island',
      '10.3',
      case when now.island = any(now.islands) then 'passes' else 'forbids' end,
      format('its command is for %s', initcap(array_to_string(now.islands, ' and '))),
      case when now.said ->> 'command' = '77th_infantry' then 'fpb-48' end
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._availability_steps(positions.state, fpb.landing) is
'Whether a unit can come to this island at all (10.3, 11.2, 12.1, 18.1).';

create or replace function fpb._way_steps(state positions.state, landing fpb.landing)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    entry.rule,
    null,
    (landing.shore).label,
    entry.effect,
    entry.note,
    entry.point,
    (landing.unit).code,
    null::integer,
    null::jsonb
  from (
    select
      landing.way in ('boats', 'beach') as placed,
      landing.way = 'mobile' as mobile,
      landing.friends > 0 and not (landing.shares and state.readings ->> 'fpb-5' = 'b') as taken,
      case when landing.friends > 0 and landing.shares then 'fpb-5' end as stacks
  ) as now
  cross join lateral (
    values
    (1, landing.way is null, '12.0', 'forbids', 'no marker of a landing lies there', null),
    (2, state.conditions ->> 'active' = 'japan', '5.2', 'forbids', 'it is not the US player turn', null),
    (
      3, landing.phase not in ('movement', 'mobile_movement'),
      '11.2', 'forbids', 'units land in movement phases alone', null
    ),
    (
      4, landing.way = 'assault' and landing.phase = 'mobile_movement',
      '12.0', 'forbids', 'assaults begin in the Movement Phase', null
    ),
    (
      5, landing.way = 'boats', '12.0', 'lands', 'it is placed with the boats', null
    ),
    (
      6, landing.way = 'beach', '11.2', 'lands', 'a reinforcement, after all movement', null
    ),
    (
      7, landing.way = 'beach' and landing.turn = 1 and landing.early >= 2 * landing.beaches,
      '11.2', 'forbids', 'a beach has one with the boats and one reinforcement', null
    ),
    (
      8, landing.way = 'beach' and landing.turn = 1 and landing.onward,
      '11.2', 'forbids', 'a reinforcement does not move as it arrives', null
    ),
    (
      9, now.placed and landing.friends > 0, '11.2', case when now.taken then 'forbids' else 'passes' end,
      'a US unit is there', now.stacks
    ),
    (
      10, now.mobile and landing.leg and landing.turn is null, '11.2', 'unknown', 'the game turn', null
    ),
    (
      11, now.mobile and landing.leg and landing.turn > 1, '11.2', 'forbids',
      'on foot only one lands in this phase, on the first game turn', null
    ),
    (
      12, now.mobile and landing.leg and landing.turn = 1, '11.2',
      case when landing.afoot > 0 then 'forbids' else 'passes' end,
      case when landing.afoot > 0 then 'one on foot has landed' else 'one on foot may land, and does not attack' end, null
    ),
    (
      13, now.mobile and not landing.onward and landing.friends > 0, '11.2',
      case when now.taken then 'forbids' else 'passes' end, 'it must go on to a free hex', now.stacks
    ),
    (
      14, now.mobile and landing.zoned,
      '13.0', case state.readings ->> 'fpb-47' when 'a' then 'passes' else 'cost' end,
      'the beach is in an enemy zone of control', 'fpb-47'
    ),
    (
      15, now.mobile and landing.zoned and landing.leg and landing.onward and state.readings ->> 'fpb-47' = 'b',
      '6.1', 'forbids', 'a leg unit stops in an enemy zone of control', 'fpb-47'
    ),
    (16, now.placed and landing.zoned, '13.0', 'passes', 'enemy zones do not keep a reinforcement off', null)
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._way_steps(positions.state, fpb.landing) is
'What allows or forbids a landing in its way: phase, turn, who is there, enemy zones (11.2, 12.0, 13.0).';

create or replace function fpb._berths(state positions.state, shore fpb.shore)
returns setof text
language sql stable rows 3
as $$
  select hex.label
  from lattice.neighbours(shore.q, shore.r) as beside
  inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  where fpb._all_sea(hex.terrain, hex.features)
    and not exists (
      select
      from public.unit
      where unit.position_id = state.position_id and unit.q = hex.q and unit.r = hex.r
    )
  order by hex.label collate "C"
$$;

comment on function fpb._berths(positions.state, fpb.shore) is
'Free sea hexes beside a hex, from which it can be assaulted (12.0).';

create or replace function fpb._assault_steps(state positions.state, landing fpb.landing, berths text[], source text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    entry.rule,
    null,
    entry.at,
    entry.effect,
    entry.note,
    entry.point,
    entry.by,
    null::integer,
    null::jsonb
  from (
    select min(unit.code) as code
    from fpb._units(state) as unit
    where unit.attributes ->> 'assaulting' = (landing.shore).label and unit.q is not null
  ) as other
  cross join lateral (
    values
    (
      1, true, case when (landing.shore).held then '12.0' else '12.3' end, (landing.shore).label, 'assault',
      case when (landing.shore).held then 'a Japanese unit is there' else 'an empty reef counts as a unit' end,
      case when not (landing.shore).held then 'fpb-21' end, (landing.unit).code
    ),
    (
      2, other.code is not null, '12.1', (landing.shore).label, 'forbids',
      format('%s assaults there, and one alone may', other.code), null, other.code
    ),
    (
      3, source is not null and source <> all(berths), '12.0', source, 'forbids',
      'it is no free sea hex beside the boats', null, null
    ),
    (
      4, source is null and cardinality(berths) = 0, '12.0', (landing.shore).label, 'forbids',
      'no sea hex beside the boats is free', null, null
    ),
    (
      5, landing.onward, '12.1', (landing.shore).label, 'forbids', 'from the sea it comes ashore by assault', null, null
    )
  ) as entry (n, speaks, rule, at, effect, note, point, by)
  where landing.way = 'assault' and entry.speaks
  order by entry.n
$$;

comment on function fpb._assault_steps(positions.state, fpb.landing, text[], text) is
'What it takes to be put into the sea for an assault: a free sea hex, and nobody else for that boat (12.0, 12.1, 12.3).';

create or replace function fpb._ashore_steps(state positions.state, landing fpb.landing)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    '12.0', null, (landing.shore).label, 'flips', 'no Japanese unit is there',
    case when (landing.shore).reef then 'fpb-21' end, null, null::integer, null::jsonb
  where (landing.shore).boat and landing.way <> 'assault'
  union all
  select
    '11.2', null, (landing.shore).label, coalesce(trim_scale(cost.halves / 2.0)::text, 'unknown'),
    case when cost.halves is null then format('the movement allowance of %s', (landing.unit).code) else 'to come ashore' end,
    null, (landing.unit).code, cost.halves, null::jsonb
  from (
    select case
      when (landing.unit).attributes ? 'movement' then fpb._landing_cost(landing.unit, landing.zoned, state.readings)
    end as halves
  ) as cost
  where landing.way = 'mobile'
  union all
  select step.rule, step.clause, step.at, step.effect, step.note, step.point, (landing.unit).code, null, null
  from fpb._entry_steps(state, 'us', array[(landing.shore).label]) as step
  where landing.way <> 'assault'
$$;

comment on function fpb._ashore_steps(positions.state, fpb.landing) is
'What coming ashore does: a marker that flips, its cost in the Mobile Movement Phase, the hex captured (11.2, 12.0, 18.1).';

create or replace function fpb.landing(
  position_id bigint,
  unit text,
  at text,
  source text default null,
  onward boolean default false,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  landing fpb.landing;
  berths text[];
  told rulings.ledger_step[];
  bar rulings.ledger_step;
  cost integer;
  allowance integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  landing := fpb._landing(state, unit, at, onward);
  berths := array(select label from fpb._berths(state, landing.shore) as label);
  told := array(
    select step from fpb._availability_steps(state, landing) as step
    union all
    select step from fpb._way_steps(state, landing) as step
    union all
    select step from fpb._assault_steps(state, landing, berths, source) as step
  );
  return query select * from unnest(told);
  select step.* into bar from unnest(told) as step where step.effect in ('forbids', 'unknown')
  order by step.effect = 'unknown' limit 1;
  allowance := (2 * ((landing.unit).attributes ->> 'movement')::numeric)::integer;
  cost := case when landing.way = 'mobile' then fpb._landing_cost(landing.unit, landing.zoned, state.readings) else 0 end;
  if bar.rule is null then
    return query select * from fpb._ashore_steps(state, landing);
    if cost > allowance then
      bar.rule := '11.2';
      bar.effect := 'forbids';
      bar.note := format('it costs %s and %s is all it has', trim_scale(cost / 2.0), trim_scale(allowance / 2.0));
    elsif landing.way = 'mobile' and allowance is null then
      bar.effect := 'unknown';
    end if;
  end if;
  return next row(
    coalesce(bar.rule, case landing.way when 'beach' then '11.2' when 'mobile' then '11.2' else '12.0' end),
    null,
    at,
    case when bar.effect is null then 'lands' when bar.effect = 'unknown' then 'undecided' else 'refused' end,
    coalesce(bar.note, 'it lands'),
    null,
    unit,
    cost,
    jsonb_build_object(
      'allowed', case when bar.effect is null then true when bar.effect = 'forbids' then false end,
      'way', landing.way,
      'berths', berths,
      'flips', (landing.shore).boat and landing.way is distinct from 'assault',
      'cost', cost,
      'left', allowance - cost,
      'stays', landing.way = 'beach' and landing.leg,
      'captures', landing.way is distinct from 'assault' and exists (
        select from fpb._entry_steps(state, 'us', array[at]) as step where step.effect = 'captures'
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.landing(bigint, text, text, text, boolean, jsonb, jsonb) is
'Whether a unit may land in a hex, in which of the four ways, and what that costs and changes; the verdict last.';

create or replace function fpb.movement_closed(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.step
language sql stable rows 1
as $$
  select entry.rule, null, counter.label, 'forbids', entry.note, null
  from positions.state(movement_closed.position_id, movement_closed.conditions, movement_closed.policy) as state
  cross join lateral positions.counter(state.position_id, movement_closed.unit) as counter
  cross join lateral (
    select
      coalesce(bool_or(other.attributes ->> 'landed' = 'movement' and not other.attributes ? 'assaulting'), false) as landed,
      coalesce(bool_or(other.attributes ? 'rebuilt'), false) as rebuilt
    from fpb._units(state) as other
    where other.side = counter.side
  ) as done
  cross join lateral (
    values
    (
      1, counter.side = 'us' and done.landed and (state.conditions ->> 'turn')::integer > 1,
      '11.2', 'reinforcements have landed, which is after all movement'
    ),
    (2, done.rebuilt, '11.1', 'units have been rebuilt, which is after all movement'),
    (
      3, counter.side = 'japan' and state.conditions ->> 'mode' = 'solitaire',
      '16.1', 'Japanese units move by principle in solitaire play'
    )
  ) as entry (n, speaks, rule, note)
  where entry.speaks
    and (state.conditions ->> 'phase' = 'movement' or entry.n = 3)
  order by entry.n
$$;

comment on function fpb.movement_closed(bigint, text, jsonb, jsonb) is
'Why nobody of a side moves any more in this Movement Phase, though the unit itself could (11.1, 11.2, 16.1).';
