-- needs: bob/cover.sql, bob/sights.sql, bob/pieces.sql
-- Concealment in bob (Band of Brothers): what takes a Conceal counter off a unit, and who may gain one: 15.0, 20.1, 45.5, 45.6, 51.1, 59.2.

create or replace function bob._is_concealed(unit positions.counter)
returns boolean
language sql immutable parallel safe
return coalesce((unit.attributes ->> 'concealed')::integer, 0) > 0;

comment on function bob._is_concealed(positions.counter) is
'Whether a Conceal counter lies on a unit.';

create or replace function bob._place_name(unit positions.counter)
returns text
language sql immutable parallel safe
return case when bob._mounted(unit) then 'hex:' || unit.label else 'unit:' || unit.code end;

comment on function bob._place_name(positions.counter) is
'A unit as the end of a line; a passenger is where its Carrier is.';

create or replace function bob._sees(state positions.state, viewer positions.counter, unit positions.counter)
returns boolean
language sql stable
as $$
  select coalesce(bool_or(step.effect = 'visible'), false)
  from bob.los(state.position_id, bob._place_name(viewer), bob._place_name(unit), state.conditions, state.readings) as step
$$;

comment on function bob._sees(positions.state, positions.counter, positions.counter) is
'Whether one unit sees another.';

create or replace function bob._watching(state positions.state, unit positions.counter)
returns setof positions.counter
language plpgsql stable rows 5
as $$
declare
  enemies positions.counter[] := array(
    select enemy from bob._counters(state) as enemy where enemy.side <> unit.side order by enemy.id
  );
  seen boolean[];
  level constant boolean := bob._location(unit.attributes) = 'ground';
begin
  if cardinality(enemies) = 0 then
    return;
  end if;
  select
    bob._seen_by(
      state,
      array_agg(bob._place_name(enemy) order by enemy.id),
      array_agg(case when bob._location(enemy.attributes) = 'ground' then enemy.q end order by enemy.id),
      array_agg(case when bob._location(enemy.attributes) = 'ground' then enemy.r end order by enemy.id),
      bob._place_name(unit),
      case when level then unit.q end,
      case when level then unit.r end
    )
  into seen
  from unnest(enemies) as enemy;
  for j in 1 .. cardinality(enemies) loop
    if seen[j] then
      return next enemies[j];
    end if;
  end loop;
end
$$;

comment on function bob._watching(positions.state, positions.counter) is
'The enemies that see a unit.';

create or replace function bob._in_open(state positions.state, unit positions.counter, viewer positions.counter)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select bob._is_open(bob._ground(state, unit.q, unit.r)) and not coalesce(bool_or(bob._benefits(item)), false)
    from bob._cover_rows(
      state, bob._aim(state, bob._place_name(viewer), bob._place_name(unit), false), unit, 'infantry',
      unit.attributes ? 'moving', 'fire', true, '{}'
    ) as item
  );
end
$$;

comment on function bob._in_open(positions.state, positions.counter, positions.counter) is
'Whether a unit is in Open Ground toward a viewer (15.0, 41.0).';

create or replace function bob._nears(state positions.state, enemy positions.counter, unit positions.counter)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select bob._together(enemy, unit) or (met.neighbour).adjacent
    from (
      select bob._neighbour(state, one, other, false) as neighbour
      from bob._end(state.position_id, bob._place_name(enemy)) as one,
        bob._end(state.position_id, bob._place_name(unit)) as other
    ) as met
  );
end
$$;

comment on function bob._nears(positions.state, positions.counter, positions.counter) is
'Whether a unit is in the location of another or adjacent to it.';

