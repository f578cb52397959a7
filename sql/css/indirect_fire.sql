-- needs: css/fire.sql, css/rout.sql, css/los.sql
-- Indirect fire in css (Guam): 6.3, 8.7 to 8.7.7, 17.1, 21.2, 27.0.
--
-- One object says what is asked: by (the firer, then others of its hex), at, spotter (self, aircraft or a unit; without
-- it the best there is), lands_at (where it scattered to), manner (indirect, naval, bombardment, illumination), read.

drop type if exists css.barrage cascade;
create type css.barrage as (
  state positions.state,
  said jsonb,
  manner text,
  side text,
  firer css.piece,
  others css.piece array,
  here css.footing,
  there css.footing,
  targets css.piece array
);

comment on type css.barrage is
'Indirect fire: who fires, of which side, and at whom; without a firer it is the Navy''s.';
comment on column css.barrage.there is 'The hex that is aimed at, or where the fire has scattered to';
comment on column css.barrage.targets is 'Enemy units there that it can harm: not in a cave, not hidden (6.2.1, 6.3, 8.7.1)';

create or replace function css._barrage(position_id bigint, said jsonb, conditions jsonb, policy jsonb)
returns css.barrage
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  state positions.state;
  aim css.barrage;
  place record;
  firer css.piece;
begin
  select * into state from positions.state(position_id, conditions, policy);
  aim.state := state;
  aim.said := said;
  aim.manner := coalesce(said ->> 'manner', 'indirect');
  aim.side := 'us';
  firer.side := 'us';
  aim.firer := firer;
  if said -> 'by' ->> 0 is not null then
    firer := css._piece_of(position_id, said -> 'by' ->> 0);
    aim.firer := firer;
    aim.side := firer.side;
    aim.others := css._pieces_of(position_id, (css._texts(said -> 'by'))[2:]);
    aim.here := css._footing(position_id, state.map_id, firer.q, firer.r, firer.inside);
  end if;
  select found_one.q, found_one.r into place
  from positions.place(position_id, coalesce(said ->> 'lands_at', said ->> 'at')) as found_one;
  aim.there := css._footing(position_id, state.map_id, place.q, place.r, false);
  aim.targets := array(
    select target
    from css._pieces(position_id, place.q, place.r, false) as target
    where target.side <> aim.side
      and not (
        coalesce((target.attributes ->> 'hidden')::boolean, false)
        and target.posture = 'deployed'
        and (aim.there).terrain = 'mangrove_swamp'
      )
  );
  return aim;
end
$$;

comment on function css._barrage(bigint, jsonb, jsonb, jsonb) is
'Indirect fire as it is asked for, with all counters and hexes that it touches.';

create or replace function css._sees(state positions.state, code text, hex text, conditions jsonb)
returns boolean
language plpgsql stable
as $$
begin
  return (
    select
      case when bool_or(los.effect = 'visible') then true when bool_or(los.effect = 'blocked') then false end
    from css.los(state.position_id, 'unit:' || code, 'hex:' || hex, conditions, state.readings) as los
  );
end
$$;

comment on function css._sees(positions.state, text, text, jsonb) is
'Whether a unit sees a hex under these conditions; null: something not printed would decide.';

create or replace function css._may_spot(aim css.barrage, spotter css.piece)
returns text
language sql stable
return case
  when spotter.q is null then 'who is at sea or off the map does not spot'
  when not spotter.is_unit then 'a Unit spots'
  when spotter.side <> aim.side then 'it is an enemy'
  -- 8.7.1: of the firer's Division; for a Task Force any American (21.1); Corps artillery is of both Marine Divisions
  when aim.manner <> 'naval'
    and (spotter.allegiance).division <> ((aim.firer).allegiance).division
    and not coalesce(((aim.firer).attributes ->> 'corps')::boolean, false)
    and lower(((aim.firer).allegiance).division) <> 'corps'
    then 'it is of another Division'
end;

comment on function css._may_spot(css.barrage, css.piece) is
'What keeps a unit from spotting for this fire; null: nothing (8.7.1, 21.1).';

create or replace function css._sight_conditions(aim css.barrage)
returns jsonb
language sql immutable parallel safe
-- css-13: an Illumination Round is aimed as by day
return case
  when aim.manner = 'illumination' and (aim.state).readings ->> 'css-13' = 'b'
    then (aim.state).conditions || '{"time": "day", "turn": null}'
  else (aim.state).conditions
end;

comment on function css._sight_conditions(css.barrage) is
'The conditions under which the target is seen: of an Illumination Round those of day (css-13 b).';

