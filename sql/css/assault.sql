-- needs: css/status.sql, css/fire.sql, css/rout.sql, css/costs.sql
-- Assaults and charges in css (Guam): 6.2.1, 6.2.2, 6.3, 9.0 to 9.6, 12.5, 13.3, 14.0.
--
-- One object says what is asked: at, by, with, support, alerted, incurred, defense_unit, paid, read. `css.assault` tells
-- whether it may be, and what both players add to their dice; `css.assault_result` what the dice make of it;
-- `css.charge_losses` what a charge loses by its DGs.

drop type if exists css.assault cascade;
create type css.assault as (
  state positions.state,
  said jsonb,
  side text,
  charge text,
  desperate boolean,
  there css.footing,
  units css.piece array,
  able css.piece array,
  heads css.piece array,
  tanks boolean,
  only_tanks boolean,
  crossings text array,
  defenders css.piece array,
  defense_unit css.piece
);

comment on type css.assault is
'An assault: who assaults which hex with whom, over which hexsides, and who defends it.';
comment on column css.assault.charge is 'Its marker: prepared_assault, banzai_charge or drunk_banzai_charge';
comment on column css.assault.desperate is 'Whether those who charge are under a Gyokusai marker (9.6.3)';
comment on column css.assault.able is 'All who might take part: Active, beside the hex, kept back by nothing';
comment on column css.assault.heads is 'Leaders and heroes who help the attacker';
comment on column css.assault.crossings is 'Of each assaulting unit the features of the side that it crosses, joined';

create or replace function css._side_features(map_id bigint, q integer, r integer, to_q integer, to_r integer)
returns text
language plpgsql stable
as $$
begin
  return (
  select coalesce(string_agg(hexside.kind, ' ' order by hexside.kind), '')
    from public.hexside
    where hexside.map_id = _side_features.map_id
      and hexside.x = _side_features.q + _side_features.to_q
      and hexside.y = _side_features.r + _side_features.to_r
  );
end
$$;

comment on function css._side_features(bigint, integer, integer, integer, integer) is
'What lies along the side between two hexes, as one text.';

create or replace function css._enterable(state positions.state, unit css.piece, there css.footing)
returns text
language plpgsql stable
as $$
begin
  -- 9.2: what would keep a unit from moving into an adjacent hex; null: nothing
  return (
    select case
      when lattice.distance(unit.q, unit.r, there.q, there.r) <> 1 then 'is not beside it'
      when side.kinds ~ 'cliff' then 'may not cross the cliff'
      when side.kinds ~ 'ravine' and not road.leads then 'may not cross the ravine'
      when unit.attributes ->> 'mobility' in ('wheeled', 'tracked') and not road.leads
        and (side.kinds ~ 'river|steep_slope|ridge' or there.terrain in ('swamp', 'tropical_forest', 'mangrove_swamp'))
        then 'may not enter it'
      when there.burning then 'may not enter a burning hex'
      when coalesce((unit.attributes ->> 'no_movement')::boolean, false) then 'does not move by itself'
    end
    from (select css._side_features(unit.map_id, unit.q, unit.r, there.q, there.r) as kinds) as side
    cross join lateral (
      select coalesce(css._spot(unit.q + there.q, unit.r + there.r) = any(css._road_sides(unit.map_id)), false) as leads
    ) as road
  );
end
$$;

comment on function css._enterable(positions.state, css.piece, css.footing) is
'What would keep a unit from entering an adjacent hex by its ground; null: nothing (3.2, 6.2, 8.8.1, 9.2).';

create or replace function css._stays_out(state positions.state, weapon css.piece, there css.footing)
returns boolean
language plpgsql stable
as $$
begin
  -- 6.2.1, css-41: no tank weapon goes into a Swamp but along a road
  return weapon.kind = 'support_weapon' and weapon.tank and there.terrain = 'swamp'
    and state.readings ->> 'css-41' = 'a'
    and not coalesce(css._spot(weapon.q + there.q, weapon.r + there.r) = any(css._road_sides(weapon.map_id)), false);
end
$$;

comment on function css._stays_out(positions.state, css.piece, css.footing) is
'Whether a weapon is left behind in an assault since it cannot enter the hex (6.2.1, 9.3, css-41).';

