-- needs: css/assault.sql, css/indirect_fire.sql, css/points.sql
-- Assault markers, retreats before an assault, Gyokusai in css (Guam): 9.1, 9.2, 9.6.2, 9.6.3, 17.1.

create or replace function css.place_assault(
  position_id bigint, at text, by text, massed boolean, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  unit css.piece := css._piece_of(position_id, by);
  place record;
  there css.footing;
  display css.display;
  tracks jsonb;
  bars rulings.ledger_step[];
  shut text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select position.tracks into tracks from public.position where position.id = position_id;
  select found_one.q, found_one.r into place from positions.place(position_id, at) as found_one;
  there := css._footing(position_id, state.map_id, place.q, place.r, false);
  shut := case
    -- 6.3: out of a cave the hex of the cave is assaulted, and no other
    when unit.inside and (unit.q, unit.r) = (there.q, there.r) then null
    when unit.inside then format('from its cave %s assaults only its own hex', unit.code)
    else unit.code || ' ' || css._enterable(state, unit, there)
  end;
  select * into display from css._displays(state) as told where told.name = (unit.allegiance).division;
  bars := array(
    select css._entry(bar.rule, null, 'forbids', bar.note, unit.code, null, bar.point, there.label)
    from (
      values
      ('9.2', not unit.is_unit or unit.q is null, 'a Unit on the map prepares it', null),
      ('5.1', not css._is_active(state.conditions, unit), format('%s is not Active', unit.code), null),
      (case when unit.inside then '6.3' else '9.2' end, shut is not null, shut, null),
      ('9.2', there.charge is not null, 'an assault or charge marker lies there already', null),
      (
        '9.2', (coalesce(state.conditions ->> 'activation' = 'direct_command', false) or coalesce(state.conditions -> 'active' ? 'side', false))
        and state.readings ->> 'css-68' = 'a', 'no marker is placed on the Direct Command chit', 'css-68'
      ),
      ('9.2', not massed and display.dispatch_points < 1, format('%s has no Dispatch Point', display.name), null),
      ('9.6.2', massed and unit.side <> 'japan', 'only the Japanese charge in mass', null),
      ('9.6.2', massed and not css._is_night(state.conditions), 'a massed charge is of a night turn', null),
      (
        '9.6.2', massed and state.conditions ? 'day' and state.conditions ->> 'day' not in ('07-21', '07-22'),
        'a massed charge is of the first or second day', null
      ),
      (
        '9.6.2', massed and coalesce(tracks -> 'once' ? 'massed_banzai', false)
        and tracks #>> '{schedule,massed_banzai}' is distinct from concat_ws(' ', state.conditions ->> 'day', state.conditions ->> 'turn'),
        'the massed charge has been made', null
      )
    ) as bar (rule, holds, note, point)
    where bar.holds
  );
  return query select * from unnest(bars);
  return next css._sum(
    coalesce(bars[1].rule, '9.2'), case when cardinality(bars) = 0 then 'placed' else 'refused' end,
    coalesce(bars[1].note, format('a marker on %s', there.label)),
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'hex', there.label,
      'side', unit.side,
      'kind', case unit.side when 'us' then 'prepared_assault' else 'banzai_charge' end,
      'division', (unit.allegiance).division,
      'cost', case when massed then 0 else 1 end,
      'left', display.dispatch_points - case when massed then 0 else 1 end,
      'moment', concat_ws(' ', state.conditions ->> 'day', state.conditions ->> 'turn'),
      'once', coalesce(tracks -> 'once', '[]')
    ),
    there.label
  );
end
$$;

comment on function css.place_assault(bigint, text, text, boolean, jsonb, jsonb) is
'Whether an assault or charge marker may be placed, and for how many Dispatch Points (9.2, 9.6.2, css-68).';

create or replace function css.retreat(
  position_id bigint, hex text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  here record;
  own css.footing;
  there css.footing;
  place record;
  units css.piece[];
  bars rulings.ledger_step[];
  side text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select found_one.q, found_one.r, at.label into here
  from positions.place(position_id, hex) as found_one
  inner join public.hex as at on at.map_id = state.map_id and at.q = found_one.q and at.r = found_one.r;
  select found_one.q, found_one.r into place from positions.place(position_id, "to") as found_one;
  there := css._footing(position_id, state.map_id, place.q, place.r, false);
  own := css._footing(position_id, state.map_id, here.q, here.r, false);
  units := array(select unit from css._pieces(position_id, here.q, here.r, false) as unit);
  side := (select unit.side from unnest(units) as unit where unit.is_unit limit 1);
  bars := array(
    select css._entry(bar.rule, case bar.rule when '9.1' then 'D' end, 'forbids', bar.note, null, null, null, there.label)
    from (
      values
      ('9.1', exists (select from unnest(units) as unit where unit.is_unit and unit.posture = 'deployed'), 'not all are in Column'),
      -- 9.1 D: who cannot move does not retreat
      (
        '10.2.1', own.suppressed or exists (select from unnest(units) as unit where unit.is_unit and unit.suppressed),
        'they are Suppressed'
      ),
      ('10.2.2', own.pinned or exists (select from unnest(units) as unit where unit.is_unit and unit.pinned), 'they are Pinned'),
      ('8.7.7', own.bombarded, 'they are under a Bombardment'),
      (
        '9.1', exists (
          select from unnest(units) as unit
          where unit.is_unit and css._enterable(state, unit, there) is not null
        ),
        'not all can go there'
      ),
      (
        '9.1', exists (
          select from public.unit as enemy
          where enemy.position_id = position_id and enemy.side <> side and (enemy.q, enemy.r) = (there.q, there.r)
            and css._is_unit(enemy.kind)
        ),
        'an enemy is there'
      ),
      (
        '9.1', exists (
          select
          from css.side_zone(position_id, case side when 'us' then 'japan' else 'us' end, state.conditions, state.readings) as zone
          where zone.label = there.label
        ),
        'it is in an enemy Fire Zone'
      )
    ) as bar (rule, holds, note)
    where bar.holds
  );
  return query select * from unnest(bars);
  return next css._sum(
    coalesce(bars[1].rule, '9.1'), case when cardinality(bars) = 0 then 'retreats' else 'refused' end, coalesce(bars[1].note, 'all retreat'),
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'to', there.label,
      'dg', greatest(there.dg, own.dg),
      'codes', to_jsonb(array(select unit.code from unnest(units) as unit where unit.side = side))
    ),
    there.label
  );