create or replace function css._spotter(aim css.barrage)
returns text
language plpgsql stable
as $$
declare
  said constant text := aim.said ->> 'spotter';
  seen_under constant jsonb := css._sight_conditions(aim);
  found_one text;
begin
  if said is not null then
    return said;
  end if;
  if (aim.firer).code is not null and css._sees(aim.state, (aim.firer).code, (aim.there).label, seen_under) then
    return 'self';
  end if;
  select unit.code into found_one
  from public.unit
  cross join lateral css._piece(unit, null) as piece
  where unit.position_id = (aim.state).position_id
    and unit.side = aim.side
    and unit.q is not null
    and css._is_unit(unit.kind)
    and css._may_spot(aim, piece) is null
    and lattice.distance(unit.q, unit.r, (aim.there).q, (aim.there).r) <= 8
    and css._sees(aim.state, unit.code, (aim.there).label, seen_under)
  order by lattice.distance(unit.q, unit.r, (aim.there).q, (aim.there).r), unit.code
  limit 1;
  return coalesce(found_one, 'aircraft');
end
$$;

comment on function css._spotter(css.barrage) is
'Who spots: who is named, else the firer itself, else the nearest unit that may and sees, else aircraft.';

create or replace function css._spotting_bars(aim css.barrage, spotter text)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
declare
  state constant positions.state := aim.state;
  -- css-13: an Illumination Round has a rule of its own, in two places
  seen_by constant text := case
    when aim.manner <> 'illumination' then '8.7.1'
    when state.readings ->> 'css-13' = 'b' then '17.1'
    else '8.7.3'
  end;
  named constant boolean := aim.said ->> 'spotter' is not null;
  who css.piece;
  why text;
begin
  if spotter = 'aircraft' then
    why := case
      when aim.side <> 'us' then 'only Americans use aircraft to spot'
      when aim.manner = 'illumination' then 'aircraft do not spot at night'
      when state.conditions ->> 'weather' = 'rain' then 'no aircraft spot in rain'
      when css._is_night(state.conditions) then 'no aircraft spot at night'
    end;
    if why is not null then
      return next css._entry(
        case when named or aim.manner <> 'illumination' then '8.7.6' else seen_by end, null, 'forbids',
        case when named then why else 'nobody sees the target' end,
        spotter, null, case when aim.manner = 'illumination' then 'css-13' end, (aim.there).label
      );
    end if;
    return;
  end if;
  if spotter = 'self' then
    who := aim.firer;
  else
    who := css._piece_of(state.position_id, spotter);
    why := css._may_spot(aim, who);
  end if;
  if why is not null then
    return next css._entry('8.7.1', null, 'forbids', why, who.code, null, null, (aim.there).label);
  elsif css._sees(state, who.code, (aim.there).label, css._sight_conditions(aim)) is not true then
    return next css._entry(
      seen_by, null, 'forbids', format('%s does not see the target', who.code), who.code, null,
      case when aim.manner = 'illumination' then 'css-13' end, (aim.there).label
    );
  elsif aim.manner = 'illumination' then
    return next css._entry(seen_by, null, 'passes', format('%s sees the target', who.code), who.code, null, 'css-13');
  end if;
end
$$;

comment on function css._spotting_bars(css.barrage, text) is
'What keeps a target from being spotted (8.7.1, 8.7.3, 8.7.6, 17.1, 21.1).';