create or replace function css._barred_from_assault(assault css.assault, unit css.piece)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.*
  from (
    select
      css._footing((assault.state).position_id, unit.map_id, unit.q, unit.r, unit.inside) as own,
      assault.charge <> 'prepared_assault' as charges,
      lattice.distance(unit.q, unit.r, (assault.there).q, (assault.there).r) as away,
      css._enterable(assault.state, unit, assault.there) as shut
    -- worked out once, not wherever it is used
    offset 0
  ) as now
  cross join lateral (
    -- css-37: a charge sheds its markers first
    select not (now.charges and (assault.state).readings ->> 'css-37' = 'a') as keeps,
      case when now.charges then 'css-37' end as point
  ) as marks
  cross join lateral (
    values
    ('9.3', not unit.is_unit, format('%s is no Unit', unit.code), null),
    ('9.3', unit.side <> assault.side, format('%s is an enemy', unit.code), null),
    (
      '9.3', unit.q is null or (now.away <> 1 and not (now.away = 0 and unit.inside)),
      format('%s is not beside the hex', unit.code), null
    ),
    ('6.3', unit.inside and now.away = 1, format('from its cave %s assaults only its own hex', unit.code), null),
    ('5.1', not css._is_active((assault.state).conditions, unit), format('%s is not Active', unit.code), null),
    (
      '10.2.1', ((now.own).suppressed or unit.suppressed) and marks.keeps, format('%s is Suppressed', unit.code), marks.point
    ),
    ('10.2.2', ((now.own).pinned or unit.pinned) and marks.keeps, format('%s is Pinned', unit.code), marks.point),
    (
      '10.2.3', greatest((now.own).dg, unit.dg) >= 4 and marks.keeps, format('%s is at DG4', unit.code), marks.point
    ),
    ('15.0', unit.attributes ? 'loaded_in', format('%s is carried by a truck', unit.code), null),
    ('9.3', (now.own).barrage = 'heavy_barrage', format('%s is under a Heavy Barrage', unit.code), null),
    ('8.7.7', (now.own).bombarded, format('%s is under a Bombardment', unit.code), null),
    ('9.3', now.away = 1 and now.shut is not null, format('%s %s', unit.code, now.shut), null)
  ) as bar (rule, holds, note, point)
  cross join lateral css._entry(bar.rule, null, 'forbids', bar.note, unit.code, null, bar.point, unit.label) as entry
  where bar.holds
$$;

comment on function css._barred_from_assault(css.assault, css.piece) is
'What keeps a unit from an assault: where it is, its markers, a way in (6.3, 9.3, 10.2, css-37).';

create or replace function css._assaulters(assault css.assault)
returns css.piece[]
language plpgsql stable
as $$
begin
  -- 9.3: every Active unit beside the hex that nothing keeps back
  return (
    select coalesce(array_agg(piece order by piece.code), '{}')
    from public.unit
    inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
    cross join lateral css._piece(unit, hex.label) as piece
    where unit.position_id = (assault.state).position_id
      and unit.side = assault.side
      and css._is_unit(unit.kind)
      and lattice.distance(unit.q, unit.r, (assault.there).q, (assault.there).r) <= 1
      and piece.fire_type is distinct from 'indirect'
      and not exists (select from css._barred_from_assault(assault, piece))
  );
end
$$;

comment on function css._assaulters(css.assault) is
'All units that might take part in an assault (9.3); deployed artillery supports it instead.';

create or replace function css._assault(position_id bigint, said jsonb, conditions jsonb, policy jsonb)
returns css.assault
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  state positions.state;
  assault css.assault;
  place record;
  first css.piece;
  there css.footing;
