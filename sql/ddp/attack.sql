-- needs: lattice/cells.sql, positions/place.sql, charts/cells.sql, ddp/acting.sql, ddp/close_combat.sql, ddp/command.sql, ddp/fields.sql, ddp/los.sql, ddp/move.sql, ddp/spots.sql, ddp/weapons.sql, rulings/step.sql
-- US attacks in ddp (D-Day at Peleliu): who may take part (8.1, 8.13, 16.0, 19.2), strengths and doubling (8.3, 13.3, 13.45),
-- weapons, flanking and heroes (8.2), support (8.5), and where the chart is read (8.3).

drop type if exists ddp.attacker cascade;
create type ddp.attacker as (
  code text,
  kind text,
  q integer,
  r integer,
  label text,
  away integer,
  reach integer,
  blocked boolean,
  barred boolean,
  disputed boolean,
  on_foot boolean,
  regiments text array,
  battalion boolean,
  always boolean,
  weapons text array,
  strength integer,
  hero boolean
);

comment on type ddp.attacker is
'A US unit in an attack or barrage: where it stands, how far it reaches, who commands it, and what it brings.';
comment on column ddp.attacker.blocked is 'Whether a fortification makes the side between it and the target impassable (19.2)';
comment on column ddp.attacker.barred is 'Whether jungle or mountain lies between it and a target two hexes away (8.1)';
comment on column ddp.attacker.disputed is 'Whether ddp-38 decides that';
comment on column ddp.attacker.regiments is 'The regimental HQs and command posts that command it';
comment on column ddp.attacker.battalion is 'Whether an infantry/HQ commands it';

create or replace function ddp._reach_of(unit positions.counter, overnight boolean)
returns integer
language sql immutable parallel safe
return case
  when overnight then 1
  when unit.attributes ->> 'range' = 'U' then 999
  when unit.attributes ? 'range' then greatest((unit.attributes ->> 'range')::integer, 1)
  -- 8.27
  when unit.kind = 'infantry' then case when (unit.attributes ->> 'steps')::integer >= 4 then 2 else 1 end
  when unit.kind = 'heavy_infantry' then case when (unit.attributes ->> 'steps')::integer >= 2 then 2 else 1 end
  -- 8.28: as far as its guns tell
  when unit.kind in ('tank', 'amphibious_tank') then 6
  when unit.kind = 'artillery' then null
  else 1
end;

comment on function ddp._reach_of(positions.counter, boolean) is
'How many hexes away a US unit may attack (8.1, 8.27, 8.28, 16.0); null where its counter would tell.';

create or replace function ddp._attackers(state positions.state, codes text[], q integer, r integer)
returns setof ddp.attacker
language sql stable rows 4
as $$
  select
    unit.code,
    unit.kind,
    unit.q,
    unit.r,
    unit.label,
    far.away,
    ddp._reach_of(unit, ddp._overnight(state.conditions)),
    far.away = 1 and ddp._is_blocked(state.position_id, state.map_id, _attackers.q, _attackers.r, unit.q, unit.r),
    coalesce(between_b.bars, false) and (coalesce(between_a.bars, false) or state.readings ->> 'ddp-38' = 'b'),
    coalesce(between_b.bars, false) and not coalesce(between_a.bars, false),
    ddp._on_foot(unit.kind),
    array(
      select head.by
      from ddp.command(state.position_id, unit.code, state.conditions, state.readings) as head
      where head.effect = 'commands' and head.rule <> '10.3'
      order by head.by
    ),
    exists (
      select from ddp.command(state.position_id, unit.code, state.conditions, state.readings) as head
      where head.effect = 'commands' and head.rule = '10.3'
    ),
    ddp._ridge(state.conditions),
    ddp._weapons(unit, far.away),
    (unit.attributes ->> 'strength')::integer,
    ddp._flag(unit.attributes, 'hero')
  from unnest(codes) with ordinality as named (code, n)
  cross join lateral positions.counter(state.position_id, named.code) as unit
  cross join lateral (
    select lattice.distance(unit.q, unit.r, _attackers.q, _attackers.r) as away
  ) as far
  left join lateral (
    select row(state.map_id, unit.q, unit.r, 2, true, null, null)::ddp.firer as firer
  ) as from_here on far.away = 2
  left join lateral ddp._between(from_here.firer, _attackers.q, _attackers.r, 'a') as between_a on far.away = 2
  left join lateral ddp._between(from_here.firer, _attackers.q, _attackers.r, 'b') as between_b on far.away = 2
  order by named.n