create or replace function css._battery_bars(aim css.barrage)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select entry.*
  from (
    select
      css._is_later((aim.state).conditions, (aim.firer).code) as later,
      coalesce(((aim.firer).attributes ->> 'gun')::boolean, false) as gun
  ) as now
  cross join lateral (
    values
    ('8.7', (aim.firer).q is null, 'it is not on the map', null),
    ('8.7', (aim.firer).fire_type is distinct from 'indirect', 'it does not fire indirectly', null),
    ('8.7', (aim.firer).posture = 'column', 'in Column nobody fires indirectly', null),
    ('6.3', (aim.firer).inside, 'nobody fires indirectly out of a cave', null),
    ('8.7.4', (aim.here).suppressed or (aim.firer).suppressed, 'it is Suppressed', null),
    ('8.7.4', (aim.here).pinned or (aim.firer).pinned, 'it is Pinned', null),
    (
      '8.7.5',
      exists (
        select
        from public.unit as enemy
        where enemy.position_id = (aim.state).position_id
          and enemy.side <> aim.side
          and css._is_unit(enemy.kind)
          and lattice.distance(enemy.q, enemy.r, (aim.firer).q, (aim.firer).r) <= 1
      ),
      'with an enemy beside it it goes to Column', null
    ),
    (
      '8.7.1',
      aim.side = 'japan' and now.later and ((aim.state).readings ->> 'css-15' = 'a' or now.gun),
      'Japanese artillery fires as a First Action of a Division or Formation alone', 'css-15'
    ),
    (
      '8.0',
      (
        select count(*)
        from jsonb_array_elements_text(coalesce((aim.state).conditions -> 'indirect_fired', '[]')) as fired (hex)
        where fired.hex = (aim.here).label
      ) >= 2,
      'its hex has fired indirectly twice in this Activation', null
    ),
    (
      '8.1', lattice.distance((aim.firer).q, (aim.firer).r, (aim.there).q, (aim.there).r) > (aim.firer).range
      and not aim.said ? 'lands_at',
      format(
        'the target is %s away, and it fires %s',
        css._hexes(lattice.distance((aim.firer).q, (aim.firer).r, (aim.there).q, (aim.there).r)),
        css._hexes((aim.firer).range)
      ), null
    ),
    (
      '8.7.7', (aim.here).bombarded
      and lattice.distance((aim.firer).q, (aim.firer).r, (aim.there).q, (aim.there).r) > 1,
      'from under a Bombardment only adjacent hexes are fired at', null
    )
  ) as bar (rule, holds, note, point)
  cross join lateral css._entry(bar.rule, null, 'forbids', bar.note, (aim.firer).code, null, bar.point, (aim.here).label) as entry
  where bar.holds
  union all
  select entry.*
  from css._entry('27.0', null, 'passes', 'not a gun: it fires in any Action', (aim.firer).code, null, 'css-15') as entry
  where aim.side = 'japan'
    and css._is_later((aim.state).conditions, (aim.firer).code)
    and not coalesce(((aim.firer).attributes ->> 'gun')::boolean, false)
    and (aim.state).readings ->> 'css-15' = 'b'
  union all
  select bar.* from unnest(css._actor_bars(aim.state, aim.firer || aim.others)) as bar
  union all
  -- 8.7.4 g
  select entry.*
  from unnest(aim.others) as other
  cross join lateral (
    values
    ((other.q, other.r) is distinct from ((aim.firer).q, (aim.firer).r), format('%s is not with the firer', other.code)),
    (
      other.fire_type is distinct from 'indirect' or other.posture = 'column',
      format('%s does not fire indirectly', other.code)
    ),
    (other.range < (aim.firer).range, format('the range of %s is shorter than the firer''s', other.code))
  ) as bar (holds, note)
  cross join lateral css._entry('8.7.4', 'g', 'forbids', bar.note, other.code, null, null, (aim.here).label) as entry
  where bar.holds
$$;

comment on function css._battery_bars(css.barrage) is
'What keeps a unit, and those who add to it, from firing indirectly (8.0, 8.7, 8.7.1, 8.7.4, 8.7.5, 27.0).';