end
$$;

comment on function css.retreat(bigint, text, text, jsonb, jsonb) is
'Whether the defenders may leave before an assault: all in Column, to one hex out of Fire Zones (9.1 D).';

create or replace function css.forced_move(position_id bigint, unit text, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  mover css.piece := css._piece_of(position_id, unit);
  here css.footing;
  targets text[];
  hexes text[];
  nearest integer;
  must text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  here := css._footing(position_id, state.map_id, mover.q, mover.r, mover.inside);
  select array_agg(distinct hex.label order by hex.label) filter (where away.hexes <= 1), min(away.hexes)
  into targets, nearest
  from public.unit as enemy
  inner join public.hex on hex.map_id = enemy.map_id and hex.q = enemy.q and hex.r = enemy.r
  cross join lateral (select lattice.distance(enemy.q, enemy.r, mover.q, mover.r) as hexes) as away
  where enemy.position_id = position_id and enemy.side <> mover.side and css._is_unit(enemy.kind);
  must := case
    when not here.desperate or nearest is null then 'nothing'
    -- 24.0
    when mover.kind = 'ambush' then 'nothing'
    -- 9.6.3: it is forced when it is Active; on a Direct Command chit any of the side's may be
    when state.conditions #>> '{active,side}' is distinct from mover.side
      and not css._is_active(state, positions._asked_counter(position_id, unit)) then 'nothing'
    when targets is not null then 'charge'
    else 'move'
  end;
  if must = 'move' then
    -- 9.6.3: each hex nearer to the enemy than the one left
    hexes := array(
      select hex.label
      from lattice.neighbours(mover.q, mover.r) as beside
      inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
      where css._enterable(state, mover, css._footing(position_id, state.map_id, hex.q, hex.r, false)) is null
        and (
          select min(lattice.distance(enemy.q, enemy.r, hex.q, hex.r))
          from public.unit as enemy
          where enemy.position_id = position_id and enemy.side <> mover.side and css._is_unit(enemy.kind)
        ) < nearest
      order by hex.label
    );
  end if;
  return next css._sum(
    '9.6.3', must,
    case must
      when 'charge' then format('%s is beside an enemy and charges', mover.code)
      when 'move' then format('%s moves nearer to the enemy', mover.code)
      else format('nothing forces %s', mover.code)
    end,
    jsonb_build_object(
      'must', must, 'targets', to_jsonb(case when must = 'charge' then targets else '{}' end),
      'hexes', to_jsonb(coalesce(hexes, '{}'))
    ),
    here.label
  );
end
$$;

comment on function css.forced_move(bigint, text, jsonb, jsonb) is
'What a unit under a Gyokusai marker must do: charge who is beside it, else go nearer (9.6.3).';

create or replace function css.gyokusai(position_id bigint, hex text default null)
returns table (code text, kind text, label text, posture text, inside boolean)
language sql stable rows 20
as $$
  select unit.code, unit.kind, at.label, coalesce(unit.attributes ->> 'posture', 'deployed'),
    coalesce((unit.attributes ->> 'in_cave')::boolean, false)
  from public.unit
  left join public.hex as at on at.map_id = unit.map_id and at.q = unit.q and at.r = unit.r
  where unit.position_id = gyokusai.position_id
    and unit.side = 'japan'
    and unit.attributes ->> 'status' is null
    and (gyokusai.hex is null or at.label = gyokusai.hex)
  order by at.label, unit.code
$$;

comment on function css.gyokusai(bigint, text) is
'All Japanese counters, or those of a hex, that a Gyokusai touches (9.6.3).';

create or replace function css.can_be_lit(position_id bigint, hex text, conditions jsonb default null, policy jsonb default null)
returns boolean
language plpgsql stable
as $$
begin
  -- css-14 a: some American indirect unit could have fired the round there
  return (
    select exists (
      select
      from positions.state(can_be_lit.position_id, can_be_lit.conditions, can_be_lit.policy) as state
      inner join public.hex as at on at.map_id = state.map_id and at.label = can_be_lit.hex
      inner join public.unit as gun
        on gun.position_id = state.position_id and gun.side = 'us' and gun.attributes #>> '{fire,type}' = 'indirect'
      where lattice.distance(gun.q, gun.r, at.q, at.r) <= coalesce((gun.attributes #>> '{fire,range}')::integer, 1)
        and exists (
          select
          from public.unit as eye
          where eye.position_id = state.position_id
            and eye.side = 'us'
            and eye.q is not null
            and css._is_unit(eye.kind)
            and eye.attributes ->> 'division' is not distinct from gun.attributes ->> 'division'
            and css._sees(state, eye.code, at.label, state.conditions || '{"time": "day"}')
        )
    )
  );
end
$$;

comment on function css.can_be_lit(bigint, text, jsonb, jsonb) is
'Whether a free Illumination Round could have been fired at a hex under the usual rules (8.7.3, css-14 a).';