$$;

comment on function ddp._attackers(positions.state, text[], integer, integer) is
'The units named for an attack on a hex, each with what bears on its part in it.';

create or replace function ddp._commanded(unit ddp.attacker, readings jsonb)
returns boolean
language sql immutable parallel safe
-- ddp-11 c: an infantry/HQ is no HQ here
return unit.always or cardinality(unit.regiments) > 0 or (unit.battalion and coalesce(readings ->> 'ddp-11' <> 'c', true));

comment on function ddp._commanded(ddp.attacker, jsonb) is
'Whether a unit is in command of any HQ (8.1, ddp-11).';

create or replace function ddp._qualifies(unit ddp.attacker, readings jsonb)
returns boolean
language sql immutable parallel safe
return unit.away = 1
and not unit.blocked
and coalesce(
  unit.kind in ('infantry', 'heavy_infantry', 'engineer')
  or (unit.kind = 'infantry_hq' and coalesce(readings ->> 'ddp-9' <> 'b', true)),
  false
);

comment on function ddp._qualifies(ddp.attacker, jsonb) is
'Whether a unit makes an attack legal: adjacent infantry, infantry/HQ or engineers (8.1, 19.2, ddp-9).';

create or replace function ddp._part_bars(state positions.state, units ddp.attacker[])
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    bar.rule,
    null,
    unit.label,
    bar.effect,
    format(bar.note, unit.code),
    bar.point,
    unit.code,
    null::integer,
    null::jsonb
  from unnest(units) as unit
  cross join lateral (
    select
      unit.kind in ('tank', 'amphibious_tank') as tank,
      unit.kind = 'artillery' as gun,
      unit.away > unit.reach as far,
      exists (
        select from unnest(units) as other
        where other.on_foot and lattice.distance(other.q, other.r, unit.q, unit.r) = 1
      ) as beside,
      exists (select from unnest(units) as other where other.on_foot and ddp._commanded(other, state.readings)) as led,
      exists (
        select from unnest(units) as other where other.on_foot and ddp._commanded(other, '{"ddp-11": "a"}')
      ) as led_somehow,
      exists (
        select from unnest(units) as other where other.on_foot and other.regiments && unit.regiments
      ) as shared,
      exists (
        select from ddp._field_dots(state, 'silence') as dot where dot.q = unit.q and dot.r = unit.r
      ) as under_fire
  ) as part
  cross join lateral (
    values
    (1, unit.kind in ('regimental_hq', 'command_post'), '8.13', 'forbids', '%s is a regimental HQ and takes no part', null),
    (2, unit.kind in ('garrison', 'hero'), '14.41', 'forbids', '%s takes no part in attacks', null),
    (3, unit.away = 0, '8.0', 'forbids', '%s stands in the hex itself', null),
    (
      4,
      part.far and not ddp._overnight(state.conditions),
      case when part.tank or part.gun or unit.on_foot then '8.1' else '8.1' end,
      'forbids',
      '%s is out of range',
      null
    ),
    (5, part.far and ddp._overnight(state.conditions), '16.0', 'forbids', '%s is not adjacent: no ranged fire overnight', null),
    (6, unit.reach is null, '8.11', 'unknown', 'the range of %s', null),
    (
      7,
      unit.on_foot and unit.away = 2 and unit.reach >= 2 and (unit.barred or unit.disputed),
      '8.1',
      case when unit.barred then 'forbids' else 'passes' end,
      case when unit.barred then '%s: jungle or mountain lies between' else '%s: one of the two hexes between is open' end,
      case when unit.disputed then 'ddp-38' end
    ),
    (
      8,
      unit.blocked
      and not (
        unit.reach >= 2
        and unit.on_foot
        and exists (select from unnest(units) as other where other.away = 1 and not other.blocked)
      ),
      '19.2',
      'forbids',
      '%s may not attack over an impassable side',
      null
    ),
    (
      9,
      part.tank and unit.away > 1 and not unit.always and not part.beside
      and not ddp._commanded(unit, state.readings) and (not part.led or not part.led_somehow),
      '8.1',
      'forbids',
      '%s is neither adjacent, nor beside attacking infantry, nor is it or the infantry in command',
      case when part.led_somehow then 'ddp-11' end
    ),
    (
      10,
      part.tank and unit.away > 1 and not unit.always and not part.beside and not ddp._commanded(unit, state.readings)
      and part.led and exists (select from unnest(units) as other where other.on_foot and other.battalion),
      '8.1',
      'passes',
      '%s: attacking infantry is in command of an HQ',
      'ddp-11'
    ),
    (
      11,
      part.gun and not unit.always and not part.shared,
      '8.1',
      'forbids',
      '%s is not commanded by a regimental HQ that commands attacking infantry',
      null
    ),
    (12, part.gun and part.under_fire, '8.1', 'forbids', '%s is in the field of fire of an undisrupted unit', null)
  ) as bar (n, holds, rule, effect, note, point)
  where bar.holds
  order by unit.code, bar.n