begin
  select * into state from positions.state(position_id, conditions, policy);
  assault.state := state;
  -- 9.1 B: who has fired in support in this Activation, where nobody is named
  assault.said := jsonb_build_object('support', state.conditions #> array['supporting', said ->> 'at']) || said;
  select found_one.q, found_one.r into place from positions.place(position_id, said ->> 'at') as found_one;
  there := css._footing(position_id, state.map_id, place.q, place.r, false);
  assault.there := there;
  assault.units := css._pieces_of(position_id, css._texts(said -> 'by'));
  first := assault.units[1];
  assault.side := coalesce(
    first.side, case when there.charge = 'prepared_assault' then 'us' when there.charge is not null then 'japan' end, 'us'
  );
  assault.desperate := first.side = 'japan' and exists (
    select
    from unnest(assault.units) as unit
    where (css._footing(position_id, state.map_id, unit.q, unit.r, unit.inside)).desperate
  );
  assault.charge := coalesce(
    there.charge,
    case
      when assault.desperate then 'banzai_charge'
      when said ? 'charge' then said ->> 'charge'
    end
  );
  assault.able := css._assaulters(assault);
  if cardinality(assault.units) = 0 then
    assault.units := assault.able;
  end if;
  assault.defenders := array(
    select piece
    from css._pieces(position_id, place.q, place.r, false) as piece
    where piece.side <> assault.side and not css._serves_once(piece)
  )
  -- 14.1 d: who serves once does so where he is named
  || array(
    select hero
    from unnest(css._pieces_of(position_id, css._texts(said -> 'with'))) as hero
    where hero.side <> assault.side
      and css._serves_once(hero)
      and (css._serves_anywhere(hero) or (hero.q, hero.r) = (place.q, place.r))
  );
  assault.crossings := array(
    select css._side_features(state.map_id, unit.q, unit.r, there.q, there.r)
    from unnest(assault.units) as unit
  );
  select
    bool_or(piece.tank),
    bool_and(piece.tank) filter (where piece.is_unit)
  into assault.tanks, assault.only_tanks
  from (
    select (unit).* from unnest(assault.units) as unit
    union all
    -- by the example of 9.6 a tank weapon counts
    select weapon.*
    from (select distinct unit.q, unit.r, unit.inside from unnest(assault.units) as unit) as hexes
    cross join lateral css._pieces(position_id, hexes.q, hexes.r, hexes.inside) as weapon
    where weapon.kind = 'support_weapon' and weapon.side = assault.side and not css._stays_out(state, weapon, there)
  ) as piece;
  assault.heads := css._assault_heads(assault);
  if said ? 'defense_unit' then
    assault.defense_unit := css._piece_of(position_id, said ->> 'defense_unit');
  end if;
  return assault;
end
$$;

create or replace function css._assault_heads(assault css.assault)
returns css.piece[]
language plpgsql stable
as $$
begin
  -- 9.5 f: those who are named, else the best leader and the best hero of the assaulting hexes
  return (
    select case
      when assault.said ? 'with'
        then array(
          select head
          from unnest(css._pieces_of((assault.state).position_id, css._texts(assault.said -> 'with'))) as head
          where head.side = assault.side and head.kind in ('leader', 'hero')
        )
      else coalesce(
        (
          select array_agg(best.head)
          from (
            select distinct on (head.kind) head
            from (select distinct unit.q, unit.r, unit.inside from unnest(assault.units) as unit) as hexes
            cross join lateral css._pieces((assault.state).position_id, hexes.q, hexes.r, hexes.inside) as head
            where head.kind in ('leader', 'hero') and head.side = assault.side and not css._serves_once(head)
            order by head.kind, head.bonus_tq desc, head.code
          ) as best
        ),
        '{}'
      )
    end
  );
end
$$;

comment on function css._assault_heads(css.assault) is
'The leader and the hero who help an attacker (9.5 f, 14.0).';

comment on function css._assault(bigint, jsonb, jsonb, jsonb) is
'An assault as it is asked for, with all counters and hexes that it touches.';

create or replace function css._support_bars(assault css.assault)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 9.1 B, 9.4: Active indirect units of the attacker, each named once, have fired
  select (css._entry('9.4', null, 'forbids', bar.note, gun.code, null, null, gun.label)).*
  from unnest(css._pieces_of((assault.state).position_id, css._texts(assault.said -> 'support'))) as gun
  cross join lateral (
    values
    (gun.side <> assault.side, format('%s is an enemy', gun.code)),
    (
      not gun.is_unit or gun.fire_type is distinct from 'indirect' or gun.posture = 'column',
      format('%s does not fire indirectly', gun.code)
    ),
    (not css._is_active((assault.state).conditions, gun), format('%s is not Active', gun.code)),
    (gun.code in (select unit.code from unnest(assault.units) as unit), format('%s assaults itself', gun.code))
  ) as bar (holds, note)
  where bar.holds
$$;

comment on function css._support_bars(css.assault) is
'What keeps units that are named from having supported an assault by their fire (9.1 B, 9.4).';

create or replace function css._assault_cost(assault css.assault)
returns jsonb
language plpgsql stable
as $$
begin
  -- 9.6.3, css-68: paid for on the Direct Command chit alone; a charge after a forced move is free
  return case
    when (assault.said ->> 'paid')::boolean then '{}'
    when css._on_command((assault.state).conditions) then css._cost((assault.state).conditions, assault.units)
    else '{}'
  end;
end
$$;

comment on function css._assault_cost(css.assault) is
'Direct Commands that an assault costs, by Division (5.2, 9.6.3).';

create or replace function css._assault_bars(assault css.assault)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.*
  from (
    select
      coalesce((assault.state).conditions ->> 'activation' = 'direct_command', false)
      or coalesce((assault.state).conditions -> 'active' ? 'side', false) as commanded,
      exists (
        select
        from css._pieces((assault.state).position_id, (assault.there).q, (assault.there).r, true) as cave
        where cave.side <> assault.side and cave.is_unit
      ) as cave
  ) as now
  cross join lateral (
    values
    ('9.0', assault.charge is null, 'there is no assault or charge marker', null),
    (
      '9.2', (assault.there).charge is not null
      and (assault.side = 'us') <> ((assault.there).charge = 'prepared_assault'),
      'the marker is the other side''s', null
    ),
    (
      '9.0', now.commanded and not assault.desperate and (assault.state).readings ->> 'css-68' = 'a',
      'no assault on the Direct Command chit', 'css-68'
    ),
    ('9.3', cardinality(assault.units) = 0, 'nobody can assault', null),
    (
      '6.3', now.cave and assault.side = 'us'
      and not exists (select from unnest(assault.defenders) as unit where unit.is_unit),
      'nobody assaults into a cave', null
    ),
    (
      '9.6.3', assault.desperate
      and (select count(distinct (unit.q, unit.r)) from unnest(assault.units) as unit) > 1,
      'a Gyokusai charge is from one hex', null
    ),
    (
      '14.0', (select count(*) from unnest(assault.heads) as head where head.kind = 'hero') > 1,
      'one hero is used in a combat', null
    ),
    (
      '9.5', assault.side = 'us' and coalesce((assault.said ->> 'alerted')::boolean, false),
      'the Japanese have no War Dogs', null
    )
  ) as bar (rule, holds, note, point)
  cross join lateral css._entry(bar.rule, null, 'forbids', bar.note, null, null, bar.point, (assault.there).label) as entry
  where bar.holds
  union all
  select bar.* from unnest(assault.units) as unit cross join lateral css._barred_from_assault(assault, unit) as bar
  union all
  select * from css._support_bars(assault)
  union all
  select * from unnest(css._bill_bars(assault.state, css._assault_cost(assault)))
  union all
  -- 13.2, 14.0: who is named to help is there
  select (css._entry('13.2', null, 'forbids', bar.note, head.code, null, null, head.label)).*
  from unnest(css._pieces_of((assault.state).position_id, css._texts(assault.said -> 'with'))) as head
  cross join lateral (
    values
    (head.kind not in ('leader', 'hero') or head.side <> assault.side, format('%s is no leader or hero of the attacker', head.code)),
    (
      not css._serves_anywhere(head) and not exists (
        select
        from unnest(assault.units) as unit
        where (unit.q, unit.r, unit.inside) = (head.q, head.r, head.inside)
      ),
      format('%s is in none of the assaulting hexes', head.code)
    )
  ) as bar (holds, note)
  where bar.holds
    -- who leads the defenders does so in any case, and may be named
    and head.code not in (select one.code from unnest(assault.defenders) as one where one.kind in ('leader', 'hero'))
  union all
  -- css-38: all must, or the owner chooses
  select entry.*
  from unnest(assault.able) as idle
  cross join lateral css._entry(
    '9.3', null, case (assault.state).readings ->> 'css-38' when 'a' then 'forbids' else 'passes' end,
    format('%s is Active beside the marker, and must assault', idle.code), idle.code, null, 'css-38', idle.label
  ) as entry
  where css._is_active((assault.state).conditions, idle)
    and not assault.desperate
    and idle.code not in (select unit.code from unnest(assault.units) as unit)
    and coalesce((assault.state).conditions #>> array['acted', idle.code], '0') = '0'
    and not exists (
      -- beside another marker it may assault there
      select
      from public.marker
      where marker.position_id = (assault.state).position_id
        and marker.kind in ('prepared_assault', 'banzai_charge', 'drunk_banzai_charge')
        and (marker.q, marker.r) <> ((assault.there).q, (assault.there).r)
        and lattice.distance(marker.q, marker.r, idle.q, idle.r) = 1
    )
  union all
  select entry.*
  from css._entry(
    '9.0', null, 'passes', 'an assault is one of the Actions of a Direct Command', null, null, 'css-68', (assault.there).label
  ) as entry
  where not assault.desperate
    and (assault.state).readings ->> 'css-68' = 'b'
    and (
      coalesce((assault.state).conditions ->> 'activation' = 'direct_command', false)
      or coalesce((assault.state).conditions -> 'active' ? 'side', false)
    )
$$;

comment on function css._assault_bars(css.assault) is
'What keeps an assault from being made (6.3, 9.0 to 9.3, css-38, css-68).';

create or replace function css._ratio(attackers integer, defenders integer, reading text)
returns text
-- not in SQL: what is asked of a sub-query is not inlined, but planned at every call
language plpgsql immutable parallel safe
as $$
begin
  return case
    when attackers >= 5 * defenders then '5-1'
    when attackers >= 4 * defenders then '4-1'
    when attackers >= 3 * defenders then '3-1'
    when attackers >= 2 * defenders then '2-1'
    -- css-39
    when 2 * attackers >= 3 * defenders and reading = 'a' then '3-2'
    when attackers >= defenders then '1-1'
    when 2 * attackers >= defenders then '1-2'
    else '1-3'
  end;
end
$$;

comment on function css._ratio(integer, integer, text) is
'The printed column for so many Units against so many (9.5, css-39).';

create or replace function css._status_total(
  state positions.state, footing css.footing, piece css.piece, read jsonb, barraged boolean
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- css-66: a penalty lowers and a bonus raises the total, or both are subtracted as the list has it
  select
    '9.5', mark.clause, mark.at, mark.effect, mark.note, coalesce(mark.point, 'css-66'), mark.by,
    case state.readings ->> 'css-66' when 'b' then - mark.halves else mark.halves end, mark.facts
  from css._status_quality_steps(footing, piece, read, barraged) as mark
$$;

comment on function css._status_total(positions.state, css.footing, css.piece, jsonb, boolean) is
'Status Markers in the total of an assault, with the sign by which they are read (9.5 e, css-66).';

create or replace function css._tank_entries(units css.piece[], tanks boolean, only_tanks boolean, who text, at text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.*
  from css._entry(
    '9.5', null, 'adds', case when only_tanks then 'only tanks' else 'tanks' end, null,
    2 * css._number(css._cell(null, 'assault_modifiers', case when only_tanks then 'only_tanks' else 'any_tanks' end, who)),
    null, at
  ) as entry
  where coalesce(tanks, false)
$$;

comment on function css._tank_entries(css.piece[], boolean, boolean, text, text) is
'Any tanks, or only tanks, never both (9.5).';

create or replace function css._lowest_quality(state positions.state, units css.piece[], into_terrain text, read jsonb)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
begin
  return query
  -- 9.5: the lowest of all, each with Tropical Forest, where it stands or whereto it assaults (6.2.1)
  with checked as (
    select unit.code, step.*, sum(step.halves) over (partition by unit.code) as total,
      bool_or(step.effect = 'unknown') over (partition by unit.code) as untold
    from unnest(units) as unit
    left join public.hex as own on own.map_id = unit.map_id and own.q = unit.q and own.r = unit.r
    cross join lateral css._quality(
      state, unit, case when own.terrain = 'tropical_forest' then own.terrain else into_terrain end, read
    ) as step
    where unit.is_unit
  )
  select '9.5', null, checked.at, case checked.effect when 'quality' then 'adds' else checked.effect end,
    checked.note, checked.point, checked.by, checked.halves, checked.facts
  from checked
  where checked.code = (select lowest.code from checked as lowest order by lowest.untold desc, lowest.total, lowest.code limit 1);
end
$$;

comment on function css._lowest_quality(positions.state, css.piece[], text, jsonb) is
'The lowest Troop Quality among units, as entries that add up to it (9.5, 6.2.1).';

create or replace function css._without_works(footing css.footing)
returns css.footing
language plpgsql immutable
as $$
begin
  footing.works := '{}';
  return footing;
end
$$;

comment on function css._without_works(css.footing) is
'A hex whose Fortifications are left behind: who assaults out of it has none of them.';

create or replace function css._worst_status(assault css.assault)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
declare
  state constant positions.state := assault.state;
  unit css.piece;
  -- worked out once: within the query it would be for each of its fields
  footing css.footing;
  step rulings.ledger_step;
  worst rulings.ledger_step;
begin
  -- a charge has shed its markers (9.6, css-37)
  if assault.charge <> 'prepared_assault' and state.readings ->> 'css-37' = 'a' then
    return;
  end if;
  foreach unit in array assault.units loop
    footing := css._without_works(css._footing(state.position_id, unit.map_id, unit.q, unit.r, unit.inside));
    -- most have none: to begin a query costs more than to see that
    continue when footing.barrage is null and greatest(footing.dg, unit.dg) = 0
      and not (footing.suppressed or unit.suppressed or footing.pinned or unit.pinned);
    for step in
      select told.* from css._status_total(state, footing, unit, assault.said -> 'read', true) as told
    loop
      if worst.rule is null or step.halves is null or step.halves < worst.halves then
        worst := step;
      end if;
    end loop;
  end loop;
  if worst.rule is not null then
    return next worst;
  end if;
end
$$;

comment on function css._worst_status(css.assault) is
'The Status Marker that lowers the attacker''s total most: it counts once, of whichever hex (9.5 e).';

create or replace function css._attacker_entries(assault css.assault)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
begin
  return query
  -- 9.5: the ratio
  select entry.*
  from (
    select counted.us, counted.them, css._ratio(counted.us, counted.them, (assault.state).readings ->> 'css-39') as ratio
    from (
      select
        (cardinality(assault.units) - coalesce((assault.said ->> 'lost')::integer, 0))::integer as us,
        (select count(*) from unnest(assault.defenders) as unit where unit.is_unit)::integer as them
    ) as counted
  ) as sum
  cross join lateral css._entry(
    '9.5', null, 'adds', format('%s against %s: %s', sum.us, sum.them, sum.ratio), null,
    2 * css._number(css._cell(null, 'assault_odds', sum.ratio, 'modifier')),
    case when 2 * sum.us >= 3 * sum.them and sum.us < 2 * sum.them then 'css-39' end, (assault.there).label
  ) as entry
  union all
  select * from css._tank_entries(assault.units, assault.tanks, assault.only_tanks, 'attacker', (assault.there).label)
  union all
  -- 9.3: what cannot enter is left behind
  select entry.*
  from (select distinct unit.q, unit.r, unit.inside from unnest(assault.units) as unit) as hexes
  cross join lateral css._pieces((assault.state).position_id, hexes.q, hexes.r, hexes.inside) as weapon
  cross join lateral css._entry(
    '9.3', null, 'passes', format('%s stays out of the Swamp', weapon.code), weapon.code, null, 'css-41', weapon.label
  ) as entry
  where weapon.side = assault.side and css._stays_out(assault.state, weapon, assault.there)
  union all
  -- the marker
  select entry.*
  from (
    select css._cell(assault.said -> 'read', 'assault_marker_values', assault.charge, 'troop_quality') as value
  ) as mark
  cross join lateral css._entry(
    '9.5', null, 'adds', format('a %s', replace(assault.charge, '_', ' ')), assault.charge, 2 * css._number(mark.value),
    null, (assault.there).label
  ) as entry
  union all
  select * from css._worst_status(assault)
  union all
  select entry.*
  from unnest(assault.heads) as head
  cross join lateral css._entry('9.5', null, 'adds', format('%s leads', head.code), head.code, 2 * head.bonus_tq, null, head.label) as entry
  where head.bonus_tq <> 0
  union all
  -- 9.4: indirect units that have fired, up to 3 or 1
  select entry.*
  from (
    select
      (select count(distinct gun.code) from unnest(css._texts(assault.said -> 'support')) as gun (code))::integer as units,
      case assault.side when 'us' then 3 else 1 end as most
  ) as fired
  cross join lateral css._entry('9.4', null, 'adds', 'indirect fire in support', null, 2 * least(fired.units, fired.most), null, (assault.there).label) as entry
  where fired.units > 0
  union all
  select * from css._lowest_quality(assault.state, assault.units, (assault.there).terrain, assault.said -> 'read')
  union all
  -- 6.2.2: a Ridge marker that is flanked
  select entry.*
  from (
    select bool_or(crossing.side !~ 'ridge') as flanks, bool_and(crossing.side ~ 'ridge') as all_over
    from unnest(assault.crossings) as crossing (side)
  ) as over
  cross join lateral css._entry('6.2.2', null, 'adds', 'the Ridge marker is flanked', null, 4, 'css-74', (assault.there).label) as entry
  where (assault.there).ridge and over.flanks;
end
$$;

comment on function css._attacker_entries(css.assault) is
'What the attacker adds to his die, in the order of 9.5.';

create or replace function css._as_printed(assault css.assault, entries rulings.ledger_step[])
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- css-1: the list of the example comes to 13 and its total is printed as 12
  select (css._entry(
    '9.5', null, case (assault.state).readings ->> 'css-1' when 'b' then 'adds' else 'passes' end,
    'the example of this very list prints a total of 12', null,
    case (assault.state).readings ->> 'css-1' when 'b' then -2 end, 'css-1', (assault.there).label
  )).*
  where assault.side = 'us'
    and assault.charge = 'prepared_assault'
    -- 4-1, tanks, the marker, a leader of 2, two mortars, a Troop Quality of 5; in halves
    and array(select step.halves from unnest(entries) as step where step.effect = 'adds') = array[2, 4, 2, 4, 4, 10]
    and array(select step.rule from unnest(entries) as step where step.effect = 'adds')
      = array['9.5', '9.5', '9.5', '9.5', '9.4', '9.5']
$$;

comment on function css._as_printed(css.assault, rulings.ledger_step[]) is
'The sum of the Prepared Assault example as it is printed, for an assault with just its list (9.5, css-1).';

create or replace function css._defender_entries(assault css.assault)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
begin
  return query
  -- 9.5 a: subtracted, so that a good defense adds
  select entry.*
  from css._entry(
    '9.5', 'a', case when (assault.there).defense is null then 'unknown' else 'adds' end,
    case when (assault.there).defense is null then 'terrain_effects_chart' else format('terrain: %s', replace((assault.there).terrain, '_', ' ')) end,
    null, - 2 * (assault.there).defense, null, (assault.there).label
  ) as entry
  where (assault.there).defense is distinct from 0
  union all
  select '9.5', 'a', work.at,
    case when work.by = 'trench' and (assault.state).readings ->> 'css-4' = 'b' then 'passes' else work.effect end,
    work.note, case when work.by = 'trench' then 'css-4' end, work.by,
    case when work.by = 'trench' and (assault.state).readings ->> 'css-4' = 'b' then null else - work.halves end, work.facts
  from unnest(css._work_entries(assault.there, '9.5', assault.said -> 'read')) as work
  union all
  select entry.*
  from (
    select
      bool_and(crossing.side ~ '(^| )slope') as slopes,
      bool_and(crossing.side ~ 'steep_slope') as steep,
      bool_and(crossing.side ~ 'river') as rivers,
      bool_or(crossing.side ~ 'ridge') as any_ridge,
      bool_and(crossing.side ~ 'ridge') as ridges
    from unnest(assault.crossings) as crossing (side)
  ) as over
  cross join lateral (
    select case (assault.state).readings ->> 'css-74' when 'b' then over.ridges else over.any_ridge end as ridge
  ) as read
  cross join lateral (
    values
    ('all come up a slope', 1, null, over.slopes),
    ('all come over a steep slope', 2, null, over.steep),
    ('over a ridge', 1, case when over.ridges <> over.any_ridge then 'css-74' end, read.ridge),
    ('a Ridge marker', 1, case when over.ridges <> over.any_ridge then 'css-74' end, read.ridge and (assault.there).ridge),
    ('all come over a river', 2, null, over.rivers)
  ) as part (note, value, point, holds)
  cross join lateral css._entry('6.2.2', null, 'adds', part.note, null, 2 * part.value, part.point, (assault.there).label) as entry
  where part.holds
  union all
  select entry.*
  from (
    select bool_or(crossing.side ~ 'ridge') and not bool_and(crossing.side ~ 'ridge') as mixed
    from unnest(assault.crossings) as crossing (side)
  ) as over
  cross join lateral css._entry('6.2.2', null, 'passes', 'not all come over the ridge', null, null, 'css-74', (assault.there).label) as entry
  where over.mixed and (assault.state).readings ->> 'css-74' = 'b'
  union all
  -- b: the Defense of one unit
  select entry.*
  from css._entry(
    '9.5', 'b', 'adds', format('Defense of %s', (assault.defense_unit).code), (assault.defense_unit).code,
    - 2 * (assault.defense_unit).defense, null, (assault.there).label
  ) as entry
  where coalesce((assault.defense_unit).defense, 0) <> 0
  union all
  select entry.*
  from (
    select bool_or(unit.tank) as any_one, bool_and(unit.tank) filter (where unit.is_unit) as only
    from unnest(assault.defenders) as unit
  ) as armour
  cross join lateral css._tank_entries(assault.defenders, armour.any_one, armour.only, 'defender', (assault.there).label) as entry
  union all
  select step.*
  from css._status_total(
    assault.state, assault.there, css._strongest(assault.defenders), assault.said -> 'read',
    -- css-61
    (assault.state).readings ->> 'css-61' = 'a'
  ) as step
  union all
  select entry.*
  from css._entry('8.7.2', null, 'passes', 'a Barrage on the hex that is assaulted', null, null, 'css-61', (assault.there).label) as entry
  where (assault.there).barrage is not null
  union all
  select entry.*
  from (
    select distinct on (one.kind) one.*
    from unnest(assault.defenders) as one
    where one.kind in ('leader', 'hero')
    order by one.kind, one.bonus_tq desc, one.code
  ) as head
  cross join lateral css._entry('9.5', null, 'adds', format('%s leads', head.code), head.code, 2 * head.bonus_tq, null, head.label) as entry
  where head.bonus_tq <> 0
  union all
  select * from css._lowest_quality(assault.state, assault.defenders, (assault.there).terrain, assault.said -> 'read')
  union all
  select entry.*
  from css._entry(
    '12.5', null, 'adds', 'alert dogs', null,
    2 * css._number(css._cell(null, 'assault_modifiers', 'war_dogs', 'defender')), null, (assault.there).label
  ) as entry
  where coalesce((assault.said ->> 'alerted')::boolean, false);
end
$$;

create or replace function css._strongest(units css.piece[])
returns css.piece
language plpgsql immutable
as $$
begin
  return (select unit from unnest(units) as unit where unit.is_unit order by unit.dg desc, unit.code limit 1);
end
$$;

comment on function css._strongest(css.piece[]) is
'The unit whose own markers count for a hex: the most disorganized.';

comment on function css._defender_entries(css.assault) is
'What the defender adds to his die, in the order of 9.5, with hexsides of 6.2.2 and alert dogs (12.5).';

create or replace function css.assault(
  position_id bigint, assault jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 20
-- the plans take longer to make than to run: they are made once a session
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  made css.assault := css._assault(position_id, assault, conditions, policy);
  bars rulings.ledger_step[] := array(select step from css._assault_bars(made) as step);
  bar rulings.ledger_step;
  ours rulings.ledger_step[] := '{}';
  theirs rulings.ledger_step[] := '{}';
  there constant css.footing := made.there;
  units integer := (select count(*) from unnest(made.defenders) as unit where unit.is_unit);
begin
  select * into bar from unnest(bars) as step where step.effect = 'forbids' limit 1;
  if bar.rule is null and units > 0 then
    ours := array(select step from css._attacker_entries(made) as step);
    ours := ours || array(select step from css._as_printed(made, ours) as step);
    theirs := array(select step from css._defender_entries(made) as step);
  end if;
  return query select * from unnest(bars);
  return query select * from unnest(ours);
  return query select * from unnest(theirs);
  return next css._sum(
    coalesce(bar.rule, '9.5'), case when bar.rule is null then 'assaults' else 'refused' end,
    coalesce(bar.note, format('the assault on %s', there.label)),
    jsonb_build_object(
      'allowed', bar.rule is null,
      'hex', there.label,
      'side', made.side,
      'enemy', case made.side when 'us' then 'japan' else 'us' end,
      'charge', made.charge,
      'marker', there.charge,
      'desperate', made.desperate,
      'units', to_jsonb(array(select unit.code from unnest(made.units) as unit)),
      'deployed', to_jsonb(array(select unit.code from unnest(made.units) as unit where unit.posture = 'deployed')),
      'hexes', to_jsonb(array(select distinct unit.label from unnest(made.units) as unit order by 1)),
      'from', (select jsonb_object_agg(unit.code, unit.label) from unnest(made.units) as unit),
      'caves', coalesce((select bool_or(unit.inside) from unnest(made.units) as unit), false),
      'defenders', to_jsonb(array(select unit.code from unnest(made.defenders) as unit where unit.is_unit)),
      'all_in_column', not exists (select from unnest(made.defenders) as unit where unit.is_unit and unit.posture = 'deployed'),
      'alike', (select count(distinct coalesce(unit.defense, 0)) <= 1 from unnest(made.defenders) as unit where unit.is_unit),
      'leaders', to_jsonb(css._leaders_here(made)),
      'used', to_jsonb(array(select head.code from unnest(made.heads) as head where head.kind = 'leader')),
      'heroes', to_jsonb(array(select head.code from unnest(made.heads) as head where head.kind = 'hero')),
      'defending_leaders', to_jsonb(array(select head.code from unnest(made.defenders) as head where head.kind = 'leader')),
      'defending_heroes', to_jsonb(array(select head.code from unnest(made.defenders) as head where head.kind = 'hero')),
      'mason', css._mason(made),
      'cost', css._assault_cost(made),
      'serves_once', (select min(head.code) from unnest(made.heads || made.defenders) as head where css._serves_once(head)),
      'ratio', case when units > 0 then css._ratio(
        cardinality(made.units) - coalesce((assault ->> 'lost')::integer, 0), units, (made.state).readings ->> 'css-39'
      ) end,
      'attacker', jsonb_build_object('modifier', css._total(ours), 'modifiers', css._modifiers(ours)),
      'defender', jsonb_build_object('modifier', css._total(theirs), 'modifiers', css._modifiers(theirs))
    ),
    there.label
  );
end
$$;

create or replace function css._mason(assault css.assault)
returns text
language plpgsql stable
as $$
begin
  -- 14.1 a: once in the game, where any Unit of 3 RCT is involved
  return (
    select coalesce(max(hero.code), '')
    from public.position
    left join public.unit as hero
      on hero.position_id = position.id and hero.kind = 'hero' and hero.side = 'us' and hero.code ~* 'mason'
    where position.id = (assault.state).position_id
      and not coalesce(position.tracks -> 'once' ? 'mason', false)
      and hero.attributes ->> 'status' is distinct from 'eliminated'
      and exists (
        select
        from unnest(assault.units || assault.defenders) as unit
        where unit.is_unit and unit.side = 'us' and (unit.allegiance).formation = '3 RCT'
      )
    having count(position.id) > 0
  );
end
$$;

comment on function css._mason(css.assault) is
'The counter of Mason, who may have a Japanese die of this assault thrown again, or an empty text where he has none; null where he may not (14.1).';

create or replace function css._total(entries rulings.ledger_step[])
returns integer
language plpgsql immutable
as $$
begin
  return (
    select case when not bool_or(entry.effect = 'unknown') then coalesce(sum(entry.halves) filter (where entry.effect = 'adds'), 0) / 2 end
    from unnest(entries) as entry
  )::integer;
end
$$;

comment on function css._total(rulings.ledger_step[]) is
'What the entries of a ledger come to; null where something of them is not told.';

create or replace function css._leaders_here(assault css.assault)
returns text[]
language plpgsql stable
as $$
begin
  return array(
    select distinct head.code
    from (select distinct unit.q, unit.r, unit.inside from unnest(assault.units) as unit) as hexes
    cross join lateral css._pieces((assault.state).position_id, hexes.q, hexes.r, hexes.inside) as head
    where head.kind = 'leader' and head.side = assault.side
    order by head.code
  );
end
$$;

comment on function css._leaders_here(css.assault) is
'Leaders in the assaulting hexes (13.3).';

comment on function css.assault(bigint, jsonb, jsonb, jsonb) is
'Whether an assault may be made, the ratio, and what each player adds to his die; the verdict last (9.3, 9.5).';

create or replace function css.assault_result(position_id bigint, attacker integer, defender integer, attacker_die integer, defender_die integer)
returns setof rulings.ledger_step
language sql immutable parallel safe rows 1
as $$
  select (css._sum(
    '9.4', coalesce(told.result, 'open'),
    format('%s against %s', coalesce(told.ours::text, 'not told'), coalesce(told.theirs::text, 'not told')),
    jsonb_build_object(
      'attacker', told.ours, 'defender', told.theirs, 'difference', abs(told.ours - told.theirs), 'result', told.result
    )
  )).*
  from (
    select
      attacker + attacker_die as ours,
      defender + defender_die as theirs,
      case
        when attacker + attacker_die > defender + defender_die then 'attacker'
        when attacker + attacker_die < defender + defender_die then 'defender'
        when attacker + attacker_die = defender + defender_die then 'tie'
      end as result
  ) as told
$$;

comment on function css.assault_result(bigint, integer, integer, integer, integer) is
'Both totals and who wins: the lower takes the difference in DGs (9.4).';

create or replace function css.charge_losses(position_id bigint, dg integer, leader boolean, drunk boolean)
returns setof rulings.ledger_step
language sql immutable parallel safe rows 1
as $$
  -- 9.6: half, rounded up, and down where a leader is lost; 9.6.1: one for one
  select (css._sum(
    case when drunk then '9.6.1' else '9.6' end, 'losses', format('%s DG are turned into losses', dg),
    jsonb_build_object(
      'lost', case when drunk then dg when leader then dg / 2 else (dg + 1) / 2 end,
      'leader', leader and dg > 0
    )
  )).*
$$;

comment on function css.charge_losses(bigint, integer, boolean, boolean) is
'Units that a charge loses by its DGs, and whether its leader is lost (9.6, 9.6.1).';

create or replace function css.assault_chances(position_id bigint, attacker integer, defender integer)
returns jsonb
language plpgsql immutable
as $$
begin
  -- 9.4: of the hundred ways in which both dice fall
  return (
    select jsonb_object_agg(told.result, format('%s/%s', told.ways / gcd(told.ways, 100), 100 / gcd(told.ways, 100)))
    from (
      select found_one.facts ->> 'result' as result, count(*) as ways
      from generate_series(0, 9) as ours (die)
      cross join generate_series(0, 9) as theirs (die)
      cross join lateral css.assault_result(assault_chances.position_id, attacker, defender, ours.die, theirs.die) as found_one
      group by 1
    ) as told
    where told.result is not null
  );
end
$$;

comment on function css.assault_chances(bigint, integer, integer) is
'How likely either player wins an assault, or a tie, as fractions in lowest terms; null where a total is not told (9.4).';