create or replace function bob._exposed_steps(state positions.state, unit positions.counter, by text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select '15.0', null, unit.label, 'reveals', 'it is Suppressed', null, unit.code, null::integer, null::jsonb
  where unit.attributes ->> 'suppression' in ('suppressed', 'full')
  union all
  select '45.6', null, unit.label, 'reveals', 'nobody is Concealed in Surf or Ocean', null, unit.code, null::integer, null::jsonb
  where bob._ground(state, unit.q, unit.r) in ('surf', 'ocean')
  union all
  -- who moves there counts only once it has survived all fire in that hex: then it is named
  select
    case when jungle.keeps then '51.1' else '15.0' end, null, unit.label, case when jungle.keeps then 'keeps' else 'reveals' end,
    case when jungle.keeps then format('%s is adjacent, but it lies still in the Jungle', enemy.code) else format('%s is adjacent', enemy.code) end,
    null, enemy.code, null::integer, null::jsonb
  from bob._counters(state) as enemy
  cross join lateral (
    select bob._on_foot(unit) and not unit.attributes ? 'moving' and not bob._together(enemy, unit)
      and bob._ground(state, unit.q, unit.r) = 'jungle' as keeps
  ) as jungle
  where enemy.side <> unit.side
    and (bob._on_foot(enemy) or enemy.kind = 'gun')
    and not bob._mounted(enemy)
    and lattice.distance(enemy.q, enemy.r, unit.q, unit.r) <= 1
    and (not enemy.attributes ? 'moving' or enemy.code = by)
    and not bob._in_melee(state, enemy)
    and bob._nears(state, enemy, unit)
  union all
  select
    case when unit.kind in ('vehicle', 'carrier') then '20.1' else '15.0' end, null, unit.label, 'reveals',
    format(case when unit.kind in ('vehicle', 'carrier') then '%s sees the Vehicle' else '%s sees it in Open Ground' end, enemy.code),
    null, enemy.code, null::integer, null::jsonb
  from bob._watching(state, unit) as enemy
  where unit.kind in ('vehicle', 'carrier')
    or bob._in_open(state, unit, enemy)
$$;

comment on function bob._exposed_steps(positions.state, positions.counter, text) is
'Why a unit loses its Conceal counter as things stand, or keeps it in the Jungle; by: a mover that has survived the fire (15.0, 20.1, 51.1).';

create or replace function bob._is_exposed(state positions.state, unit positions.counter, by text)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select exists (select from bob._exposed_steps(state, unit, by) as step where step.effect = 'reveals')
  );
end
$$;

comment on function bob._is_exposed(positions.state, positions.counter, text) is
'Whether a unit cannot be Concealed as things stand.';

create or replace function bob._watchers(state positions.state, unit positions.counter)
returns text[]
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select array_agg(enemy.code order by enemy.code collate "C")
    from bob._watching(state, unit) as enemy
  );
end
$$;

comment on function bob._watchers(positions.state, positions.counter) is
'The enemies that see a unit; null where nobody does.';

