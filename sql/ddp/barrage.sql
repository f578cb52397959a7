-- needs: lattice/cells.sql, positions/place.sql, charts/cells.sql, ddp/attack.sql, ddp/fields.sql, ddp/spots.sql, rulings/step.sql
-- Barrages in ddp (D-Day at Peleliu): 8.4, 8.41, 8.43, 8.44, 8.52, 16.0, 18.22, 19.4.

create or replace function ddp._target_field(state positions.state, q integer, r integer)
returns setof ddp.dot
language sql stable parallel safe rows 10
as $$
  select dot.*
  from ddp._fields(state, 'barrage') as field
  cross join lateral ddp._dots_of(state, field, 'barrage') as dot
  where (
    exists (
      select from ddp._spots(state.map_id) as spot
      where spot.place = field.place and spot.q = _target_field.q and spot.r = _target_field.r
    )
    or (field.cave and field.q = _target_field.q and field.r = _target_field.r)
  )
$$;

comment on function ddp._target_field(positions.state, integer, integer) is
'The field of fire of the position in a hex, from which it can be observed (8.4, ddp-3).';

create or replace function ddp._observers(state positions.state, q integer, r integer)
returns table (code text, on_foot boolean, radio boolean, commanded boolean)
language sql stable rows 3
as $$
  select
    unit.code,
    ddp._on_foot(unit.kind),
    coalesce('RD' = any(ddp._weapons(unit, 0)), false),
    ddp._commanded(part, state.readings)
  from ddp._us_units(state) as unit
  cross join lateral ddp._attackers(state, array[unit.code], _observers.q, _observers.r) as part
  where not ddp._flag(unit.attributes, 'disrupted')
    and (ddp._on_foot(unit.kind) or coalesce(unit.kind = 'engineer', false))
    and exists (
      select from ddp._target_field(state, _observers.q, _observers.r) as dot where dot.q = unit.q and dot.r = unit.r
    )
$$;

comment on function ddp._observers(positions.state, integer, integer) is
'Undisrupted US infantry and engineers in the field of fire of a target (8.4, 8.52).';