create or replace function css._barrage_bars(aim css.barrage, spotter text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select bar.* from css._battery_bars(aim) as bar
  where (aim.firer).code is not null
  union all
  select * from css._spotting_bars(aim, spotter)
  where not aim.said ? 'lands_at'
  union all
  -- 8.7.3, 17.1: at night next to friends, or into light
  select entry.*
  from css._entry('8.7.3', null, 'forbids', 'at night only hexes next to friends, and lit ones', null, null, null, (aim.there).label) as entry
  where css._is_night((aim.state).conditions)
    and aim.manner in ('indirect', 'naval')
    and not (aim.there).lit
    and not exists (
      select
      from public.unit as friend
      where friend.position_id = (aim.state).position_id
        and friend.side = aim.side
        and css._is_unit(friend.kind)
        and lattice.distance(friend.q, friend.r, (aim.there).q, (aim.there).r) <= 1
    )
  union all
  select entry.*
  from css._entry('8.7.3', null, 'forbids', 'Illumination Rounds are fired at night', null, null, null, (aim.there).label) as entry
  where aim.manner = 'illumination' and not css._is_night((aim.state).conditions)
  union all
  select entry.*
  from public.marker
  cross join lateral css._entry('21.2', null, 'forbids', 'a Task Force fires there already', null, null, null, (aim.there).label) as entry
  where aim.manner = 'naval'
    and not aim.said ? 'lands_at'
    and marker.position_id = (aim.state).position_id
    and (marker.q, marker.r) = ((aim.there).q, (aim.there).r)
    and marker.kind = 'task_force'
  union all
  select entry.*
  from public.position
  cross join lateral css._entry('21.1', null, 'forbids', 'there is no Task Force left') as entry
  where aim.manner = 'naval'
    and position.id = (aim.state).position_id
    and (position.tracks ->> 'task_forces')::integer <= 0
$$;

comment on function css._barrage_bars(css.barrage, text) is
'What keeps indirect fire from being fired (8.7.1, 8.7.3, 21.2).';

create or replace function css._barrage_entries(aim css.barrage)
returns setof rulings.ledger_step
language sql stable rows 5
as $$
  -- 8.7.4 a, b
  select status.rule, status.clause, status.at, status.effect, status.note, status.point, status.by, status.halves, status.facts
  from unnest(css._fire_status_entries(aim.here, aim.firer, aim.said -> 'read', true)) as status
  where (aim.firer).code is not null
  union all
  -- c, d
  select entry.*
  from (
    select
      coalesce(bool_or(target.hard), false) as any_one,
      coalesce(bool_and(target.hard) filter (where target.is_unit), false) as only
    from unnest(aim.targets) as target
  ) as hard
  cross join lateral css._entry(
    '8.7.4', case when hard.only then 'd' else 'c' end, 'adds',
    case when hard.only then 'only Hard Targets' else 'Hard Targets in the hex' end, null,
    2 * css._number(css._cell(
      null, 'indirect_fire_modifiers', case when hard.only then 'only_hard_targets' else 'hard_targets' end, 'value'
    )),
    null, (aim.there).label
  ) as entry
  where hard.any_one
  union all
  -- e
  select entry.*
  from css._entry(
    '8.7.4', 'e', case when (aim.there).defense is null then 'unknown' else 'adds' end,
    case
      when (aim.there).defense is null then 'terrain_effects_chart'
      else format('terrain: %s', replace((aim.there).terrain, '_', ' '))
    end,
    null, 2 * (aim.there).defense, null, (aim.there).label
  ) as entry
  where (aim.there).defense is distinct from 0
  union all
  -- f
  select work.rule, 'f', work.at, work.effect, work.note, work.point, work.by, work.halves, work.facts
  from unnest(css._work_entries(aim.there, '8.7.4', aim.said -> 'read')) as work
  union all
  -- css-50: whether a Ridge marker is a Fortification
  select entry.*
  from css._entry(
    '2.0', null, case (aim.state).readings ->> 'css-50' when 'b' then 'adds' else 'passes' end,
    'a Ridge marker', null, case (aim.state).readings ->> 'css-50' when 'b' then -2 end, 'css-50', (aim.there).label
  ) as entry
  where (aim.there).ridge
  union all
  -- g
  select entry.*
  from unnest(aim.others) as other
  cross join lateral css._entry(
    '8.7.4', 'g', 'adds', format('%s adds to the fire', other.code), other.code,
    2 * css._number(css._cell(null, 'indirect_fire_modifiers', 'additional_unit', 'value')), null, (aim.here).label
  ) as entry
  union all
  -- css-17: rain and night
  select
    weather.rule, weather.clause, weather.at,
    case (aim.state).readings ->> 'css-17' when 'a' then 'adds' else 'passes' end,
    weather.note, 'css-17', weather.by,
    case (aim.state).readings ->> 'css-17' when 'a' then weather.halves end,
    weather.facts
  from unnest(css._weather_entries(aim.state, aim.firer, aim.there)) as weather
$$;

comment on function css._barrage_entries(css.barrage) is
'Every modifier of indirect fire: a to g of 8.7.4, and no other (css-17, css-50).';

create or replace function css._strength(aim css.barrage, spotter text)
returns integer
language sql stable
return case aim.manner
  when 'bombardment' then 5
  -- 21.2: where a unit sees the target; with aircraft the value is not told
  when 'naval' then case when spotter <> 'aircraft' then 7 else css._number(aim.said #>> '{read,counters}') end
  else (aim.firer).fire + coalesce(cardinality(aim.others), 0)
end;

comment on function css._strength(css.barrage, text) is
'The unmodified strength, with those who add to it, by which a Barrage is laid (8.7.2, 8.7.7, 21.2); null is not told.';

create or replace function css.indirect_fire(
  position_id bigint, fire jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
-- the plans take longer to make than to run: they are made once a session
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  aimed css.barrage := css._barrage(position_id, fire, conditions, policy);
  spotter text := case when aimed.manner = 'bombardment' then 'aircraft' else css._spotter(aimed) end;
  bars rulings.ledger_step[];
  entries rulings.ledger_step[];
  bar rulings.ledger_step;
  strength integer := css._strength(aimed, spotter);
  value integer;
begin
  if aimed.manner <> 'bombardment' then
    bars := array(select step from css._barrage_bars(aimed, spotter) as step);
  end if;
  select * into bar from unnest(bars) as step where step.effect = 'forbids' limit 1;
  if bar.rule is null and aimed.manner in ('indirect', 'naval') then
    entries := array[css._entry(
      case aimed.manner when 'naval' then '21.2' else '3.2' end, null,
      case when strength is null then 'unknown' else 'starts' end,
      case when strength is null then 'counters' else 'Fire Power' end,
      (aimed.firer).code,
      2 * (strength - coalesce(cardinality(aimed.others), 0))
    )] || array(select step from css._barrage_entries(aimed) as step);
    if not exists (select from unnest(entries) as step where step.effect = 'unknown') then
      value := (select sum(step.halves) / 2 from unnest(entries) as step);
    end if;
  elsif aimed.manner = 'bombardment' then
    value := strength;
  end if;
  return query select * from unnest(bars);
  return query select * from unnest(entries);
  return next css._sum(
    coalesce(bar.rule, '8.7.4'), case when bar.rule is null then 'may fire' else 'refused' end,
    coalesce(bar.note, format('value %s', coalesce(value::text, 'not told'))),
    jsonb_build_object(
      'allowed', bar.rule is null,
      'why', bar.note,
      'value', value,
      'type', case when aimed.manner = 'bombardment' and (aimed.state).readings ->> 'css-76' = 'b' then 'high_explosive' else 'indirect' end,
      'side', aimed.side,
      'enemy', case aimed.side when 'us' then 'japan' else 'us' end,
      'from', (aimed.here).label,
      'hex', (aimed.there).label,
      'spotter', spotter,
      'strength', strength,
      'barrage', css._cell(null, 'barrage_strength', case when strength >= 5 then '5+' else strength::text end, 'marker'),
      'bombarded', (aimed.there).bombarded,
      'units', to_jsonb(array(select target.code from unnest(aimed.targets) as target where target.is_unit)),
      'column', to_jsonb(array(
        select target.code from unnest(aimed.targets) as target where target.is_unit and target.posture = 'column'
      )),
      'cost', case when (aimed.firer).code is null then '{}' else css._cost((aimed.state).conditions, aimed.firer || aimed.others) end
    ),
    (aimed.there).label
  );
end
$$;

comment on function css.indirect_fire(bigint, jsonb, jsonb, jsonb) is
'Whether indirect fire may be fired, its value with an entry for every modifier, and the Barrage that it lays; the verdict last (8.7).';

create or replace function css.scatter(position_id bigint, at text, die integer, read jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 8.7.6: where fire that aircraft spot comes down
  select (css._sum(
    '8.7.6', coalesce(shown.lands, 'unknown'),
    case when shown.lands is null then 'scatter_chart' when away.label is null then 'off the map' else format('lands in %s', away.label) end,
    jsonb_build_object('known', shown.lands is not null, 'lands_at', away.label), away.label
  )).*
  from public.position
  cross join positions.place(scatter.position_id, scatter.at) as place
  cross join lateral (select css._cell(scatter.read, 'scatter_chart', scatter.die::text, 'lands') as lands) as shown
  left join public.hex as away
    on away.map_id = position.map_id
      and away.q = place.q + case when shown.lands ~ '^[1-6]$' then lattice.step_q(shown.lands::integer) else 0 end
      and away.r = place.r + case when shown.lands ~ '^[1-6]$' then lattice.step_r(shown.lands::integer) else 0 end
      and shown.lands is not null
  where position.id = scatter.position_id
$$;

comment on function css.scatter(bigint, text, integer, jsonb) is
'Where fire lands that aircraft spot: on the target, or in the hex in a direction; off the map where there is none (8.7.6).';

create or replace function css.barrage_stays(position_id bigint, lies text, comes text)
returns boolean
language sql immutable parallel safe
-- 8.7.2: the greater replaces the lesser
return coalesce(
  array_position(array['smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage'], lies)
  >= array_position(array['smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage'], comes),
  false
);

comment on function css.barrage_stays(bigint, text, text) is
'Whether the Barrage that lies in a hex stays when another comes (8.7.2).';