create or replace function bob._gain_steps(state positions.state, unit positions.counter, since text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.rule, null, unit.label, 'forbids', entry.note, entry.point, unit.code, null::integer, null::jsonb
  from (
    values
    (1, unit.kind in ('vehicle', 'carrier'), '20.1', 'Vehicles gain no Concealment in play', null),
    (2, unit.kind = 'gun' and state.readings ->> 'bob-19' = 'b', '15.0', 'only infantry gains Concealment', 'bob-19'),
    (3, bob._mounted(unit), '21.2', 'nobody gains Concealment in a Carrier', null),
    (4, since in ('fire', 'rout'), '15.0', 'not after fire or Rout', null),
    (5, since not in ('used', 'op_fire', 'mark', 'fire', 'rout'), '15.0', 'it is gained by being marked Used or Op Fire', null),
    (6, bob._ground(state, unit.q, unit.r) in ('surf', 'ocean'), '45.6', 'nobody is Concealed in Surf or Ocean', null),
    (
      7, bob._watchers(state, unit) is not null,
      '15.0', format('%s sees it', (bob._watchers(state, unit))[1]), null
    )
  ) as entry (n, speaks, rule, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function bob._gain_steps(positions.state, positions.counter, text) is
'What stands against a unit gaining a Conceal counter (15.0, 20.1, 21.2, bob-19).';

create or replace function bob.conceal(
  position_id bigint, unit text, since text default null, by text default null, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter;
  steps rulings.ledger_step[];
  was integer;
  lost boolean;
  gained boolean := false;
  left_start boolean;
  now integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  asked := bob._counter(state, unit);
  was := coalesce((asked.attributes ->> 'concealed')::integer, 0);
  if was > 0 then
    steps := array(
      select step from bob._loss_steps(asked, since) as step
      union all
      select step from bob._exposed_steps(state, asked, by) as step
    );
    lost := exists (select from unnest(steps) as step where step.effect = 'reveals');
    -- 59.2: the -2 is that of its first hex
    left_start := was = 2 and since = 'move';
    now := case when lost then 0 when left_start then 1 else was end;
    if left_start and not lost then
      steps := steps || row('59.2', null, asked.label, '-1', 'it has left the hex in which it was set up', 'bob-2', asked.code, null, null)::rulings.ledger_step;
    end if;
  else
    steps := array(select step from bob._gain_steps(state, asked, coalesce(since, '')) as step);
    lost := false;
    gained := cardinality(steps) = 0;
    now := case when gained then 1 else 0 end;
    if asked.kind = 'gun' and gained then
      steps := steps || row('20.1', null, asked.label, 'allows', 'a Gun may gain it as well', 'bob-19', asked.code, null, null)::rulings.ledger_step;
    end if;
  end if;
  return query select * from unnest(steps);
  return next row(
    '15.0', null, asked.label, case when lost then 'lost' when gained then 'gained' when now > 0 then 'kept' else 'none' end,
    case when lost then 'its Conceal counter is removed' when gained then 'it may have a Conceal counter'
      when now > 0 then 'it stays Concealed' else 'it is not Concealed' end,
    null, asked.code, null,
    jsonb_build_object(
      'concealed', now, 'lost', lost, 'gained', gained, 'was', was, 'kind', asked.kind,
      'because', coalesce(
        (select jsonb_agg(step.note) from unnest(steps) as step where step.effect in ('reveals', 'forbids', '-1')), '[]'
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.conceal(bigint, text, text, text, jsonb, jsonb) is
'Whether a unit keeps, loses or may gain its Conceal counter, after what (move, fire, op_fire, used, rout, canister, aircraft …).';

create or replace function bob._loss_steps(unit positions.counter, since text)
returns setof rulings.ledger_step
language sql immutable rows 1
as $$
  select entry.rule, null, unit.label, 'reveals', entry.note, null, unit.code, null::integer, null::jsonb
  from (
    values
    (since in ('fire', 'close_assault'), '15.0', 'it passed its check and fired or Close Assaulted'),
    (since in ('air_attack', 'aircraft'), '35.0', 'its hex was attacked by an aircraft'),
    (since = 'canister', '37.0', 'its hex was fired at with canister'),
    (since = 'banzai' and bob._japanese(unit), '59.6', 'it was selected for a Banzai Charge'),
    (since = 'suppressed', '15.0', 'it was Suppressed'),
    (since = 'voluntary', '15.0', 'it may be removed at any time'),
    (unit.kind in ('vehicle', 'carrier') and since = 'move', '20.1', 'a Vehicle that moves loses it'),
    (unit.kind in ('vehicle', 'carrier') and since in ('artillery', 'indirect_fire'), '20.1', 'a Vehicle that Artillery attacks loses it'),
    (since = 'event', '17.0', 'a Combat Event reveals it')
  ) as entry (speaks, rule, note)
  where entry.speaks
$$;

comment on function bob._loss_steps(positions.counter, text) is
'What a unit did, or had done to it, that takes its Conceal counter off (15.0, 20.1, 35.0, 37.0, 59.6).';

create or replace function bob._is_beset(state positions.state, unit positions.counter)
returns boolean
language sql stable parallel safe
as $$
  select exists (
    select from bob._counters(state) as enemy
    where enemy.side <> unit.side and lattice.distance(enemy.q, enemy.r, unit.q, unit.r) <= 1
  )
$$;

comment on function bob._is_beset(positions.state, positions.counter) is
'Whether an enemy is in the hex of a unit or next to it.';

create or replace function bob.sheltered(position_id bigint, unit text, conditions jsonb default null, policy jsonb default null)
returns boolean
language sql stable
as $$
  -- 17.0: cover from all around, and no enemy near
  select not bob._is_beset(state, here) and coalesce((
    select bool_and(bob._is_beneficial(state, 'hex:' || here.label, 'hex:' || hex.label))
    from lattice.neighbours(here.q, here.r) as beside
    inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  ), false)
  from positions.state(sheltered.position_id, sheltered.conditions, sheltered.policy) as state
  cross join lateral bob._counter(state, sheltered.unit) as here
$$;

comment on function bob.sheltered(bigint, text, jsonb, jsonb) is
'Whether a unit is in Beneficial Terrain, and no enemy next to it: then an event may hide it (17.0).';