create or replace function ddp._hidden_bars(state positions.state, q integer, r integer, label text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    case when there.fortified then '19.4' else '8.41' end,
    null,
    _hidden_bars.label,
    case when there.fortified and coalesce(state.readings ->> 'ddp-33' <> 'b', true) then 'passes' else 'forbids' end,
    case
      when there.fortified then 'its fortification is revealed, its unit is not'
      else 'the enemy there is not revealed'
    end,
    case when there.fortified then 'ddp-33' end,
    null,
    null::integer,
    null::jsonb
  from (
    select
      bool_or(held.revealed and not held.fortification) as revealed,
      bool_or(held.revealed and held.fortification) as fortified,
      bool_or(not held.fortification) as manned
    from ddp._occupants(state) as held
    where held.q = _hidden_bars.q and held.r = _hidden_bars.r
  ) as there
  where not there.revealed
    -- 18.31: a revealed fortification alone is a target
    and not (there.fortified and not there.manned)
    and not ddp._fresh_morning(state.conditions)
$$;

comment on function ddp._hidden_bars(positions.state, integer, integer, text) is
'Whether a target is not revealed, and what that bars (8.41, 18.22, 18.31, 19.4, ddp-33).';

create or replace function ddp._barrage_bars(state positions.state, unit ddp.attacker, marker text, q integer, r integer, label text)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    bar.rule,
    null,
    coalesce(unit.label, _barrage_bars.label),
    bar.effect,
    format(bar.note, coalesce(unit.code, replace(marker, '_', ' '))),
    bar.point,
    coalesce(unit.code, marker),
    null::integer,
    null::jsonb
  from (
    select
      unit.kind in ('tank', 'amphibious_tank') as tank,
      unit.kind = 'artillery' as gun,
      ddp._fresh_morning(state.conditions) as morning,
      exists (
        select from ddp._target_field(state, _barrage_bars.q, _barrage_bars.r) as dot where dot.q = unit.q and dot.r = unit.r
      ) as inside,
      exists (
        select from ddp._observers(state, _barrage_bars.q, _barrage_bars.r) as one
        where one.commanded or ddp._commanded(unit, state.readings)
      ) as observed,
      exists (
        select from ddp._observers(state, _barrage_bars.q, _barrage_bars.r) as one
        where one.on_foot and (one.radio or one.commanded)
      ) as called,
      (select (position.tracks -> 'us' ->> marker)::integer from public.position where position.id = state.position_id) as held,
      exists (
        select from ddp._field_dots(state, 'silence') as dot where dot.q = unit.q and dot.r = unit.r
      ) as under_fire,
      (
        select min('ddp-3')
        from ddp._fields(state, 'barrage') as field
        inner join ddp._spots(state.map_id) as spot on field.place = spot.place
        where spot.q = _barrage_bars.q and spot.r = _barrage_bars.r and 'ddp-3' = any(field.points)
      ) as disputed
  ) as part
  cross join lateral (
    values
    (1, ddp._overnight(state.conditions), '16.0', 'forbids', 'no barrages are conducted overnight', null),
    (
      2,
      marker is null and not coalesce(part.tank or part.gun, false),
      '8.4',
      'forbids',
      '%s is neither a tank nor artillery',
      null
    ),
    (3, marker is null and unit.away <= 1, '8.4', 'forbids', '%s is adjacent to the target', null),
    (4, marker is null and unit.away > unit.reach, '8.4', 'forbids', '%s is out of range', null),
    (5, marker is null and unit.reach is null and (part.tank or part.gun), '8.11', 'unknown', 'the range of %s', null),
    (
      6,
      coalesce(part.tank, false) and not part.morning and not part.inside and not part.observed,
      '8.4',
      'forbids',
      '%s is not in the field of fire of the target, and nobody in command observes for it',
      part.disputed
    ),
    (
      7,
      coalesce(part.tank, false) and not part.morning and (part.inside or part.observed) and part.disputed is not null,
      '8.4',
      'passes',
      '%s: the dots of a disrupted unit make its hex observable',
      part.disputed
    ),
    (
      8,
      coalesce(part.gun, false) and not unit.always and cardinality(unit.regiments) = 0,
      '8.4',
      'forbids',
      '%s is not in command of a regimental HQ',
      null
    ),
    (
      9,
      coalesce(part.gun, false) and part.under_fire and not part.morning,
      '8.4',
      'forbids',
      '%s is in the field of fire of an undisrupted unit',
      null
    ),
    (10, marker is not null and part.held = 0 and not part.morning, '8.52', 'forbids', 'no %s marker is held', null),
    (
      11,
      marker is not null and not part.called and not part.morning,
      '8.52',
      'forbids',
      '%s: no undisrupted infantry with a radio or in command is in the field of fire of the target',
      part.disputed
    ),
    (
      12,
      marker is null and part.morning,
      '18.22',
      case when state.readings ->> 'ddp-31' = 'b' then 'forbids' else 'passes' end,
      '%s barrages on a morning after the change of command',
      'ddp-31'
    )
  ) as bar (n, holds, rule, effect, note, point)
  where bar.holds
  order by bar.n
$$;

comment on function ddp._barrage_bars(positions.state, ddp.attacker, text, integer, integer, text) is
'Why a unit or marker may not barrage a hex (8.4, 8.52, 16.0, 18.22, ddp-3, ddp-31).';

create or replace function ddp.barrage(
  position_id bigint,
  unit text,
  marker text,
  at text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  enemy ddp.occupant;
  gun ddp.attacker;
  bars rulings.ledger_step[];
  shift integer;
  strength integer;
begin
  select * into state from positions.state(barrage.position_id, barrage.conditions, barrage.policy);
  select place.q, place.r, hex.label, hex.terrain into spot
  from positions.place(barrage.position_id, barrage.at) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  select held.* into enemy
  from ddp._occupants(state) as held
  where held.q = spot.q and held.r = spot.r
  order by held.fortification, held.code
  limit 1;
  if barrage.unit is not null then
    perform positions._asked_counter(barrage.position_id, barrage.unit);
    select one.* into gun from ddp._attackers(state, array[barrage.unit], spot.q, spot.r) as one;
  end if;
  bars := array(select bar from ddp._target_bars(state, spot.q, spot.r, spot.label, 'barrage') as bar)
  || array(select bar from ddp._hidden_bars(state, spot.q, spot.r, spot.label) as bar where enemy.code is not null)
  || array(select bar from ddp._barrage_bars(state, gun, barrage.marker, spot.q, spot.r, spot.label) as bar);
  return query select * from unnest(bars);
  select coalesce(cell.value::integer, 0) into shift
  from (select 1) as one
  left join lateral charts.cell('ddp', 'terrain_effects_chart', spot.terrain, 'barrage_shift') as cell on true;
  strength := case when barrage.marker is not null then 9 else gun.strength end;
  return query
  select '8.51', null::text, spot.label, 'adds', format('the %s marker', replace(barrage.marker, '_', ' ')), null::text, barrage.marker, 18, null::jsonb
  where barrage.marker is not null
  union all
  select '8.4', null, gun.label, 'adds', format('%s, strength %s', gun.code, gun.strength), null, gun.code, 2 * gun.strength, null
  where gun.strength is not null
  union all
  select '2.21', null, gun.label, 'unknown', format('the strength of %s', gun.code), null, gun.code, null, null
  where barrage.marker is null and gun.strength is null
  union all
  select '8.4', null, spot.label, 'column', format('%s: one column to the left', spot.terrain), null, null, 2 * shift, null
  where shift <> 0;
  return query
  select
    coalesce((select bar.rule from unnest(bars) as bar where bar.effect = 'forbids' limit 1), '8.4'),
    null::text,
    spot.label,
    case when exists (select from unnest(bars) as bar where bar.effect = 'forbids') then 'refused' else 'barrage' end,
    coalesce(
      (select string_agg(bar.note, '; ') from unnest(bars) as bar where bar.effect = 'forbids'),
      format('strength %s', strength)
    ),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'allowed', not exists (select from unnest(bars) as bar where bar.effect = 'forbids'),
      'at', spot.label,
      'strength', strength,
      'shift', shift,
      'color', ddp._combat_color(state, enemy, null),
      'enemy', case when not enemy.fortification then enemy.code end,
      'fortified', exists (
        select from ddp._occupants(state) as held where held.q = spot.q and held.r = spot.r and held.fortification
      ),
      'cave', coalesce(enemy.cave, false),
      'guns', exists (select from ddp._spots(state.map_id) as one where one.q = spot.q and one.r = spot.r and one.artillery),
      'morning', ddp._fresh_morning(state.conditions)
    );
end
$$;

comment on function ddp.barrage(bigint, text, text, text, jsonb, jsonb) is
'Whether a unit or marker may barrage a hex, its strength and the shift of the column. The verdict last.';

create or replace function ddp.barrage_result(match text, strength integer, shift integer)
returns table (column_key integer, value text)
language sql stable parallel safe rows 1
as $$
  with entry as (
    select
      split_part(cell.row_key, '/', 1) as match,
      split_part(cell.row_key, '/', 2)::integer as strength,
      max(cell.value) filter (where cell.column_key = 'result') as result
    from charts.cell_in_force as cell
    where cell.ruleset = 'ddp' and cell.chart = 'us_barrage_table' and cell.row_key ~ '^[a-z]+/[0-9]+$'
    group by cell.row_key
  ),

  chosen as (
    select case
      when barrage_result.shift = 0
        then (select max(entry.strength) from entry where entry.strength <= barrage_result.strength)
      -- one to the left, where both columns are told
      when exists (select from entry where entry.strength = barrage_result.strength)
        then (select max(entry.strength) from entry where entry.strength < barrage_result.strength)
    end as strength
  )

  select
    chosen.strength,
    (
      select entry.result
      from entry
      where entry.match = barrage_result.match
        and entry.strength = chosen.strength
        and (
          chosen.strength = barrage_result.strength
          or barrage_result.shift <> 0
          or (select count(distinct other.strength) from entry as other) > 1
        )
    )
  from chosen
$$;

comment on function ddp.barrage_result(text, integer, integer) is
'The column and cell of the US Barrage Table for a match and a strength, shifted; null where nobody has told it (8.4).';