$$;

comment on function ddp._part_bars(positions.state, ddp.attacker[]) is
'Why units may not take part in an attack (8.1, 8.13, 14.41, 16.0, 19.2, ddp-11, ddp-38).';

create or replace function ddp._radio(unit ddp.attacker, readings jsonb)
returns boolean
language sql immutable parallel safe
-- 8.25, 18.32
return unit.always
or 'RD' = any(unit.weapons)
or (unit.away = 1 and (cardinality(unit.regiments) > 0 or (unit.battalion and coalesce(readings ->> 'ddp-11' = 'b', false))));

comment on function ddp._radio(ddp.attacker, jsonb) is
'Whether a unit in an attack has a radio: its own, or that of the HQ in whose command it attacks from beside (8.25, ddp-11).';

create or replace function ddp._support_bars(state positions.state, units ddp.attacker[], support text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    bar.rule,
    null,
    null,
    bar.effect,
    bar.note,
    bar.point,
    support,
    null::integer,
    null::jsonb
  from (
    select
      exists (
        select from unnest(units) as unit
        where 'RD' = any(unit.weapons) or ddp._commanded(unit, state.readings)
      ) as anybody,
      exists (
        select from unnest(units) as unit
        where unit.on_foot and ('RD' = any(unit.weapons) or ddp._commanded(unit, state.readings))
      ) as infantry,
      (
        select (position.tracks -> 'us' ->> support)::integer from public.position where position.id = state.position_id
      ) as held
  ) as part
  cross join lateral (
    values
    (1, part.held = 0, '8.51', 'forbids', 'no such marker is held', null),
    (2, ddp._overnight(state.conditions), '16.0', 'forbids', 'neither naval fire nor airstrikes support attacks overnight', null),
    (3, not part.anybody, '8.51', 'forbids', 'nobody who attacks has a radio or an HQ to command it', null),
    (
      4,
      part.anybody and not part.infantry,
      '8.51',
      case when state.readings ->> 'ddp-10' = 'a' then 'forbids' else 'passes' end,
      'only units other than infantry have a radio or are in command',
      'ddp-10'
    )
  ) as bar (n, holds, rule, effect, note, point)
  where support is not null and bar.holds
  order by bar.n
$$;

comment on function ddp._support_bars(positions.state, ddp.attacker[], text) is
'Why a naval fire or Dauntless marker may not support an attack (8.51, 16.0, ddp-10).';

create or replace function ddp._fresh_morning(conditions jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(
  ddp._ridge(conditions)
  and (
    conditions ->> 'phase' = 'morning'
    or (
      (conditions ->> 'turn')::integer in (5, 9, 13, 17)
      -- 18.32: by the event, or on turn 12
      and ((conditions ->> 'rupertus')::boolean is false or (conditions ->> 'turn')::integer > 12)
    )
  ),
  false
);

comment on function ddp._fresh_morning(jsonb) is
'Whether it is a morning turn of Bloody Nose Ridge after the change of command (18.22).';

create or replace function ddp._depth_shown(enemy ddp.occupant)
returns boolean
language sql immutable parallel safe
return ddp._depth_said(enemy.attributes) is not null
and (ddp._flag(enemy.attributes -> 'depth', 'revealed') or enemy.stance);

comment on function ddp._depth_shown(ddp.occupant) is
'Whether a Japanese unit has depth that is revealed; that of a counterattack marker always is (13.41).';

create or replace function ddp._target_bars(state positions.state, q integer, r integer, label text, manner text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    bar.rule,
    null,
    _target_bars.label,
    'forbids',
    format(bar.note, _target_bars.label),
    null,
    null,
    null::integer,
    null::jsonb
  from (
    values
    (
      1,
      not exists (select from ddp._occupants(state) as held where held.q = _target_bars.q and held.r = _target_bars.r),
      '8.0',
      'no Japanese unit is in %s'
    ),
    (
      2,
      exists (
        select from ddp._us_units(state) as unit
        where unit.q = _target_bars.q and unit.r = _target_bars.r and unit.kind is distinct from 'garrison'
      ),
      case when manner = 'barrage' then '8.44' else '8.0' end,
      'US units are in %s, too'
    ),
    (
      3,
      coalesce(state.conditions -> 'attacked' ? _target_bars.label, false),
      case when manner = 'barrage' then '8.43' else '8.31' end,
      '%s was attacked in this phase'
    ),
    (
      4,
      manner = 'attack' and coalesce(state.conditions -> 'barraged' ? _target_bars.label, false),
      '8.43',
      '%s was barraged in this phase'
    ),
    (5, ddp._night(state.conditions), '18.21', 'nobody attacks on a night of Bloody Nose Ridge'),
    (
      6,
      manner = 'attack' and ddp._fresh_morning(state.conditions),
      '18.22',
      'nobody attacks on a morning after the change of command'
    )
  ) as bar (n, holds, rule, note)
  where bar.holds
  order by bar.n
$$;

comment on function ddp._target_bars(positions.state, integer, integer, text, text) is
'Why a hex may not be attacked or barraged (8.0, 8.31, 8.43, 8.44, 18.21, 18.22).';

create or replace function ddp._factor(state positions.state, enemy ddp.occupant, told integer)
returns integer
language sql stable parallel safe
return case
  when enemy.tank or enemy.stance then 1
  else (
    select coalesce(cell.value::integer, told, case when hex.terrain in ('clear', 'airstrip', 'beach', 'shallow', 'sea') then 1 end)
    from public.hex
    left join lateral charts.cell('ddp', 'terrain_effects_chart', hex.terrain, 'strength_factor') as cell on true
    where hex.map_id = state.map_id and hex.q = enemy.q and hex.r = enemy.r
  )
end;

comment on function ddp._factor(positions.state, ddp.occupant, integer) is
'By what terrain multiplies Japanese strength (8.3): never for tanks and counterattacks (13.3, 13.45); null where only the chart tells.';

create or replace function ddp._flanked(units ddp.attacker[], hexes integer)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return case
    when hexes = 3 then (
      select count(distinct unit.label) >= 3
      from unnest(units) as unit
      where unit.away = 1 and not unit.blocked
    )
    else exists (
      select
      from unnest(units) as one
      cross join unnest(units) as two
      where one.away = 1
        and two.away = 1
        and not one.blocked
        and not two.blocked
        and lattice.distance(one.q, one.r, two.q, two.r) > 1
    )
  end;
end
$$;

comment on function ddp._flanked(ddp.attacker[], integer) is
'Whether a hex is attacked from two adjacent hexes that do not touch, or from any three (8.22, 19.2).';

create or replace function ddp._required(state positions.state, enemy ddp.occupant)
returns table (weapon text, whose text, rule text)
language sql stable parallel safe rows 3
as $$
  select word.weapon, 'unit', '8.2'
  from jsonb_array_elements_text(coalesce(enemy.attributes -> 'requires', '[]')) as word (weapon)
  where not enemy.fortification
  union all
  select word.weapon, 'depth', '8.2'
  from jsonb_array_elements_text(coalesce(ddp._depth_said(enemy.attributes) -> 'requires', '[]')) as word (weapon)
  where ddp._depth_shown(enemy)
  union all
  select word.weapon, 'fortification', '19.1'
  from public.marker
  cross join lateral jsonb_array_elements_text(
    case
      when ddp._ridge(state.conditions) then coalesce(marker.attributes -> 'requires', '[]')
      -- in the invasion only its back is used
      else '["AR"]'
    end
  ) as word (weapon)
  where marker.position_id = state.position_id
    and marker.kind = 'fortification'
    and marker.q = enemy.q
    and marker.r = enemy.r
$$;

comment on function ddp._required(positions.state, ddp.occupant) is
'The weapons that a Japanese unit, its revealed depth and a fortification require (8.2, 19.1).';

create or replace function ddp._weapon_steps(
  state positions.state, units ddp.attacker[], enemy ddp.occupant, support text, wild text
)
returns table (weapon text, rule text, met boolean, untold boolean, note text, point text)
language sql stable rows 3
as $$
  select
    need.weapon,
    judged.rule,
    judged.met,
    not judged.met
    and need.weapon not in ('FL', 'CC')
    and exists (
      select from unnest(units) as unit
      where unit.weapons is null and unit.kind in ('infantry', 'heavy_infantry', 'infantry_hq', 'engineer', 'artillery')
    ),
    case
      when need.weapon = 'CC' then 'CC is never met in an attack'
      when need.weapon = 'FL' and need.times > 1 then 'FL twice: three adjacent hexes are wanted'
      when need.weapon = 'FL' then 'FL: two adjacent hexes that do not touch are wanted'
      when judged.by is not null then format('%s of %s', need.weapon, judged.by)
      else format('%s is wanting', need.weapon)
    end,
    judged.point
  from (
    select
      found.weapon,
      count(*) filter (where found.whose in ('unit', 'depth')) as times
    from ddp._required(state, enemy) as found
    group by found.weapon
  ) as need
  cross join lateral (
    select
      coalesce(
        (select min(unit.code) from unnest(units) as unit where need.weapon = any(unit.weapons)),
        (
          select 'the radio of an HQ'
          where need.weapon = 'RD' and exists (select from unnest(units) as unit where ddp._radio(unit, state.readings))
        ),
        (
          select replace(support, '_', ' ')
          where need.weapon = any(ddp._chart_weapons(support, null, 0))
        ),
        (select 'a hero' where need.weapon = wild and need.weapon not in ('FL', 'CC'))
      ) as by,
      exists (
        select from unnest(units) as unit
        where unit.away = 1 and unit.battalion and cardinality(unit.regiments) = 0 and not unit.always
      )
      and not exists (
        select from unnest(units) as unit where 'RD' = any(unit.weapons) or (unit.away = 1 and cardinality(unit.regiments) > 0)
      ) as disputed
  ) as has
  cross join lateral (
    select
      case need.weapon when 'FL' then '8.22' when 'CC' then '8.23' when 'RD' then '8.25' when 'NA' then '8.26' else '8.2' end as rule,
      case
        when need.weapon = 'CC' then false
        when need.weapon = 'FL' then ddp._flanked(units, case when need.times > 1 then 3 else 2 end)
        else has.by is not null
      end as met,
      has.by,
      case when need.weapon = 'RD' and has.disputed then 'ddp-11' end as point
  ) as judged
  order by need.weapon
$$;

comment on function ddp._weapon_steps(positions.state, ddp.attacker[], ddp.occupant, text, text) is
'Every weapon that is required, and who brings it: units, an HQ''s radio, a marker, a hero (8.2).';

create or replace function ddp._strength_steps(
  state positions.state, units ddp.attacker[], enemy ddp.occupant, support text, wild text, factor integer
)
returns setof rulings.ledger_step
language sql stable rows 8
as $$
  select
    entry.rule,
    null,
    entry.at,
    entry.effect,
    entry.note,
    null,
    entry.by,
    2 * entry.value,
    null::jsonb
  from (
    select 1 as n, unit.code as k, '8.3' as rule, unit.label as at, 'adds' as effect, format('%s, strength %s', unit.code, unit.strength) as note, unit.code as by, unit.strength as value
    from unnest(units) as unit
    where unit.strength is not null
    union all
    select 1, unit.code, '2.21', unit.label, 'unknown', format('the strength of %s', unit.code), unit.code, null
    from unnest(units) as unit
    where unit.strength is null
    union all
    select 2, '', '8.51', null, 'adds', format('the %s marker', replace(support, '_', ' ')), support, 9
    where support is not null
    union all
    select 3, '', '8.24', null, 'adds', 'a hero raises the strength', 'hero', 1
    where wild = 'strength'
    union all
    select 4, '', '8.3', enemy.label, 'defends', format('%s, strength %s', enemy.code, enemy.attributes ->> 'strength'), enemy.code, -(enemy.attributes ->> 'strength')::integer
    where not enemy.fortification
    union all
    select 5, '', '8.3', enemy.label, 'defends', format('its depth, strength %s', ddp._depth_said(enemy.attributes) ->> 'strength'), enemy.code, -coalesce((ddp._depth_said(enemy.attributes) ->> 'strength')::integer, 0)
    where ddp._depth_shown(enemy)
    union all
    select 6, '', case when enemy.tank then '13.3' when enemy.stance then '13.45' else '8.3' end, enemy.label,
      case when factor > 1 then 'doubles' else 'not doubled' end,
      case
        when enemy.tank then 'a tank has no benefit of terrain'
        when enemy.stance then 'a counterattack has no benefit of terrain'
        else format('%s multiplies it by %s', (select hex.terrain from public.hex where hex.map_id = state.map_id and hex.q = enemy.q and hex.r = enemy.r), factor)
      end,
      enemy.code,
      null
    where factor > 1 or enemy.tank or enemy.stance
    union all
    select 7, '', '8.3', enemy.label, 'unknown', 'terrain_effects_chart', enemy.code, null
    where factor is null
  ) as entry
  order by entry.n, entry.k
$$;

comment on function ddp._strength_steps(positions.state, ddp.attacker[], ddp.occupant, text, text, integer) is
'The strengths of both sides, entry by entry (8.24, 8.3, 8.51, 13.3, 13.45).';

create or replace function ddp._row_of(strength integer, defense integer)
returns text
language sql immutable parallel safe
return case
  when strength > 2 * defense then 'more_than_twice'
  when strength > defense then 'more'
  when strength = defense then 'equal'
  when strength < defense then 'less'
end;

comment on function ddp._row_of(integer, integer) is
'The line of the US Attack Chart for two strengths (8.3).';

create or replace function ddp.attack(
  position_id bigint,
  units text[],
  at text,
  support text default null,
  wild text default null,
  told_factor integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  enemy ddp.occupant;
  parts ddp.attacker[];
  bars rulings.ledger_step[];
  sums rulings.ledger_step[];
  needs record;
  factor integer;
  strength integer;
  defense integer;
  facts jsonb;
begin
  select * into state from positions.state(attack.position_id, attack.conditions, attack.policy);
  select place.q, place.r, hex.label into spot
  from positions.place(attack.position_id, attack.at) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  select held.* into enemy
  from ddp._occupants(state) as held
  where held.q = spot.q and held.r = spot.r
  order by held.fortification, held.code
  limit 1;
  parts := array(select unit from ddp._attackers(state, attack.units, spot.q, spot.r) as unit);
  bars := array(select bar from ddp._target_bars(state, spot.q, spot.r, spot.label, 'attack') as bar)
  || array(select bar from ddp._part_bars(state, parts) as bar)
  || array(select bar from ddp._support_bars(state, parts, attack.support) as bar)
  || array(
    select row(
      '8.1', null, spot.label, case when found.somehow then found.effect else 'forbids' end,
      'an attack takes at least one infantry, infantry/HQ or engineer unit beside the hex',
      case when found.somehow then 'ddp-9' end, null, null, null
    )::rulings.ledger_step
    from (
      select
        bool_or(ddp._qualifies(unit, '{"ddp-9": "b"}')) as surely,
        bool_or(ddp._qualifies(unit, '{"ddp-9": "a"}')) as somehow,
        case when bool_or(ddp._qualifies(unit, state.readings)) then 'passes' else 'forbids' end as effect
      from unnest(parts) as unit
    ) as found
    where not found.surely
  );
  return query select * from unnest(bars);
  if exists (select from unnest(bars) as bar where bar.effect = 'forbids') then
    return query
    select
      bar.rule, null::text, spot.label, 'refused',
      (select string_agg(one.note, '; ') from unnest(bars) as one where one.effect = 'forbids'),
      null::text, null::text, null::integer,
      jsonb_build_object('allowed', false, 'at', spot.label, 'enemy', case when not enemy.fortification then enemy.code end)
    from unnest(bars) as bar
    where bar.effect = 'forbids'
    limit 1;
    return;
  end if;
  factor := ddp._factor(state, enemy, attack.told_factor);
  sums := array(select step from ddp._strength_steps(state, parts, enemy, attack.support, attack.wild, factor) as step);
  return query select * from unnest(sums);
  return query
  select
    need.rule, null::text, spot.label,
    case when need.met then 'met' when need.untold then 'unknown' else 'missing' end,
    case when need.untold and not need.met then 'us_weapons_chart' else need.note end,
    need.point, null::text, null::integer, null::jsonb
  from ddp._weapon_steps(state, parts, enemy, attack.support, attack.wild) as need
  order by need.weapon;
  select
    coalesce(jsonb_agg(need.weapon order by need.weapon), '[]') as all_of_them,
    coalesce(jsonb_agg(need.weapon order by need.weapon) filter (where need.met), '[]') as met,
    coalesce(jsonb_agg(need.weapon order by need.weapon) filter (where not need.met), '[]') as missing,
    coalesce(bool_or(not need.met and not need.untold), false) as lacks,
    coalesce(bool_or(need.untold), false) as untold
  into needs
  from ddp._weapon_steps(state, parts, enemy, attack.support, attack.wild) as need;
  select sum(step.halves) / 2 into strength from unnest(sums) as step where step.effect = 'adds';
  if exists (select from unnest(sums) as step where step.effect = 'unknown' and step.rule = '2.21') then
    strength := null;
  end if;
  select factor * -sum(step.halves) / 2 into defense from unnest(sums) as step where step.effect = 'defends';
  defense := coalesce(defense, case when enemy.fortification then 0 end);
  facts := jsonb_build_object(
    'allowed', true,
    'at', spot.label,
    'enemy', case when not enemy.fortification then enemy.code end,
    'strength', strength,
    'defense', defense,
    'factor', factor,
    'requires', needs.all_of_them,
    'met', needs.met,
    'missing', needs.missing,
    'section', case
      when needs.lacks then 'without_weapons'
      when needs.untold then null
      when jsonb_array_length(needs.missing) = 0 then 'with_weapons'
    end,
    'column', case
      when ddp._depth_shown(enemy) then 'revealed_depth'
      when enemy.depth and not ddp._flag(enemy.attributes -> 'depth', 'tactical') then 'unrevealed_depth'
      when enemy.depth then 'unrevealed_depth'
      else 'alone'
    end,
    'row', ddp._row_of(strength, defense),
    'adjacent', coalesce((select jsonb_agg(unit.code order by unit.code) from unnest(parts) as unit where unit.away = 1), '[]'),
    'heroes', coalesce((select jsonb_agg(unit.code order by unit.code) from unnest(parts) as unit where unit.away = 1 and unit.hero), '[]')
  );
  return query
  select
    '8.3', null::text, spot.label,
    coalesce(facts ->> 'row', 'undecided'),
    format('%s against %s, %s', coalesce(strength::text, 'an unknown strength'), coalesce(defense::text, 'an unknown one'), replace(coalesce(facts ->> 'section', 'weapons not told'), '_', ' ')),
    null::text, null::text, null::integer, facts;
end
$$;

comment on function ddp.attack(bigint, text[], text, text, text, integer, jsonb, jsonb) is
'The ledger of a US attack: who may not take part, strengths and doubling, weapons met and missing, and where the chart is read. The verdict last.';
